// How well the rooms are together: a plot of five minutes, and a table.

import { currentGroup } from "./actions.js";
import { get, store } from "./api.js";
import { attribute, h, icon, keyed, setText, span } from "./dom.js";
import { onSync } from "./events.js";
import { copy, empty } from "./overlay.js";
import { Plot } from "./plot.js";
import { micros, stateText, travel } from "./truth.js";

const view = document.getElementById("sync");
const spanMs = 300000;
const meanings = {
  "Error now": "How far the room is from the schedule now; positive is early",
  "99 % within": "The sync error is smaller than this for 99 % of the time",
  "Clock bound": "The largest error that the room's clock estimate may have",
  "Round trip": "How long a time request and its answer travel",
  "Machine": "How much faster this machine's clock runs than the server's",
  "Card": "How much faster the sound card runs than its machine",
  "Ahead": "How much music the room already holds",
  "Underruns": "How often the sound card ran dry",
  "Late": "Packets that came after their time",
  "Lost": "Packets that never came",
};
const history = new Map();
const marks = [];
const headline = h("p.headline");
const subline = h("p.dim");
const plot = new Plot(spanMs);
const rows = h("tbody");
const nothing = h("div");
const content = h("div.sync-content", h("div.sync-head", headline, subline), plot.element,
  h("div.table-box", { tabindex: "0", role: "region", "aria-label": "Figures of each room" },
    h("table", h("thead", h("tr", ["Room", "Error now", "99 % within", "Clock bound", "Round trip", "Machine", "Card", "Ahead", "Underruns", "Late", "Lost"]
      .map((text) => h("th", { scope: "col", title: meanings[text] ?? null }, text)))), rows)));

export function buildSync() {
  view.append(h("header.view-head", h("h1", "Sync"),
    h("button.soft", { onclick: () => copy(report()) }, icon("copy"), h("span", "Copy report"))),
  h("div.scroll", content, nothing));
  onSync.push(remember);
}

/** The server remembers the last five minutes, so the plot is full at once. Without that it fills while it is open. */
let isAsked = false;
export async function openSync() {
  if (isAsked) return drawSync();
  isAsked = true;
  try {
    const found = await get("/sync?lastS=300");
    for (const room of found.rooms) {
      const own = history.get(room.id) ?? [];
      history.set(room.id, [...room.points.filter(([at]) => !own.length || at < own[0][0]), ...own]);
    }
    marks.push(...found.marks ?? []);
  } catch {
    // An older server has no memory of it.
  }
  return drawSync();
}

const counters = new Map();
const states = new Map();
function remember(sync) {
  const oldest = sync.nowMs - spanMs - 5000;
  for (const { id, sync: now } of sync.rooms ?? []) {
    const points = history.get(id) ?? [];
    if (now?.errorUs != null) points.push([sync.nowMs, now.errorUs, now.boundUs ?? 0]);
    while (points.length && points[0][0] < oldest) points.shift();
    history.set(id, points);
    const before = counters.get(id);
    for (const [key, text] of [["underruns", "underrun"], ["late", "late packets"], ["lost", "lost packets"]]) {
      if (before && now?.[key] > before[key]) marks.push({ atMs: sync.nowMs, roomId: id, text });
    }
    if (now) counters.set(id, now);
  }
  while (marks.length && marks[0].atMs < oldest) marks.shift();
  if (!view.hidden) drawSync();
}

/** Rooms that come and go leave a mark as well. */
export function watchRooms() {
  for (const room of store.rooms.values()) {
    const before = states.get(room.id);
    if (before && before !== room.state && (room.state === "away" || before === "away")) {
      marks.push({ atMs: store.nowMs(), roomId: room.id, text: room.state === "away" ? "went away" : "came back" });
    }
    states.set(room.id, room.state);
  }
}

