// A slider that follows the finger anywhere on its row, and ignores the server while it is held.

import { clamp, h, iconButton, label as setLabel, mark, on, onKeys, setIcon, setText, whole } from "./dom.js"

/** Half a thumb, in pixels: the ends of the range lie this far inside the slider. */
const inset = 8
/** After a move, the server may still send older values for this long. */
const settleMs = 500

// Calls `oninput(value)` while the slider moves, and once more on release. `isAbsolute`: the finger's place is the value. Otherwise a
// drag changes the value by its distance, a tap beside the thumb by one step, so that no touch is suddenly loud. A mouse sets its place.
export function slider({ label, min = 0, max = 100, step = 1, tapStep = 2, keyStep = step, format = whole, oninput, isAbsolute, kind = "plain" }) {
	const input = h("input", { type: "range", min, max, step, called: label })
	const bubble = h("output", { "aria-hidden": true })
	const element = h(`div.slider.${kind}`, h("div.track", h("i.ahead"), h("i.fill")), h("i.thumb"), input, bubble)
	let value = min
	let told = min
	let drag = null
	let fresh = 0

	function draw() {
		mark(element, "held", !!drag?.isMoving)
		element.style.setProperty("--at", (max > min ? (clamp(value, min, max) - min) / (max - min) : 0).toFixed(4))
		input.value = value
		setText(bubble, format(value))
		input.ariaValueText = format(value)
	}
	function move(next, isLast) {
		next = clamp(Number((Math.round(next / step) * step).toFixed(4)), min, max)
		if (next === value && !isLast) return
		value = next
		clearTimeout(fresh)
		fresh = setTimeout(() => { fresh = 0; self.set(told) }, settleMs)
		draw()
		oninput(value)
	}
	const width = () => element.clientWidth - 2 * inset
	const placeOf = (event) => min + clamp((event.clientX - element.getBoundingClientRect().left - inset) / width(), 0, 1) * (max - min)

	on(element, "pointerdown", (event) => {
		if (event.button !== 0 || input.disabled) return
		event.preventDefault()
		input.focus({ preventScroll: true, focusVisible: false })
		const isMouse = event.pointerType === "mouse"
		drag = { id: event.pointerId, x: event.clientX, value, isByPlace: isAbsolute || isMouse, isMoving: isMouse }
		element.setPointerCapture(event.pointerId)
		draw()
		if (isMouse) move(placeOf(event))
	})
	on(element, "pointermove", (event) => {
		if (event.pointerId !== drag?.id) return
		const way = event.clientX - drag.x
		if (!drag.isMoving && Math.abs(way) < 5) return
		drag.isMoving = true
		draw()
		move(drag.isByPlace ? placeOf(event) : drag.value + (way / width()) * (max - min))
	})
	const end = (event) => {
		if (event.pointerId !== drag?.id) return
		const { isMoving, isByPlace } = drag
		drag = null
		if (isMoving) move(value, true)
		else if (event.type === "pointercancel") draw()
		else move(isByPlace ? placeOf(event) : value + Math.sign(placeOf(event) - value) * tapStep, true)
	}
	on(element, "pointerup pointercancel", end)
	on(input, "input", () => move(Number(input.value), true))
	onKeys(input, { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }, (way) => move(value + way * keyStep, true))

	const self = {
		element,
		input,
		move: (next) => move(next, true),
		get isHeld() {
			return !!drag?.isMoving
		},
		get value() {
			return value
		},
		/** Sets the server's value. Not shown while the slider is held or has just moved. */
		set(next, end = max, start = min) {
			input.min = min = start
			input.max = max = end
			told = next
			if (self.isHeld || fresh) return
			value = next
			draw()
		},
	}
	return self
}

/** A volume: mute button, slider, number. `draw(name, volume, isMuted, isOff)` updates them. */
export function volumeRow(send, mute) {
	const button = iconButton("volume", "Mute", mute)
	const bar = slider({ label: "Volume", oninput: send, kind: "volume" })
	const number = h("span.number", { "aria-hidden": true })
	return {
		parts: [button, bar.element, number],
		draw(name, volume, isMuted, isOff = volume == null) {
			setIcon(button, isMuted ? "mute" : "volume")
			mark(button, "on", isMuted)
			setLabel(button, `${isMuted ? "Sound on" : "Mute"}: ${name}`)
			button.disabled = bar.input.disabled = isOff
			mark(bar.element, "off", isOff)
			bar.set(volume ?? 0)
			bar.input.ariaLabel = `Volume: ${name}`
			mark(bar.element, "muted", isMuted)
			setText(number, volume == null ? "" : whole(bar.value))
		},
	}
}
