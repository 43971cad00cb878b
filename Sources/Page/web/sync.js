// The view of the sync errors: a plot of five minutes, and a table.

import { byId, copy, currentGroup, empty, get, h, keyed, mark, micros, setText, signed, span, stateText, store, textButton, travel } from "./kit.js"
import { onSync } from "./events.js"
import { Plot } from "./plot.js"

const view = byId("sync")
const spanMs = 300000
/** Points of each room: [server time in ms, sync error in µs, error bound in µs]. */
const history = new Map()
const marks = []
const ppm = (drift) => `${signed(drift)} ppm`
/** Columns: title, explanation, key, format. */
const columns = [
	["Error now", "How far the room is from the schedule now; positive is early", "errorUs", (us) => `${signed(us)} µs`],
	["99 % within", "The sync error is smaller than this for 99 % of the time", "p99Us", micros],
	["Clock bound", "The largest error that the room's clock estimate may have", "boundUs", (us) => `± ${micros(us)}`],
	["Round trip", "How long a time request and its answer travel", "roundTripUs", micros],
	["Machine", "How much faster its clock runs than the server's", "clockDriftPpm", ppm],
	["Card", "How much faster its sound card runs than its clock", "deviceDriftPpm", ppm],
	["Ahead", "How much music the room already holds", "bufferedS", span],
	["Underruns", "How often its sound card ran dry", "underruns", String],
	["Late", "Packets that came after their time", "late", String],
	["Lost", "Packets that never came", "lost", String],
]
const ahead = 6
const cell = (room, [, , figure, text]) => (room.sync?.[figure] == null ? "" : text(room.sync[figure]))
const headline = h("p.headline")
const subline = h("p.dim")
const plot = new Plot(spanMs)
const rows = h("tbody")
const legend = h("ul.legend")
const content = h("div", h("div.sync-head", headline, subline), plot.element, legend,
	h("div.table-box", { tabindex: 0, role: "region", called: "Figures of each room" }, h("table",
		h("thead", h("tr", h("th", { scope: "col" }, "Room"), columns.map(([text, title]) => h("th", { scope: "col", title }, text)))), rows)))
const nothing = empty("wave", "Nothing to measure", "While music plays, each room reports how far it is from the schedule, in millionths of a second.")
const copyButton = textButton("copy", "Copy report", () => copy(report()))

export function buildSync() {
	view.append(h("header.view-head", h("h1", "Sync"), copyButton), h("div.scroll", content, nothing))
	onSync.push(remember)
}

/** Loads the server's last five minutes, once and after each gap. */
let isAsked = false
export async function openSync() {
	drawSync()
	if (isAsked || view.hidden) return
	isAsked = true
	const found = await get("/sync").catch(() => (isAsked = false))
	if (!found) return
	lastMs = found.nowMs
	for (const { id, points } of found.rooms) {
		history.set(id, [...(history.get(id) ?? []).filter(([at]) => at < points[0][0]), ...points])
	}
	marks.splice(0, marks.length, ...found.marks)
	drawSync()
}

const counters = new Map()
let lastMs
function remember(sync) {
	// A gap: the page was hidden or offline.
	if (sync.nowMs - lastMs > 2000) {
		isAsked = false
		openSync()
	}
	lastMs = sync.nowMs
	const oldest = sync.nowMs - spanMs - 5000
	for (const { id, sync: now } of sync.rooms ?? []) {
		const points = history.get(id) ?? []
		if (now?.errorUs != null) points.push([sync.nowMs, now.errorUs, now.boundUs ?? 0])
		while (points.length && points[0][0] < oldest) points.shift()
		history.set(id, points)
		const before = counters.get(id)
		for (const [key, text] of [["underruns", "underrun"], ["late", "late packets"], ["lost", "lost packets"]]) {
			if (before && now?.[key] > before[key]) marks.push({ atMs: sync.nowMs, roomId: id, text })
		}
		if (now) counters.set(id, now)
	}
	while (marks.length && marks[0].atMs < oldest) marks.shift()
	drawSync()
}

