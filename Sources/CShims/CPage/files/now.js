// What plays now: the large view, and the bar at the bottom.

import { chooseGroup, chooseRooms, currentGroup, groupVolume, isRunning, mute, position, repeat, seekTo, skip, toggle } from "./actions.js";
import { act, store } from "./api.js";
import { attribute, clock, cover, h, icon, iconButton, label, setCover, setIcon, setText } from "./dom.js";
import { empty, menu } from "./overlay.js";
import { slider } from "./slider.js";
import { sound } from "./sound.js";
import { drawFacts } from "./truth.js";
import { stopVideo, toggleVideo, videoFollows } from "./video.js";

const now = document.getElementById("now");
const bar = document.getElementById("player");

/** The controls that both places share. Returns their elements and a function that updates them. */
function controls() {
  const play = h("button.play", { onclick: () => toggle() }, icon("play"));
  const shuffleButton = iconButton("shuffle", "Shuffle the queue", () => {
    const group = currentGroup();
    if (group) act("POST", `/groups/${group.id}/queue/shuffle`);
  });
  const repeatButton = iconButton("repeat", "Repeat", () => repeat());
  const previous = iconButton("previous", "Previous (P)", () => skip("previous"), "skip.previous");
  const next = iconButton("next", "Next (N)", () => skip("next"), "skip");
  const scrub = slider({ label: "Position", format: clock, isAbsolute: true, keyStep: 10, className: "scrub", oninput: (value) => seekTo(value) });
  const [past, left] = [h("time.past"), h("time.left")];
  const muteButton = iconButton("volume", "Mute (M)", () => mute());
  const send = groupVolume();
  const volume = slider({ label: "Volume", format: (value) => String(Math.round(value)), className: "volume",
    oninput: (value) => send({ group: currentGroup(), volume: value }) });
  const number = h("span.number", { "aria-hidden": true });

  function update(group) {
    const item = group?.item;
    setIcon(play, isRunning(group) ? "pause" : "play");
    label(play, isRunning(group) ? "Pause (space)" : "Play (space)");
    play.classList.toggle("waits", group?.state === "starting" || group?.state === "buffering");
    setIcon(repeatButton, group?.repeat === "one" ? "one" : "repeat");
    repeatButton.classList.toggle("on", !!group && group.repeat !== "off");
    label(repeatButton, `Repeat: ${{ off: "off", all: "the queue", one: "this track" }[group?.repeat] ?? "off"}`);
    for (const button of [repeatButton, shuffleButton, previous, next, muteButton]) button.disabled = !group;
    const isMuted = !!group?.muted;
    setIcon(muteButton, isMuted ? "mute" : "volume");
    muteButton.classList.toggle("on", isMuted);
    label(muteButton, isMuted ? "Sound on (M)" : "Mute (M)");
    volume.input.disabled = !group;
    volume.set(group?.volume ?? 0);
    volume.element.classList.toggle("muted", isMuted);
    setText(number, group ? String(Math.round(volume.value)) : "");
    scrub.input.disabled = !item?.isSeekable || !item.durationS;
    scrub.element.classList.toggle("off", scrub.input.disabled);
    tick(group);
  }

  function tick(group) {
    const item = group?.item;
    const at = scrub.isHeld ? scrub.value : item ? position(group) : 0;
    scrub.set(at, { max: item?.durationS || 1 });
    const ahead = item?.durationS ? Math.min(1, (group.bufferedUntilS ?? 0) / item.durationS) : 0;
    scrub.element.style.setProperty("--ahead", ahead.toFixed(3));
    setText(past, item ? clock(at) : "0:00");
    setText(left, !item ? "0:00" : item.isLive ? "Live" : item.durationS ? clock(item.durationS) : "");
  }
  return { play, shuffleButton, repeatButton, previous, next, scrub, past, left, muteButton, volume, number, update, tick };
}

const large = controls();
const small = controls();
const art = cover(null, 1200);
const glow = h("div.glow", { "aria-hidden": true });
const title = h("h1");
const byline = h("p.byline");
const chips = h("div.chips", { role: "group", "aria-label": "What you hear" });
const groupButton = h("button.group-name", { onclick: (event) => pickGroup(event.currentTarget) }, h("span"), icon("down"));
const watch = iconButton("video", "Watch the video", () => toggleVideo(art), "watch");
const nothing = h("div.nothing");
const stage = h("div.stage",
  h("div.art-box", h("div.art", art, watch)),
  h("div.deck",
    h("div.titles", h("div", title, byline), iconButton("tune", "Sound and sleep timer", () => sound(), "tune")),
    h("div.scrub-row", large.scrub.element, large.past, large.left),
    h("div.transport", large.shuffleButton, large.previous, large.play, large.next, large.repeatButton),
    h("div.volume-row", large.muteButton, large.volume.element, large.number),
    chips));

