// Alarms: their view, the sheet that sets one, and what lies above the page while one rings.

import {
	act, byId, confirm, currentGroup, dateText, dotted, empty, forHousehold, form, get, h, icon, isGuest, isOut, keyed, labelled, language, lift, lines, mark, noRooms, on, pick, refill, select, setText, sheet, span,
	stateText, store, textButton, ticked, toast, whole,
} from "./kit.js"
import { loudness } from "./room.js"
import { field } from "./sound.js"

const view = byId("alarms")
const rings = byId("rings")
const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

// Times are the household's, shown as the browser's language shows them: as if they were UTC.

/** Returns a function that shows a day, numbered since 1970, and a minute of it. */
const shown = (options) => (day, minute = 0) => dateText((day * 1440 + minute) * 60000, { timeZone: "UTC", ...options })
const timeText = shown({ timeStyle: "short" })
const relative = () => new Intl.RelativeTimeFormat(language(), { numeric: "auto" })
/** Day 4 was a Monday. */
const dayName = (day, weekday = "short") => shown({ weekday })(4 + days.indexOf(day))
const locale = new Intl.Locale(navigator.language)
/** 1 to 7, from Monday. */
const firstDay = (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? 1
const week = days.map((_, index) => days[(firstDay - 1 + index) % 7])

const ownOffsetS = () => -60 * new Date().getTimezoneOffset()
const offsetS = () => store.server.zoneOffsetS ?? ownOffsetS()
const inHouse = (atS) => (atS + offsetS()) / 60
const now = () => Date.now() / 1000
const minuteOf = (time) => time.split(":").reduce((hours, minutes) => hours * 60 + Number(minutes), 0)
const clockOf = ({ time }) => timeText(0, minuteOf(time))

function daysText(chosen) {
	if (!chosen.length) return "Once"
	if (chosen.length === 7) return "Every day"
	const isRow = chosen.length > 2 && days.join().includes(chosen.join())
	return isRow ? `${dayName(chosen[0])}–${dayName(chosen.at(-1))}` : chosen.map((day) => dayName(day)).join(", ")
}

/** "tomorrow", or the name of the day. Clocks may change until then, so it is rounded. */
function dayText({ nextAtS, time }) {
	const day = Math.round((inHouse(nextAtS) - minuteOf(time)) / 1440)
	const ahead = day - Math.floor(inHouse(now()) / 1440)
	return ahead < 2 ? relative().format(ahead, "day") : shown(ahead < 7 ? { weekday: "long" } : { weekday: "long", day: "numeric", month: "long" })(day)
}

const until = ({ nextAtS }) => `in ${span(Math.max(1, nextAtS - now()))}`
const againText = ({ snoozedUntilS }) => `Rings again at ${timeText(0, inHouse(snoozedUntilS))}`
const nameOf = (id) => store.room(id)?.name ?? "A room that is gone"
const roomsText = (alarm) => alarm.roomIds.map(nameOf).join(", ")
const musicText = ({ kind, title, count }) => ({ tone: "Tones", queue: "The queue" })[kind] ?? (count > 1 ? `${title} and ${count - 1} more` : title)

function nextText(alarm) {
	switch (alarm.state) {
		case "ringing": return "Rings now"
		case "snoozed": return againText(alarm)
		case "missed": return "Missed: the server was off then"
		case "off": return "Off"
		default: return alarm.isOn && alarm.nextAtS ? dotted(dayText(alarm), until(alarm), alarm.skipsNext && "the one before is left out",
			alarm.readyRoomIds.length === alarm.roomIds.length && "its music is in the room") : ""
	}
}

/** A room that could not ring now. One that plays for another sender does. */
const silent = (alarm) => alarm.isOn && alarm.roomIds.map((id) => store.room(id)).find((room) => room && isOut(room) && room.state !== "taken")

const change = (alarm, patch, guess = patch) => act("PATCH", `/alarms/${alarm.id}`, patch, [["alarms", alarm.id, guess]])
const stop = (alarm) => act("POST", `/alarms/${alarm.id}/stop`, undefined, [["alarms", alarm.id, { state: "waiting" }]])
async function snooze(alarm) {
	const done = await act("POST", `/alarms/${alarm.id}/snooze`, undefined, [["alarms", alarm.id, { state: "snoozed" }]])
	if (done?.snoozedUntilS) toast(againText(done))
}

const list = h("div.cards")
const zone = h("p.dim")
const nothing = h("div")
const create = textButton("plus", "New alarm", () => edit())
const night = lines()
const nightLine = h("button.line", () => editNight(), icon("moon"), night.box)

export function buildAlarms() {
	view.append(h("header.view-head", h("h1", "Alarms"), ...forHousehold(create)), h("div.scroll", zone, list, nothing, ...forHousehold(nightLine)))
}

export function drawAlarms() {
	const alarms = store.allAlarms()
	const ringing = alarms.filter(({ state }) => state === "ringing")
	const before = rings.childElementCount
	keyed(rings, ringing, ring)
	if (before !== ringing.length) lift()
	if (view.hidden) return
	keyed(list, alarms, card)
	const isElsewhere = offsetS() !== ownOffsetS()
	drawNight(store.server.night)
	setText(zone, isElsewhere ? `Times are those of the house, where it is ${timeText(0, inHouse(now()))} now.` : "")
	const step = alarms.length ? "" : store.rooms.size ? "first" : "rooms"
	create.hidden = step !== ""
	refill(nothing, step, () => step === "rooms" ? noRooms() : step ? empty("alarm", "No alarm yet", "Its music is in the rooms ten minutes before, so it rings without a network.",
		!isGuest() && { button: "New alarm", act: () => edit() }) : "")
}

/** An alarm that rings: large buttons above the page, and above what is open. */
function ring(alarm) {
	const text = lines()
	const later = h("button.soft", () => snooze(alarm))
	const card = h("section.ring", { role: "alert" }, icon("alarm"), text.box, h("div.ring-acts", later, h("button.primary", () => stop(alarm), "Stop")))
	card.draw = (now) => {
		alarm = now
		text.tell(dotted(clockOf(now), now.name), roomsText(now))
		setText(later, `Snooze ${span(now.snoozeS)}`)
	}
	return card
}

function card(alarm) {
	const [time, text, next, trouble] = [h("strong.time"), lines("span"), h("p.next"), h("p.bad")]
	const main = h(isGuest() ? "div.alarm-main" : "button.alarm-main", !isGuest() && (() => edit(alarm)), time, text.box)
	const onchange = () => change(alarm, { isOn: power.checked }, { isOn: power.checked, state: power.checked ? "waiting" : "off", nextAtS: null })
	const power = h("input", { type: "checkbox", role: "switch", onchange })
	const act = h("button.soft", () => (["ringing", "snoozed"].includes(alarm.state) ? stop(alarm) : change(alarm, { skipsNext: !alarm.skipsNext })))
	const card = h("section.card.alarm", h("div.group-head", main, ...forHousehold(h("label.switch", power, h("i")))), h("div.group-head", h("div.two", next), act), trouble)
	card.draw = (now) => {
		alarm = now
		const isHeard = ["ringing", "snoozed"].includes(now.state)
		setText(time, clockOf(now))
		text.tell(dotted(now.name, daysText(now.days)), dotted(roomsText(now), musicText(now.music)))
		setText(next, nextText(now))
		const room = silent(now)
		setText(trouble, room ? `${room.name}: ${stateText(room)}` : "")
		mark(card, "set", now.isOn)
		mark(card, "current", now.state === "ringing")
		card.ariaLabel = `Alarm ${clockOf(now)}`
		power.checked = now.isOn
		power.ariaLabel = `Alarm ${clockOf(now)} on`
		act.hidden = !isHeard && (isGuest() || !now.isOn || !now.days.length)
		setText(act, isHeard ? "Stop" : now.skipsNext ? "Do not skip" : "Skip once")
		mark(act, "on", now.skipsNext && !isHeard)
	}
	return card
}

/** Seconds to choose from, with those that are set. */
const times = (title, list, set, zero) => select(title, [...new Set([...list, set])].sort((a, b) => a - b).map((seconds) => [seconds, seconds ? span(seconds) : zero]), set)

/** A slider for one of the volumes of `set`, which it changes. */
function chosen(key, set, hint) {
	const bar = loudness(key, { hint, send: (value) => bar.draw(set[key] = value) })
	bar.draw(set[key])
	return bar.element
}

/** Music to choose from. What is set stays if nothing else is chosen: its value is empty. */
function chooseMusic(set) {
	const isItems = set.kind === "items"
	const music = select("Music", [...isItems ? [["", musicText(set)]] : [], ["tone", "Tones"], ["queue", "What its queue goes on with"]], isItems ? "" : set.kind)
	const add = (title, things, kind) => things.length && music.box.append(Object.assign(h("optgroup", things.map((thing) =>
		h("option", { value: JSON.stringify({ [`${thing.kind ?? kind}Id`]: thing.id }) }, thing.title ?? thing.name))), { label: title }))
	Promise.all(["favourites", "radios", "playlists"].map((part) => get(`/library/${part}`))).then(([{ favourites }, { radios }, { playlists }]) => {
		// An input is heard as it happens: it cannot be in the rooms before.
		add("Favourites", favourites.filter(({ kind }) => kind !== "input"))
		add("Stations", radios, "radio")
		add("Playlists", playlists, "playlist")
	}, () => {})
	return music
}

const wanted = (value) => (value.startsWith("{") ? { items: [JSON.parse(value)] } : value ? { music: value } : {})

function edit(alarm) {
	const usual = store.pairedRooms()
	const set = { name: "", time: "07:00", days: [], roomIds: currentGroup()?.roomIds ?? (usual.length === 1 ? [usual[0].id] : []), music: { kind: "tone" },
		volume: 30, riseS: 0, lengthS: 1800, snoozeS: 540, ...alarm }
	sheet(alarm ? "Alarm" : "New alarm", (body, close) => {
		const time = h("input.at", { type: "time", value: set.time, required: true, called: "Time" })
		const name = h("input", { value: set.name, placeholder: "Name", called: "Name", maxlength: 100, autocomplete: "off" })
		const dayBoxes = h("div.days", { role: "group", called: "Days" }, week.map((day) => h("label",
			h("input", { type: "checkbox", value: day, checked: set.days.includes(day), called: dayName(day, "long"), onchange: look }), h("span", dayName(day)))))
		const dayHint = h("output")
		const others = set.roomIds.filter((id) => !store.room(id)).map((id) => ({ id, name: nameOf(id) }))
		const rooms = h("div", [...usual, ...others].map((room) => pick(room, room.state && isOut(room) ? stateText(room) : "", look, set.roomIds.includes(room.id))))
		const music = chooseMusic(set.music)
		const rise = times("Rise", [0, 60, 300, 600, 900, 1800], set.riseS, "none")
		const length = times("Length", [300, 600, 1800, 3600, 7200, 10800], set.lengthS)
		const pause = times("Snooze", [300, 540, 600, 900, 1200, 1800], set.snoozeS)
		function look() {
			setText(dayHint, daysText(days.filter((day) => ticked(dayBoxes).includes(day))))
			all.querySelector("[type=submit]").disabled = !ticked(rooms).length
		}
		const save = async () => {
			const order = { time: time.value, name: name.value.trim() || null, days: ticked(dayBoxes), roomIds: ticked(rooms), volume: Math.round(set.volume),
				riseS: Number(rise.box.value), lengthS: Number(length.box.value), snoozeS: Number(pause.box.value), isOn: true, ...wanted(music.box.value) }
			const done = await act(alarm ? "PATCH" : "POST", alarm ? `/alarms/${alarm.id}` : "/alarms", order)
			if (!done) return
			close()
			toast(done.nextAtS ? `Rings ${dayText(done)} at ${clockOf(done)}, ${until(done)}` : "Saved")
		}
		const all = form("Save", save, zone.textContent && h("p.dim", zone.textContent), time, field("Days", dayHint, dayBoxes), field("Rooms", null, rooms), music.row, chosen("volume", set),
			rise.row, length.row, pause.row, name, alarm && textButton("trash", "Delete", () => { close(); remove(alarm) }, ".line.danger"))
		look()
		body.append(all)
	})
}

const remove = (alarm) => confirm(`Delete the alarm at ${clockOf(alarm)}?`, `It rings in ${roomsText(alarm)} no more.`, "Delete it", () => act("DELETE", `/alarms/${alarm.id}`))

function drawNight(hours) {
	night.tell(hours ? `Quiet from ${clockOf({ time: hours.from })} to ${clockOf({ time: hours.to })}` : "Quiet nights", hours ? `Volume ${whole(hours.volumeLimit)} at most${hours.isNow ? ", now" : ""}` : "Off")
}

/** The hours in which no room is loud. */
function editNight() {
	const set = { from: "22:00", to: "07:00", volumeLimit: 25, ...store.server.night }
	sheet("Quiet nights", (body, close) => {
		const [from, to] = [set.from, set.to].map((value) => h("input", { type: "time", value, required: true }))
		const save = async () => {
			if (await act("PUT", "/night", { from: from.value, to: to.value, volumeLimit: Math.round(set.volumeLimit) })) close()
		}
		body.append(form("Save", save, labelled("From", from), labelled("To", to), chosen("volumeLimit", set, "Louder rooms are turned down then. Alarms are as loud as set."),
			store.server.night && textButton("trash", "No quiet nights", () => { close(); act("DELETE", "/night") }, ".line.danger")))
	})
}
