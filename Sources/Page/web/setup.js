// Sets the household up: its rooms, the folders of its music, and its settings.

import {
	act, count, currentGroup, dateText, dotted, enqueue, form, get, h, icon, iconButton, isGuest, keyed, lines, newGroup, noRooms, on, reading, rename, select, setText, sheet, stateText, store,
	textButton, url, warn,
} from "./kit.js"
import { devices } from "./devices.js"
import { hear, pair, roomSheet } from "./room.js"

let isBegun = false
/** True until there is music and a room for it, and from then on until this page plays something. */
export const needsSetUp = () => store.revision > 0 && !isGuest() && !currentGroup()?.item && (isBegun ||= !store.library.trackCount || !store.pairedRooms()[0])

function roomRow(room) {
	const text = lines()
	const button = h("button.soft", () => (room.isPaired ? hear(room) : pair(room)))
	const row = h("li.loose", icon("speaker"), text.box, button, iconButton("more", `More for ${room.name}`, () => roomSheet(room.id)))
	row.draw = (now) => {
		room = now
		text.tell(room.name, stateText(room))
		button.hidden = !room.isPresent
		setText(button, room.isPaired ? "Make a sound" : `Pair ${room.name}`)
	}
	return row
}

/** The library's folders, and the servers whose songs are in it. Each can be taken out, unless the configuration names it. */
function folders() {
	const list = h("ul.devices")
	let shown
	return {
		element: list,
		async draw() {
			const { folders, awayFolders, trackCount, scan } = store.library
			const state = JSON.stringify([folders, awayFolders, scan ? 0 : trackCount])
			if (shown === state) return
			shown = state
			const [found, { servers }] = await Promise.all([get("/folders"), get("/servers")]).catch(() => [{ folders: [] }, {}])
			keyed(list, found.folders, () => {
				const text = lines()
				return Object.assign(h("li.loose", icon("folder"), text.box), { text })
			}, (row, { name, path, isFixed, isAway, trackCount }) => {
				const server = path === `library:${name}` && servers.find((one) => one.name === name)
				row.text.tell(server?.address ?? path, dotted(server && name, server?.awaySinceS ? `not there since ${dateText(server.awaySinceS * 1000, { dateStyle: "short", timeStyle: "short" })}` : isAway ? "not there now" : count(trackCount, "track"), isFixed && "named by the configuration"))
				row.querySelector("button")?.remove()
				if (!isFixed) row.append(iconButton("trash", `Take ${name} out of the library`, () => act("DELETE", server ? url`/servers?name=${name}` : url`/folders?path=${path}`)))
			}, ({ path }) => path)
		},
	}
}

/** Folders to choose from, one level at a time. Calls `done` when one is in the library. */
function chooser(done) {
	const box = h("div", { role: "group", called: "Folders" })
	const use = async (path) => (await act("POST", "/folders", { path })) && done()
	async function open(path) {
		const found = await get(path ? url`/folders/choices?path=${path}` : "/folders/choices").catch(warn)
		if (!found) return
		box.replaceChildren(path ? h("div.group-head", iconButton("left", "Back", () => open(found.parent)), h("strong.two", path), textButton("check", "Use this folder", () => use(path))) : "",
			h("ul.tracks", found.folders.map(({ name, path }) => h("li.row", h("button.row-main", () => open(path), icon("folder"), h("span.entry-title.two", name), icon("right")),
				h("button.soft", { onclick: () => use(path), called: `Use ${name}` }, "Use")))),
			h("p.dim", found.folders.length ? found.isCut ? "There are more, which are not shown." : "" : "There are no folders here."))
	}
	open()
	return box
}

