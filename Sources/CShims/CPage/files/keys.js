// The keyboard.

import { louder, mute, seekBy, skip, toggle } from "./actions.js";
import { h } from "./dom.js";
import { focusSearch } from "./library.js";
import { sheet } from "./overlay.js";

const keys = {
  " ": ["Space", "Play or pause", () => toggle()],
  ArrowLeft: ["←", "10 seconds back", () => seekBy(-10)],
  ArrowRight: ["→", "10 seconds on", () => seekBy(10)],
  ArrowUp: ["↑", "Louder", () => louder(2)],
  ArrowDown: ["↓", "Quieter", () => louder(-2)],
  n: ["N", "Next", () => skip("next")],
  p: ["P", "Previous", () => skip("previous")],
  m: ["M", "Mute", () => mute()],
  "/": ["/", "Search the library", search],
  "?": ["?", "This list", help],
};
const views = { 1: "now", 2: "queue", 3: "library", 4: "rooms", 5: "sync" };

function search() {
  if (!location.hash.startsWith("#/library")) location.hash = "#/library";
  requestAnimationFrame(focusSearch);
}

function help() {
  sheet("Keys", (body) => body.append(h("dl.keys",
    ...Object.values(keys).flatMap(([key, text]) => [h("dt", h("kbd", key)), h("dd", text)]),
    h("dt", h("kbd", "1"), " … ", h("kbd", "5")), h("dd", "Now, Queue, Library, Rooms, Sync"))), { className: "small" });
}

export function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target;
    if (target.closest("dialog") || target.matches("textarea, select, input:not([type=range])")) return;
    // A focused button or link keeps its own key, and a slider its arrows.
    if (event.key === " " && target.closest("button, a")) return;
    if (event.key.startsWith("Arrow") && target.matches("input[type=range]")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (views[key]) location.hash = `#/${views[key]}`;
    else if (keys[key]) keys[key][2]();
    else return;
    event.preventDefault();
  });
}
