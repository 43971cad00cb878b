// One room's sheet: exact volume, delay, channels, a sound to find it, pairing.

import { roomSound } from "./equalizer.js"
import {
	act, ask, confirm, cure, currentGroup, dotted, h, iconButton, isGuest, isOut, isRunning, join, joins, leave, leaves, mark, newest, newGroup, patchGroup, patchRoom, rename,
	request, roomVolume, setText, sheet, signed, slider, stateText, store, textButton, toast, whole,
} from "./kit.js"
import { choices, field } from "./sound.js"

/** A room is given 15 seconds to answer the server. */
const patient = { waitS: 20 }

export function pair(room) {
	ask(`Pair ${room.name}`, { hint: "1234 5678", button: "Pair", inputmode: "numeric",
		detail: "Type the PIN of this room, eight digits. On its machine it is shown by: tutti-receiver pin",
		more: textButton("speaker", "Say the PIN in this room", async () =>
			await act("POST", `/rooms/${room.id}/say-pin`, null, [], patient) && toast(`${room.name} says its PIN now`)) }, async (pin) => {
		await request("POST", `/rooms/${room.id}/pair`, { pin }, patient)
		toast(`${room.name} is paired`)
	})
}

/** The room makes a sound, so that people find it. */
export const hear = async ({ id, name }) => (await act("POST", `/rooms/${id}/identify`)) && toast(`${name} makes a sound`)

/** A slider between buttons − and +, with its title and value above. */
export function stepper(title, { min, max, format, send, hint, kind }) {
	const text = h("output")
	const oninput = (value) => {
		setText(text, format(value))
		send(value)
	}
	const bar = slider({ label: title, min, max, tapStep: 1, format, kind, oninput })
	const step = (by) => () => bar.move(Math.round(bar.value) + by)
	return {
		element: field(title, text, h("div.stepper", iconButton("minus", `${title}: one less`, step(-1)), bar.element, iconButton("plus", `${title}: one more`, step(1))),
			hint && h("p.dim", hint)),
		draw(value) {
			bar.set(value)
			setText(text, format(bar.value))
		},
	}
}

/** A stepper for one of the settings `volume` and `volumeLimit`. */
export const loudness = (key, rest) => stepper(key === "volume" ? "Volume" : "Loudest", { ...store.server.settings?.[key], format: whole, kind: "volume", ...rest })

export function roomSheet(id) {
	const room = () => store.room(id)
	const { name, isPaired, canUnpair, groupId, state, stereo } = room()
	const [group, current] = [store.group(groupId), currentGroup()]
	const canSet = isPaired && !isOut(room())
	const mayAll = !isGuest()
	sheet(name, (body, close) => {
		const sendVolume = roomVolume()
		const sendDelay = newest((delayMs) => patchRoom(room(), { delayMs }), 200)
		const status = h("p.dim")
		const volume = loudness("volume", { send: (value) => sendVolume(room(), value) })
		const delay = stepper("Delay", { ...store.server.settings?.delayMs, format: (value) => `${signed(value, 0)} ms`, kind: "centred", send: sendDelay,
			hint: "Makes this room sound later, or earlier: for a slow amplifier, or a room far away." })
		const limit = loudness("volumeLimit", { send: newest((volumeLimit) => patchRoom(room(), { volumeLimit }), 200),
			hint: "This room never plays louder, whoever asks." })
		const channels = choices("Channels", { Stereo: "stereo", Left: "left", Right: "right", Mono: "mono" }, (channels) => patchRoom(room(), { channels }))
		const line = (symbol, text, run, classes = "") => textButton(symbol, text, () => { close(); run(); }, `.line${classes}`)
		const mute = textButton("mute", "", () => patchRoom(room(), { muted: !room().muted }), ".line")
		const partners = store.pairedRooms().filter((other) => other.id !== id && !other.stereo && ![other.state, state].includes("noDevice"))
		const others = store.allGroups().filter((other) => canSet && other.id !== groupId)
		body.append(status, ...(canSet ? [volume.element, ...(mayAll ? [limit.element, delay.element, stereo ? "" : channels.element] : [])] : []), h("div.lines",
			mayAll && textButton("tune", "Rename", () => rename(room()), ".line"),
			canSet && mute,
			canSet && mayAll && room().sound && line("tune", "Sound", () => roomSound(id)),
			canSet && mayAll && textButton("speaker", "Make a sound here", () => hear(room()), ".line"),
			mayAll && (stereo ? [textButton("right", "Swap left and right", () => act("POST", `/stereo/${id}/swap`), ".line"),
				line("close", "Separate the stereo pair", () => act("DELETE", `/stereo/${id}`))]
				: isPaired && partners[0] && line("speaker", "Make a stereo pair", () => makeStereo(room(), partners))),
			!isPaired && mayAll && line("check", "Pair", () => pair(room())),
			state === "taken" && group && mayAll && line("speaker", "Take over", () => join(group, room())),
			canSet && group?.roomIds.length !== 1 && line("plus", `${name} plays alone`, () => newGroup([id])),
			canSet && current && isRunning(current) && groupId !== current.id && line("right", `Music moves to ${name}`, () => patchGroup(current, { roomIds: [id] })),
			others.length > 0 && line("right", joins(room(), others.length > 1 ? { name: "another group" } : others[0]), () => moveTo(others, room)),
			group && line("close", leaves(room()), () => leave(group, room()))),
		canUnpair && mayAll && h("div.lines", line("trash", "Forget the pairing", () => confirm(`Forget ${name}?`,
			`${name} plays nothing from here any more, until somebody types its PIN again.`, "Forget it", () => act("DELETE", `/rooms/${id}/pairing`, null, [], patient)), ".danger")) || "")
		return () => {
			const now = room()
			if (!now) return close()
			volume.draw(now.volume ?? 0)
			limit.element.hidden = now.volumeLimit == null || now.isVolumeLimitFixed
			limit.draw(now.volumeLimit ?? 100)
			delay.draw(now.delayMs ?? 0)
			channels.draw(now.channels)
			setText(mute.lastChild, now.muted ? "Sound on" : "Mute")
			mark(mute, "on", !!now.muted)
			return setText(status, dotted(now.stereo && `left: ${now.stereo.leftName}, right: ${now.stereo.rightName}`, now.model, now.muted ? "muted" : "", isOut(now) ? cure(now) : stateText(now)))
		}
	})
}

/** A sheet with a button for each room or group. */
const choose = (title, hint, things, act) => sheet(title, (body, close) =>
	body.append(hint && h("p.dim", hint), ...things.map((thing) => textButton("speaker", thing.name, () => { close(); act(thing); }, ".line"))))

const makeStereo = (left, others) => choose("A stereo pair with", `${left.name} becomes the left speaker.`, others, (right) =>
	ask("Name of the pair", { hint: `${left.name} + ${right.name}`, isEmptyFine: true }, (name) => request("POST", "/stereo", { leftId: left.id, rightId: right.id, name })))

const moveTo = (groups, room) => (groups.length === 1 ? join(groups[0], room()) : choose(`${room().name} joins`, "", groups, (group) => join(group, room())))
