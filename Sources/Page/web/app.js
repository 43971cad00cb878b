// Builds the page from its views, the address, the state that came with it, and the stream of changes.

import {
	attribute, bars, byId, chooseGroup, closeAll, cover, currentGroup, drawFavourites, enter, get, go, h, icon, isRunning, keyed, lines, louder, mark, mute, on, root, seekBy,
	sentence, setItemCover, setText, sheet, skip, store, tellFailures, toggle,
} from "./kit.js"
import { buildAlarms, drawAlarms } from "./alarms.js"
import { connect } from "./events.js"
import { buildLibrary, drawLibrary, focusSearch, openLibrary } from "./library.js"
import { buildNow, drawNow } from "./now.js"
import { buildQueue, drawEntries, drawQueue } from "./queue.js"
import { buildRooms, drawRooms } from "./rooms.js"
import { needsSetUp } from "./setup.js"
import { buildSync, drawSync, openSync, watchRooms } from "./sync.js"

const groups = byId("groups")
const symbols = { now: "disc", queue: "queue", library: "library", rooms: "speaker", alarms: "alarm", sync: "wave" }
const views = Object.keys(symbols)

/** Keyboard shortcuts. */
const keys = {
	" ": ["Space", "Play or pause", () => toggle()],
	ArrowLeft: ["←", "10 seconds back", () => seekBy(-10)],
	ArrowRight: ["→", "10 seconds on", () => seekBy(10)],
	ArrowUp: ["↑", "Louder", () => louder(2)],
	ArrowDown: ["↓", "Quieter", () => louder(-2)],
	n: ["N", "Next", () => skip("next")],
	p: ["P", "Previous", () => skip("previous")],
	m: ["M", "Mute", () => mute()],
	"/": ["/", "Search the library", () => {
		if (root.dataset.view !== "library") go("library")
		requestAnimationFrame(focusSearch)
	}],
	"?": ["?", "This list", () => sheet("Keys", (body) => body.append(h("dl.keys",
		Object.values(keys).flatMap(([key, text]) => [h("dt", h("kbd", key)), h("dd", text)]))))],
}

function listenToKeys() {
	on(document, "keydown", (event) => {
		const { target, key } = event
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || target.closest("dialog")) return
		if (target.matches("textarea, input:not([type=range])")) return
		// A focused button or link keeps its own key, and a slider its arrows.
		if (key === " " ? target.closest("button, a") : key.startsWith("Arrow") && target.matches("input")) return
		const found = keys[key.length === 1 ? key.toLowerCase() : key]
		if (!found) return
		event.preventDefault()
		found[2]()
	})
}

function show() {
	const asked = location.hash.split("/")[1]
	const view = views.includes(asked) ? asked : innerWidth >= 1100 && !needsSetUp() ? "library" : "now"
	root.dataset.view = view
	// Beside the queue there is room for what plays, on a wide screen.
	for (const name of views) if (name !== "queue") byId(name).hidden = name !== (view === "queue" ? "now" : view)
	for (const link of document.querySelectorAll("#nav a:not(.brand)")) attribute(link, "aria-current", link.hash === `#/${view}` && "page")
	closeAll()
	if (view === "queue") root.classList.remove("queue-closed")
	if (view === "library") openLibrary()
	if (view === "sync") openSync()
	if (view === "alarms") drawAlarms()
	drawEntries()
}

/** Shows the server's sentence if its disk stores no changes, or its second machine cannot go on. */
function drawDisk() {
	const { diskProblem, secondProblem } = store.server
	const problem = diskProblem ? `${diskProblem}. Music plays on` : secondProblem
	const line = byId("disk")
	line.hidden = !problem
	if (problem) setText(line, sentence(problem))
}

function draw() {
	drawDisk()
	tellFailures()
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
	keyed(groups, store.allGroups(), (group) => {
		const [picture, text] = [cover(), lines()]
		return Object.assign(h("button.side-group", () => chooseGroup(group.id), picture, text.box, bars()), { picture, text })
	}, (button, group) => {
		setItemCover(button.picture, group.item)
		button.text.tell(group.name || "Empty group", group.item?.title ?? "Nothing plays")
		button.ariaPressed = group.id === current?.id
		mark(button, "moves", isRunning(group))
	})
}

function start() {
	// After reloading, an unpaired browser sees the PIN field.
	on(document, "tutti:login", () => location.reload())
	for (const view of views) groups.before(h("a", { href: `#/${view}` }, icon(symbols[view]), h("span", view[0].toUpperCase() + view.slice(1))))
	for (const build of [buildNow, buildQueue, buildRooms, buildAlarms, buildLibrary, buildSync, listenToKeys]) build()
	store.listeners.add(draw)
	on(window, "hashchange", show)
	const first = byId("state").textContent.trim()
	if (first.startsWith("{")) store.snapshot(JSON.parse(first))
	else get("/state").then((state) => store.snapshot(state), () => {})
	draw()
	show()
	connect((isLost) => (byId("link").hidden = !isLost))
}

if (await enter()) start()
