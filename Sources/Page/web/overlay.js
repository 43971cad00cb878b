// What lies above the page: sheets, menus, short messages.

import { store } from "./api.js"
import { h, icon, iconButton, textButton } from "./dom.js"

/** Dialogs, the newest last. The first one has an entry in the browser's history, so that the way back closes it and goes no further. */
const open = []
if (history.state?.isOpen) history.replaceState(null, "")
addEventListener("popstate", () => history.state?.isOpen || closeAll())
let leaving
/** The browser goes back when it has time: a view that is opened meanwhile would be left again. */
export const settled = () => leaving
export const closeAll = () => [...open].forEach((dialog) => dialog.close())

/** A sheet: from below on a phone, in the middle elsewhere. `fill(body, close)` builds it and may return a function that follows the state. */
export function sheet(title, fill, classes = ".small") {
	const dialog = h(`dialog.sheet${classes}`, { "aria-label": title })
	const close = () => dialog.close()
	const body = h("div.sheet-body")
	dialog.append(h("header", h("h2", title), iconButton("close", "Close", close)), body)
	show(dialog)
	const draw = fill(body, close)
	if (draw) {
		draw()
		store.listeners.add(draw)
		dialog.addEventListener("close", () => store.listeners.delete(draw))
	}
	dialog.querySelector("[autofocus]")?.focus()
}

/** A menu beside `anchor`. Items: [icon, text, what to do, "danger" or "on"], false for none, null for a line. */
export function menu(anchor, title, items) {
	const dialog = h("dialog.menu", { "aria-label": title }, h("p.menu-title", title))
	for (const item of items) {
		if (item === null) dialog.append(h("hr"))
		if (!item) continue
		const [symbol, text, run, kind] = item
		dialog.append(textButton(symbol, text, () => { dialog.close(); run(); }, kind ? `.${kind}` : ""))
	}
	show(dialog)
	if (innerWidth >= 700) place(dialog, anchor.getBoundingClientRect())
	const buttons = [...dialog.querySelectorAll("button")]
	buttons[0].focus()
	dialog.addEventListener("keydown", (event) => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
		if (step) buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus()
	})
}

function show(dialog) {
	document.body.append(dialog)
	open.push(dialog)
	if (!history.state?.isOpen) history.pushState({ isOpen: true }, "")
	dialog.addEventListener("close", () => {
		dialog.remove()
		open.splice(open.indexOf(dialog), 1)
		if (open.length || !history.state?.isOpen) return
		leaving = new Promise((done) => addEventListener("popstate", done, { once: true }))
		history.back()
	})
	// A tap beside it closes it. The tap must also have begun there: a drag out of a slider does not count.
	let beganOutside = false
	dialog.addEventListener("pointerdown", (event) => (beganOutside = event.target === dialog))
	dialog.addEventListener("click", (event) => beganOutside && event.target === dialog && dialog.close())
	dialog.showModal()
}

function place(dialog, from) {
	const { width, height } = dialog.getBoundingClientRect()
	dialog.style.left = `${Math.min(Math.max(8, from.right - width), innerWidth - width - 8)}px`
	dialog.style.top = `${from.bottom + height < innerHeight - 12 ? from.bottom + 4 : Math.max(8, from.top - height - 4)}px`
}

/** A short message in the place of the last one; `undo` gives it a button. As a popover it is above dialogs, too. */
export function toast(text, { isError = false, undo } = {}) {
	const box = document.getElementById("toasts")
	const message = h("div.toast", isError && icon("warn"), h("span", text))
	if (undo) message.append(h("button", { onclick: () => { message.remove(); undo(); } }, "Undo"))
	box.replaceChildren(message)
	box.hidePopover()
	box.showPopover()
	setTimeout(() => message.remove(), undo || isError ? 8000 : 3000)
}

/** Asks before what cannot be undone. */
export const confirm = (title, text, button, act) => sheet(title, (body, close) =>
	body.append(h("p.dim", text), textButton("trash", button, () => { close(); act(); }, ".soft.danger"), h("button.soft", { onclick: close }, "Cancel")))

/** Says something to screen readers only. */
export const tell = (text) => (document.getElementById("told").textContent = text)

/** Asks for one line of text. What `act` throws is shown, and asked again. */
export function ask(title, { value = "", hint = "", button = "Save", inputmode = "text", detail }, act) {
	sheet(title, (body, close) => {
		const input = h("input", { type: "text", value, placeholder: hint, inputmode, "aria-label": title, autofocus: true, autocomplete: "off" })
		const problem = h("p.problem", { role: "alert" })
		const submit = h("button.primary", { type: "submit" }, button)
		const onsubmit = async (event) => {
			event.preventDefault()
			problem.textContent = ""
			try {
				if (!input.value.trim()) return
				await act(input.value.trim())
				close()
			} catch (error) {
				problem.textContent = error.message
				if (error.retryAfterS) await countDown(submit, error.retryAfterS)
				input.select()
			}
		}
		body.append(h("form.ask", { onsubmit }, detail && h("p", detail), input, problem, submit))
	})
}

/** A button that cannot be used for a while says for how long. */
export async function countDown(button, seconds) {
	const text = button.textContent
	button.disabled = true
	for (let left = seconds; left > 0 && button.isConnected; left--) {
		button.textContent = `Wait ${left} s`
		await new Promise((resolve) => setTimeout(resolve, 1000))
	}
	button.textContent = text
	button.disabled = false
}

/** An empty state: what is missing, the one next thing to do, and a command to copy. */
export function empty(symbol, title, text, { command, button, act, more } = {}) {
	return h("div.empty", icon(symbol), h("h2", title), h("p", text),
		command && h("div.command", h("code", command), iconButton("copy", "Copy the command", () => copy(command))),
		button && h("button.primary", { onclick: act }, button), more)
}

export const noRooms = () => empty("speaker", "No room is there yet", "Start a receiver on any Linux machine in this network. It appears here by itself.",
	{ command: "tutti-receiver --name Kitchen" })
export function noLibrary() {
	const { folders = [], scan } = store.library
	if (scan) return empty("library", "Your music is being read", "What is found appears here.")
	if (folders.length) return empty("library", "The library is empty", `No music was found in ${folders.join(", ")}. Files that you put there appear here by themselves.`)
	return empty("library", "The library is empty", "Start the server with the folder that holds your music.", { command: "tutti serve --library ~/Music" })
}

/** Copies text. A page without TLS has no clipboard object, so the old way stands behind it. */
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
