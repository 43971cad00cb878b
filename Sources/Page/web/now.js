// The current item: the large view, and the bar at the bottom.

import {
	aim, byId, chooseGroup, chooseRooms, clock, cover, currentGroup, dotted, drawFacts, empty, failure, get, go, groupVolume, h, heart, icon, iconButton, isRunning,
	isSettable, label, lines, mark, menu, mute, noLibrary, noRooms, position, refill, repeat, root, seekTo, setCover, setIcon, setItemCover, setText, shuffle, skip, slider, store,
	toggle, url, volumeRow,
} from "./kit.js"
import { homeParts } from "./browse.js"
import { needsSetUp, setUp } from "./setup.js"
import { sound } from "./sound.js"
import { stopVideo, toggleVideo, videoFollows } from "./video.js"

const now = byId("now")
const bar = byId("player")

/** Returns to what a station sends now. */
const live = h("button.soft", () => skip("live"), "Live")

/** The controls of both places, and two functions that update them. */
function controls() {
	const play = h("button.play", () => toggle(), icon("play"))
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
		mark(play, "waits", isOn && group.state !== "playing")
		const how = group?.repeat ?? "off"
		setIcon(repeatButton, how === "one" ? "one" : "repeat")
		mark(repeatButton, "on", how !== "off")
		label(repeatButton, `Repeat: ${{ off: "off", all: "the queue", one: "this track" }[how]}`)
		const isShuffled = !!group?.queue.isShuffled
		mark(shuffleButton, "on", isShuffled)
		label(shuffleButton, isShuffled ? "Shuffled: bring back the order" : "Shuffle the queue")
		for (const button of transport.children) button.disabled = !group && button !== play
		volume.draw(group?.name, group?.volume, !!group?.muted, !isSettable(group))
		scrub.input.disabled = !(group?.item?.isSeekable && (group.liveS ?? group.item.durationS))
		mark(scrub.element, "off", scrub.input.disabled)
		tick(group)
	}
	function tick(group) {
		const item = group?.item
		const end = group?.liveS ?? item?.durationS
		const start = group?.keptFromS ?? 0
		if (!scrub.isHeld) scrub.set(item ? position(group) : 0, end || 1, start)
		scrub.element.style.setProperty("--ahead", end ? Math.min(1, ((group.bufferedUntilS ?? 0) - start) / (end - start)).toFixed(3) : 0)
		const late = group?.liveS - scrub.value
		live.hidden = !(late >= 5)
		setText(past, live.hidden ? clock(item ? scrub.value : 0) : `−${clock(late)}`)
		setText(left, item?.isLive ? "Live" : clock(item ? end : 0))
	}
	return { transport, scrub: scrub.element, past, left, volume: volume.parts, update, tick }
}

// The lyrics, over the picture; in step with the sound if they have times.

const lyrics = h("div.lyrics", { tabindex: 0, role: "region", called: "Lyrics", hidden: true })
const lyricsButton = iconButton("words", "Lyrics", () => openLyrics(!isOpen), ".words")
let [isOpen, shown, sung, current] = [false, "", [], -1]

function openLyrics(wish) {
	isOpen = wish
	lyrics.hidden = !isOpen || !sung.length
	lyricsButton.hidden = !sung.length
	lyricsButton.ariaPressed = isOpen
	current = -1
}

/** Fetches the lyrics of another track, if the view shows it. */
async function drawLyrics(group) {
	const id = group?.item?.trackId ?? ""
	if (shown !== id && root.dataset.view === "now") {
		shown = id
		sung = []
		openLyrics(isOpen)
		const found = id && await get(url`/library/tracks/${id}/lyrics`).catch(() => null)
		if (shown !== id || !found) return
		sung = found.lines
		lyrics.replaceChildren(...sung.map(({ text }) => h("p", text || "♪")))
		mark(lyrics, "timed", sung[0]?.atS != null)
		openLyrics(isOpen)
	}
	tickLyrics(group)
}

