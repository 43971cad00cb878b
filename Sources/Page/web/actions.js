// The actions of the page, for buttons in any view.

import { isGuest } from "./access.js"
import { act, get, newest, request, store } from "./api.js"
import { clamp, h, icon, lines, remember, remembered, ticked, url } from "./dom.js"
import { heartLine } from "./favourites.js"
import { ask, menu, settled, sheet, toast, warn } from "./overlay.js"
import { reachable } from "./truth.js"

let chosenId = remembered("group")

/** The group that the page shows: the chosen one, else one that plays, else any. It stays chosen. */
export function currentGroup() {
	const groups = store.allGroups()
	const chosen = groups.find((group) => group.id === chosenId)
	if (chosen) return chosen
	const found = groups.find((group) => group.state === "playing") ?? groups.find((group) => group.item) ?? groups[0]
	chosenId = found?.id
	return found
}

export function chooseGroup(id) {
	chosenId = id
	remember("group", id)
	store.changed()
}

export const go = async (view) => {
	await settled()
	location.hash = `#/${view}`
}
export const isRunning = (group) => ["playing", "starting", "buffering"].includes(group?.state)

/** The music's position now, in seconds; during a seek, its target. */
export function position(group) {
	if (group.targetS != null) return group.targetS
	if (group.state !== "playing") return group.positionS ?? 0
	const now = group.positionS + (Math.max(0, store.nowMs() - group.positionAtMs) / 1000) * (group.rate ?? 1)
	return Math.min(now, group.item?.durationS ?? Infinity)
}

const at = (positionS) => ({ positionS, positionAtMs: store.nowMs(), targetS: null })
export const order = (group, verb, body, guess = {}) => act("POST", `/groups/${group.id}/${verb}`, body, [["groups", group.id, guess]])

export function toggle(group = currentGroup()) {
	if (!group?.roomIds.length) return chooseRooms(group && (() => toggle(store.group(group.id))), { into: group })
	const now = at(position(group))
	if (isRunning(group)) return order(group, "pause", undefined, { state: "paused", ...now })
	if (group.item || group.queue.count) return order(group, "play", undefined, { state: group.item ? "playing" : "starting", ...now })
	toast("The queue is empty. Choose something in the library.")
	return go("library")
}

export const skip = (verb, group = currentGroup()) => group && order(group, verb, undefined, group.liveS ? {} : at(0))

const sendSeek = newest((group, positionS) => order(group, "seek", { positionS: Number(positionS.toFixed(2)) }, at(positionS)))
export const seekTo = (positionS, group = currentGroup()) => sendSeek(group, clamp(positionS, 0, group.item.durationS ?? Infinity))
export function seekBy(seconds, group = currentGroup()) {
	if (group?.item?.isSeekable) seekTo(position(group) + seconds, group)
}

/** `guess` is the expected change of the group, if it differs from `patch`. */
export const patchGroup = (group, patch, guess = patch) => act("PATCH", `/groups/${group.id}`, patch, [["groups", group.id, guess]])
export const patchRoom = (room, patch) => act("PATCH", `/rooms/${room.id}`, patch, [["rooms", room.id, patch]])
export const effects = (group, patch) => patchGroup(group, { effects: patch }, { effects: { ...group.effects, ...patch } })
export const sleepIn = (group, seconds) => patchGroup(group, { sleepInS: seconds }, { sleepAtMs: seconds ? store.nowMs() + seconds * 1000 : null })

/** `time`: of the day in the household, such as "23:00"; the next one that comes. */
export const sleepAt = (group, time) => patchGroup(group, { sleepAt: time }, {})

/** These return functions that send a slider's values. */
export const groupVolume = () => newest((group, volume) => patchGroup(group, { volume }))
export const roomVolume = () => newest((room, volume) => patchRoom(room, { volume }))

const sendVolume = groupVolume()
export const louder = (by, group = currentGroup()) => group && sendVolume(group, clamp(Math.round(group.volume + by), 0, 100))
export const mute = (group = currentGroup()) => group && patchGroup(group, { muted: !group.muted })

