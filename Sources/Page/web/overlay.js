// Everything above the page: sheets, menus, short messages.

import { store } from "./api.js"
import { byId, h, icon, iconButton, on, onKeys, root, textButton } from "./dom.js"

/** Open dialogs, the newest last. The first adds an entry to the history, so that the back button only closes it. */
const open = []
if (history.state?.isOpen) history.replaceState(null, "")
addEventListener("popstate", () => history.state?.isOpen || closeAll())
let leaving
/** Resolves once the browser has gone back; a view opened before would be left again. */
export const settled = () => leaving
export const closeAll = () => [...open].forEach((dialog) => dialog.close())

/** A sheet: at the bottom on a phone, in the middle elsewhere. `fill(body, close)` builds it, and may return a function to call when the state changes. */
export function sheet(title, fill, classes = ".small") {
	const dialog = h(`dialog.sheet${classes}`, { called: title })
	const close = () => dialog.close()
	const body = h("div.sheet-body")
	dialog.append(h("header", h("h2", title), iconButton("close", "Close", close)), body)
	show(dialog)
	const draw = fill(body, close)
	if (draw) {
		draw()
		store.listeners.add(draw)
		on(dialog, "close", () => store.listeners.delete(draw))
	}
	dialog.querySelector("[autofocus]")?.focus()
}

/** A menu beside `anchor`. Items: [icon, text, action, "danger" or "on"], false for no item, null for a separator. */
export function menu(anchor, title, items) {
	const dialog = h("dialog.menu", { called: title }, h("p.menu-title", title))
	for (const item of items) {
		if (item === null) dialog.append(h("hr"))
		if (!item) continue
		const [symbol, text, run, kind] = item
		dialog.append(textButton(symbol, text, () => { dialog.close(); run(); }, kind ? `.${kind}` : ""))
	}
	const buttons = [...dialog.querySelectorAll("button")]
	show(dialog)
	if (innerWidth >= 700) place(dialog, anchor.getBoundingClientRect())
	buttons[0].focus()
	onKeys(dialog, { ArrowDown: 1, ArrowUp: -1 }, (step) => buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus())
}

function show(dialog) {
	document.body.append(dialog)
	open.push(dialog)
	if (!history.state?.isOpen) history.pushState({ isOpen: true }, "")
	on(dialog, "close", () => {
		open.splice(open.indexOf(dialog), 1)
		lift()
		dialog.remove()
		if (open.length || !history.state?.isOpen) return
		leaving = new Promise((done) => addEventListener("popstate", done, { once: true }))
		history.back()
	})
	// A tap beside it closes it, but only if it began there: a drag out of a slider does not count.
	let beganOutside = false
	on(dialog, "pointerdown", (event) => (beganOutside = event.target === dialog))
	on(dialog, "click", (event) => beganOutside && event.target === dialog && dialog.close())
	dialog.showModal()
	lift()
}

/** Messages and alarms that ring. They are in the newest dialog, because nothing below it can be tapped, and shown again to be above it. */
const float = byId("float")
export function lift() {
	if (float.matches(":popover-open")) float.hidePopover()
	const place = open.at(-1) ?? document.body
	if (float.parentElement !== place) place.append(float)
	if (float.querySelector("section, .toast")) float.showPopover()
}

function place(dialog, from) {
	const { width, height } = dialog.getBoundingClientRect()
	dialog.style.left = `${Math.min(Math.max(8, from.width > width ? from.left : from.right - width), innerWidth - width - 8)}px`
	dialog.style.top = `${from.bottom + height < innerHeight - 12 ? from.bottom + 4 : Math.max(8, from.top - height - 4)}px`
}

/** Shows a short message in place of the last one. `undo` adds a button. */
export function toast(text, { isError = false, undo } = {}) {
	const box = byId("toasts")
	const message = h("div.toast", isError && icon("warn"), h("span", text))
	if (undo) message.append(h("button", () => { message.remove(); undo(); }, "Undo"))
	box.replaceChildren(message)
	lift()
	setTimeout(() => message.remove(), undo || isError ? 8000 : 3000)
}

/** Shows an error. `edited` is what somebody else may have changed in the meantime. */
export const warn = (error, edited) => toast(edited && error.status === 412 ? `Someone else changed ${edited} just now. Here it is; try again.` : error.message, { isError: true })

