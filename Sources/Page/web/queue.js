// The queue view. Entries can be moved by hand and by keys.

import {
	act, addToPlaylist, ask, attribute, bars, byId, chooseWay, clock, count, cover, currentGroup, dotted, empty, get, go, h, heartLine, iconButton, isGuest, isRunning, label, lines,
	menu, order, position, refill, request, sentence, setItemCover, setText, shuffle, span, store, tell, toast, undo, warn,
} from "./kit.js"
import { handle, reorder, swipe } from "./drag.js"
import { VirtualList } from "./virtual.js"

const view = byId("queue")
const scroller = h("div.scroll", { tabindex: -1 })
const size = h("span.dim")
const undoButton = iconButton("undo", "Undo", () => undo())
const jumpButton = iconButton("target", "Jump to what plays", () => jump())
const moreButton = iconButton("more", "Save, shuffle, clear", () => queueMenu())
const nothing = h("div")
let entries = null
let editing = 0
let mustJump = false
const pageSize = 200

const list = new VirtualList(scroller, { create, update, need: (first, end) => entries?.need(first, end), rowHeight: () => 60, kind: "queue-list" })

/** The queue of one group. Pages are fetched when they come into view. */
class Entries {
	constructor(groupId, onchange) {
		Object.assign(this, { groupId, onchange, revision: 0, count: 0, list: [], fresh: new Set(), asked: new Set() })
	}

	/** Fetches the pages of this range that are missing or outdated. */
	need(first, end) {
		for (let page = Math.floor(first / pageSize); page * pageSize < Math.max(end, 1); page++) {
			if (!this.fresh.has(page) && !this.asked.has(page)) this.fetch(page)
		}
	}

	async fetch(page) {
		this.asked.add(page)
		try {
			const found = await get(`/groups/${this.groupId}/queue?offset=${page * pageSize}&limit=${pageSize}`)
			// An edit that is under way shows already. Its end asks for this page again.
			if (!editing) {
				// Old entries stay on the screen until new ones arrive.
				if (found.revision !== this.revision) this.fresh.clear()
				this.revision = found.revision
				this.count = this.list.length = found.count
				found.entries.forEach((entry, index) => (this.list[page * pageSize + index] = entry))
				this.fresh.add(page)
				this.onchange()
			}
		} catch {
			// The next event, or the next look at this page, tries again.
		}
		this.asked.delete(page)
	}
}

export function buildQueue() {
	list.element.ariaLabel = "Queue"
	scroller.append(list.element, nothing)
	view.append(h("header.view-head", h("div.two", h("h2", "Queue"), size), undoButton, jumpButton, moreButton), scroller)
	reorder(list, (from, to) => move(entries.list[from], to + 1))
	swipe(list, remove)
}

export function drawQueue() {
	const group = currentGroup()
	if (group?.id !== entries?.groupId) {
		entries = group && new Entries(group.id, drawEntries)
		scroller.scrollTop = 0
		mustJump = true
	}
	const { count: length = 0, canUndo, index, revision } = group?.queue ?? {}
	const failed = group?.failed?.entryId
	// A failure marks a row, and is no edit.
	if (entries && !editing && (revision !== entries.revision || failed !== entries.failed)) {
		entries.fresh.clear()
		entries.failed = failed
	}
	drawEntries()
	setText(size, dotted(length && count(length, "track"), left(group, index), group && `in ${group.name}`))
	undoButton.hidden = !canUndo
	label(undoButton, `Undo: ${canUndo}`)
	jumpButton.hidden = index == null
	moreButton.hidden = !group
	nothing.hidden = length > 0
	const next = canUndo ? { button: `Undo: ${canUndo}`, act: () => undo() } : { button: "Open the library", act: () => go("library") }
	refill(nothing, length ? "" : next.button, () => length ? "" : empty("queue", "The queue is empty", "Albums, tracks and stations that you add come here.", next))
}

/** How long the rest of the queue is, if all of it is known. */
function left(group, index) {
	const rest = entries?.list.slice(index ?? 0) ?? []
	if (!rest.length || rest.length > 2000 || rest.includes(undefined) || rest.some((entry) => entry.durationS == null)) return ""
	const seconds = rest.reduce((sum, entry) => sum + entry.durationS, 0) - (index == null ? 0 : position(group))
	return seconds > 60 && `${span(seconds)}${index ? " to come" : ""}`
}

export function drawEntries() {
	list.refresh(entries?.count ?? 0)
	if (mustJump && list.height && entries?.list[0]) {
		mustJump = false
		jump("instant")
	}
}

function jump(behavior) {
	const index = currentGroup()?.queue.index
	if (index != null) list.scrollTo(index, behavior)
}

function create() {
	const text = lines("span")
	text.top.className = "entry-title"
	const [picture, time] = [cover(), h("time")]
	const play = h("button.row-main", () => row.entry && playEntry(row.entry), picture, bars(), text.box, time)
	const grip = handle((way) => row.entry && step(row.entry, way))
	const more = iconButton("more", "More", () => row.entry && entryMenu(more, row.entry))
	const row = h("li.entry", play, more, grip)
	return Object.assign(row, { play, more, grip, picture, text, time })
}

