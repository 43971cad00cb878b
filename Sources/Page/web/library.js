// The library view: albums, artists, folders, radio, playlists, and one search through all of them.

import { attribute, byId, count, dotted, empty, get, h, icon, iconButton, isGuest, makePlaylist, noLibrary, on, reading, remember, remembered, setText, span, store, textButton, url } from "./kit.js"
import { drawLetters, genres, history as played, home, homeParts, letters, part as heading, tag, years } from "./browse.js"
import { playlistPage, playlistRow } from "./playlists.js"
import { podcast, podcastRow, podcasts } from "./podcasts.js"
import { addRadio, albumCard, artistCard, grid, looseTrack, ownAlbumCard, pagedGrid, pageHead, radioCard, row, scroller, trackRow, verbs } from "./tiles.js"

const view = byId("library")
const field = h("input", { type: "search", placeholder: "Search", called: "Search the library", autocomplete: "off", spellcheck: "false", enterkeyhint: "search" })
const clear = iconButton("close", "Clear the search", () => {
	field.value = ""
	field.dispatchEvent(new Event("input"))
	field.focus()
})
const tabs = h("nav.tabs", { called: "Parts of the library" })
const scan = h("p.scan.dim", { role: "status" })
const sorts = { artist: "Artist", title: "Title", added: "New", year: "Year" }
const scrolled = new Map()
/** Minimum time between two reloads while a scan changes the library. */
const lookMs = 2000
/** A list that is longer has letters to jump to. */
const lettered = 60
let visit = 0
let shown = ""
/** The library's state that the view shows, when it was loaded, and the text of the answers. */
let mark = ""
let lookedMs = -Infinity
let told = ""
let look = 0