/** Adds a mark when a room goes away or comes back. */
const wereAway = new Map()
export function watchRooms() {
	for (const { id, state } of store.rooms.values()) {
		const isAway = state === "away"
		if (wereAway.has(id) && wereAway.get(id) !== isAway) marks.push({ atMs: store.nowMs(), roomId: id, text: isAway ? "went away" : "came back" })
		wereAway.set(id, isAway)
	}
}

export function drawSync() {
	if (view.hidden) return
	const now = store.nowMs()
	const rooms = store.allRooms().filter((room) => room.sync || history.get(room.id)?.some(([at]) => at > now - spanMs))
	content.hidden = copyButton.hidden = !rooms.length
	nothing.hidden = rooms.length > 0
	if (!rooms.length) return
	tellSpread(rooms.filter((room) => room.sync))
	const lines = rooms.map((room, index) => ({ ...room, color: index % 8, points: history.get(room.id) ?? [] }))
	plot.draw(now, lines, marks.filter((mark) => lines.some((line) => line.id === mark.roomId)))
	keyed(legend, lines, () => h("li", h("i"), h("span")), ({ children }, room) => {
		children[0].className = `swatch line-${room.color}`
		setText(children[1], room.name)
	})
	keyed(rows, lines, () => h("tr", h("th", { scope: "row" }, h("i"), h("span")),
		columns.map(([text], index) => h("td", { "data-name": text }, index === ahead && h("i.bar"), h("span")))), drawRow)
}

function drawRow(row, room) {
	const [head, ...cells] = row.children
	head.firstChild.className = `swatch line-${room.color}`
	setText(head.lastChild, room.name)
	columns.forEach((column, index) => {
		const shown = room.sync || index ? cell(room, column) : stateText(room)
		setText(cells[index].lastChild, shown)
		mark(cells[index], "bad", index > ahead && shown > 0)
	})
	cells[ahead].firstChild.hidden = !room.sync
	cells[ahead].firstChild.style.setProperty("--at", Math.min(1, (room.sync?.bufferedS ?? 0) / 300))
}

/** Shows the distance between the rooms: the median of 15 s, because single measurements scatter. */
function tellSpread(rooms) {
	const group = currentGroup()
	const own = rooms.filter((room) => room.groupId === group?.id)
	const isGroup = own.length > 1
	const lists = (isGroup ? own : rooms).map((room) => (history.get(room.id) ?? []).slice(-15).map(([, error]) => error).reverse())
	const spreads = (lists[0] ?? []).map((_, index) => {
		const errors = lists.map((list) => list[index]).filter((error) => error != null)
		return errors.length > 1 ? Math.max(...errors) - Math.min(...errors) : Math.abs(errors[0])
	}).sort((a, b) => a - b)
	const spread = spreads[Math.floor(spreads.length / 2)]
	const what = lists.length < 2 ? "One room alone" : `The largest distance between the rooms${isGroup ? ` of ${group.name}` : ""}`
	setText(headline, spread == null ? "Nothing plays now" : `${micros(spread)} ${lists.length > 1 ? "apart" : "from the schedule"}`)
	setText(subline, spread == null ? "The plot shows what was." : `${what}. Sound travels ${travel(spread)} in that time.`)
}

function report() {
	const lines = store.allRooms().filter((room) => room.sync).map((room) => `${room.name}: ${columns.map((column) => `${column[0].toLowerCase()} ${cell(room, column) || "–"}`).join(", ")}`)
	const recent = marks.slice(-10).map((mark) => `${Math.round((store.nowMs() - mark.atMs) / 1000)} s ago: ${store.room(mark.roomId)?.name ?? "a room"}, ${mark.text}`)
	return [`Tutti ${store.server.version} on ${store.server.name}, ${new Date().toISOString()}`, ...lines, ...recent].join("\n")
}
