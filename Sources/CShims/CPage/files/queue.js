// The queue: what comes next, in any order that a hand or a key gives it.

import { currentGroup, isRunning, undo } from "./actions.js";
import { act, request, store } from "./api.js";
import { attribute, clock, count, cover, h, icon, iconButton, label, setCover, setText } from "./dom.js";
import { reorder } from "./drag.js";
import { Entries } from "./entries.js";
import { ask, empty, menu, tell, toast } from "./overlay.js";
import { VirtualList } from "./virtual.js";

const view = document.getElementById("queue");
const scroller = h("div.scroll", { tabindex: "-1" });
const size = h("span.dim");
const undoButton = iconButton("undo", "Undo", () => undo());
const jumpButton = iconButton("target", "Jump to what plays", () => jump());
const moreButton = iconButton("more", "Save, shuffle, clear", (event) => queueMenu(event.currentTarget));
const nothing = h("div");

let entries = null;
let editing = 0;
const rowHeight = 60;

const list = new VirtualList(scroller, { create, update, rowHeight: () => rowHeight, className: "queue-list" });
list.element.setAttribute("aria-label", "Queue");
list.ondraw = (first, end) => entries?.need(first, end);

export function buildQueue() {
  scroller.append(list.element, nothing);
  view.append(h("header.view-head", h("div.two", h("h2", "Queue"), size), undoButton, jumpButton, moreButton), scroller);
  reorder(list, { onmove: move });
}

export function drawQueue() {
  const group = currentGroup();
  if (group?.id !== entries?.groupId) {
    entries = group && new Entries(group.id, drawEntries);
    scroller.scrollTop = 0;
    jumpSoon = true;
  }
  if (entries && !editing && group.queue.revision !== entries.revision) entries.outdated(group.queue.count);
  drawEntries();
  const isEmpty = !group?.queue.count;
  setText(size, isEmpty ? "" : count(group.queue.count, "track"));
  undoButton.hidden = !group?.queue.canUndo;
  label(undoButton, `Undo: ${group?.queue.canUndo}`);
  jumpButton.hidden = group?.queue.index == null;
  moreButton.hidden = isEmpty;
  drawNothing(group, isEmpty);
}

function drawEntries() {
  list.setCount(entries?.count ?? 0);
  if (jumpSoon && list.height && entries?.at(0)) {
    jumpSoon = false;
    jump("instant");
  }
}
let jumpSoon = false;

/** The queue has come into view: its size was unknown before. */
export function showQueue() {
  drawEntries();
}

function drawNothing(group, isEmpty) {
  nothing.hidden = !isEmpty;
  const key = isEmpty ? group?.queue.canUndo ?? "empty" : "";
  if (nothing.dataset.key === key) return;
  nothing.dataset.key = key;
  const again = group?.queue.canUndo ? { button: `Undo: ${group.queue.canUndo}`, act: () => undo() } : { button: "Open the library", act: () => (location.hash = "#/library") };
  nothing.replaceChildren(...(isEmpty ? [empty("queue", "The queue is empty", "Albums, tracks and stations that you add come here.", again)] : []));
}

function jump(behavior) {
  const index = currentGroup()?.queue.index;
  if (index != null) list.scrollTo(index, behavior);
}

function create() {
  const picture = cover(null);
  const play = h("button.entry-play", picture, h("span.bars", { "aria-hidden": true }, h("i"), h("i"), h("i")),
    h("span.two", h("span.entry-title"), h("span.dim")), h("time"));
  const handle = h("button.round.handle", { "aria-haspopup": "menu" }, icon("drag"));
  const row = h("li.entry", play, handle);
  play.addEventListener("click", () => row.entry && playEntry(row.entry));
  handle.addEventListener("click", () => row.entry && !row.wasDragged && entryMenu(handle, row.entry));
  handle.addEventListener("keydown", (event) => {
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!way || !row.entry) return;
    event.preventDefault();
    step(row.entry, way);
  });
  return row;
}

