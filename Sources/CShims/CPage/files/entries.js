// The queue of one group, as far as it has been looked at: pages are fetched when they come into view.

import { get } from "./api.js";

const pageSize = 200;

export class Entries {
  constructor(groupId, onchange) {
    Object.assign(this, { groupId, onchange, revision: 0, count: 0, list: [], fresh: new Set(), asked: new Set() });
  }

  at(index) {
    return this.list[index];
  }

  /** Fetches what of this range is missing or old. */
  async need(first, end) {
    for (let page = Math.floor(first / pageSize); page * pageSize < Math.min(end, Math.max(this.count, 1)); page++) {
      if (this.fresh.has(page) || this.asked.has(page)) continue;
      this.asked.add(page);
      this.fetch(page);
    }
  }

  async fetch(page) {
    try {
      const found = await get(`/groups/${this.groupId}/queue?offset=${page * pageSize}&limit=${pageSize}`);
      if (found.revision !== this.revision) {
        this.fresh.clear();
        this.revision = found.revision;
      }
      this.count = this.list.length = found.count;
      found.entries.forEach((entry, index) => (this.list[page * pageSize + index] = entry));
      this.fresh.add(page);
    } catch {
      // The next event, or the next look at this page, asks again.
    } finally {
      this.asked.delete(page);
      this.onchange();
    }
  }

  /** The server has another revision: what is shown stays until the new list is here. */
  outdated(count) {
    this.fresh.clear();
    this.count = this.list.length = count;
  }

  indexOf(id) {
    return this.list.findIndex((entry) => entry?.id === id);
  }

  /** Moves an entry before `target` in the list as it is now. Returns the id of the entry that follows it, or null. */
  move(from, to) {
    const [entry] = this.list.splice(from, 1);
    this.list.splice(to, 0, entry);
    return this.list[to + 1]?.id ?? null;
  }

  remove(index) {
    this.list.splice(index, 1);
    this.count -= 1;
  }
}
