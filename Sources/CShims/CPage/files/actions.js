// What a person can do, wherever the button is.

import { act, newest, request, store } from "./api.js";
import { menu, sheet, toast } from "./overlay.js";
import { h, icon } from "./dom.js";

const chosenKey = "tutti.group";

let chosenId = localStorage.getItem(chosenKey);

/** The group that the page shows: the chosen one, else one that plays, else any. It stays, whatever happens to it. */
export function currentGroup() {
  const chosen = store.group(chosenId);
  if (chosen) return chosen;
  const groups = store.allGroups();
  const found = groups.find((group) => group.state === "playing") ?? groups.find((group) => group.item) ?? groups[0] ?? null;
  chosenId = found?.id;
  return found;
}

export function chooseGroup(id) {
  chosenId = id;
  localStorage.setItem(chosenKey, id);
  store.changed();
}

export const isRunning = (group) => ["playing", "starting", "buffering"].includes(group?.state);

/** Where the music is now, in seconds. */
export function position(group) {
  if (group.state !== "playing") return group.positionS ?? 0;
  const moved = Math.max(0, store.nowMs() - group.positionAtMs) / 1000;
  const now = group.positionS + moved * (group.rate ?? 1);
  return group.item?.durationS ? Math.min(now, group.item.durationS) : now;
}

const here = (positionS) => ({ positionS, positionAtMs: store.nowMs() });
const toGroup = (group, verb, body, patch) =>
  act("POST", `/groups/${group.id}/${verb}`, body, patch ? [["groups", group.id, patch]] : []);

export function toggle(group = currentGroup()) {
  if (!group) return chooseRooms();
  const now = here(position(group));
  if (isRunning(group)) return toGroup(group, "pause", undefined, { state: "paused", ...now });
  if (!group.item && !group.queue.count) {
    toast("The queue is empty. Choose something in the library.");
    location.hash = "#/library";
    return undefined;
  }
  return toGroup(group, "play", undefined, { state: group.item ? "playing" : "starting", ...now });
}

export const skip = (verb, group = currentGroup()) => group && toGroup(group, verb, undefined, group.item && here(0));

export function seekBy(seconds, group = currentGroup()) {
  if (group?.item?.isSeekable) seekTo(position(group) + seconds, group);
}

const sendSeek = newest(({ group, positionS }) =>
  toGroup(group, "seek", { positionS: Number(positionS.toFixed(2)) }, here(positionS)));

export function seekTo(positionS, group = currentGroup()) {
  const end = group.item.durationS ?? Infinity;
  sendSeek({ group, positionS: Math.max(0, Math.min(positionS, end)) });
}

/** `guess` is what the group will look like, where that is not what is sent. */
export const patchGroup = (group, patch, guess = patch) => act("PATCH", `/groups/${group.id}`, patch, [["groups", group.id, guess]]);
export const patchRoom = (room, patch) => act("PATCH", `/rooms/${room.id}`, patch, [["rooms", room.id, patch]]);

/** A function that sends a slider's values for one room or group. */
export const groupVolume = () => newest(({ group, volume }) => patchGroup(group, { volume }));
export const roomVolume = () => newest(({ room, volume }) => patchRoom(room, { volume }));

const sendVolume = groupVolume();
export function louder(by, group = currentGroup()) {
  if (group) sendVolume({ group, volume: Math.max(0, Math.min(100, Math.round(group.volume + by))) });
}

export const mute = (group = currentGroup()) => group && patchGroup(group, { muted: !group.muted });

export function effects(group, patch) {
  const all = { ...group.effects, ...patch };
  return act("PATCH", `/groups/${group.id}`, { effects: patch }, [["groups", group.id, { effects: all }]]);
}

export function repeat(group = currentGroup()) {
  const next = { off: "all", all: "one", one: "off" }[group.repeat];
  toast({ off: "Repeat is off", all: "Repeats the queue", one: "Repeats this track" }[next]);
  patchGroup(group, { repeat: next });
}

export async function undo(group = currentGroup()) {
  const done = await act("POST", `/groups/${group.id}/queue/undo`);
  if (done) toast("Undone");
}

/** Puts items into the queue: "now" replaces it and plays, "next" and "end" add. Asks for rooms where none is chosen. */
export async function enqueue(items, at, name) {
  const group = currentGroup();
  if (!group || !group.roomIds.length) return chooseRooms((chosen) => put(chosen, items, at, name));
  return put(group, items, at, name);
}

async function put(group, items, at, name) {
  const replaced = at === "now" ? group.queue?.count : 0;
  const done = await act("POST", `/groups/${group.id}/queue`, { items, at });
  if (!done) return;
  const undoing = replaced ? { undo: () => undo(group) } : {};
  toast({ now: `Plays ${name}`, next: `${name} comes next`, end: `Added ${name}` }[at], undoing);
}

/** The three verbs for anything that can be played, as a menu. */
export function playMenu(anchor, items, name, more = []) {
  menu(anchor, name, [
    { icon: "play", text: "Play now, replace the queue", act: () => enqueue(items, "now", name) },
    { icon: "right", text: "Play next", act: () => enqueue(items, "next", name) },
    { icon: "plus", text: "Add to the end", act: () => enqueue(items, "end", name) },
    ...more,
  ]);
}

/** Asks in which free rooms to play, makes a group of them, and goes on with it. */
export function chooseRooms(then) {
  const free = store.allRooms().filter((room) => room.isPresent && room.isPaired && !["noDevice", "taken"].includes(room.state));
  if (!free.length) {
    location.hash = "#/rooms";
    return undefined;
  }
  return sheet("Where should it play?", (body, close) => {
    const boxes = free.map((room, index) => h("label.pick",
      h("input", { type: "checkbox", value: room.id, ...(index === 0 && { checked: true }) }), h("span", room.name), icon("check")));
    const start = async () => {
      const roomIds = [...body.querySelectorAll("input:checked")].map((input) => input.value);
      if (!roomIds.length) return;
      close();
      const group = await newGroup(roomIds);
      if (group) then?.(group);
    };
    body.append(...boxes, h("button.primary", { onclick: start }, "Play here"));
  }, { className: "small" });
}

export async function newGroup(roomIds) {
  const group = await act("POST", "/groups", { roomIds });
  if (!group) return null;
  store.groups.set(group.id, group);
  chooseGroup(group.id);
  return group;
}

export const join = (group, room, take = false) =>
  act("POST", `/groups/${group.id}/rooms`, { roomId: room.id, take }, [
    ["rooms", room.id, { groupId: group.id, state: group.state === "stopped" ? "free" : "starting", detail: null }],
    ["groups", group.id, { roomIds: [...group.roomIds, room.id] }],
    ...moved(room),
  ]);

export const leave = (group, room) =>
  act("DELETE", `/groups/${group.id}/rooms/${room.id}`, undefined, [
    ["rooms", room.id, { groupId: null, state: room.isPresent ? "free" : "away" }],
    ["groups", group.id, { roomIds: group.roomIds.filter((id) => id !== room.id) }],
  ]);

function moved(room) {
  const old = store.group(room.groupId);
  return old ? [["groups", old.id, { roomIds: old.roomIds.filter((id) => id !== room.id) }]] : [];
}

export const login = (token) => request("POST", "/login", { token });
