// Requests to the server, the server's state, and the page's guesses until the server confirms them.

import { warn } from "./overlay.js"

/** Sends a request, and waits `waitS` seconds for the answer. Returns the answer's body and the revision that contains the change, or throws a sentence for people. */
export async function request(method, path, body, { headers, waitS = 10 } = {}) {
	let response
	try {
		response = await fetch(`api/v1${path}`, {
			method,
			headers: { ...(body && { "Content-Type": "application/json" }), ...headers },
			body: body && JSON.stringify(body),
			signal: AbortSignal.timeout(waitS * 1000),
		})
	} catch {
		throw new Error("The server does not answer. Is its machine on, and in this network?")
	}
	const data = await response.json().catch(() => null)
	if (response.ok) return { data, revision: Number(response.headers.get("Tutti-Revision")) }
	if (data?.code === "unpaired") document.dispatchEvent(new Event("tutti:login"))
	throw Object.assign(new Error(data?.detail ?? `The server refused this (${response.status}).`), { status: response.status, retryAfterS: Number(response.headers.get("Retry-After")) })
}

export const get = async (path) => (await request("GET", path)).data

export const store = {
	revision: 0,
	server: {},
	library: { trackCount: 0, albumCount: 0, scan: null },
	groups: new Map(),
	rooms: new Map(),
	inputs: [],
	alarms: [],
	scenes: [],
	guesses: [],
	skewMs: -Infinity,
	listeners: new Set(),

	/** The page's estimate of the server's clock. */
	nowMs() {
		return performance.now() + (Number.isFinite(this.skewMs) ? this.skewMs : 0)
	},
	/** Every message takes time to arrive, so the largest difference is the most accurate. */
	heard(nowMs) {
		this.skewMs = Math.max(this.skewMs - 0.02, nowMs - performance.now())
	},
	snapshot(state) {
		this.skewMs = -Infinity
		this.groups.clear()
		this.rooms.clear()
		this.change(state)
	},
	change(change) {
		this.heard(change.nowMs)
		for (const kind of ["groups", "rooms"]) for (const thing of change[kind] ?? []) this[kind].set(thing.id, thing)
		for (const id of change.removedGroups ?? []) this.groups.delete(id)
		for (const id of change.removedRooms ?? []) this.rooms.delete(id)
		for (const part of ["server", "inputs", "alarms", "scenes", "library"]) this[part] = change[part] ?? this[part]
		this.revision = change.revision
		this.guesses = this.guesses.filter((guess) => !(guess.revision <= this.revision))
		this.changed()
	},
	sync(sync) {
		this.heard(sync.nowMs)
		for (const { id, sync: figures } of sync.rooms ?? []) if (this.rooms.has(id)) this.rooms.get(id).sync = figures
		for (const group of sync.groups ?? []) Object.assign(this.groups.get(group.id) ?? {}, group)
		this.changed()
	},

	group(id) {
		return this.believed("groups", this.groups.get(id))
	},
	room(id) {
		return this.believed("rooms", this.rooms.get(id))
	},
	/** Groups with rooms, and those with a name and a queue, which wait for rooms. */
	allGroups() {
		return [...this.groups.keys()].map((id) => this.group(id)).filter((group) => group.roomIds.length || (group.isNamed && group.queue.count))
	},
	allRooms() {
		return [...this.rooms.keys()].map((id) => this.room(id)).sort((a, b) => a.name.localeCompare(b.name))
	},
	pairedRooms() {
		return this.allRooms().filter(({ isPaired }) => isPaired)
	},
	/** In the order of their times. */
	allAlarms() {
		return this.alarms.map((alarm) => this.believed("alarms", alarm)).sort((a, b) => a.time.localeCompare(b.time))
	},
	roomsOf(group) {
		return group.roomIds.map((id) => this.room(id)).filter(Boolean)
	},
	believed(kind, thing) {
		const own = this.guesses.filter((guess) => guess.kind === kind && guess.id === thing?.id)
		return own.length ? Object.assign({}, thing, ...own.map((guess) => guess.patch)) : thing
	},
	forget(guess) {
		this.guesses = this.guesses.filter((other) => other !== guess)
		this.changed()
	},
	changed() {
		this.frame ??= requestAnimationFrame(() => {
			this.frame = undefined
			for (const listener of this.listeners) listener()
		})
	},
}

/** The language of dates: the household's, or the browser's. */
export const language = () => store.server.dates || []
/** A time in that language. `options` are those of `Intl.DateTimeFormat`. */
export const dateText = (ms, options) => new Intl.DateTimeFormat(language(), options).format(ms)

/** Sends a change. Guesses, [kind, id, patch], show at once, until events contain the answer's revision or the server refuses. */
export async function act(method, path, body, guesses = [], more) {
	const held = guesses.map(([kind, id, patch]) => ({ kind, id, patch }))
	store.guesses.push(...held)
	store.changed()
	try {
		const { data, revision } = await request(method, path, body, more)
		for (const guess of held) {
			guess.revision = revision || Infinity
			if (revision && revision <= store.revision) store.forget(guess)
			else setTimeout(() => store.forget(guess), revision ? 1500 : 400)
		}
		return data ?? {}
	} catch (error) {
		held.forEach((guess) => store.forget(guess))
		warn(error)
		return null
	}
}

/** Sends only the newest value, one request at a time, at most ten a second. */
export function newest(send, gapMs = 100) {
	let isBusy = false
	let waiting = null
	return async (...values) => {
		waiting = values
		if (isBusy) return
		isBusy = true
		while (waiting) {
			const next = waiting
			waiting = null
			await Promise.all([send(...next), new Promise((resolve) => setTimeout(resolve, gapMs))])
		}
		isBusy = false
	}
}
