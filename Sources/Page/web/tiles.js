// Covers in grids and rows of tracks: how albums, artists, stations and tracks look, and what a tap on them does.

import { act, ask, clock, closeAll, confirm, count, cover, dotted, enqueue, forHousehold, get, h, heart, icon, iconButton, keyOf, label, lines, mark, play, playMenu, renameLine, request, setCover, textButton, toast, url } from "./kit.js"
import { load } from "./library.js"
import { VirtualList } from "./virtual.js"

export const scroller = h("div.scroll", { tabindex: -1 })

/** Grids by path. A grid fetches a hundred items when they come into view, and again after a change of the library, `mark`; old ones stay until then. */
const grids = new Map()
export async function pagedGrid(path, name, card, read, mark) {
	const grid = grids.get(path) ?? newGrid(path, name, card)
	grids.set(path, grid)
	// A household that looks at many genres needs only the last ones again.
	if (grids.size > 12) grids.delete(grids.keys().next().value)
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
	const rows = { kind: "tracks", columns: () => 1, rowHeight: () => 60 }
	const tiles = { kind: "covers", gap: 16, columns: (width) => Math.max(2, Math.floor((width + 16) / (innerWidth < 700 ? 150 : 184))), rowHeight: (width) => Math.ceil(width) + 68 }
	const list = new VirtualList(scroller, {
		...(card.create ? tiles : rows), create: card.create ?? (() => h("li.row")),
		update: (item, index) => (card.create ? fill(item, card, items[index]) : items[index] && item.shown !== items[index] && Object.assign(item, { shown: items[index] }).replaceChildren(...card(items[index]).children)),
		need: (first, end) => {
			for (let page = Math.floor(first / size); page * size < end; page++) {
				if (!asked.has(page)) load(page).then(() => list.refresh(), () => asked.delete(page))
			}
		},
	})
	list.element.list = list
	return { element: list.element, list, load, asked, total: 0 }
}

export const grid = (items, card, kind = "grid") => h(`ul.${kind}`, items.map((item) => fill(card.create(item), card, item)))

function fill(item, card, thing) {
	mark(item, "blank", !thing)
	if (!thing || item.shown === thing) return item
	item.shown = thing
	const { href, artwork, title, below, symbol } = card.show(thing)
	if (href) item.main.href = href
	item.main.title = dotted(title, below)
	setCover(item.picture, artwork, title, symbol)
	item.text.tell(title, below)
	if (item.button) label(item.button, `${card.verb} ${title}`)
	return item
}

/** A cover with two lines below it, and optionally a button on it. */
function tile(tag, kind, act, symbol, more, classes) {
	const [picture, text] = [cover(), lines()]
	const main = h(tag, act && (() => act(item.shown)), picture, text.box)
	const button = symbol && iconButton(symbol, "", (event) => more(item.shown, event.currentTarget), classes)
	const item = Object.assign(h(`li.tile${kind}`, main, button), { main, picture, text, button })
	return item
}

const playAlbum = ({ id, title }) => play([{ albumId: id }], title)

export const albumCard = {
	verb: "Play",
	create: () => tile("a", "", null, "play", playAlbum, ".filled.quick"),
	show: (album) => ({ href: `#/library/album/${album.id}`, artwork: album.artwork, title: album.title, below: dotted(album.year, album.artist) }),
}

/** An album on its artist's page. */
export const ownAlbumCard = { ...albumCard, show: (album) => ({ ...albumCard.show(album), below: dotted(album.year, count(album.trackCount, "track")) }) }

export const artistCard = {
	create: () => tile("a", ".artist"),
	show: (artist) => ({ href: `#/library/artist/${artist.id}`, artwork: artist.artwork, title: artist.name, below: count(artist.albumCount, "album") }),
}

/** A genre or a composer: a coloured field with its name. */
export const tagCard = {
	create: () => tile("a", ".tag"),
	show: ({ id, name, albumCount }) => ({ href: url`#/library/tag/${id}/${name}`, title: name, below: count(albumCount, "album"), symbol: "note" }),
}

const itemsOf = ({ id, name }) => [id ? { radioId: id } : { inputId: name }]

/** Places of things that have a page. The others play. */
const pageOf = ({ kind, id }) => ["album", "artist", "playlist", "podcast"].includes(kind) && url`#/library/${kind}/${id}`
const kinds = { artist: "Artist", radio: "Station", playlist: "Playlist", input: "Input", podcast: "Podcast" }
const playThing = ({ kind, id, title }) => play([{ [`${kind}Id`]: id }], title)

