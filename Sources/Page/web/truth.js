// The line of facts about the sound, and their explanations.

import { currentGroup, effects, isRunning, sleepIn } from "./actions.js"
import { dateText, store } from "./api.js"
import { dotted, h, icon, keyed, sentence, setIcon, setText, span } from "./dom.js"
import { sheet, toast } from "./overlay.js"

export const micros = (us) => (Math.abs(us) < 1000 ? `${Math.max(1, Math.round(us))} µs` : `${(us / 1000).toFixed(1)} ms`)
export const signed = (number, digits = 1) => `${number < 0 ? "−" : number > 0 ? "+" : ""}${Math.abs(number).toFixed(digits)}`
/** True if the room is silent, whatever its group does. */
export const isOut = (room) => ["away", "noDevice", "taken", "notPaired"].includes(room.state)
export const reachable = () => store.pairedRooms().filter((room) => room.isPresent && !isOut(room))
/** A room that fills while its whole group waits for the source is not to blame. */
export const isTrouble = (room) => isOut(room) || !!room.stereo?.missing
	|| (room.state === "buffering" && !["starting", "buffering"].includes(store.group(room.groupId)?.state))
/** True if a change of the group's volume can be heard. */
export const isSettable = (group) => store.roomsOf(group ?? { roomIds: [] }).some((room) => room.isPaired && !isOut(room))

/** The distance that sound travels in this time: 1 cm in 29 µs. */
export const travel = (us) => (us < 29 ? `${Math.max(1, Math.round(us * 0.343))} mm` : `${Math.round(us * 0.0343)} cm`)

const time = (atMs) => dateText(Date.now() + atMs - store.nowMs(), { timeStyle: "short" })

const outdated = "needs an update"
const other = (room) => room.reason?.holder ?? "Another sender"

/** The state of a room in plain words; technical details are in its sheet. */
export function stateText(room) {
	if (room.stereo?.missing) return `${room.stereo.missing} speaker off`
	switch (room.state) {
		case "taken": return `${other(room)} plays here${room.reason?.code === "lent" ? " for a while" : ""}`
		case "away":
			if (["otherVersion", "misbehaving"].includes(room.reason?.code)) return outdated
			return `off${room.awaySinceMs == null ? "" : ` since ${time(room.awaySinceMs)}`}`
		default: return { playing: "plays", buffering: "filling", notPaired: "not paired yet", noDevice: "no sound card", free: "ready", starting: "starting" }[room.state] ?? room.state
	}
}

export function cure(room) {
	if (room.stereo?.missing) return `The ${room.stereo.missing} speaker of ${room.name} does not play. Until it does, the other one plays both channels.`
	switch (room.state) {
		case "taken": return `${other(room)} plays in ${room.name}. Take it over in Rooms, or wait: ${room.reason?.code === "lent" ? "it comes back by itself" : "it stays there until you do"}.`
		case "away": return stateText(room) === outdated ? `${room.name} has another version of Tutti. Update the older one.`
			: `${room.name} is switched off, or its network is. Switch it on: it joins by itself.`
		case "noDevice": return `${room.name} finds no sound card. Look whether it is plugged in.`
		case "notPaired": return `${room.name} is silent until it is paired, in Rooms.`
		default: return `Music reaches ${room.name} too slowly. It joins as soon as it can; a cable or a nearer access point helps.`
	}
}

export const failure = ({ title, problem }) => `${title}: ${problem}.`

/** By group: the entry that failed last. */
let failures
/** Says once that an item of the shown group cannot be played, if the page saw it fail. */
export function tellFailures() {
	const before = failures
	failures = new Map([...store.groups.values()].map(({ id, failed }) => [id, failed?.entryId]))
	const { id, failed } = currentGroup() ?? {}
	if (before && failed && before.get(id) !== failed.entryId) toast(failure(failed), { isError: true })
}