export function repeat(group = currentGroup()) {
	const [next, text] = { off: ["all", "Repeats the queue"], all: ["one", "Repeats this track"], one: ["off", "Repeat is off"] }[group.repeat]
	toast(text)
	patchGroup(group, { repeat: next })
}

/** Shuffles the queue, or brings back the order before. */
export async function shuffle(group = currentGroup()) {
	const isOn = !group.queue.isShuffled
	const guess = { queue: { ...group.queue, isShuffled: isOn } }
	if (await order(group, `queue/${isOn ? "" : "un"}shuffle`, undefined, guess)) toast(isOn ? "Shuffled" : "In the order as before", { undo: () => undo(group) })
}

/** What moving rooms does, in the same words in every place. */
export const joins = (one, other) => `${one.name} joins ${other.name}`
export const leaves = ({ name }) => `${name} leaves the group`

/** Brings another group's rooms into this one, which can be undone: its queue waits. */
export async function merge(group, other) {
	const text = joins(other, group)
	if (await order(group, "merge", { groupId: other.id })) toast(text, { undo: () => undo(group) })
}

export const undo = async (group = currentGroup()) => (await order(group, "queue/undo")) && toast("Undone")

/** This browser remembers how a tap on something to play treats the queue: a way to enqueue, or "ask". */
const ways = { nowAndKeep: ["play", "Play now, keep the queue"], now: ["play", "Play now, replace the queue"], ask: ["more", "Ask each time"] }
const wayOfTaps = () => (remembered("tap") in ways ? remembered("tap") : "nowAndKeep")
export const chooseWay = (anchor) => menu(anchor, "A tap on a song", Object.entries(ways).map(([way, [symbol, text]]) =>
	[symbol, text, () => remember("tap", way), way === wayOfTaps() && "on"]))

/** Plays something as the choice for taps says. */
export function play(items, name) {
	const way = wayOfTaps()
	if (way === "ask" && currentGroup()?.queue.count) playMenu(document.activeElement, items, name)
	else enqueue(items, way === "ask" ? "now" : way, name)
}

/** Puts items, or those that a function fetches, into the queue: "now" replaces it and plays, "nowAndKeep" plays before what is to come, "next" and "end" add. Asks for rooms if no group has any. */
export function enqueue(wanted, where, name) {
	const put = async (group) => {
		const items = typeof wanted === "function" ? await wanted().catch(warn) : wanted
		if (!items) return
		const plays = where in ways
		const undoes = plays && group.queue.count
		const slow = setTimeout(toast, 50, `Adding ${name} …`)
		const isDone = await order(group, "queue", { items, at: where })
		clearTimeout(slow)
		if (!isDone) return
		toast(plays ? `Plays ${name} in ${group.name}` : where === "next" ? `${name} comes next in ${group.name}` : `Added ${name} to ${group.name}`,
			undoes ? { undo: () => undo(group) } : {})
	}
	const group = currentGroup()
	return group?.roomIds.length ? put(group) : chooseRooms(put, { into: group })
}

/** A menu with the ways to play something: now, next, or at the end. */
export function playMenu(anchor, items, name, more = []) {
	menu(anchor, name, [
		...["nowAndKeep", "now"].map((way) => [...ways[way], () => enqueue(items, way, name)]),
		["right", "Play next", () => enqueue(items, "next", name)],
		["plus", "Add to the end", () => enqueue(items, "end", name)],
		heartLine(items, name),
		!isGuest() && !items[0]?.inputId && ["save", "Add to a playlist", () => addToPlaylist(anchor, items, name)],
		...more,
	])
}

/** Asks for a name, and passes the new playlist to `then`. */
export const makePlaylist = (items, then) => ask("New playlist", { hint: "Name" }, async (name) => then((await request("POST", "/library/playlists", { name, items })).data))