export function buildLibrary() {
	for (const part of ["Home", "Albums", "Artists", "Tracks", "Genres", "Playlists", "Radio", "Podcasts", "Folders"]) tabs.append(h("a", { href: `#/library/${part.toLowerCase()}` }, part))
	view.append(h("header.view-head", h("div.search", icon("search"), field, clear)), tabs, scan, scroller, letters)
	let timer = 0
	on(field, "input", () => {
		clearTimeout(timer)
		timer = setTimeout(() => {
			const text = field.value.trim()
			clear.hidden = !text
			history.replaceState(null, "", text ? url`#/library/search/${text}` : "#/library")
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
	if (now) setText(scan, reading(now))
}

/** Shows the place in the address. Stores each place's scroll position for the way back. */
export async function openLibrary() {
	const address = location.hash || "#/library"
	if (shown === address) return
	if (shown) scrolled.set(shown, scroller.scrollTop)
	shown = address
	told = ""
	const part = address.split("/")[2]
	const current = { composers: "genres", years: "genres", year: "genres", tag: "genres", album: "albums", artist: "artists", playlist: "playlists", podcast: "podcasts" }[part] ?? part ?? "home"
	for (const tab of tabs.children) {
		const isCurrent = tab.hash === `#/library/${current}`
		attribute(tab, "aria-current", isCurrent && "page")
		if (isCurrent) tabs.scrollLeft = tab.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2
	}
	if (part !== "search") field.value = ""
	clear.hidden = !field.value
	if (await load()) scroller.scrollTop = scrolled.get(address) ?? 0
}

/** Loads the place in the address. If the answers are the same, the view stays as it is. */
export async function load() {
	const own = ++visit
	const [, , part = "home", ...rest] = shown.split("/")
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
		content = await (pages[part] ?? pages.home)(decodeURIComponent(rest.join("/")), read, mark)
	} catch (error) {
		content = [empty("warn", "This could not be loaded", error.message, { button: "Try again", act: load })]
		answers.push(error.message)
	}
	const text = JSON.stringify([shown, !store.library.scan, store.library.folders, store.inputs, answers])
	if (own !== visit || text === told) return false
	told = text
	const jumps = content.find((element) => element?.jumps)
	drawLetters(jumps?.jumps, jumps?.list)
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

/** A list of everything of a kind, with its length and letters above and beside it. */
async function longList(path, kind, card, read, mark, { jumps, links, title }) {
	const { element, total } = await pagedGrid(path, kind, card, read, mark)
	element.jumps = total > lettered && jumps
	return total ? [h("div.sorts", h("span.dim", dotted(title, count(total, kind.slice(0, -1)))), links), element] : [noLibrary()]
}

const newPlaylist = () => makePlaylist([], load)

const pages = {
	home,
	genres: (_, read) => genres("genres", read),
	composers: (_, read) => genres("composers", read),
	years,
	tag,
	history: played,
	async favourites(_, read) {
		return [h("h2.part", "Favourites"), ...await homeParts(read, true)]
	},
	albums(sort, read, mark) {
		const order = sorts[sort] ? sort : remembered("sort") ?? "artist"
		remember("sort", order)
		const links = Object.entries(sorts).map(([key, text]) => h("a", { href: `#/library/albums/${key}`, "aria-current": key === order }, text))
		return longList(`/library/albums?sort=${order}`, "albums", albumCard, read, mark, { jumps: `albums&sort=${order}`, links })
	},
	artists(_, read, mark) {
		return longList("/library/artists?", "artists", artistCard, read, mark, { jumps: "artists" })
	},
	tracks(path, read, mark) {
		const [id, name] = path.split("/")
		return longList(`/library/tracks?${id ? url`artistId=${id}` : ""}`, "tracks", looseTrack, read, mark, { jumps: id ? "" : "tracks", title: name && `All by ${name}` })
	},
	async artist(id, read) {
		const { artist, albums, appearsOn, trackCount } = await read(url`/library/artists/${id}`)
		const all = url`#/library/tracks/${id}/${artist.name}`
		return [pageHead(".artist", artist.name, null, dotted(albums.length && count(albums.length, "album"), count(trackCount, "track")), artist.artwork, [{ artistId: id }]),
			heading("Albums", all, "All tracks"), grid(albums, ownAlbumCard), ...appearsOn.length ? [h("h2.part", "Also on"), grid(appearsOn, albumCard)] : []]
	},
	/** The artist of this name, as the music that plays tells it. */
	async named(name, read) {
		const { artists } = await read(url`/library/search?q=${name}&limit=50`)
		const found = artists.find((artist) => artist.name === name)
		return found ? pages.artist(found.id, read) : pages.search(name, read)
	},
	year(year, read, mark) {
		return longList(`/library/albums?sort=artist&year=${Number(year)}`, "albums", albumCard, read, mark, { title: year })
	},
	async album(id, read) {
		const { album, tracks } = await read(url`/library/albums/${id}`)
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
		const { folders, tracks } = await read(url`/library/folders?path=${path}`)
		if (path === root && !folders.length && !tracks.length) return [noLibrary()]
		const link = (path) => `#/library/folders/${path.split("/").map(encodeURIComponent).join("/")}`
		const steps = path ? path.split("/") : []
		const first = root ? 1 : 0
		return [h("nav.crumbs", { called: "Folder" }, h("a", { href: "#/library/folders" }, "Music"),
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
				: [empty("radio", "No station yet", "Add one with the address of its stream or playlist.", !isGuest() && { button, act: addRadio })]]
	},
	async playlists(_, read) {
		const { playlists } = await read("/library/playlists")
		return playlists.length ? [!isGuest() && h("div.part", h("span"), textButton("plus", "New playlist", newPlaylist)), h("ol.tracks", playlists.map((list) => playlistRow(list)))]
			: [empty("save", "No playlist yet", "Make one, save the queue as one, or put M3U files into the library's folders.", !isGuest() && { button: "New playlist", act: newPlaylist })]
	},
	playlist: playlistPage,
	podcast,
	podcasts,
	/** All results of one kind. */
	found(path, read) {
		const [kind, ...text] = path.split("/")
		return pages.search(text.join("/"), read, mark, kind)
	},
	async search(text, read, _, only) {
		if (field.value.trim() !== text) field.value = text
		clear.hidden = false
		const limit = only ? 1000 : 24
		const found = await read(url`/library/search?q=${text}&limit=${limit}`)
		const parts = [["artists", artistCard], ["albums", albumCard], ["tracks", (track) => looseTrack(track)], ["radios", radioCard], ["playlists", (list) => playlistRow(list)], ["podcasts", (one) => podcastRow(one)]]
		const all = parts.filter(([name]) => found[name]?.length && (!only || name === only)).flatMap(([name, card]) => [
			h("div.part", h("h2", name[0].toUpperCase() + name.slice(1)), !only && found[name].length === limit
				? h("a.all", { href: url`#/library/found/${name}/${text}`, called: `All ${name}` }, "All", icon("right")) : h("span.dim", String(found[name].length))),
			card.create ? grid(found[name], card) : h("ol.tracks", found[name].map(card))])
		return all.length ? all : [empty("search", `Nothing is called “${text}”`, "Fewer letters find more. The beginning of a word is enough.")]
	},
}