const barCover = cover(null);
const barTitle = h("strong");
const barArtist = h("span.dim");

export function buildNow() {
  now.append(glow, h("header.view-head", groupButton), stage, nothing);
  bar.append(
    h("a.bar-item", { href: "#/now", "aria-label": "Show what plays now" }, barCover, h("span.two", barTitle, barArtist)),
    h("div.bar-middle",
      h("div.transport", small.shuffleButton, small.previous, small.play, small.next, small.repeatButton),
      h("div.scrub-row", small.past, small.scrub.element, small.left)),
    h("div.bar-right", small.muteButton, small.volume.element, small.number,
      h("a.round", { href: "#/rooms", "aria-label": "Rooms", title: "Rooms" }, icon("speaker")),
      iconButton("tune", "Sound and sleep timer", () => sound()),
      iconButton("queue", "Show or hide the queue", () => document.documentElement.classList.toggle("queue-closed"), "queue-toggle")));
  setInterval(tick, 250);
}

function pickGroup(anchor) {
  const groups = store.allGroups();
  if (groups.length < 2) {
    location.hash = "#/rooms";
    return;
  }
  const current = currentGroup();
  menu(anchor, "Which group?", [
    ...groups.map((group) => ({ icon: "speaker", text: group.name, isOn: group.id === current.id, act: () => chooseGroup(group.id) })),
    null, { icon: "tune", text: "Rooms and groups", act: () => (location.hash = "#/rooms") },
  ]);
}


function tick() {
  if (document.visibilityState === "hidden") return;
  const group = currentGroup();
  large.tick(group);
  small.tick(group);
}

export function drawNow() {
  const group = currentGroup();
  const item = group?.item;
  large.update(group);
  small.update(group);
  setText(groupButton.firstChild, group ? group.name : "No rooms yet");
  attribute(groupButton, "aria-label", group ? `Group: ${group.name}. Choose another` : "Choose rooms");
  document.title = item ? `${item.title} · ${group.name}` : "Tutti";

  setCover(art, item?.artwork, 1200);
  setCover(glow, item?.artwork, 300);
  setText(title, item?.title ?? "");
  drawByline(item);
  drawFacts(chips, group);
  watch.hidden = !item?.hasVideo;
  if (!item?.hasVideo) stopVideo();
  else videoFollows(group);

  stage.hidden = !item;
  nothing.hidden = !!item;
  if (!item) drawNothing(group);
  bar.classList.toggle("idle", !item);
  setCover(barCover, item?.artwork);
  setText(barTitle, item?.title ?? "Nothing plays");
  setText(barArtist, item ? [item.artist, group.name].filter(Boolean).join(" · ") : group?.name ?? "Choose something in the library");
}

function drawByline(item) {
  const key = JSON.stringify([item?.artist, item?.album, item?.albumId]);
  if (byline.dataset.key === key) return;
  byline.dataset.key = key;
  const album = item?.album && (item.albumId ? h("a", { href: `#/library/album/${item.albumId}` }, item.album) : item.album);
  byline.replaceChildren(...[item?.artist, item?.artist && album && " · ", album].filter(Boolean));
}

function drawNothing(group) {
  const rooms = store.rooms.size;
  const key = !rooms ? "rooms" : !store.library.trackCount ? "library" : group?.queue.count ? "stopped" : group ? "empty" : "group";
  if (nothing.dataset.key === key) return;
  nothing.dataset.key = key;
  const toLibrary = () => (location.hash = "#/library");
  nothing.replaceChildren({
    rooms: () => empty("speaker", "No room is there yet", "Start a receiver on any Linux machine in this network. It appears here by itself.",
      { command: "tutti-receiver --name Kitchen" }),
    library: () => empty("library", "The library is empty", "Name the folder that holds your music, then restart the server. Radio works without one.",
      { command: "tutti serve --library ~/Music", button: "Listen to radio", act: () => (location.hash = "#/library/radio") }),
    stopped: () => empty("play", "Stopped", "The queue is still there.", { button: "Play it", act: () => toggle() }),
    empty: () => empty("note", "Nothing plays", "Choose an album, and it plays in these rooms.", { button: "Open the library", act: toLibrary }),
    group: () => empty("speaker", "Where should it play?", "Choose one room or several. They play together.",
      { button: "Choose rooms", act: () => chooseRooms(toLibrary) }),
  }[key]());
}