/** A media server of UPnP has no users, and is found in the network. */
const addServer = (body, close) => {
	const { box, row } = select("Kind", Object.entries({ token: "Subsonic, Navidrome", password: "Subsonic without tokens", key: "OpenSubsonic with a key", upnp: "UPnP" }), "token")
	// Browsers know one of these types, and take the others for text.
	const fields = ["Name", "Address", "User", "Password"].map((called) => h("input", { called, placeholder: called, type: called, autocomplete: "off" }))
	const found = h("div.choices", { role: "status", hidden: true })
	box.onchange = async () => {
		found.hidden = box.value !== "upnp"
		fields[2].hidden = fields[3].hidden = !found.hidden
		if (found.hidden) return
		setText(found, "Searching …")
		const servers = (await get("/servers/found").catch(warn))?.servers
		setText(found, servers?.length === 0 ? "No server answered. Is it switched on, and in this network? You can also type its address below." : "")
		found.append(...(servers ?? []).map(({ name, address }) => h("button", () => ([fields[0].value, fields[1].value] = [name, address]), name)))
	}
	body.append(form("Add", async () => {
		const [name, address, user, password] = fields.map(({ value }) => value || undefined)
		if (await act("POST", "/servers", found.hidden ? { name, subsonic: address, user, password, login: box.value } : { name, upnp: address })) close()
	}, row, found, ...fields))
}

async function playSomething() {
	const rooms = store.pairedRooms().filter((room) => room.state === "free").map(({ id }) => id)
	if (!currentGroup()?.roomIds.length && !(await newGroup(rooms))) return
	const { albums: [album] } = await get("/library/albums?sort=added&limit=1")
	enqueue([album ? { albumId: album.id } : { folder: store.library.folders[0] }], "now", album?.title ?? "your music")
}

/** The first view of a household: what is missing until it plays. */
export function setUp() {
	const rooms = h("ul.card")
	const [music, none, scan] = [folders(), noRooms(), h("p.dim", { role: "status" })]
	// The server may need a moment to begin to read a folder.
	let chosenMs = 0
	const choose = h("div", chooser(() => {
		choose.hidden = true
		chosenMs = Date.now()
	}))
	const play = textButton("play", "Play", playSomething, ".primary")
	const element = h("div.set-up", h("h1", "Set up"), h("h2.part", "Rooms"), none, rooms, h("h2.part", "Where is your music?"), music.element, choose, scan, play)
	element.draw = () => {
		const { trackCount, scan: now, folders } = store.library
		none.hidden = store.rooms.size > 0
		rooms.hidden = !none.hidden
		keyed(rooms, store.allRooms(), roomRow)
		music.draw()
		choose.hidden = folders?.length > 0
		setText(scan, now ? reading(now) : trackCount ? `${count(trackCount, "track")} found` : !folders?.length ? ""
			: Date.now() < chosenMs + 5000 ? "Your music is being read." : "No music was found there yet.")
		play.hidden = !trackCount || !store.pairedRooms()[0]
	}
	return element
}

/** What can be set for the household. */
export function settings() {
	sheet("Settings", (body, close) => {
		const music = folders()
		const line = (symbol, text, run) => textButton(symbol, text, run, ".line")
		const adds = (title, fill) => line("plus", title, () => sheet(title, fill))
		const { dates = "", fixed, name } = store.server
		const language = select("Language of dates", [["", "As each browser has it"], ..."de en es fr it nl pl pt".split(" ").map((code) => [code, new Intl.DisplayNames([code], { type: "language" }).of(code)])], dates)
		on(language.box, "change", () => act("PATCH", "/settings", { dates: language.box.value }))
		body.append(h("p.dim", name), h("h3", "Music"), music.element,
			adds("Add a folder", (body, close) => body.append(chooser(close))), adds("Add a server", addServer),
			h("h3", "Rooms"), ...store.allRooms().map((room) => line("speaker", room.name, () => rename(room))),
			h("h3", "Sources"), line("radio", "Stations and inputs", () => { close(); location.hash = "#/library/radio" }),
			h("h3", "Page"), line("phone", "Devices", () => devices()), language.row,
			h("p.dim", fixed?.length ? `The configuration of the daemon decides: ${fixed.join(", ")}.` : ""))
		return () => music.draw()
	})
}
