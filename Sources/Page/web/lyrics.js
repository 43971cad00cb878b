// The lyrics of what plays, over its picture; in step with the sound if they have times.

import { position } from "./actions.js"
import { get } from "./api.js"
import { attribute, h, iconButton } from "./dom.js"

export const lyrics = h("div.lyrics", { tabindex: 0, role: "region", "aria-label": "Lyrics", hidden: true })
export const lyricsButton = iconButton("words", "Lyrics", () => open(!isOpen), ".words")
let [isOpen, shown, lines, current] = [false, "", [], -1]

function open(wish) {
	isOpen = wish
	lyrics.hidden = !isOpen || !lines.length
	lyricsButton.hidden = !lines.length
	attribute(lyricsButton, "aria-pressed", `${isOpen}`)
	current = -1
}

/** Fetches the lyrics of another track, if the view shows it. */
export async function drawLyrics(group) {
	const id = group?.item?.trackId ?? ""
	if (shown !== id && document.documentElement.dataset.view === "now") {
		shown = id
		lines = []
		open(isOpen)
		const found = id && await get(`/library/tracks/${encodeURIComponent(id)}/lyrics`).catch(() => null)
		if (shown !== id || !found) return
		lines = found.lines
		lyrics.replaceChildren(...lines.map(({ text }) => h("p", text || "♪")))
		lyrics.classList.toggle("timed", lines[0]?.atS != null)
		open(isOpen)
	}
	tickLyrics(group)
}

/** Marks the line that is sung now, and scrolls to it when it changes. */
export function tickLyrics(group) {
	if (lyrics.hidden || lines[0]?.atS == null) return
	const now = lines.findLastIndex(({ atS }) => atS <= position(group))
	if (now === current) return
	lyrics.children[current]?.removeAttribute("aria-current")
	current = now
	const line = lyrics.children[now]
	line?.setAttribute("aria-current", "true")
	lyrics.scrollTo({ top: line ? line.offsetTop - lyrics.clientHeight / 2.5 : 0, behavior: "smooth" })
}
