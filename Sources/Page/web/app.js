// Builds the page from its views, the address, the state that came with it, and the stream of changes.

import { enter } from "./access.js"
import { buildAlarms, drawAlarms } from "./alarms.js"
import { chooseGroup, currentGroup, isRunning } from "./actions.js"
import { get, store } from "./api.js"
import { attribute, bars, cover, h, icon, keyed, lines, setCover, setText } from "./dom.js"
import { connect } from "./events.js"
import { drawFavourites } from "./favourites.js"
import { listenToKeys } from "./keys.js"
import { buildLibrary, drawLibrary, openLibrary } from "./library.js"
import { buildNow, drawNow } from "./now.js"
import { closeAll } from "./overlay.js"
import { buildQueue, drawEntries, drawQueue } from "./queue.js"
import { buildRooms, drawRooms } from "./rooms.js"
import { buildSync, drawSync, openSync, watchRooms } from "./sync.js"

const root = document.documentElement
const groups = document.getElementById("groups")
const symbols = { now: "disc", queue: "queue", library: "library", rooms: "speaker", alarms: "alarm", sync: "wave" }
const views = Object.keys(symbols)

function show() {
	const asked = location.hash.split("/")[1]
	const view = views.includes(asked) ? asked : innerWidth >= 1100 ? "library" : "now"
	root.dataset.view = view
	for (const name of views) if (name !== "queue") document.getElementById(name).hidden = name !== view
	for (const link of document.querySelectorAll("#nav a:not(.brand)")) attribute(link, "aria-current", link.hash === `#/${view}` && "page")
	closeAll()
	if (view === "queue") root.classList.remove("queue-closed")
	if (view === "library") openLibrary()
	if (view === "sync") openSync()
	if (view === "alarms") drawAlarms()
	drawEntries()
}

/** Shows the server's sentence if its disk stores no changes. */
function drawDisk() {
	const problem = store.server.diskProblem
	const line = document.getElementById("disk")
	line.hidden = !problem
	if (problem) setText(line, `${problem[0].toUpperCase()}${problem.slice(1)}. Music plays on.`)
}

function draw() {
	drawDisk()
	drawNow()
	drawQueue()
	drawGroups()
	drawLibrary()
	drawFavourites()
	drawRooms()
	drawAlarms()
	watchRooms()
	drawSync()
}

/** Draws the groups beside the views, on wide screens. */
function drawGroups() {
	const current = currentGroup()
	keyed(groups, store.allGroups(), (group) => group.id, (group) => {
		const [picture, text] = [cover(null), lines()]
		return Object.assign(h("button.side-group", { onclick: () => chooseGroup(group.id) }, picture, text.box, bars()), { picture, text })
	}, (button, group) => {
		setCover(button.picture, group.item?.artwork, 300, group.item?.album)
		setText(button.text.top, group.name || "Empty group")
		setText(button.text.below, group.item?.title ?? "Nothing plays")
		button.setAttribute("aria-pressed", group.id === current?.id)
		button.classList.toggle("moves", isRunning(group))
	})
}

function start() {
	// After reloading, an unpaired browser sees the PIN field.
	document.addEventListener("tutti:login", () => location.reload())
	for (const view of views) groups.before(h("a", { href: `#/${view}` }, icon(symbols[view]), h("span", view[0].toUpperCase() + view.slice(1))))
	for (const build of [buildNow, buildQueue, buildRooms, buildAlarms, buildLibrary, buildSync, listenToKeys]) build()
	store.listeners.add(draw)
	window.addEventListener("hashchange", show)
	const first = document.getElementById("state").textContent.trim()
	if (first.startsWith("{")) store.snapshot(JSON.parse(first))
	else get("/state").then((state) => store.snapshot(state), () => {})
	draw()
	show()
	connect((isLost) => (document.getElementById("link").hidden = !isLost))
}

if (await enter()) start()
