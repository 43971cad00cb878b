// The line that tells the truth about what is heard, in a few words, and what stands behind each of them.

import { store } from "./api.js";
import { effects, isRunning, patchGroup, position } from "./actions.js";
import { h, icon, keyed, setIcon, setText, span } from "./dom.js";
import { sheet } from "./overlay.js";

export const micros = (us) => (Math.abs(us) < 1000 ? `${Math.round(us)} µs` : `${(us / 1000).toFixed(1)} ms`);

/** The largest sync error of the rooms that sound, in µs; null where none is known. */
export function worstError(rooms) {
  const errors = rooms.map((room) => room.sync?.errorUs).filter((error) => error != null);
  return errors.length ? Math.max(...errors.map(Math.abs)) : null;
}

/** What there is to say about a group: { key, icon, text, explain, isBad, undo }. */
export function facts(group) {
  const rooms = store.roomsOf(group);
  return [...troubles(group, rooms), ...quality(group, rooms), ...changes(group)];
}

function troubles(group, rooms) {
  const found = [];
  if (group.state === "starting") found.push({ key: "starting", icon: "wave", text: "Starting", explain: "The rooms fill their buffers, then start together." });
  if (group.state === "buffering") {
    found.push({ key: "buffering", icon: "warn", isBad: true, text: "Filling",
      explain: "The source is too slow. All rooms wait at the same place until enough has arrived, so nothing is skipped." });
  }
  if (group.detail) found.push({ key: "detail", icon: "warn", isBad: true, text: group.detail, explain: `The server says: ${group.detail}.` });
  for (const room of rooms.filter((room) => ["away", "noDevice", "taken"].includes(room.state))) {
    found.push({ key: room.id, icon: "warn", isBad: true, text: `${room.name}: ${stateText(room)}`,
      explain: `${room.name} is silent: ${stateText(room)}. It joins by itself as soon as it can.` });
  }
  return found;
}

function quality(group, rooms) {
  const found = [];
  const item = group.item;
  if (!item) return found;
  const error = worstError(rooms);
  if (error != null && group.state === "playing") {
    found.push({ key: "sync", icon: "wave", text: `± ${micros(error)}`, link: "#/sync", linkText: "Show sync",
      explain: `Every room is within ${micros(error)} of the schedule. In that time sound travels ${travel(error)}. Nobody hears less than about 1000 µs.` });
  }
  if (item.codec) {
    found.push({ key: "codec", icon: "note", text: [item.codec, item.codecReason].filter(Boolean).join(" · "),
      explain: item.codecReason === "as it is"
        ? `All rooms decode ${item.codec}, so the file is sent unchanged: nothing is lost on the way.`
        : `The music is sent as ${item.codec}: ${item.codecReason ?? "this suits all rooms"}.` });
  }
  const ahead = (group.bufferedUntilS ?? 0) - position(group);
  if (isRunning(group) && ahead > 5) {
    found.push({ key: "ahead", icon: "library", text: `${span(ahead)} ahead`,
      explain: `The rooms already hold the next ${span(ahead)}. If the network breaks, the music goes on for that long.` });
  }
  return found;
}

/** How far sound travels: 29 µs make a centimetre. */
export function travel(us) {
  const millimetres = us * 0.343;
  return millimetres < 10 ? `${Math.max(1, Math.round(millimetres))} mm` : `${(millimetres / 10).toFixed(0)} cm`;
}

/** What is not neutral, each with the way back. */
export function changes(group) {
  const { rate = 1, pitch = 0, loudness = null, filter = null } = group.effects ?? {};
  const back = (patch) => () => effects(group, patch);
  return [
    rate !== 1 && { key: "rate", icon: "tune", text: `${rate}× speed`, undo: back({ rate: 1 }) },
    pitch !== 0 && { key: "pitch", icon: "tune", text: `${pitch > 0 ? "+" : "−"}${Math.abs(pitch)} semitones`, undo: back({ pitch: 0 }) },
    loudness != null && { key: "loudness", icon: "tune", text: `${loudness} LUFS`.replace("-", "−"), undo: back({ loudness: null }) },
    filter && { key: "filter", icon: "tune", text: "Equalizer", undo: back({ filter: null }) },
    group.sleepAtMs && { key: "sleep", icon: "moon", text: `Sleeps in ${span(Math.max(0, group.sleepAtMs - store.nowMs()) / 1000)}`,
      undo: () => patchGroup(group, { sleepInS: 0 }, { sleepAtMs: null }) },
  ].filter(Boolean);
}

export function stateText(room) {
  if (room.detail) return room.detail;
  return { free: "free", playing: "plays", paused: "paused", starting: "starting", buffering: "filling", away: "away",
    taken: "plays for another sender", notPaired: "not paired", noDevice: "no sound card" }[room.state] ?? room.state;
}

/** Keeps a row of chips up to date. */
export function drawFacts(row, group) {
  const all = group ? facts(group) : [];
  keyed(row, all, (fact) => fact.key, create, (chip, fact) => {
    chip.className = `chip${fact.isBad ? " bad" : ""}${fact.undo ? " set" : ""}`;
    chip.fact = fact;
    setIcon(chip, fact.icon);
    setText(chip.querySelector("span"), fact.text);
    chip.title = fact.undo ? `${fact.text}: tap to switch off` : "What does this mean?";
  });
}

function create(fact) {
  const chip = h("button", { type: "button" }, icon(fact.icon), h("span"), fact.undo && icon("close"));
  chip.addEventListener("click", () => (chip.fact.undo ? chip.fact.undo() : explain(chip.parentElement)));
  return chip;
}

function explain(row) {
  const told = [...row.children].map((chip) => chip.fact).filter((fact) => fact.explain);
  sheet("What you hear", (body, close) => {
    body.append(...told.map((fact) => h("div.fact", icon(fact.icon), h("div", h("h3", fact.text), h("p", fact.explain),
      fact.link && h("a", { href: fact.link, onclick: close }, fact.linkText)))));
  }, { className: "small" });
}