function update(row, index) {
  const entry = entries.at(index);
  row.entry = entry;
  const group = currentGroup();
  const isCurrent = !!entry && group?.item?.entryId === entry.id;
  row.classList.toggle("blank", !entry);
  row.classList.toggle("current", isCurrent);
  row.classList.toggle("moves", isCurrent && isRunning(group));
  row.classList.toggle("broken", !!entry?.problem);
  const [play, handle] = row.children;
  attribute(play, "aria-current", isCurrent ? "true" : null);
  setCover(play.querySelector(".cover"), entry?.artwork);
  setText(row.querySelector(".entry-title"), entry?.title ?? "");
  setText(row.querySelector(".dim"), entry ? entry.problem ?? [entry.artist, entry.album].filter(Boolean).join(" · ") : "");
  setText(row.querySelector("time"), entry ? clock(entry.durationS) : "");
  label(handle, entry ? `Move ${entry.title}, place ${index + 1} of ${entries.count}` : "Move");
  handle.title = "Drag to move. Arrow keys move it too. Tap for more.";
}

const playEntry = (entry) => act("POST", `/groups/${entries.groupId}/queue/${entry.id}/play`);

function entryMenu(anchor, entry) {
  const current = currentGroup();
  const index = entries.indexOf(entry.id);
  menu(anchor, entry.title, [
    { icon: "play", text: "Play", act: () => playEntry(entry) },
    current.queue.index != null && current.item?.entryId !== entry.id && { icon: "right", text: "Play next", act: () => playNext(entry) },
    index > 0 && { icon: "back", text: "Move to the top", act: () => move(index, 0) },
    index < entries.count - 1 && { icon: "down", text: "Move to the end", act: () => move(index, entries.count - 1) },
    null, { icon: "trash", text: "Remove", isDangerous: true, act: () => remove(entry) },
  ]);
}

function playNext(entry) {
  const from = entries.indexOf(entry.id);
  const current = entries.indexOf(currentGroup().item.entryId);
  if (current >= 0) move(from, from < current ? current : current + 1);
}

function step(entry, way) {
  const from = entries.indexOf(entry.id);
  const to = from + way;
  if (from < 0 || to < 0 || to >= entries.count) return;
  move(from, to);
  list.items.get(to)?.querySelector(".handle").focus();
  tell(`${entry.title}, now place ${to + 1} of ${entries.count}`);
}

function move(from, to) {
  const entry = entries.at(from);
  if (!entry || from === to) return;
  const before = entries.move(from, to);
  edit("PATCH", `/${entry.id}`, { before });
}

function remove(entry) {
  const index = entries.indexOf(entry.id);
  if (index < 0) return;
  entries.remove(index);
  edit("DELETE", `/${entry.id}`, undefined, `Removed ${entry.title}`);
}

/** Edits go one after the other, each on the revision that the one before has made. */
let last = Promise.resolve();
function edit(method, path, body, text) {
  editing += 1;
  const own = entries;
  drawEntries();
  last = last.then(async () => {
    try {
      const { data } = await request(method, `/groups/${own.groupId}/queue${path}`, body, { headers: { "If-Match": `"${own.revision}"` } });
      own.revision = data.revision;
      if (text) toast(text, { undo: () => undo(store.group(own.groupId)) });
    } catch (error) {
      own.revision = -1;
      toast(error.status === 412 ? "Someone else changed the queue just now. Here it is; try again." : error.message, { isError: true });
    }
    editing -= 1;
    if (!editing) drawQueue();
  });
  return last;
}

function queueMenu(anchor) {
  const group = currentGroup();
  menu(anchor, "Queue", [
    { icon: "save", text: "Save as a playlist", act: () => ask("Save as a playlist", { hint: "Name", detail: count(group.queue.count, "track") }, async (name) => {
      await act("POST", `/groups/${group.id}/queue/save`, { name }, [], { isQuiet: true });
      toast(`Saved ${name}`);
    }) },
    { icon: "shuffle", text: "Shuffle", act: () => act("POST", `/groups/${group.id}/queue/shuffle`) },
    null,
    { icon: "trash", text: "Clear", isDangerous: true, act: async () => {
      const cleared = group.queue.count;
      if (await act("DELETE", `/groups/${group.id}/queue`)) toast(`Cleared ${count(cleared, "track")}`, { undo: () => undo(store.group(group.id)) });
    } },
  ]);
}