/** Confirms an action that cannot be undone. */
export const confirm = (title, text, button, act) => sheet(title, (body, close) =>
	body.append(h("p.dim", text), textButton("trash", button, () => { close(); act(); }, ".soft.danger"), h("button.soft", close, "Cancel")))

/** Announces a text to screen readers only. */
export const tell = (text) => (byId("told").textContent = text)

/** Calls `act` when a form is sent, but not while it runs: without its button, the Enter key does not send it either. */
export const once = (submit, act) => async (event) => {
	event.preventDefault()
	submit.disabled = true
	try {
		await act()
	} finally {
		submit.disabled = false
	}
}

/** A form for one line of text, which `act` gets. If `act` throws, the form shows the error and asks again. */
export function question(input, button, act, detail) {
	const problem = h("p.problem", { role: "alert" })
	const submit = h("button.primary", { type: "submit" }, button)
	const onsubmit = once(submit, async () => {
		problem.textContent = ""
		try {
			await act(input.value.trim())
		} catch (error) {
			problem.textContent = error.message
			input.select()
			if (error.retryAfterS) await countDown(submit, error.retryAfterS)
		}
	})
	return h("form.ask", { onsubmit }, detail && h("p", detail), input, problem, submit)
}

/** Asks for one line of text in a sheet. `more` is below. */
export function ask(title, { value = "", hint = "", button = "Save", inputmode = "text", detail, more, isEmptyFine }, act) {
	sheet(title, (body, close) => {
		const input = h("input", { value, placeholder: hint, inputmode, called: title, autofocus: true, autocomplete: "off" })
		body.append(question(input, button, async (text) => {
			if (!text && !isEmptyFine) return
			await act(text)
			close()
		}, detail), more ?? "")
	})
}

/** The line of a menu that asks for another name. */
export const renameLine = (what, value, save) => ["tune", "Rename", () => ask(`Name of the ${what}`, { value }, save)]

/** A row with a title, and a field that needs little space. */
export const labelled = (title, box) => h("label.field.choose", h("h3", title), box)

/** A list of the system's own, in a row with its title. `options`: [value, text]. */
export function select(title, options, value) {
	const box = h("select", options.map(([value, text]) => h("option", { value }, text)))
	box.value = value
	return { box, row: labelled(title, box) }
}

/** A form with a button at its end. */
export function form(button, act, ...parts) {
	const submit = h("button.primary", { type: "submit" }, button)
	return h("form.ask", { onsubmit: once(submit, act) }, parts, h("div.foot", submit))
}

/** Disables a button for some seconds, and shows how many are left. */
async function countDown(button, seconds) {
	const text = button.textContent
	button.disabled = true
	for (let left = seconds; left > 0 && button.isConnected; left--) {
		button.textContent = `Wait ${left} s`
		await new Promise((resolve) => setTimeout(resolve, 1000))
	}
	button.textContent = text
	button.disabled = false
}

/** An empty view: what is missing, the next step, and a command to copy. */
export function empty(symbol, title, text, { command, button, act, more } = {}) {
	return h("div.empty", icon(symbol), h("h2", title), h("p", text),
		command && h("div.command", h("code", command), iconButton("copy", "Copy the command", () => copy(command))),
		button && h("button.primary", act, button), more)
}

export const noRooms = () => empty("speaker", "No room is there yet", "Start a receiver on any Linux machine in this network. It appears here by itself.",
	{ command: "tutti-receiver --name Kitchen" })
export function noLibrary() {
	const { folders = [], scan } = store.library
	if (scan) return empty("library", "Your music is being read", "What is found appears here.")
	if (folders.length) return empty("library", "The library is empty", `No music was found in ${folders.join(", ")}. Files that you put there appear here by themselves.`)
	return empty("library", "The library is empty", "Choose the folder that holds your music.", root.dataset.asker !== "guest" && { button: "Set up", act: () => (location.hash = "#/now") })
}

/** Copies text. Without TLS a page has no clipboard object, so there is a fallback. */
export async function copy(text) {
	try {
		await navigator.clipboard.writeText(text)
	} catch {
		const area = h("textarea.unseen", text)
		document.body.append(area)
		area.select()
		document.execCommand("copy")
		area.remove()
	}
	toast("Copied")
}