/** Marks the line that is sung now, and scrolls to it when it changes. */
function tickLyrics(group) {
	if (lyrics.hidden || sung[0]?.atS == null) return
	const now = sung.findLastIndex(({ atS }) => atS <= position(group))
	if (now === current) return
	const line = lyrics.children[now]
	if (lyrics.children[current]) lyrics.children[current].ariaCurrent = null
	if (line) line.ariaCurrent = true
	current = now
	lyrics.scrollTo({ top: line ? line.offsetTop - lyrics.clientHeight / 2.5 : 0, behavior: "smooth" })
}

const large = controls()
const small = controls()
const art = cover()
const glow = h("div.glow", { "aria-hidden": true })
const title = h("h1")
const byline = h("p.byline")
const chips = h("div.chips", { role: "group", called: "What you hear" })
const groupButton = h("button.group-name", () => pickGroup(), h("span"), icon("down"))
const watch = iconButton("video", "Watch the video", () => toggleVideo(art), ".watch")
const nothing = h("div.nothing.scroll")
const keep = heart()
const tune = () => iconButton("tune", "Sound and sleep timer", () => sound(), ".tune")
const stage = h("div.stage", h("div.art-box", h("div.art", art, lyrics, lyricsButton, watch)), h("div.deck",
	h("div.titles", h("div", title, byline), live, keep, tune()), h("div.scrub-row", large.scrub, large.past, large.left),
	large.transport, h("div.volume-row", large.volume), chips))
const barCover = cover()
const barText = lines()

export function buildNow() {
	now.append(glow, h("header.view-head", groupButton), stage, nothing)
	bar.append(
		h("a.bar-item", { href: "#/now", called: "Show what plays now" }, barCover, barText.box),
		h("div.bar-middle", small.transport, h("div.scrub-row", small.past, small.scrub, small.left)),
		h("div.bar-right", small.volume, h("a.round", { href: "#/rooms", label: "Rooms" }, icon("speaker")), tune(),
			iconButton("queue", "Show or hide the queue", () => root.classList.toggle("queue-closed"), ".queue-toggle")))
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
	groupButton.ariaLabel = group ? `Group: ${group.name}. Choose another` : "Rooms"
	document.title = item ? `${item.title} · ${group.name}` : "Tutti"

	setItemCover(art, item, 1200)
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
	setItemCover(barCover, item)
	barText.tell(item?.title ?? "Nothing plays", item ? dotted(item.artist, group.name) : group?.name ?? "Choose something in the library")
}

function drawByline(item) {
	const { artist, album, albumId } = item ?? {}
	const link = (text, href) => (text && albumId ? h("a", { href }, text) : text)
	refill(byline, dotted(artist, album, albumId), () => [link(artist, url`#/library/named/${artist}`), artist && album && " · ", link(album, `#/library/album/${albumId}`)].filter(Boolean))
}

/** Shows the next step to take. */
let wizard
function drawNothing(group) {
	const rooms = store.allRooms()
	if (needsSetUp()) {
		wizard ??= setUp()
		refill(nothing, "set-up", () => wizard)
		return wizard.draw()
	}
	const step = !rooms.length ? "rooms" : !store.library.trackCount ? "library"
		: group?.queue.count ? "stopped" : group ? "empty" : "group"
	const key = JSON.stringify([step, store.library.folders, !store.library.scan, group?.failed])
	const isNew = refill(nothing, key, {
		rooms: noRooms,
		library: noLibrary,
		stopped: () => empty("play", "Stopped", group.failed ? failure(group.failed) : "The queue is still there.", { button: "Play it", act: () => toggle() }),
		empty: () => empty("note", "Nothing plays", "Choose an album, and it plays in these rooms.", { button: "Open the library", act: () => go("library") }),
		group: () => empty("speaker", "Where should it play?", "Choose one room or several. They play together.",
			{ button: "Choose rooms", act: () => chooseRooms(() => go("library"), { button: "Use these rooms" }) }),
	}[step])
	const offer = (parts) => nothing.dataset.key === key && nothing.append(...parts)
	if (isNew && ["empty", "group"].includes(step)) homeParts().then(offer, () => {})
}
