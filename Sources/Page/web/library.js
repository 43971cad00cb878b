// The library view: albums, artists, folders, radio, playlists, and one search through all of them.

import { forHousehold, isGuest } from "./access.js"
import { enqueue, playMenu } from "./actions.js"
import { act, get, request, store } from "./api.js"
import { attribute, clock, count, cover, dotted, h, icon, iconButton, label, lines, setCover, setIcon, setText, span, textButton } from "./dom.js"
import { ask, empty, noLibrary } from "./overlay.js"
import { VirtualList } from "./virtual.js"

const view = document.getElementById("library")
const field = h("input", { type: "search", placeholder: "Search", "aria-label": "Search the library", autocomplete: "off", spellcheck: "false", enterkeyhint: "search" })
const clear = iconButton("close", "Clear the search", () => {
	field.value = ""
	field.dispatchEvent(new Event("input"))
	field.focus()
})
const tabs = h("nav.tabs", { "aria-label": "Parts of the library" })
const scroller = h("div.scroll", { tabindex: -1 })
const scan = h("p.scan.dim", { role: "status" })
const sorts = { artist: "Artist", title: "Title", added: "New", year: "Year" }
const scrolled = new Map()
/** Minimum time between two reloads while a scan changes the library. */
const lookMs = 2000
let visit = 0
let shown = ""
/** The library's state that the view shows, when it was loaded, and the text of the answers. */
let mark = ""
let lookedMs = -Infinity
let told = ""
let look = 0

export function buildLibrary() {
	for (const part of ["Albums", "Artists", "Folders", "Radio", "Playlists"]) tabs.append(h("a", { href: `#/library/${part.toLowerCase()}` }, part))
	view.append(h("header.view-head", h("div.search", icon("search"), field, clear)), tabs, scan, scroller)
	let timer = 0
	field.addEventListener("input", () => {
		clearTimeout(timer)
		timer = setTimeout(() => {
			const text = field.value.trim()
			clear.hidden = !text
			history.replaceState(null, "", text ? `#/library/search/${encodeURIComponent(text)}` : "#/library")
			openLibrary()
		}, 80)
	})
}

export const focusSearch = () => field.select()

const markOf = () => JSON.stringify([store.library.revision, store.library.trackCount, store.library.albumCount, store.library.folders, !store.library.scan, store.inputs])

export function drawLibrary() {
	const now = store.library.scan
	scan.hidden = !now
	if (shown && mark !== markOf() && !view.hidden) {
		look ||= setTimeout(() => {
			look = 0
			load()
		}, Math.max(0, lookedMs + lookMs - performance.now()))
	}
	if (now) setText(scan, `Reading ${now.folder ?? "the library"}: ${count(now.done, "file")} of ${now.total.toLocaleString("en")}`)
}

/** Shows the place in the address. Stores each place's scroll position for the way back. */
export async function openLibrary() {
	// The address without a part means the albums.
	const address = location.hash || "#/library"
	if (shown === address) return
	if (shown) scrolled.set(shown, scroller.scrollTop)
	shown = address
	told = ""
	const part = address.split("/")[2]
	for (const tab of tabs.children) attribute(tab, "aria-current", tab.hash === `#/library/${part ?? "albums"}` && "page")
	if (part !== "search") field.value = ""
	clear.hidden = !field.value
	if (await load()) scroller.scrollTop = scrolled.get(address) ?? 0
}

/** Loads the place in the address. If the answers are the same, the view stays as it is. */
async function load() {
	const own = ++visit
	const [, , part = "albums", ...rest] = shown.split("/")
	mark = markOf()
	lookedMs = performance.now()
	const answers = []
	const read = async (path) => {
		const answer = await get(path)
		answers.push(JSON.stringify(answer))
		return answer
	}
	let content
	try {
		content = await (pages[part] ?? pages.albums)(decodeURIComponent(rest.join("/")), read)
	} catch (error) {
		content = [empty("warn", "This could not be loaded", error.message, { button: "Try again", act: load })]
		answers.push(error.message)
	}
	const text = JSON.stringify([shown, !store.library.scan, store.library.folders, store.inputs, answers])
	if (own !== visit || text === told) return false
	told = text
	const place = scroller.scrollTop
	const focused = [...scroller.querySelectorAll("a, button")].indexOf(document.activeElement)
	put(content.filter(Boolean))
	scroller.scrollTop = place
	if (focused >= 0) scroller.querySelectorAll("a, button")[focused]?.focus({ preventScroll: true })
	return true
}

