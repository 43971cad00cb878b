// The current item: the large view, and the bar at the bottom.

import { chooseGroup, chooseRooms, currentGroup, go, groupVolume, isRunning, mute, position, repeat, seekTo, shuffle, skip, toggle } from "./actions.js"
import { store } from "./api.js"
import { attribute, clock, cover, dotted, h, icon, iconButton, label, lines, setCover, setIcon, setText, textButton } from "./dom.js"
import { homeParts } from "./browse.js"
import { aim, heart } from "./favourites.js"
import { drawLyrics, lyrics, lyricsButton, tickLyrics } from "./lyrics.js"
import { empty, menu, noLibrary, noRooms } from "./overlay.js"
import { pair } from "./room.js"
import { slider, volumeRow } from "./slider.js"
import { sound } from "./sound.js"
import { drawFacts, isSettable } from "./truth.js"
import { stopVideo, toggleVideo, videoFollows } from "./video.js"

const now = document.getElementById("now")
const bar = document.getElementById("player")

/** The controls of both places, and two functions that update them. */
function controls() {
	const play = h("button.play", { onclick: () => toggle() }, icon("play"))
	const repeatButton = iconButton("repeat", "Repeat", () => repeat())
	const shuffleButton = iconButton("shuffle", "Shuffle the queue", () => shuffle())
	const transport = h("div.transport", shuffleButton, iconButton("previous", "Previous (P)", () => skip("previous"), ".skip.previous"),
		play, iconButton("next", "Next (N)", () => skip("next"), ".skip"), repeatButton)
	const scrub = slider({ label: "Position", format: clock, isAbsolute: true, keyStep: 10, kind: "scrub", oninput: (value) => seekTo(value) })
	const [past, left] = [h("time.past"), h("time.left")]
	const send = groupVolume()
	const volume = volumeRow((value) => send(currentGroup(), value), () => mute())

	function update(group) {
		const isOn = isRunning(group)
		setIcon(play, isOn ? "pause" : "play")
		label(play, isOn ? "Pause (space)" : "Play (space)")
		play.classList.toggle("waits", isOn && group.state !== "playing")
		const how = group?.repeat ?? "off"
		setIcon(repeatButton, how === "one" ? "one" : "repeat")
		repeatButton.classList.toggle("on", how !== "off")
		label(repeatButton, `Repeat: ${{ off: "off", all: "the queue", one: "this track" }[how]}`)
		const isShuffled = !!group?.queue.isShuffled
		shuffleButton.classList.toggle("on", isShuffled)
		label(shuffleButton, isShuffled ? "Shuffled: bring back the order" : "Shuffle the queue")
		for (const button of transport.children) button.disabled = !group && button !== play
		volume.draw(group?.name, group?.volume, !!group?.muted, !isSettable(group))
		scrub.input.disabled = !(group?.item?.isSeekable && group.item.durationS)
		scrub.element.classList.toggle("off", scrub.input.disabled)
		tick(group)
	}
	function tick(group) {
		const item = group?.item
		const end = item?.durationS
		if (!scrub.isHeld) scrub.set(item ? position(group) : 0, end || 1)
		scrub.element.style.setProperty("--ahead", end ? Math.min(1, (group.bufferedUntilS ?? 0) / end).toFixed(3) : 0)
		setText(past, clock(item ? scrub.value : 0))
		setText(left, item?.isLive ? "Live" : clock(item ? end : 0))
	}
	return { transport, scrub: scrub.element, past, left, volume: volume.parts, update, tick }
}

const large = controls()
const small = controls()
const art = cover(null)
const glow = h("div.glow", { "aria-hidden": true })
const title = h("h1")
const byline = h("p.byline")
const chips = h("div.chips", { role: "group", "aria-label": "What you hear" })
const groupButton = h("button.group-name", { onclick: () => pickGroup() }, h("span"), icon("down"))
const watch = iconButton("video", "Watch the video", () => toggleVideo(art), ".watch")
const nothing = h("div.nothing.scroll")
const keep = heart()
const tune = () => iconButton("tune", "Sound and sleep timer", () => sound(), ".tune")
const stage = h("div.stage", h("div.art-box", h("div.art", art, lyrics, lyricsButton, watch)), h("div.deck",
	h("div.titles", h("div", title, byline), keep, tune()), h("div.scrub-row", large.scrub, large.past, large.left),
	large.transport, h("div.volume-row", large.volume), chips))
const barCover = cover(null)
const barText = lines()