function update(row, index) {
	const entry = entries.list[index]
	const { title = "", artist, album, problem } = entry ?? {}
	const group = currentGroup()
	const isCurrent = !!entry && group?.item?.entryId === entry.id
	row.entry = entry
	const isPast = index < (group?.queue.index ?? 0)
	row.className = `entry${entry ? "" : " blank"}${isPast ? " past" : ""}${isCurrent ? " current" : ""}${isCurrent && isRunning(group) ? " moves" : ""}${problem ? " broken" : ""}`
		+ (row.classList.contains("lifted") ? " lifted" : "")
	attribute(row.play, "aria-current", isCurrent)
	setItemCover(row.picture, entry)
	row.text.tell(title, reason(problem) ?? dotted(artist, album))
	attribute(row.play, "title", reason(problem))
	setText(row.time, clock(entry?.durationS))
	label(row.grip, `Move ${title}, place ${index + 1} of ${entries.count}`)
	row.grip.title = "Drag to move. Arrow keys move it too."
	label(row.more, `More for ${title}`)
}

/** The entry shows as the current one at once. */
function playEntry(entry) {
	const { queue } = currentGroup()
	const { id: entryId, ...item } = entry
	order(currentGroup(), `queue/${entryId}/play`, undefined, { item: { ...item, entryId }, state: "starting", positionS: 0, targetS: null,
		queue: { ...queue, index: entries.list.indexOf(entry) } })
}

const reason = (problem) => problem && sentence(problem)

function entryMenu(anchor, entry) {
	const index = entries.list.indexOf(entry)
	const current = currentGroup().queue.index
	menu(anchor, dotted(entry.title, reason(entry.problem)), [
		["play", "Play", () => playEntry(entry)],
		current != null && current !== index && ["right", "Play next", () => move(entry, "next")],
		index > 0 && ["undo", "Move to the top", () => move(entry, 1)],
		index < entries.count - 1 && ["down", "Move to the end", () => move(entry, "end")],
		entry.trackId && heartLine([{ trackId: entry.trackId }], entry.title),
		entry.trackId && !isGuest() && ["save", "Add to a playlist", () => addToPlaylist(anchor, [{ trackId: entry.trackId }], entry.title)],
		null, ["trash", "Remove", () => remove(entry), "danger"],
	])
}

function step(entry, way) {
	const to = entries.list.indexOf(entry) + way
	if (to < 0 || to >= entries.count) return
	move(entry, to + 1)
	list.items.get(to)?.grip.focus()
	tell(`${entry.title}, now place ${to + 1} of ${entries.count}`)
}

/** `at`: the entry's new place, counted from 1, "next" or "end". Only a number shows at once: the page may not know the other places. */
function move(entry, at) {
	if (at > 0) entries.list.splice(at - 1, 0, ...take(entry))
	edit("PATCH", entry, { at })
}

function remove(entry) {
	entries.count -= take(entry).length
	edit("DELETE", entry, undefined, `Removed ${entry.title}`)
}

/** Takes an entry out of the list, if it is there: it may have been loaded again since. */
function take(entry) {
	const index = entries.list.indexOf(entry)
	return index < 0 ? [] : entries.list.splice(index, 1)
}

/** Sends edits one by one, each for the revision that the last one made. */
let last = Promise.resolve()
function edit(method, entry, body, text) {
	const own = entries
	editing += 1
	drawEntries()
	last = last.then(async () => {
		try {
			const { data } = await request(method, `/groups/${own.groupId}/queue/${entry.id}`, body, { headers: { "If-Match": `"${own.revision}"` } })
			own.revision = data.revision
			if (text) toast(text, { undo: () => undo(store.group(own.groupId)) })
		} catch (error) {
			own.revision = 0
			warn(error, "the queue")
		}
		// Rows that came from pages out of sight are missing.
		own.fresh.clear()
		editing -= 1
		if (!editing) drawQueue()
	})
}

function queueMenu() {
	const group = currentGroup()
	const path = `/groups/${group.id}/queue`
	const size = count(group.queue.count, "track")
	const isFilled = group.queue.count > 0
	menu(moreButton, "Queue", [
		isFilled && !isGuest() && ["save", "Save as a playlist", () => ask("Save as a playlist", { hint: "Name", detail: size }, async (name) => {
			await request("POST", `${path}/save`, { name })
			toast(`Saved ${name}`)
		})],
		isFilled && ["shuffle", group.queue.isShuffled ? "Bring back the order" : "Shuffle", () => shuffle(group)],
		["tune", "What a tap on a song does", () => chooseWay(moreButton)],
		...isFilled ? [null, ["trash", "Clear", async () => {
			if (await act("DELETE", path)) toast(`Cleared ${size}`, { undo: () => undo(store.group(group.id)) })
		}, "danger"]] : [],
	])
}
