// Builds elements and lists without a framework, and formats numbers.

/** Builds an element: `h("li.row.big", { title, onclick }, "text", child, …)`. `called` is aria-label, `label` that and a tooltip. A function in place of the attributes is `onclick`. */
export function h(selector, ...rest) {
	const [tag, ...classes] = selector.split(".")
	const element = document.createElement(tag)
	if (classes.length) element.className = classes.join(" ")
	if (tag === "button") element.type = "button"
	const more = typeof rest[0] === "function" ? { onclick: rest.shift() } : rest[0]?.constructor === Object ? rest.shift() : {}
	for (const [name, value] of Object.entries(more)) {
		if (name.startsWith("on")) on(element, name.slice(2), value)
		else if (name === "label") label(element, value)
		else attribute(element, name === "called" ? "aria-label" : name, value)
	}
	element.append(...rest.flat().filter((child) => child != null && child !== false))
	return element
}

/** Sets an attribute if it differs; false and null remove it. */
export function attribute(element, name, value) {
	if (value == null || value === false) return element.removeAttribute(name)
	const text = value === true && !name.startsWith("aria") ? "" : String(value)
	if (element.getAttribute(name) !== text) element.setAttribute(name, text)
}

/** Calls `act` for each of the events, whose names are separated by spaces. */
export function on(target, names, act) {
	for (const name of names.split(" ")) target.addEventListener(name, act)
}

/** Calls `act` with what `ways` has for a key that is pressed, in place of what the browser does. */
export function onKeys(target, ways, act) {
	on(target, "keydown", (event) => {
		const way = ways[event.key]
		if (!way) return
		event.preventDefault()
		act(way)
	})
}

/** Adds a class, or removes it. */
export const mark = (element, name, isOn) => element.classList.toggle(name, !!isOn)
/** The values of the boxes in it that are ticked. */
export const ticked = (box) => [...box.querySelectorAll(":checked")].map(({ value }) => value)
export const root = document.documentElement
export const byId = (id) => document.getElementById(id)

/** An address: url`/albums/${id}` encodes what it is given. */
export const url = (texts, ...values) => String.raw({ raw: texts }, ...values.map(encodeURIComponent))

/** What this browser remembers. */
export const remembered = (key) => localStorage.getItem(`tutti.${key}`)
export const remember = (key, value) => localStorage.setItem(`tutti.${key}`, value)

export function label(element, text) {
	attribute(element, "aria-label", text)
	attribute(element, "title", text)
}

export function setText(element, text) {
	if (element.textContent !== text) element.textContent = text
}

/** Fills a box with what `fill` returns, unless `key` is the one that it was filled for. Returns true if it was filled. */
export function refill(box, key, fill) {
	if (box.dataset.key === key) return false
	box.dataset.key = key
	box.replaceChildren(...[fill()].flat())
	return true
}

export function svg(tag, attributes, ...children) {
	const element = document.createElementNS("http://www.w3.org/2000/svg", tag)
	for (const name in attributes) element.setAttribute(name, attributes[name])
	element.append(...children)
	return element
}

export const icon = (name) => svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": true }, svg("use", { href: `#i-${name}` }))
export const setIcon = (element, name) => attribute(element.querySelector("use"), "href", `#i-${name}`)

/** A round button that shows an icon only. */
export const iconButton = (name, label, onclick, classes = "") => h(`button.round${classes}`, { label, onclick }, icon(name))
export const textButton = (name, text, onclick, classes = ".soft") => h(`button${classes}`, onclick, name && icon(name), h("span", text))

/** Two lines of text, the second one dim, in a `box`. `tell` changes them. */
export function lines(tag = "strong", first = "", second = "") {
	const [top, below] = [h(tag, first), h("span.dim", second)]
	const tell = (first, second) => {
		setText(top, first)
		setText(below, second ?? "")
	}
	return { top, below, box: h("span.two", top, below), tell }
}

export const bars = () => h("span.bars", { "aria-hidden": true }, h("i"), h("i"), h("i"))

