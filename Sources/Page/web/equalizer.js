// The sound that a room keeps: tone, balance, loudness, bands.

import { act, h, iconButton, newest, setText, sheet, signed, store, textButton } from "./kit.js"
import { stepper } from "./room.js"
import { choices, field } from "./sound.js"

const kinds = { peak: "Peak", lowshelf: "Low shelf", highshelf: "High shelf", highpass: "High-pass", lowpass: "Low-pass" }

export function roomSound(id) {
	const sound = () => store.room(id)?.sound
	const set = (patch) => act("PATCH", `/rooms/${id}`, { sound: patch }, [["rooms", id, { sound: { ...sound(), ...patch } }]])
	const { tone, balance, bandFrequency, bandGain, bandQ } = store.server.settings
	sheet(`Sound in ${store.room(id).name}`, (body, close) => {
		const later = (key) => newest((value) => set({ [key]: value }), 200)
		const decibels = (value) => `${signed(value, 0)} dB`
		const bass = stepper("Bass", { ...tone, format: decibels, kind: "centred", send: later("bass") })
		const treble = stepper("Treble", { ...tone, format: decibels, kind: "centred", send: later("treble") })
		const sides = stepper("Balance", { ...balance, format: (value) => (value ? `${Math.abs(Math.round(value))} % ${value < 0 ? "left" : "right"}` : "middle"), kind: "centred", send: later("balance") })
		const toggle = (title, key) => choices(title, { Off: false, On: true }, (value) => set({ [key]: value }))
		const power = toggle("This sound", "isOn")
		const [loudness, crossfeed, fir] = [toggle("Loudness", "hasLoudness"), toggle("Crossfeed for headphones", "hasCrossfeed"), toggle("FIR filter", "usesFIR")]
		const rows = h("div")
		let shown = ""
		const read = () => [...rows.children].map((row) => {
			const [kind, ...numbers] = row.querySelectorAll("select, input")
			const [frequency, gain, q] = numbers.map((input) => input.valueAsNumber)
			return { kind: kind.value, frequency, gain, q }
		})
		const send = () => [...rows.querySelectorAll("input")].every((input) => input.reportValidity()) && set({ bands: read() })
		const number = (label, { min, max }, step, value) => h("input", { type: "number", "aria-label": label, title: label, required: true, min, max, step, value, onchange: send })
		const line = (band) => {
			const row = h("div.band", h("select", { "aria-label": "Kind", onchange: send }, Object.entries(kinds).map(([value, text]) => h("option", { value, selected: value === band.kind }, text))),
				number("Hz", bandFrequency, 0.1, band.frequency), number("dB", bandGain, 0.01, band.gain), number("Q", bandQ, 0.01, band.q),
				iconButton("trash", "Remove this band", () => { row.remove(); send() }))
			return row
		}
		const add = textButton("plus", "Add a band", () => { rows.append(line({ kind: "peak", frequency: 1000, gain: 0, q: 1 })); send() })
		const note = h("p.dim")
		body.append(power.element, bass.element, treble.element, sides.element, loudness.element, crossfeed.element, fir.element, field("Bands: Hz, dB, Q", null, rows, add), note)
		return () => {
			const now = sound()
			if (!now) return close()
			power.draw(now.isOn)
			bass.draw(now.bass)
			treble.draw(now.treble)
			sides.draw(now.balance)
			loudness.draw(now.hasLoudness)
			crossfeed.draw(now.hasCrossfeed)
			fir.element.hidden = !now.hasFIR
			fir.draw(now.usesFIR)
			add.hidden = now.bands.length > 7
			setText(note, now.crossover ? `Crossover: ${now.crossover.part} ${now.crossover.frequency} Hz` : "")
			const text = JSON.stringify(now.bands)
			if (text === shown || text === JSON.stringify(read())) return
			shown = text
			rows.replaceChildren(...now.bands.map(line))
		}
	})
}
