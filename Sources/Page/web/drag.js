// Reorders a virtual list by touch and mouse, with Pointer Events.

import { clamp } from "./dom.js"

const edge = 56

/** Calls `onmove(from, to)` when a row was dropped in another place. Rows are dragged by their `.handle`. */
export function reorder(list, onmove) {
	const { scroller, element } = list
	let drag = null

	element.addEventListener("pointerdown", (event) => {
		const handle = event.target.closest(".handle")
		const row = handle?.closest("li")
		if (!row?.entry || event.button !== 0) return
		handle.setPointerCapture(event.pointerId)
		row.wasDragged = false
		const from = Number(row.dataset.index)
		drag = { id: event.pointerId, row, from, to: from, startY: event.clientY, y: event.clientY, startTop: scroller.scrollTop }
	})
	element.addEventListener("pointermove", (event) => {
		if (event.pointerId !== drag?.id) return
		drag.y = event.clientY
		if (!drag.isMoving && Math.abs(drag.y - drag.startY) < 5) return
		if (!drag.isMoving) lift()
		follow()
	})
	for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
		element.addEventListener(name, (event) => event.pointerId === drag?.id && drop(name === "pointerup"))
	}

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
		row.wasDragged = true
		setTimeout(() => (row.wasDragged = false))
		if (isDone && from !== to) onmove(from, to)
		else list.placeAll()
	}
}