/** Asks for a playlist, or for the name of a new one, and puts items, or those that a function fetches, into it. */
export async function addToPlaylist(anchor, wanted, name) {
	const parts = [typeof wanted === "function" ? wanted() : wanted, get("/library/playlists")]
	const [items, found] = await Promise.all(parts).catch((error) => [warn(error)])
	// The menu that this was chosen from is about to take its entry out of the browser's history.
	await settled()
	if (!found) return
	const done = (list) => toast(`${name} is in ${list.name}`)
	menu(anchor, "Add to a playlist", [["plus", "New playlist", () => makePlaylist(items, done)], ...found.playlists.filter((list) => !list.isFile).map((list) =>
		["queue", list.name, async () => (await act("POST", url`/library/playlists/${list.id}/entries`, { items })) && done(list)])])
}

/** One row of a list of rooms, with a check box. */
export function pick(room, below, onchange, checked) {
	const text = lines("span", room.name, below)
	return h("label.pick", h("input", { type: "checkbox", value: room.id, checked, onchange }), text.box, icon("check"))
}

/** The rooms chosen last in this browser. */
const usualRooms = () => JSON.parse(remembered("rooms") ?? "[]")

/** Asks for rooms, makes a group of them or adds them to `into`, and passes the group to `then`. Offers other groups' rooms only if `withOthers`. */
export function chooseRooms(then, { title = "Where should it play?", button = "Play here", withOthers = false, into } = {}) {
	const offered = () => reachable().filter((room) => withOthers || !room.groupId)
	const rooms = offered()
	if (!rooms.length) return go("rooms")
	const use = async (roomIds) => {
		const group = into ? (await patchGroup(into, { roomIds })) && store.group(into.id) : await newGroup(roomIds)
		if (!group) return
		remember("rooms", JSON.stringify(roomIds))
		then?.(group)
	}
	// With a single room there is nothing to ask.
	if (then && rooms.length === 1) return use([rooms[0].id])
	return sheet(title, (body, close) => {
		const submit = h("button.primary", () => { close(); use(ticked(body)); }, button)
		const usual = withOthers ? [] : usualRooms()
		const look = () => (submit.disabled = !ticked(body).length)
		const rows = new Map()
		body.append(submit)
		// Rooms that come are added at the end: nothing moves under the finger.
		return () => {
			const now = new Map(offered().map((room) => [room.id, room]))
			for (const [id, row] of rows) if (!now.has(id)) row.remove()
			for (const [id, room] of now) {
				// A room that was gone for a moment is still chosen.
				const row = rows.get(id) ?? pick(room, store.group(room.groupId)?.name, look, usual.includes(id))
				rows.set(id, row)
				if (!row.isConnected) submit.before(row)
			}
			look()
		}
	})
}

export async function newGroup(roomIds) {
	const group = await act("POST", "/groups", { roomIds })
	if (!group) return null
	// An event may have come before the answer, and be newer.
	if (!store.groups.has(group.id)) store.groups.set(group.id, group)
	chooseGroup(group.id)
	return group
}

/** Asks for a room's name in this household. */
export const rename = ({ id, name }) => ask("Name of the room", { value: name, detail: "Without a name it is called as its receiver calls itself.", isEmptyFine: true },
	(name) => request("PATCH", `/rooms/${id}`, { name }))

const without = (group, room) => ["groups", group.id, { roomIds: group.roomIds.filter((id) => id !== room.id) }]

export function join(group, room) {
	const old = store.group(room.groupId)
	return act("POST", `/groups/${group.id}/rooms`, { roomId: room.id, take: room.state === "taken" }, [
		["rooms", room.id, { groupId: group.id, state: group.state === "stopped" ? "free" : "starting", detail: null }],
		["groups", group.id, { roomIds: [...group.roomIds, room.id] }],
		...(old ? [without(old, room)] : []),
	])
}

export const leave = (group, room) => act("DELETE", `/groups/${group.id}/rooms/${room.id}`, undefined,
	[["rooms", room.id, { groupId: null, state: room.isPresent ? "free" : "away" }], without(group, room)])