/** A favourite, or what was played lately: one tap on its button plays it. */
export const thingCard = {
	verb: "Play",
	create: (thing) => tile(pageOf(thing) ? "a" : "button", `.thing${thing.kind === "artist" ? ".artist" : ""}`, pageOf(thing) ? null : playThing, "play", playThing, ".filled.quick"),
	show: (thing) => ({ href: pageOf(thing), artwork: thing.artwork, title: thing.title, below: thing.detail ?? kinds[thing.kind],
		symbol: { radio: "radio", playlist: "queue", input: "wave" }[thing.kind] }),
}

/** A radio station, or an input such as a turntable, which has no id. */
export const radioCard = {
	verb: "More for",
	create: () => tile("button.station", "", (shown) => play(itemsOf(shown), shown.name), "more", (shown, anchor) =>
		playMenu(anchor, itemsOf(shown), shown.name, shown.id ? forHousehold(null, renameRadio(shown), drop(`/library/radios/${shown.id}`, `station ${shown.name}`)) : []), ".corner"),
	show: ({ artwork, name, uri, kind, onSound, isHeard }) => ({ artwork, title: name, symbol: uri ? "radio" : "wave",
		below: uri ? host(uri) : isHeard ? "Sounds now" : onSound ? `Plays by itself in ${onSound}` : kind === "card" ? "Sound card" : "Other program" }),
}

const host = (uri) => (URL.canParse(uri) ? new URL(uri).host : uri)

export function addRadio() {
	const more = h("label.field", "Or a list in a file", h("input", { type: "file", onchange: addRadios }))
	ask("Address of the station", { hint: "http://…", button: "Add", inputmode: "url", more }, async (uri) => {
		const { data } = await request("POST", "/library/radios", { uri })
		toast(`${data.name} is a station now`)
		load()
	})
}

async function addRadios({ target }) {
	let name, picture
	for (const line of (await target.files[0].text()).split("\n")) {
		if (/^http/.test(line)) await act("POST", "/library/radios", { uri: line.trim(), name, picture })
		name = /^#EXTINF.*?,(.*)/.exec(line)?.[1].trim()
		picture = /tvg-logo="(http[^"]+)/.exec(line)?.[1]
	}
	closeAll()
	load()
}

const renameRadio = ({ name, uri }) => renameLine("station", name, async (name) => {
	await request("POST", "/library/radios", { name, uri })
	load()
})

export const drop = (path, what) => ["trash", "Delete", () => confirm(`Delete the ${what}?`, "This cannot be undone.", "Delete", async () => (await act("DELETE", path)) && load()), "danger"]

export const verbs = (items, name) => h("div.verbs", textButton("play", "Play", () => play(items, name), ".primary"),
	textButton(null, "Play next", () => enqueue(items, "next", name)), textButton("plus", "Add", () => enqueue(items, "end", name)),
	keyOf(items) && heart(keyOf(items), name), iconButton("more", `More for ${name}`, (event) => playMenu(event.currentTarget, items, name)))

export const pageHead = (kind, title, byline, text, artwork, items) => h(`header.page-head${kind}`, cover(artwork, title, "", 1200),
	h("div.page-text", h("h1", title), byline && h("p.byline", byline), h("p.dim", text)), verbs(items, title))

/** A track in its album. A tap plays the album from here on. */
export const trackRow = (track, { tracks, index, ...more }) => row(track.title, [{ trackId: track.id }], { ...more, time: track.durationS, hasVideo: track.hasVideo,
	start: () => play(tracks.slice(index).map((other) => ({ trackId: other.id })), track.title) })

/** A track of a search or a playlist. A playlist's entry has its track's id, or an address. */
export const looseTrack = (track, more) => row(track.title, [track.uri && !track.trackId ? { uri: track.uri } : { trackId: track.trackId ?? track.id }],
	{ artwork: track.artwork ?? null, album: track.album, below: dotted(track.artist, track.album), time: track.durationS, hasVideo: track.hasVideo, more })

export function row(title, items, { lead, artwork, album, symbol, below, time, hasVideo, href, more, start = () => play(items, title) }) {
	const inner = [lead != null && h("span.lead", lead), artwork !== undefined && cover(artwork, album ?? title), symbol && icon(symbol),
		h("span.two", h("span.entry-title", title), below && h("span.dim", below)), hasVideo && icon("video"), time != null && h("time", clock(time))]
	return h("li.row", href ? h("a.row-main", { href }, inner) : h("button.row-main", start, inner),
		iconButton("plus", `Add ${title} to the end`, () => enqueue(items, "end", title)),
		iconButton("more", `More for ${title}`, (event) => playMenu(event.currentTarget, items, title, more)))
}
