// The stream of events. It closes while the page is hidden, and restarts with a whole snapshot.

import { on, request, store } from "./kit.js"

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
	on(source, "state change sync", ({ type, data }) => hear(type, JSON.parse(data)))
	// A refused stream gives no reason. A request does, for example that this browser was removed.
	source.onerror = () => {
		lost()
		request("GET", "/access").catch(() => {})
	}
}

function hear(name, data) {
	heardMs = performance.now()
	// Its complaints are over.
	if (lostMs) document.querySelector(".toast:has(> .icon)")?.remove()
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

/** Calls `tell(isLost)` two seconds after the connection was lost, so that a phone that wakes up shows no banner. */
export function connect(tell) {
	tellLink = tell
	on(document, "visibilitychange", open)
	on(window, "pageshow", (event) => event.persisted && open())
	on(window, "online", open)
	on(window, "pagehide", close)
	open()
	// Phones may end a connection silently. Events arrive at least every ten seconds, so silence means loss.
	setInterval(() => {
		if (isHidden()) return
		if (source && performance.now() - heardMs > 20000) lost()
		if (lostMs && performance.now() - lostMs > 2000) tellLink(true)
	}, 500)
}
