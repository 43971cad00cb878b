// Plays a video of the library muted in this tab, in sync with its sound in the rooms.

import { clamp, currentGroup, get, h, iconButton, remember, remembered, slider, url } from "./kit.js"

/** Seconds. With a larger error the picture jumps; a smaller one changes its speed by a few per cent. */
const jumpBeyondS = 0.25
const screenDelayMs = () => Number(remembered("screenDelayMs") ?? 0)
let video = null
let shade = null
let truth = null
let timer = 0

/** Opens the picture over the cover, or closes it. */
export function toggleVideo(art) {
	const item = currentGroup()?.item
	if (video || !item?.hasVideo) return stopVideo()
	video = h("video", { playsinline: true, disableremoteplayback: true, called: item.title })
	video.muted = true
	video.trackId = item.trackId
	video.src = url`api/v1/library/tracks/${item.trackId}/media`
	const delay = slider({ label: "What this screen adds, in milliseconds", min: -100, max: 300, step: 5, tapStep: 5,
		format: (value) => `screen ${value} ms`, oninput: (value) => remember("screenDelayMs", value) })
	delay.set(screenDelayMs())
	shade = h("div.video", video, h("div.video-tools", delay.element, iconButton("full", "Whole screen", () => shade.requestFullscreen?.()),
		iconButton("close", "Close the video", stopVideo)))
	art.parentElement.append(shade)
	measure()
	return frame(video)
}

export function stopVideo() {
	clearTimeout(timer)
	if (!video) return
	video.removeAttribute("src")
	video.load()
	shade.remove()
	video = truth = null
}

/** Stops the video if another item plays. */
export function videoFollows(group) {
	if (video && video.trackId !== group.item.trackId) stopVideo()
}

/** Asks for the presentation time. Slow answers do not update the clock's estimate. */
let bestTripMs = Infinity
async function measure() {
	const group = currentGroup()
	if (!video || !group) return
	const sent = performance.now()
	const answer = await get(`/groups/${group.id}/presentation`).catch(() => null)
	if (answer) {
		const trip = performance.now() - sent
		bestTripMs = Math.min(bestTripMs * 1.1, trip)
		truth = { ...answer, skewMs: truth && trip > bestTripMs * 1.5 ? truth.skewMs : answer.nowMs - (sent + trip / 2) }
	}
	timer = setTimeout(measure, 1000)
}

/** Called for each presented frame. Its distance from the sound steers the rate. */
function frame(own, shown) {
	if (video !== own) return
	steer(shown?.mediaTime ?? video.currentTime, shown?.expectedDisplayTime ?? performance.now())
	let isDone = false
	const once = (_, shown) => {
		if (!isDone) frame(own, shown)
		isDone = true
	}
	video.requestVideoFrameCallback?.(once)
	setTimeout(once, 200)
}

let jumpedMs = 0
let aheadS = 0
function steer(pictureS, atMs) {
	const group = currentGroup()
	if (!truth || !group || video.readyState < 1 || video.seeking) return
	const isMoving = truth.state === "playing" && group.state === "playing"
	const soundS = isMoving ? truth.positionS + ((atMs + screenDelayMs() + truth.skewMs - truth.positionAtMs) / 1000) * truth.rate : group.positionS
	const error = pictureS - soundS
	if (!isMoving) {
		video.pause()
		if (Math.abs(error) > 0.05) video.currentTime = Math.max(0, soundS)
		return
	}
	if (video.paused && !video.ended) video.play().catch(() => {})
	video.dataset.errorMs = (error * 1000).toFixed(1)
	const sinceMs = performance.now() - jumpedMs
	if (Math.abs(error) > jumpBeyondS) {
		if (sinceMs < 700) return
		// A jump takes time. The next one aims further ahead by as much as the last one was late.
		aheadS = clamp(aheadS - (sinceMs < 3000 ? error : 0), 0, 1)
		jumpedMs = performance.now()
		video.currentTime = Math.max(0, soundS + aheadS)
		return
	}
	const rate = clamp(truth.rate * (1 + (Math.abs(error) < 0.004 ? 0 : clamp(-error * 0.8, -0.06, 0.06))), 0.0625, 16)
	if (Math.abs(video.playbackRate - rate) > 0.002) video.playbackRate = rate
}
