// Puts the page together: views, addresses, the state that came with the page, and the stream of changes.

import { chooseGroup, currentGroup, isRunning, login } from "./actions.js";
import { get, store } from "./api.js";
import { cover, h, keyed, setCover, setText } from "./dom.js";
import { connect, onLink } from "./events.js";
import { listenToKeys } from "./keys.js";
import { buildLibrary, drawLibrary, openLibrary } from "./library.js";
import { buildNow, drawNow } from "./now.js";
import { ask } from "./overlay.js";
import { buildQueue, drawQueue, showQueue } from "./queue.js";
import { buildRooms, drawRooms } from "./rooms.js";
import { buildSync, drawSync, openSync, watchRooms } from "./sync.js";

const root = document.documentElement;
const views = ["now", "queue", "library", "rooms", "sync"];
const viewOf = () => views.find((view) => view === location.hash.split("/")[1]) ?? (matchMedia("(min-width: 1100px)").matches ? "library" : "now");

function show() {
  const view = viewOf();
  root.dataset.view = view;
  for (const name of views) if (name !== "queue") document.getElementById(name).hidden = name !== view;
  for (const link of document.querySelectorAll("#nav a[data-view]")) link.toggleAttribute("aria-current", link.dataset.view === view);
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  if (view === "queue") root.classList.remove("queue-closed");
  if (view === "library") openLibrary();
  if (view === "sync") openSync();
  if (view === "rooms") drawRooms();
  showQueue();
}

function draw() {
  drawNow();
  drawQueue();
  drawGroups();
  drawLibrary();
  watchRooms();
  if (root.dataset.view === "rooms") drawRooms();
  if (root.dataset.view === "sync" && !document.getElementById("sync").hidden) drawSync();
}

/** The groups beside the views, on screens that have the room. */
function drawGroups() {
  const current = currentGroup();
  keyed(document.getElementById("groups"), store.allGroups(), (group) => group.id, () => {
    const button = h("button.side-group", cover(null), h("span.two", h("strong"), h("span.dim")),
      h("span.bars", { "aria-hidden": true }, h("i"), h("i"), h("i")));
    button.addEventListener("click", () => chooseGroup(button.dataset.key));
    return button;
  }, (button, group) => {
    setCover(button.firstChild, group.item?.artwork);
    setText(button.querySelector("strong"), group.name || "Empty group");
    setText(button.querySelector(".dim"), group.item?.title ?? "Nothing plays");
    button.setAttribute("aria-pressed", group.id === current?.id);
    button.classList.toggle("moves", isRunning(group));
  });
}

function tellLink(isLost) {
  const bar = document.getElementById("link");
  bar.hidden = !isLost;
  bar.textContent = isLost ? "The server does not answer. The rooms play on from their buffers; this page tries again." : "";
  root.classList.toggle("lost", isLost);
}

let isAsking = false;
document.addEventListener("tutti:login", () => {
  if (isAsking) return;
  isAsking = true;
  ask("This house has a token", { button: "Open", detail: "The person who runs the server knows it: it stands in the server's configuration." }, async (token) => {
    await login(token);
    location.reload();
  });
});

buildNow();
buildQueue();
buildRooms();
buildLibrary();
buildSync();
listenToKeys();
store.listeners.push(draw);
onLink(tellLink);
window.addEventListener("hashchange", show);

const first = document.getElementById("state").textContent.trim();
if (first.startsWith("{")) store.snapshot(JSON.parse(first));
else get("/state").then((state) => store.snapshot(state)).catch(() => {});
draw();
show();
connect();
