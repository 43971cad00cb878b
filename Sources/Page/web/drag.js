// Reorders a virtual list by touch and mouse, and removes rows with a swipe to the left.

import { clamp, h, icon, mark, on, onKeys } from "./dom.js"

const edge = 56

/** The button by which a row is dragged. The arrow keys move it, too: they call `step` with -1 or 1. */
export function handle(step) {
	const button = h("button.round.handle", icon("drag"))
	onKeys(button, { ArrowUp: -1, ArrowDown: 1 }, step)
	return button
}

/** Calls `onmove(from, to)` when a row was dropped in another place. Rows are dragged by their `.handle`. */
export function reorder(list, onmove) {
	const { scroller, element } = list
	let drag = null

	on(element, "pointerdown", (event) => {
		const handle = event.target.closest(".handle")
		const row = handle?.closest("li")
		if (!row?.entry || event.button !== 0) return
		handle.setPointerCapture(event.pointerId)
		const from = Number(row.dataset.index)
		drag = { id: event.pointerId, row, from, to: from, startY: event.clientY, y: event.clientY, startTop: scroller.scrollTop }
	})
	on(element, "pointermove", (event) => {
		if (event.pointerId !== drag?.id) return
		drag.y = event.clientY
		if (!drag.isMoving && Math.abs(drag.y - drag.startY) < 5) return
		if (!drag.isMoving) lift()
		follow()
	})
	on(element, "pointerup pointercancel lostpointercapture", (event) => event.pointerId === drag?.id && drop(event.type === "pointerup"))

	const way = () => drag.y - drag.startY + scroller.scrollTop - drag.startTop

	function lift() {
		drag.isMoving = true
		drag.row.classList.add("lifted")
		element.classList.add("dragging")
		list.shift = (index) => {
			if (index === drag.from) return way()
			if (index > drag.from && index <= drag.to) return -list.height
			return index < drag.from && index >= drag.to ? list.height : 0
		}
		roll()
	}

	function follow() {
		drag.to = clamp(drag.from + Math.round(way() / list.height), 0, list.count - 1)
		list.placeAll()
	}

	/** Scrolls while the finger is near an edge: the nearer, the faster. */
	function roll() {
		if (!drag?.isMoving) return
		const box = scroller.getBoundingClientRect()
		const speed = Math.min(0, drag.y - box.top - edge) + Math.max(0, drag.y - box.bottom + edge)
		if (speed) {
			scroller.scrollTop += clamp(speed, -edge, edge) / 4
			follow()
		}
		requestAnimationFrame(roll)
	}

	function drop(isDone) {
		const { row, from, to, isMoving } = drag
		drag = null
		list.shift = () => 0
		row.classList.remove("lifted")
		element.classList.remove("dragging")
		if (!isMoving) return
		if (isDone && from !== to) onmove(from, to)
		else list.placeAll()
	}
}

/** Calls `onswipe(entry)` when a finger has swiped a row far enough to the left. */
export function swipe({ element }, onswipe) {
	const far = 96
	let drag = null
	on(element, "pointerdown", (event) => {
		const main = event.target.closest(".row-main")
		const row = main?.closest("li")
		if (row?.entry && event.pointerType === "touch") drag = { id: event.pointerId, main, row, entry: row.entry, x: event.clientX, way: 0 }
	})
	on(element, "pointermove", (event) => {
		if (event.pointerId !== drag?.id) return
		drag.way = Math.min(0, event.clientX - drag.x)
		if (drag.way > -12) return
		drag.row.classList.add("swiped")
		mark(drag.row, "far", drag.way < -far)
		drag.main.style.translate = `${drag.way}px`
	})
	on(element, "pointerup pointercancel", (event) => {
		if (event.pointerId !== drag?.id) return
		const { main, row, entry, way } = drag
		drag = null
		main.style.translate = ""
		row.classList.remove("swiped", "far")
		if (event.type === "pointerup" && way < -far) onswipe(entry)
	})
}
