// The household's favourites, and the hearts that show them.

import { isGuest } from "./access.js"
import { get, request, store } from "./api.js"
import { iconButton, label, mark, url } from "./dom.js"
import { toast, warn } from "./overlay.js"

/** Keys such as `album/a12`. */
const kept = new Set()
let shown
let readMs = -Infinity

const key = (kind, id) => url`${kind}/${id}`

/** The key of what a request for a queue names. A folder has none, and several items have none. */
export function keyOf(items) {
	if (items?.length !== 1) return ""
	const [[name, id]] = Object.entries(items[0])
	return name.endsWith("Id") ? key(name.slice(0, -2), id) : ""
}

/** Reads them from the server, and marks the hearts. */
export async function readFavourites(read = get) {
	shown = store.library.revision
	readMs = performance.now()
	const { favourites } = await read("/library/favourites")
	kept.clear()
	for (const { kind, id } of favourites) kept.add(key(kind, id))
	drawHearts()
	return favourites
}

/** Reads them again after a change of the library, at most every two seconds. */
export function drawFavourites() {
	if (shown !== store.library.revision && performance.now() > readMs + 2000) readFavourites().catch(() => {})
}

function drawHearts() {
	for (const button of document.querySelectorAll(".heart")) draw(button)
}

function draw(button) {
	const isKept = kept.has(button.dataset.key)
	button.ariaPressed = isKept
	mark(button, "on", isKept)
	button.hidden = !button.dataset.key || isGuest()
	label(button, `Favourite: ${button.dataset.name}`)
}

/** Changes which thing a heart stands for; without a key it is hidden. */
export function aim(button, key = "", name = "") {
	Object.assign(button.dataset, { key, name })
	draw(button)
	return button
}

export function heart(key, name) {
	const button = iconButton("heart", "", () => toggle(button.dataset.key, button.dataset.name), ".heart")
	return aim(button, key, name)
}

const set = (key, isKept) => {
	kept[isKept ? "add" : "delete"](key)
	drawHearts()
}

async function toggle(key, name) {
	const isKept = !kept.has(key)
	set(key, isKept)
	try {
		await request(isKept ? "PUT" : "DELETE", `/library/favourites/${key}`)
		toast(isKept ? `${name} is a favourite` : `${name} is no favourite any more`, isKept ? {} : { undo: () => toggle(key, name) })
	} catch (error) {
		set(key, !isKept)
		warn(error)
	}
}

/** The line of a menu that does the same. */
export function heartLine(items, name) {
	const key = keyOf(items)
	return key && !isGuest() && ["heart", kept.has(key) ? "Remove from the favourites" : "Add to the favourites", () => toggle(key, name), kept.has(key) && "on"]
}
