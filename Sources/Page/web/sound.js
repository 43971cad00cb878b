// Speed, pitch, loudness, equalizer, sleep timer, and the theme of this page.

import { currentGroup, effects, h, isGuest, labelled, newest, remember, root, setText, sheet, signed, sleepAt, sleepIn, slider, span, store } from "./kit.js"

const equalizers = { "Off": [], "More bass": [{ kind: "bass", gain: 6 }], "Less bass": [{ kind: "bass", gain: -6 }], "Brighter": [{ kind: "treble", gain: 4 }],
	"Voice": [{ kind: "highpass", frequency: 120 }, { kind: "equalizer", frequency: 2500, gain: 5, width: 2 }],
	"Night": [{ kind: "compressor", threshold: -24, ratio: 4, attackMs: 20, releaseMs: 250, makeup: 6 }] }
const loudnesses = { "As it is": null, "Quiet −23": -23, "Even −16": -16, "Loud −12": -12 }
const sleeps = { "Off": 0, "15 min": 900, "30 min": 1800, "45 min": 2700, "1 h": 3600, "1½ h": 5400 }

/** The preset that matches the group's filters. The server adds values that a preset leaves out. */
const preset = (filters) => Object.values(equalizers).find((preset) => preset.length === filters.length
	&& preset.every((filter, index) => Object.keys(filter).every((key) => filter[key] === filters[index][key])))

/** A title, and a row of buttons, one of which is chosen. `draw(value)` marks it. `note` is beside the title. */
export function choices(title, options, pick, note) {
	const buttons = Object.entries(options).map(([text, value]) => Object.assign(h("button", () => pick(value), text), { choice: value }))
	return {
		element: field(title, note, h("div.choices", { role: "group", called: title }, buttons)),
		draw: (value, isOff = false) => buttons.forEach((button) => {
			button.ariaPressed = button.choice === (value ?? null)
			button.disabled = isOff
		}),
	}
}

export const field = (title, value, ...controls) => h("div.field", h("div.field-head", h("h3", title), value), controls)

export function sound() {
	sheet(currentGroup() ? `Sound in ${currentGroup().name}` : "This page", (body) => {
		const set = newest((patch) => effects(currentGroup(), patch), 250)
		const [rateText, pitchText, sleepText] = [h("output"), h("output"), h("output")]
		const times = (value) => `${value.toFixed(2)}×`
		const semitones = (value) => (value ? signed(value, 0) : "as it is")
		const rate = slider({ label: "Speed", ...store.server.settings?.rate, step: 0.05, tapStep: 0.05, format: times, oninput: (rate) => set({ rate }) })
		const pitch = slider({ label: "Pitch in semitones", ...store.server.settings?.pitch, tapStep: 1, format: semitones, kind: "centred", oninput: (pitch) => set({ pitch }) })
		const loudness = choices("Loudness", loudnesses, (loudness) => effects(currentGroup(), { loudness }))
		const crossfade = choices("Crossfade", { "Off": null, "3 s": 3, "6 s": 6, "12 s": 12 }, (crossfadeS) => effects(currentGroup(), { crossfadeS }))
		const equalizer = choices("Equalizer", equalizers, (filters) => effects(currentGroup(), { filters }))
		const sleep = choices("Sleep timer", sleeps, (seconds) => sleepIn(currentGroup(), seconds), sleepText)
		const end = h("input", { type: "time", onchange: () => end.value && setEnd(end.value) })
		const setEnd = newest((time) => sleepAt(currentGroup(), time), 250)
		const look = choices("Look of this page", { "As the system": "auto", "Light": "light", "Dark": "dark" }, (value) => {
			remember("theme", root.dataset.theme = value)
			store.changed()
		})
		const note = h("p.dim")
		if (currentGroup()) {
			if (!isGuest()) body.append(note, field("Speed", rateText, rate.element), field("Pitch", pitchText, pitch.element), loudness.element, crossfade.element, equalizer.element)
			body.append(sleep.element, labelled("Play until", end))
		}
		body.append(look.element)
		return () => {
			look.draw(root.dataset.theme)
			const group = currentGroup()
			if (!group) return
			// Effects read the item again, which a live source cannot do.
			const isLive = !!group.item && !group.item.isSeekable
			note.hidden = !isLive
			setText(note, isLive ? `${group.item.title} is heard as it happens: its sound cannot be changed while it plays.` : "")
			for (const bar of [rate, pitch]) bar.input.disabled = isLive
			rate.set(group.effects?.rate ?? 1)
			pitch.set(group.effects?.pitch ?? 0)
			setText(rateText, times(rate.value))
			setText(pitchText, semitones(pitch.value))
			loudness.draw(group.effects?.loudness, isLive)
			crossfade.draw(group.effects?.crossfadeS)
			equalizer.draw(preset(group.effects?.filters ?? []), isLive)
			const left = group.sleepAtMs ? (group.sleepAtMs - store.nowMs()) / 1000 : 0
			sleep.draw(left > 0 ? Object.values(sleeps).find((value) => Math.abs(value - left) < 45) : 0)
			setText(sleepText, left > 0 ? `pauses in ${span(left)}` : "")
			// The nearest minute, on the clocks of the household.
			const shown = left > 0 ? new Date(Date.now() + (left + store.server.zoneOffsetS + 30) * 1000).toISOString().slice(11, 16) : ""
			if (end !== document.activeElement && end.value !== shown) end.value = shown
		}
	}, "")
}