export function drawSync() {
  const now = store.nowMs();
  const rooms = store.allRooms().filter((room) => room.sync || history.get(room.id)?.some(([at]) => at > now - spanMs));
  content.hidden = !rooms.length;
  nothing.hidden = rooms.length > 0;
  if (!rooms.length && !nothing.firstChild) {
    nothing.append(empty("wave", "Nothing to measure", "While music plays, each room reports how far it is from the schedule, in millionths of a second."));
  }
  if (!rooms.length) return;
  tellSpread(rooms);
  plot.draw(now, rooms.map((room, index) => ({ id: room.id, name: room.name, color: index % 8, points: history.get(room.id) ?? [] })), marks);
  keyed(rows, rooms, (room) => room.id, createRow, drawRow);
}

/** The largest distance between two rooms of the group that this page steers. */
function tellSpread(rooms) {
  const group = currentGroup();
  const own = rooms.filter((room) => room.sync && (!group || room.groupId === group.id));
  const errors = own.length > 1 ? own : rooms.filter((room) => room.sync);
  const recent = errors.map((room) => (history.get(room.id) ?? []).slice(-15).map(([, error]) => error));
  const spreads = (recent[0] ?? []).map((_, index) => {
    const all = recent.map((list) => list.at(-1 - index)).filter((error) => error != null);
    return all.length > 1 ? Math.max(...all) - Math.min(...all) : Math.abs(all[0]);
  }).sort((a, b) => a - b);
  // The median of a quarter of a minute: single measurements jump about by more than the rooms do.
  const spread = spreads[Math.floor(spreads.length / 2)];
  if (spread == null) {
    setText(headline, "Nothing plays now");
    setText(subline, "The plot shows what was.");
    return;
  }
  setText(headline, `${micros(spread)} ${errors.length > 1 ? "apart" : "from the schedule"}`);
  setText(subline, `${errors.length > 1 ? `The largest distance between the rooms${group && own.length > 1 ? ` of ${group.name}` : ""}` : "One room alone"}. Sound travels ${travel(spread)} in that time.`);
}

const ppm = (value) => (value == null ? "" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)} ppm`);
const signed = (value) => (value == null ? "" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)} µs`);

function cells(room) {
  const now = room.sync;
  if (!now) return [stateText(room), "", "", "", "", "", "", "", "", ""];
  return [signed(now.errorUs), now.p99Us == null ? "" : micros(now.p99Us), now.boundUs == null ? "" : `± ${micros(now.boundUs)}`,
    now.roundTripUs == null ? "" : micros(now.roundTripUs), ppm(now.clockDriftPpm), ppm(now.deviceDriftPpm),
    now.bufferedS == null ? "" : span(now.bufferedS), String(now.underruns ?? ""), String(now.late ?? ""), String(now.lost ?? "")];
}

function createRow(room) {
  const head = h("th", { scope: "row" }, h("i.swatch"), h("span"));
  return h("tr", head, cells(room).map((_, index) => (index === 6 ? h("td", h("i.bar"), h("span")) : h("td"))));
}

function drawRow(row, room) {
  const [head, ...data] = row.children;
  const all = [...rows.parentNode.querySelectorAll("tbody tr")];
  attribute(head.firstChild, "class", `swatch line-${plot.colorOf(room.id) ?? all.indexOf(row)}`);
  setText(head.lastChild, room.name);
  cells(room).forEach((text, index) => {
    const cell = data[index];
    setText(index === 6 ? cell.lastChild : cell, text);
    if (index === 6) cell.firstChild.style.setProperty("--at", Math.min(1, (room.sync?.bufferedS ?? 0) / 300).toFixed(3));
    cell.classList.toggle("bad", index > 6 && Number(text) > 0);
  });
}

function report() {
  const rooms = store.allRooms().filter((room) => room.sync);
  const lines = rooms.map((room) => `${room.name}: ${[...rows.parentNode.querySelectorAll("thead th")].slice(1).map((head, index) => `${head.textContent.toLowerCase()} ${cells(room)[index] || "–"}`).join(", ")}`);
  const recent = marks.slice(-10).map((mark) => `${Math.round((store.nowMs() - mark.atMs) / 1000)} s ago: ${store.room(mark.roomId)?.name ?? "a room"}, ${mark.text}`);
  return [`Tutti ${store.server.version ?? ""} on ${store.server.name ?? "?"}, ${new Date().toISOString()}`, ...lines, ...recent].join("\n");
}