/** Makes `parent`'s children follow `items`: one element per key, kept, moved or removed as needed. */
export function keyed(parent, items, create, update = (child, item) => child.draw(item), keyOf = ({ id }) => id) {
	const keys = new Set(items.map((item) => String(keyOf(item))))
	const old = new Map()
	for (const child of [...parent.children]) {
		if (keys.has(child.dataset.key)) old.set(child.dataset.key, child)
		else child.remove()
	}
	let place = parent.firstElementChild
	for (const item of items) {
		const key = String(keyOf(item))
		const child = old.get(key) ?? create(item)
		child.dataset.key = key
		if (child === place) place = place.nextElementSibling
		else parent.insertBefore(child, place)
		update(child, item)
	}
}

/** A cover. If there is none, a colour and the first letter of the name, or a symbol. */
export const cover = (...of) => setCover(h("span.cover", icon("note")), ...of)

const hueOf = (name) => [...(name || "")].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 3600, 7) / 10

export function setCover(box, hash, name = "", symbol = "", size = 300) {
	const address = hash ? url`api/v1/artwork/${hash}?size=${size}` : ""
	const key = `${address} ${name} ${symbol}`
	if (box.dataset.key === key) return box
	box.dataset.key = key
	mark(box, "named", !hash && name)
	box.style.setProperty("--hue", hueOf(name))
	attribute(box, "data-letter", symbol || !name ? null : [...name.replace(/^(the|a) /i, "").toUpperCase()].find((letter) => /[\p{L}\p{N}]/u.test(letter)))
	if (box.querySelector("use")) setIcon(box, symbol || "note")
	box.querySelector("img")?.remove()
	if (address) {
		// Hidden until loaded, because browsers draw a broken image if loading fails.
		const image = Object.assign(h("img", { alt: "", decoding: "async" }), { address, tries: 0 })
		box.append(image)
		sight.observe(image)
	}
	return box
}

/** The cover of what plays. All views name a track's cover by its album, so that its letter and colour are the same. */
export const setItemCover = (box, item, size) => setCover(box, item?.artwork, item?.album ?? item?.title, item?.isLive && "radio", size)

/** Covers in view that are not loaded. Two load at a time: a browser has six connections, and no command should wait for one. */
const wanted = new Set()
let loading = 0
const sight = new IntersectionObserver((entries) => {
	for (const { target, isIntersecting } of entries) wanted[isIntersecting ? "add" : "delete"](target)
	loadCovers()
})

function loadCovers() {
	for (const image of wanted) {
		if (loading > 1) return
		wanted.delete(image)
		sight.unobserve(image)
		loading += 1
		image.onload = image.onerror = ({ type }) => {
			loading -= 1
			loadCovers()
			if (type === "load") return image.classList.add("whole")
			// The server may have to make it first, so try again.
			if (++image.tries > 5) {
				image.parentNode.classList.add("named")
				image.remove()
			} else setTimeout(() => sight.observe(image), image.tries * 1000)
		}
		image.src = image.address
	}
}

const padded = (number) => String(number).padStart(2, "0")

/** 622 → "10:22". */
export function clock(seconds) {
	if (seconds == null) return ""
	const whole = Math.max(0, Math.floor(seconds))
	const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
	return `${hours ? `${hours}:${padded(minutes)}` : minutes}:${padded(whole % 60)}`
}

/** 4200 → "1 h 10 min". */
export function span(seconds) {
	const minutes = Math.round(seconds / 60)
	if (minutes < 1) return `${Math.max(1, Math.round(seconds))} s`
	return [minutes >= 60 && `${Math.floor(minutes / 60)} h`, minutes % 60 && `${minutes % 60} min`].filter(Boolean).join(" ")
}

/** 12 → "12 tracks"; 1 → "1 track". */
export const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`
export const reading = ({ folder, done, total }) => `Reading ${folder ?? "the library"}: ${count(done, "file")} of ${total.toLocaleString("en")}`
/** Words of the server, which begin with a small letter, as a sentence. */
export const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`
/** Joins the words that are not empty, with dots between them. */
export const dotted = (...words) => words.filter(Boolean).join(" · ")
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value))
export const whole = (value) => String(Math.round(value))