/** Shows elements. Those shown already stay unchanged. */
function put(content) {
	content.forEach((element, index) => {
		const old = scroller.children[index]
		if (old === element) return
		if (old && !content.includes(old)) old.replaceWith(element)
		else scroller.insertBefore(element, old ?? null)
	})
	while (scroller.children.length > content.length) scroller.lastChild.remove()
	for (const element of content) element.list?.refresh()
}

const pages = {
	async albums(sort, read) {
		const order = sorts[sort] ? sort : localStorage.getItem("tutti.sort") ?? "artist"
		localStorage.setItem("tutti.sort", order)
		const { element, total } = await pagedGrid(`/library/albums?sort=${order}`, "albums", albumCard, read)
		const links = Object.entries(sorts).map(([key, text]) => h("a", { href: `#/library/albums/${key}`, "aria-current": key === order && "true" }, text))
		return total ? [h("div.sorts", h("span.dim", count(total, "album")), links), element] : [noLibrary()]
	},
	async artists(_, read) {
		const { element, total } = await pagedGrid("/library/artists?", "artists", artistCard, read)
		return [total ? element : noLibrary()]
	},
	async artist(id, read) {
		const { albums } = await read(`/library/albums?sort=year&artistId=${encodeURIComponent(id)}&limit=500`)
		return [pageHead(".artist", albums[0]?.artist ?? "Artist", null, count(albums.length, "album"), albums[0]?.artwork, [{ artistId: id }]), grid(albums, albumCard)]
	},
	async album(id, read) {
		const { album, tracks } = await read(`/library/albums/${encodeURIComponent(id)}`)
		const isSet = tracks.some((track) => track.disc > 1)
		const artist = album.artistId ? h("a", { href: `#/library/artist/${album.artistId}` }, album.artist) : album.artist
		return [pageHead("", album.title, artist, dotted(album.year, count(tracks.length, "track"), span(album.durationS)), album.artwork, [{ albumId: id }]),
			h("ol.tracks", tracks.map((track, index) => trackRow(track, { tracks, index, lead: isSet ? `${track.disc}.${track.track}` : track.track,
				below: track.artist === album.artist ? "" : track.artist })))]
	},
	async folders(asked, read) {
		// If the library has only one folder, open it.
		const root = store.library.folders?.length === 1 ? store.library.folders[0] : ""
		const path = asked || root
		const { folders, tracks } = await read(`/library/folders?path=${encodeURIComponent(path)}`)
		if (path === root && !folders.length && !tracks.length) return [noLibrary()]
		const link = (path) => `#/library/folders/${path.split("/").map(encodeURIComponent).join("/")}`
		const steps = path ? path.split("/") : []
		const first = root ? 1 : 0
		return [h("nav.crumbs", { "aria-label": "Folder" }, h("a", { href: "#/library/folders" }, "Music"),
			steps.slice(first).map((name, index) => [icon("right"), h("a", { href: link(steps.slice(0, index + first + 1).join("/")) }, name)]).flat()),
		path ? verbs([{ folder: path }], steps.at(-1)) : "",
		h("ol.tracks", folders.map(({ name, path }) => row(name, [{ folder: path }], { symbol: "folder", href: link(path) })),
			tracks.map((track, index) => trackRow(track, { tracks, index, lead: track.track })))]
	},
	async radio(_, read) {
		const { radios } = await read("/library/radios")
		const button = "Add a station"
		return [...store.inputs.length && !isGuest() ? [h("h2.part", "Inputs"), grid(store.inputs, radioCard)] : [],
			...radios.length ? [h("div.part", h("h2", "Stations"), !isGuest() && textButton("plus", button, addRadio)), grid(radios, radioCard)]
				: [empty("radio", "No station yet", "Add one with the address of its stream or playlist.", { button, act: addRadio })]]
	},
	async playlists(_, read) {
		const { playlists } = await read("/library/playlists")
		return [playlists.length ? h("ol.tracks", playlists.map(playlistRow))
			: empty("save", "No playlist yet", "Save the queue as a playlist, or put M3U files into the library's folders.")]
	},
	async playlist(id, read) {
		const { playlist, entries, missing } = await read(`/library/playlists/${encodeURIComponent(id)}`)
		const gone = playlist.trackCount - entries.length
		return [pageHead("", playlist.name, null, dotted(count(entries.length, "track"), gone > 0 && `${gone} ${gone > 1 ? "are" : "is"} gone`), entries[0]?.artwork, [{ playlistId: id }]), h("ol.tracks", entries.map(looseTrack)),
			missing.length > 0 && h("p.dim", `Not found any more: ${missing.join(", ")}${missing.length < gone ? " …" : "."}`)]
	},
	async search(text, read) {
		if (field.value.trim() !== text) field.value = text
		const found = await read(`/library/search?q=${encodeURIComponent(text)}&limit=24`)
		const parts = [["artists", artistCard], ["albums", albumCard], ["tracks", looseTrack], ["radios", radioCard], ["playlists", playlistRow]]
		const all = parts.filter(([name]) => found[name]?.length).flatMap(([name, card]) => [h("h2.part", name[0].toUpperCase() + name.slice(1)),
			card.create ? grid(found[name], card) : h("ol.tracks", found[name].map(card))])
		return all.length ? all : [empty("search", `Nothing is called “${text}”`, "Fewer letters find more. The beginning of a word is enough.")]
	},
}

