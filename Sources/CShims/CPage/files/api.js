// Requests to the server, the state as the server told it, and what the page believes until the server confirms it.

import { toast } from "./overlay.js";

/** The server's refusal, as a sentence for people. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const unreachable = "The server does not answer. Is the machine on, and in this network?";

/** Sends a request. The answer's body, and the revision that contains the change. */
export async function request(method, path, body, options = {}) {
  let response;
  try {
    response = await fetch(`api/v1${path}`, {
      method,
      headers: { ...(body && { "Content-Type": "application/json" }), ...options.headers },
      body: body && JSON.stringify(body),
      signal: options.signal ?? AbortSignal.timeout(10000),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Refusal(0, unreachable);
  }
  const text = await response.text();
  const data = text ? parse(text) : null;
  if (response.ok) return { data, revision: Number(response.headers.get("Tutti-Revision")) || null };
  if (response.status === 401) document.dispatchEvent(new Event("tutti:login"));
  throw new Refusal(response.status, data?.detail ?? `The server refused this (${response.status}).`);
}

export const get = async (path, options) => (await request("GET", path, undefined, options)).data;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const store = {
  revision: 0,
  isKnown: false,
  server: {},
  library: { trackCount: 0, albumCount: 0, scan: null },
  groups: new Map(),
  rooms: new Map(),
  guesses: [],
  skewMs: -Infinity,
  listeners: [],

  /** The server's clock, as well as the page can know it. */
  nowMs() {
    return performance.now() + (Number.isFinite(this.skewMs) ? this.skewMs : 0);
  },
  /** Every message left the server some time ago, so the largest difference is the truest. */
  heard(nowMs) {
    this.skewMs = Math.max(this.skewMs - 0.02, nowMs - performance.now());
  },
  snapshot(state) {
    this.skewMs = -Infinity;
    this.heard(state.nowMs);
    this.groups = new Map(state.groups.map((group) => [group.id, group]));
    this.rooms = new Map(state.rooms.map((room) => [room.id, room]));
    Object.assign(this, { revision: state.revision, server: state.server, library: state.library, isKnown: true });
    this.changed();
  },
  change(change) {
    this.heard(change.nowMs);
    for (const group of change.groups ?? []) this.groups.set(group.id, group);
    for (const room of change.rooms ?? []) this.rooms.set(room.id, room);
    for (const id of change.removedGroups ?? []) this.groups.delete(id);
    for (const id of change.removedRooms ?? []) this.rooms.delete(id);
    if (change.library) this.library = change.library;
    this.revision = change.revision;
    this.guesses = this.guesses.filter((guess) => !(guess.revision <= this.revision));
    this.changed();
  },
  sync(sync) {
    this.heard(sync.nowMs);
    for (const { id, sync: figures } of sync.rooms ?? []) {
      const room = this.rooms.get(id);
      if (room) room.sync = figures;
    }
    for (const group of sync.groups ?? []) Object.assign(this.groups.get(group.id) ?? {}, group);
    this.changed();
  },

  group(id) {
    return this.believed("groups", this.groups.get(id));
  },
  room(id) {
    return this.believed("rooms", this.rooms.get(id));
  },
  allGroups() {
    return [...this.groups.values()].map((group) => this.believed("groups", group));
  },
  allRooms() {
    return [...this.rooms.values()].map((room) => this.believed("rooms", room)).sort((a, b) => a.name.localeCompare(b.name));
  },
  roomsOf(group) {
    return group.roomIds.map((id) => this.room(id)).filter(Boolean);
  },
  believed(kind, thing) {
    if (!thing) return undefined;
    const own = this.guesses.filter((guess) => guess.kind === kind && guess.id === thing.id);
    return own.length ? Object.assign({}, thing, ...own.map((guess) => guess.patch)) : thing;
  },

  guess(kind, id, patch) {
    const guess = { kind, id, patch, revision: NaN };
    this.guesses.push(guess);
    this.changed();
    return guess;
  },
  forget(guess) {
    this.guesses = this.guesses.filter((other) => other !== guess);
    this.changed();
  },
  /** A guess holds until the events have caught up with the answer, so that nothing jumps back and forth. */
  confirm(guess, revision) {
    if (revision && revision <= this.revision) return this.forget(guess);
    guess.revision = revision ?? NaN;
    setTimeout(() => this.forget(guess), revision ? 1500 : 400);
  },

  changed() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      for (const listener of this.listeners) listener();
    });
  },
};

/** Changes something: shows the guesses at once, and takes them back with a word if the server refuses. */
export async function act(method, path, body, guesses = [], options = {}) {
  const held = guesses.map(([kind, id, patch]) => store.guess(kind, id, patch));
  try {
    const { data, revision } = await request(method, path, body, options);
    for (const guess of held) store.confirm(guess, revision);
    return data ?? {};
  } catch (error) {
    for (const guess of held) store.forget(guess);
    if (!options.isQuiet) toast(error.message, { isError: true });
    if (options.isQuiet) throw error;
    return null;
  }
}

/** Sends the newest value only, one request at a time, at most ten a second. */
export function newest(send, gapMs = 100) {
  let isBusy = false;
  let waiting = null;
  return async (value) => {
    waiting = { value };
    if (isBusy) return;
    isBusy = true;
    while (waiting) {
      const next = waiting.value;
      waiting = null;
      await Promise.all([send(next), new Promise((resolve) => setTimeout(resolve, gapMs))]);
    }
    isBusy = false;
  };
}