/** Facts about a group: { key, icon, text, explain, isBad }, or { key, icon, text, undo } if it can be undone. */
function facts(group) {
	const rooms = store.roomsOf(group)
	const found = []
	const bad = (key, text, explain) => found.push({ key, icon: "warn", isBad: true, text, explain })
	const good = (key, icon, text, explain, more) => found.push({ key, icon, text, explain, ...more })
	const { failed } = group
	if (failed) bad("failed", `Problem: ${failed.title}`, sentence(failed.problem))
	if (group.state === "starting") good("starting", "wave", "Starting", "The rooms get ready, then start together.")
	if (group.state === "buffering") bad("buffering", "Filling", "The source is too slow. All rooms wait together, so nothing is skipped.")
	for (const room of rooms.filter(isTrouble)) bad(room.id, `${room.name}: ${stateText(room)}`, cure(room))
	if (group.item) quality(group, rooms, good)
	return [...found, ...changes(group)]
}

function quality(group, rooms, good) {
	const errors = rooms.map((room) => room.sync?.errorUs).filter((error) => error != null)
	if (errors.length && group.state === "playing") {
		const worst = Math.max(...errors.map(Math.abs))
		good("sync", "wave", `± ${micros(worst)}`, `Every room is within ${micros(worst)} of the schedule. In that time sound travels ${travel(worst)}. `
			+ "Nobody hears less than about 1000 µs.", { link: "#/sync" })
	}
	const { codec, codecReason, isUnchanged } = group.item
	const names = (isMeant) => rooms.filter(isMeant).map(({ name }) => name).join(" and ")
	const weak = names((room) => room.smallEncoding)
	if (codec) {
		good("codec", "note", dotted(codec, codecReason), isUnchanged
			? `${weak ? "The other" : "All"} rooms decode ${codec}, so the file is sent unchanged: nothing is lost on the way.` : `The music is sent as ${codec}: ${codecReason ?? "this suits all rooms"}.`)
	}
	if (weak) good("weak", "note", `Opus for ${weak}`, `The network of ${weak} is too slow for ${codec}.`)
	const own = names((room) => room.sound?.changesSound)
	if (own) good("own", "tune", `Own sound: ${own}`, `The sound of the room changes what you hear in ${own}.`)
	// The rooms' buffers may reach beyond the end of the track.
	const ahead = Math.min(...rooms.map((room) => room.sync?.bufferedS ?? 0))
	if (isRunning(group) && ahead > 5 && ahead < Infinity) {
		good("ahead", "library", `${span(ahead)} ahead`, `The rooms already hold the next ${span(ahead)}. If the network breaks, the music goes on for that long.`)
	}
}

/** Settings that are not neutral, each with a function that undoes it. */
function changes(group) {
	const { rate = 1, pitch = 0, loudness, filters = [] } = group.effects ?? {}
	const chip = (isSet, key, icon, text, undo) => isSet && { key, icon, text, undo }
	const back = (patch) => () => effects(group, patch)
	return [
		chip(rate !== 1, "rate", "tune", `${rate}× speed`, back({ rate: 1 })),
		chip(pitch !== 0, "pitch", "tune", `${signed(pitch, 0)} semitones`, back({ pitch: 0 })),
		chip(loudness != null, "loudness", "tune", `${signed(loudness ?? 0, 0)} LUFS`, back({ loudness: null })),
		chip(filters.length > 0, "filters", "tune", "Equalizer", back({ filters: [] })),
		chip(group.sleepAtMs, "sleep", "moon", `Sleeps in ${span(Math.max(0, group.sleepAtMs - store.nowMs()) / 1000)}`, () => sleepIn(group, 0)),
	].filter(Boolean)
}

/** Updates a row of chips. */
export function drawFacts(row, group) {
	keyed(row, group ? facts(group) : [], (fact) => {
		const onclick = () => (chip.fact.undo ? chip.fact.undo() : explain(row))
		const chip = h("button", onclick, icon(fact.icon), h("span"), fact.undo && icon("close"))
		return chip
	}, (chip, fact) => {
		chip.fact = fact
		chip.className = `chip${fact.isBad ? " bad" : ""}${fact.undo ? " set" : ""}`
		setIcon(chip, fact.icon)
		setText(chip.querySelector("span"), fact.text)
	}, ({ key }) => key)
}

function explain(row) {
	const told = [...row.children].map((chip) => chip.fact).filter((fact) => fact.explain)
	sheet("What you hear", (body, close) => body.append(...told.map((fact) => h("div.fact", icon(fact.icon),
		h("div", h("h3", fact.text), h("p", fact.explain), fact.link && h("a", { href: fact.link, onclick: close }, "Show sync"))))))
}