/** Grids by path. A grid fetches a hundred items when they come into view, and again after a change of the library; old ones stay until then. */
const grids = new Map()
async function pagedGrid(path, name, card, read) {
	const grid = grids.get(path) ?? newGrid(path, name, card)
	grids.set(path, grid)
	if (grid.mark !== mark) {
		grid.mark = mark
		grid.asked.clear()
		grid.list.count = grid.total = await grid.load(0, read).catch((error) => {
			grid.mark = ""
			throw error
		})
		grid.list.refresh()
	}
	return grid
}

function newGrid(path, name, card) {
	const size = 100
	const items = []
	const asked = new Set()
	const load = async (page, read = get) => {
		asked.add(page)
		const found = await read(`${path}&offset=${page * size}&limit=${size}`)
		found[name].forEach((item, index) => (items[page * size + index] = item))
		items.length = Math.min(items.length, found.count)
		return found.count
	}
	const list = new VirtualList(scroller, {
		kind: "covers", gap: 16, create: card.create,
		columns: (width) => Math.max(2, Math.floor((width + 16) / (innerWidth < 700 ? 150 : 184))),
		rowHeight: (width) => Math.ceil(width) + 68,
		update: (item, index) => fill(item, card, items[index]),
		need: (first, end) => {
			for (let page = Math.floor(first / size); page * size < end; page++) {
				if (!asked.has(page)) load(page).then(() => list.refresh(), () => asked.delete(page))
			}
		},
	})
	list.element.list = list
	return { element: list.element, list, load, asked, total: 0 }
}

const grid = (items, card) => h("ul.grid", items.map((item) => fill(card.create(), card, item)))

function fill(item, card, thing) {
	item.classList.toggle("blank", !thing)
	if (!thing || item.shown === thing) return item
	item.shown = thing
	const { href, artwork, title, below, symbol } = card.show(thing)
	if (href) item.main.href = href
	item.main.title = dotted(title, below)
	setCover(item.picture, artwork)
	if (symbol) setIcon(item.picture, symbol)
	setText(item.text.top, title)
	setText(item.text.below, below)
	if (item.button) label(item.button, `${card.verb} ${title}`)
	return item
}

/** A cover with two lines below it, and optionally a button on it. */
function tile(tag, kind, act, symbol, more, classes) {
	const [picture, text] = [cover(null), lines()]
	const main = h(tag, act ? { onclick: () => act(item.shown) } : {}, picture, text.box)
	const button = symbol && iconButton(symbol, "", (event) => more(item.shown, event.currentTarget), classes)
	const item = Object.assign(h(`li.tile${kind}`, main, button), { main, picture, text, button })
	return item
}

const playAlbum = ({ id, title }) => enqueue([{ albumId: id }], "now", title)

