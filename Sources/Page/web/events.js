// The stream of events: closed while the page is hidden, opened with a whole snapshot when it is seen again.

import { request, store } from "./api.js"

let source = null
let heardMs = 0
let lostMs = 0
let retryMs = 500
let timer = 0
let tellLink
export const onSync = []

const isHidden = () => document.visibilityState === "hidden"

function open() {
	close()
	if (isHidden()) return
	source = new EventSource("api/v1/events")
	heardMs = performance.now()
	for (const name of ["state", "change", "sync"]) source.addEventListener(name, (event) => hear(name, JSON.parse(event.data)))
	// A stream that is refused tells no reason; a request does, such as that this browser was removed.
	source.onerror = () => {
		lost()
		request("GET", "/access").catch(() => {})
	}
}

function hear(name, data) {
	heardMs = performance.now()
	lostMs = 0
	retryMs = 500
	tellLink(false)
	store[name === "state" ? "snapshot" : name](data)
	if (name === "sync") onSync.forEach((listener) => listener(data))
}

function close() {
	clearTimeout(timer)
	source?.close()
	source = null
}

function lost() {
	close()
	lostMs ||= performance.now()
	timer = setTimeout(open, retryMs)
	retryMs = Math.min(retryMs * 1.6, 4000)
}

/** `tell(isLost)` hears of a lost connection after two seconds, so that a phone that wakes up shows no banner. */
export function connect(tell) {
	tellLink = tell
	document.addEventListener("visibilitychange", open)
	window.addEventListener("pageshow", (event) => event.persisted && open())
	window.addEventListener("online", open)
	window.addEventListener("pagehide", close)
	open()
	// A phone's system can end a connection without a word, but an event comes at least every ten seconds.
	setInterval(() => {
		if (isHidden()) return
		if (source && performance.now() - heardMs > 20000) lost()
		if (lostMs && performance.now() - lostMs > 2000) tellLink(true)
	}, 500)
}