export function buildNow() {
	now.append(glow, h("header.view-head", groupButton), stage, nothing)
	bar.append(
		h("a.bar-item", { href: "#/now", "aria-label": "Show what plays now" }, barCover, barText.box),
		h("div.bar-middle", small.transport, h("div.scrub-row", small.past, small.scrub, small.left)),
		h("div.bar-right", small.volume, h("a.round", { href: "#/rooms", label: "Rooms" }, icon("speaker")), tune(),
			iconButton("queue", "Show or hide the queue", () => document.documentElement.classList.toggle("queue-closed"), ".queue-toggle")))
	setInterval(() => {
		if (document.visibilityState === "hidden") return
		large.tick(currentGroup())
		tickLyrics(currentGroup())
		small.tick(currentGroup())
	}, 250)
}

function pickGroup() {
	const groups = store.allGroups()
	if (groups.length < 2) return go("rooms")
	const chosen = currentGroup().id
	return menu(groupButton, "Which group?", [
		...groups.map((group) => ["speaker", group.name, () => chooseGroup(group.id), group.id === chosen && "on"]),
		null, ["tune", "Rooms and groups", () => go("rooms")],
	])
}

export function drawNow() {
	const group = currentGroup()
	const item = group?.item
	large.update(group)
	small.update(group)
	setText(groupButton.firstChild, group?.name ?? "Rooms")
	attribute(groupButton, "aria-label", group ? `Group: ${group.name}. Choose another` : "Rooms")
	document.title = item ? `${item.title} · ${group.name}` : "Tutti"

	setCover(art, item?.artwork, 1200, item?.album ?? item?.title, item?.isLive && "radio")
	if (item?.trackId) aim(keep, `track/${item.trackId}`, item.title)
	else aim(keep)
	setCover(glow, item?.artwork)
	setText(title, item?.title ?? "")
	drawByline(item)
	drawFacts(chips, group)
	drawLyrics(group)
	watch.hidden = !item?.hasVideo
	if (item?.hasVideo) videoFollows(group)
	else stopVideo()

	stage.hidden = !item
	nothing.hidden = !!item
	if (!item) drawNothing(group)
	setCover(barCover, item?.artwork, 300, item?.album ?? item?.title, item?.isLive && "radio")
	setText(barText.top, item?.title ?? "Nothing plays")
	setText(barText.below, item ? dotted(item.artist, group.name) : group?.name ?? "Choose something in the library")
}

function drawByline(item) {
	const { artist, album, albumId } = item ?? {}
	if (byline.dataset.key === dotted(artist, album, albumId)) return
	byline.dataset.key = dotted(artist, album, albumId)
	const link = (text, href) => (text && albumId ? h("a", { href }, text) : text)
	byline.replaceChildren(...[link(artist, `#/library/named/${encodeURIComponent(artist)}`), artist && album && " · ", link(album, `#/library/album/${albumId}`)].filter(Boolean))
}

/** Shows the next step that a new household has to take. */
function drawNothing(group) {
	const rooms = store.allRooms()
	const strangers = rooms.filter((room) => room.state === "notPaired")
	const step = !rooms.length ? "rooms" : strangers.length === rooms.length ? "pair" : !store.library.trackCount ? "library"
		: group?.queue.count ? "stopped" : group ? "empty" : "group"
	const key = JSON.stringify([step, store.library.folders, !store.library.scan, strangers.map((room) => room.name)])
	if (nothing.dataset.key === key) return
	nothing.dataset.key = key
	const pairing = strangers.map((room) => textButton("check", `Pair ${room.name}`, () => pair(room)))
	nothing.replaceChildren({
		rooms: noRooms,
		pair: () => empty("speaker", strangers.length > 1 ? "These rooms are there" : `${strangers[0].name} is there`, "Pair each room once, with the PIN that it shows. Then it plays.", { more: pairing }),
		library: noLibrary,
		stopped: () => empty("play", "Stopped", "The queue is still there.", { button: "Play it", act: () => toggle() }),
		empty: () => empty("note", "Nothing plays", "Choose an album, and it plays in these rooms.", { button: "Open the library", act: () => go("library") }),
		group: () => empty("speaker", "Where should it play?", "Choose one room or several. They play together.",
			{ button: "Choose rooms", act: () => chooseRooms(() => go("library"), { button: "Use these rooms" }), more: pairing }),
	}[step]())
	const offer = (parts) => nothing.dataset.key === key && nothing.append(...parts)
	if (["empty", "group"].includes(step)) homeParts().then(offer, () => {})
}
