// The stream of events: one for each page, closed while the page is hidden, opened with a whole snapshot when it is seen again.

import { store } from "./api.js";

let source = null;
let lastHeardMs = 0;
let lostAtMs = 0;
let retryMs = 500;
let timer = 0;

const listeners = [];

/** `listener(isLost)`: told two seconds after the connection went, so that a wake-up shows no banner. */
export const onLink = (listener) => listeners.push(listener);
export const onSync = [];

function open() {
  close();
  source = new EventSource("api/v1/events");
  lastHeardMs = performance.now();
  listen("state", (state) => store.snapshot(state));
  listen("change", (change) => store.change(change));
  listen("sync", (sync) => {
    store.sync(sync);
    for (const listener of onSync) listener(sync);
  });
  source.onerror = lost;
}

function listen(name, handle) {
  source.addEventListener(name, (event) => {
    lastHeardMs = performance.now();
    lostAtMs = 0;
    retryMs = 500;
    tell(false);
    handle(JSON.parse(event.data));
  });
}

function close() {
  clearTimeout(timer);
  source?.close();
  source = null;
}

function lost() {
  close();
  lostAtMs ||= performance.now();
  timer = setTimeout(open, retryMs);
  retryMs = Math.min(retryMs * 1.6, 4000);
}

let toldLost = false;
function tell(isLost) {
  if (toldLost === isLost) return;
  toldLost = isLost;
  for (const listener of listeners) listener(isLost);
}

function seen() {
  if (document.visibilityState === "hidden") return;
  retryMs = 500;
  open();
}

export function connect() {
  document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? close() : seen()));
  window.addEventListener("pageshow", (event) => event.persisted && seen());
  window.addEventListener("online", seen);
  window.addEventListener("pagehide", close);
  open();
  // A phone's system can end a connection without a word. While music plays, each second brings an event.
  setInterval(() => {
    if (document.visibilityState === "hidden") return;
    if (source && performance.now() - lastHeardMs > 20000) lost();
    if (lostAtMs && performance.now() - lostAtMs > 2000) tell(true);
  }, 500);
}
