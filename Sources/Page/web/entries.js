// The queue of one group. Pages are fetched when they come into view.

import { get } from "./api.js"

const pageSize = 200

export class Entries {
	constructor(groupId, onchange) {
		Object.assign(this, { groupId, onchange, revision: 0, count: 0, list: [], fresh: new Set(), asked: new Set() })
	}

	/** Fetches the pages of this range that are missing or outdated. */
	need(first, end) {
		for (let page = Math.floor(first / pageSize); page * pageSize < Math.max(end, 1); page++) {
			if (!this.fresh.has(page) && !this.asked.has(page)) this.fetch(page)
		}
	}

	async fetch(page) {
		this.asked.add(page)
		try {
			const found = await get(`/groups/${this.groupId}/queue?offset=${page * pageSize}&limit=${pageSize}`)
			if (found.revision !== this.revision) this.outdated(found.count)
			this.revision = found.revision
			found.entries.forEach((entry, index) => (this.list[page * pageSize + index] = entry))
			this.fresh.add(page)
			this.asked.delete(page)
			this.onchange()
		} catch {
			// The next event, or the next look at this page, tries again.
			this.asked.delete(page)
		}
	}

	/** The server has another revision. Old entries stay on the screen until new ones arrive. */
	outdated(count) {
		this.fresh.clear()
		this.count = this.list.length = count
	}

	indexOf(id) {
		return this.list.findIndex((entry) => entry?.id === id)
	}

	/** Moves an entry to another place. Returns the id of the entry that then follows it, or null. */
	move(from, to) {
		this.list.splice(to, 0, ...this.list.splice(from, 1))
		return this.list[to + 1]?.id ?? null
	}

	remove(index) {
		this.list.splice(index, 1)
		this.count -= 1
	}
}
