// Playlists that the household has saved, and the page of one.

import { handle, reorder } from "./drag.js"
import { act, count, dotted, forHousehold, h, isGuest, label, renameLine, request, tell, toast, url, warn } from "./kit.js"
import { load } from "./library.js"
import { drop, looseTrack, pageHead, row, scroller } from "./tiles.js"
import { VirtualList } from "./virtual.js"

const path = ({ id }) => url`/library/playlists/${id}`

const rename = (list) => renameLine("playlist", list.name, async (name) => {
	await request("PATCH", path(list), { name })
	load()
})

export const playlistRow = (list) => row(list.name, [{ playlistId: list.id }], { symbol: "queue", below: count(list.trackCount, "track"), href: url`#/library/playlist/${list.id}`,
	more: list.isFile ? [] : forHousehold(null, rename(list), drop(path(list), `playlist ${list.name}`)) })

/** The playlist that was opened last. Its rows stay when it is loaded again, so that keys and fingers keep their places. */
let open = { id: "" }

const content = ({ trackId, uri }) => trackId ?? uri

/** Its rows are moved by their handles, the arrow keys and their menus. */
function rows(playlist, entries) {
	if (open.id !== playlist.id) {
		const list = new VirtualList(scroller, { create, update, need() {}, rowHeight: () => 60, kind: "tracks" })
		list.element.list = list
		reorder(list, edit)
		open = { id: playlist.id, list }
	}
	// An edit changes the ids of entries. Menus that were opened before are still of their entries.
	if (open.entries?.map(content).join() === entries.map(content).join()) entries = entries.map((entry, index) => Object.assign(open.entries[index], entry))
	Object.assign(open, { playlist, entries }).list.refresh(entries.length)
	return open.list.element
}

function create() {
	const grip = handle((way) => {
		const from = Number(row.dataset.index)
		const to = from + way
		if (open.entries[to]) edit(from, to)
		open.list.items.get(to)?.grip.focus()
	})
	const row = Object.assign(h("li.row", grip), { grip })
	return row
}

function update(row, index) {
	const { entries } = open
	const entry = row.entry = entries[index]
	// Nothing is at the place of an entry that was loaded again since.
	const put = (to) => edit(open.entries.indexOf(entry), to)
	const lines = [
		null, index > 0 && ["undo", "Move to the top", () => put(0)],
		index < entries.length - 1 && ["down", "Move to the end", () => put(entries.length - 1)],
		["trash", "Remove from this playlist", () => put(), "danger"],
	]
	label(row.grip, `Move ${entry.title}, place ${index + 1} of ${entries.length}`)
	while (row.firstChild !== row.grip) row.firstChild.remove()
	// The menu adds it to the queue, too: on a phone, the title needs the place of that button.
	const [main, , more] = looseTrack(entry, lines).children
	row.grip.before(main, more)
}

/** Moves an entry, or removes it without `to`. Edits are sent one by one: each changes the revision, and the ids of entries. */
let last = Promise.resolve()
const edit = (from, to, own = open) => (last = last.then(async () => {
	// Another playlist is open, or an edit before this one was refused.
	if (own !== open) return
	const { playlist, entries, list } = open
	const isMove = to >= 0
	try {
		if (!entries[from]) throw { status: 412 }
		const [entry] = entries.splice(from, 1)
		if (isMove) entries.splice(to, 0, entry)
		list.refresh(entries.length)
		if (isMove) tell(`${entry.title}, now place ${to + 1} of ${entries.length}`)
		await request(isMove ? "PATCH" : "DELETE", path(playlist) + url`/entries/${entry.id}`, isMove ? { before: entries[to + 1]?.id ?? null } : null,
			{ headers: { "If-Match": `"${playlist.revision}"` } })
		if (!isMove) toast(`Removed ${entry.title}`, { undo: () => putBack(own, from, entry) })
	} catch (error) {
		open = { ...open }
		warn(error, "this playlist")
	}
	await load()
}))

/** Puts an entry that was removed back to its place. */
const putBack = (own, from, { uri, trackId }) => (last = last.then(async () => {
	await act("POST", `${path(own.playlist)}/entries`, { items: [trackId ? { trackId } : { uri }], before: own.entries[from]?.id })
	await load()
}))

export async function playlistPage(id, read) {
	const { playlist, entries, missing } = await read(path({ id }))
	const gone = playlist.trackCount - entries.length
	return [
		pageHead("", playlist.name, null, dotted(count(entries.length, "track"), gone > 0 && `${gone} ${gone > 1 ? "are" : "is"} gone`), entries[0]?.artwork, [{ playlistId: id }]),
		!playlist.trackCount && h("p.dim", "Nothing is in it yet. “Add to a playlist” is in the menu of each album and track."),
		playlist.isFile || isGuest() ? h("ol.tracks", entries.map((entry) => looseTrack(entry))) : rows(playlist, entries),
		missing.length > 0 && h("p.dim", `Not found any more: ${missing.join(", ")}${missing.length < gone ? " …" : "."}`)]
}
