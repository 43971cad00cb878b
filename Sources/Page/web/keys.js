// Keyboard shortcuts.

import { go, louder, mute, seekBy, skip, toggle } from "./actions.js"
import { h } from "./dom.js"
import { focusSearch } from "./library.js"
import { sheet } from "./overlay.js"

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
		if (document.documentElement.dataset.view !== "library") go("library")
		requestAnimationFrame(focusSearch)
	}],
	"?": ["?", "This list", () => sheet("Keys", (body) => body.append(h("dl.keys",
		Object.values(keys).flatMap(([key, text]) => [h("dt", h("kbd", key)), h("dd", text)]))))],
}

export function listenToKeys() {
	document.addEventListener("keydown", (event) => {
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
