// Ways into the library: its home, with favourites and what was played, and lists.

import { act, clamp, confirm, count, dotted, empty, get, h, icon, isGuest, language, noLibrary, on, onKeys, readFavourites, setText, textButton, url } from "./kit.js"
import { albumCard, grid, pagedGrid, pageHead, row, tagCard, thingCard } from "./tiles.js"

export const part = (title, href, text = "All") => h("div.part", h("h2", title), href && h("a.all", { href, called: `${text}: ${title}` }, text, icon("right")))

/** Favourites, what was played lately, and what is new. `isWhole`: favourites only, all of them. */
export async function homeParts(read = get, isWhole) {
	const favourites = await readFavourites(read)
	if (isWhole) return [favourites.length ? grid(favourites, thingCard) : noFavourite()]
	const { begun, recent } = isGuest() ? { begun: [], recent: [] } : { ...await read("/library/begun"), ...await read("/library/recent?limit=12") }
	const { albums } = await read("/library/albums?sort=added&limit=18")
	const fresh = albums.map(({ id, title, artist, artwork }) => ({ kind: "album", id, title, detail: artist, artwork }))
	const strip = (title, things, href, text) => (things.length ? [part(title, href, text), grid(things, thingCard, "strip")] : [])
	return [
		...strip("Favourites", favourites.slice(0, 18), favourites.length > 18 && "#/library/favourites"),
		...strip("Continue listening", begun),
		...strip("Played lately", recent, "#/library/history", "History"),
		...strip("New in the library", fresh, "#/library/albums/added"),
	]
}

const noFavourite = () => empty("heart", "No favourite yet", "A tap on a heart keeps an album, artist, track, station or playlist here.")

export async function home(_, read) {
	const parts = await homeParts(read)
	return parts.length ? parts : [noLibrary()]
}

export async function history(_, read) {
	const days = new Intl.DateTimeFormat(language(), { weekday: "long", day: "numeric", month: "long" })
	const hours = new Intl.DateTimeFormat(language(), { timeStyle: "short" })
	const { count: total, plays } = await read("/library/history?limit=500")
	if (!total) return [empty("disc", "Nothing was played yet", "What plays for 20 seconds stands here afterwards.")]
	let day = ""
	const rows = plays.flatMap((play) => {
		const at = new Date(play.atS * 1000)
		const isNew = day !== days.format(at)
		day = days.format(at)
		const text = dotted(hours.format(at), play.artist)
		return [isNew && h("li", h("h3.day", day)), play.id ? row(play.title, [{ [`${play.kind}Id`]: play.id }], { artwork: play.artwork ?? null, below: text })
			: h("li.row", h("span.two", h("span.entry-title", play.title), h("span.dim", dotted(text, "gone"))))]
	})
	const forget = () => confirm("Forget what was played?", "The history is empty afterwards. Favourites and the queue stay.", "Forget it",
		async () => await act("DELETE", "/library/history") && location.assign("#/library"))
	return [h("div.part", h("h2", "History"), textButton("trash", "Forget", forget)), h("ol.tracks", rows.filter(Boolean))]
}

const ways = { genres: "Genres", composers: "Composers", years: "Years" }
const wayLinks = (current, text) => h("div.sorts", h("span.dim", text), Object.entries(ways).map(([key, title]) => h("a", { href: `#/library/${key}`, "aria-current": key === current }, title)))

export async function genres(kind, read) {
	const { count: total, tags } = await read(`/library/${kind}?limit=1000`)
	const word = kind.slice(0, -1)
	return [wayLinks(kind, count(total, word)), total ? grid(tags, tagCard)
		: empty("note", `No ${word} yet`, `Music whose files name a ${word} stands here.`)]
}

export async function years(_, read) {
	const { years } = await read("/library/years")
	const decades = [...new Set(years.map(({ year }) => Math.floor(year / 10)))]
	return [wayLinks("years", count(years.length, "year")), ...decades.flatMap((decade) => [h("h2.part", `${decade}0s`), h("div.choices", years.filter(({ year }) => Math.floor(year / 10) === decade)
		.map(({ year, albumCount }) => h("a.soft", { href: `#/library/year/${year}`, title: count(albumCount, "album") }, String(year))))])]
}

/** A genre or a composer. It plays its albums, the first hundred. */
export async function tag(path, read, mark) {
	const [id, ...name] = path.split("/")
	const { element, total } = await pagedGrid(url`/library/albums?sort=artist&tagId=${id}`, "albums", albumCard, read, mark)
	const items = async () => (await get(url`/library/albums?sort=artist&tagId=${id}&limit=100`)).albums.map((album) => ({ albumId: album.id }))
	return [pageHead("", name.join("/"), null, count(total, "album"), null, items), element]
}

// Letters beside a long list. A finger that moves over them scrolls the list.

export const letters = h("div.letters", { role: "slider", tabindex: 0, called: "Letter", "aria-orientation": "vertical", "aria-valuemin": 0, hidden: true })
const bubble = h("output", { "aria-hidden": true })
let [places, list, at, asked] = [[], null, 0, ""]

/** Shows the letters of a list of the library, named as the API names it. */
export async function drawLetters(of, ofList) {
	asked = of || ""
	letters.hidden = true
	if (!of) return
	const found = await get(`/library/letters?of=${of}`).catch(() => null)
	if (asked !== of || !(found?.letters.length > 1)) return
	;[places, list, at] = [found.letters, ofList, 0]
	letters.replaceChildren(...places.map(({ letter }) => h("span", letter.replace(/^\d\d(\d\ds)$/, "$1"))), bubble)
	letters.ariaValueMax = places.length - 1
	tell()
	letters.hidden = false
}

function tell() {
	letters.ariaValueNow = at
	letters.ariaValueText = places[at].letter
}

function jump(to) {
	at = clamp(to, 0, places.length - 1)
	tell()
	list.scrollTo(places[at].offset, "instant", 0)
}

function follow(event) {
	const box = letters.getBoundingClientRect()
	jump(Math.floor(((event.clientY - box.top) / box.height) * places.length))
	setText(bubble, places[at].letter)
	bubble.style.top = `${clamp(event.clientY - box.top, 30, box.height - 30)}px`
}

on(letters, "pointerdown", (event) => {
	letters.setPointerCapture(event.pointerId)
	letters.classList.add("held")
	follow(event)
})
on(letters, "pointermove", (event) => letters.classList.contains("held") && follow(event))
on(letters, "pointerup pointercancel", () => letters.classList.remove("held"))
onKeys(letters, { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity }, (way) => jump(at + way))