const albumCard = {
	verb: "Play",
	create: () => tile("a", "", null, "play", playAlbum, ".filled.quick"),
	show: (album) => ({ href: `#/library/album/${album.id}`, artwork: album.artwork, title: album.title, below: dotted(album.year, album.artist) }),
}

/** The newest albums. A tap plays one. */
export const newest = async () => grid((await get("/library/albums?sort=added&limit=6")).albums, { ...albumCard, create: () => tile("button", "", playAlbum) })

const artistCard = {
	create: () => tile("a", ".artist"),
	show: (artist) => ({ href: `#/library/artist/${artist.id}`, artwork: artist.artwork, title: artist.name, below: count(artist.albumCount, "album") }),
}

const itemsOf = ({ id, name }) => [id ? { radioId: id } : { inputId: name }]

/** A radio station, or an input such as a turntable, which has no id. */
const radioCard = {
	verb: "More for",
	create: () => tile("button.station", "", (shown) => enqueue(itemsOf(shown), "now", shown.name), "more", (shown, anchor) =>
		playMenu(anchor, itemsOf(shown), shown.name, shown.id && forHousehold(null, drop(`/library/radios/${shown.id}`))), ".corner"),
	show: ({ artwork, name, uri, kind, onSound, isHeard }) => ({ artwork, title: name, symbol: uri ? "radio" : "wave",
		below: uri ? host(uri) : isHeard ? "Sounds now" : onSound ? `Plays by itself in ${onSound}` : kind === "card" ? "Sound card" : "Other program" }),
}

const host = (uri) => (URL.canParse(uri) ? new URL(uri).host : uri)

function addRadio() {
	ask("Address of the station", { hint: "http://…", button: "Next", inputmode: "url" }, async (uri) => {
		if (!/^https?:\/\//.test(uri)) throw new Error("An address begins with http:// or https://")
		ask("Name of the station", { value: host(uri) }, async (name) => {
			await request("POST", "/library/radios", { name, uri })
			load()
		})
	})
}

const drop = (path) => ["trash", "Delete", async () => (await act("DELETE", path)) && load(), "danger"]

const verbs = (items, name) => h("div.verbs", textButton("play", "Play", () => enqueue(items, "now", name), ".primary"),
	textButton(null, "Play next", () => enqueue(items, "next", name)), textButton("plus", "Add", () => enqueue(items, "end", name)))

const pageHead = (kind, title, byline, text, artwork, items) => h(`header.page-head${kind}`, cover(artwork, 1200),
	h("div.page-text", h("h1", title), byline && h("p.byline", byline), h("p.dim", text)), verbs(items, title))

/** A track in its album. A tap plays the album from here on. */
const trackRow = (track, { tracks, index, ...more }) => row(track.title, [{ trackId: track.id }], { ...more, time: track.durationS, hasVideo: track.hasVideo,
	start: () => enqueue(tracks.slice(index).map((other) => ({ trackId: other.id })), "now", track.title) })

/** A track of a search or a playlist. A playlist's entry has its track's id, or an address. */
const looseTrack = (track) => row(track.title, [track.uri && !track.trackId ? { uri: track.uri } : { trackId: track.trackId ?? track.id }],
	{ artwork: track.artwork ?? null, below: dotted(track.artist, track.album), time: track.durationS, hasVideo: track.hasVideo })

const playlistRow = ({ id, name, trackCount }) => row(name, [{ playlistId: id }], { symbol: "queue", below: count(trackCount, "track"), href: `#/library/playlist/${id}`,
	more: forHousehold(null, drop(`/library/playlists/${id}`)) })

function row(title, items, { lead, artwork, symbol, below, time, hasVideo, href, more, start = () => enqueue(items, "now", title) }) {
	const inner = [lead != null && h("span.lead", lead), artwork !== undefined && cover(artwork), symbol && icon(symbol),
		h("span.two", h("span.entry-title", title), below && h("span.dim", below)), hasVideo && icon("video"), time != null && h("time", clock(time))]
	return h("li.row", href ? h("a.row-main", { href }, inner) : h("button.row-main", { onclick: start }, inner),
		iconButton("plus", `Add ${title} to the end`, () => enqueue(items, "end", title)),
		iconButton("more", `More for ${title}`, (event) => playMenu(event.currentTarget, items, title, more)))
}
