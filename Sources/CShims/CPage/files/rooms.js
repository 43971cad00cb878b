// Rooms and groups: who plays together, and how loud.

import { chooseGroup, currentGroup, groupVolume, isRunning, join, leave, newGroup, patchGroup, roomVolume, toggle } from "./actions.js";
import { act, store } from "./api.js";
import { attribute, cover, h, icon, iconButton, keyed, label, setCover, setIcon, setText } from "./dom.js";
import { ask, empty, menu, sheet } from "./overlay.js";
import { pair, roomSheet } from "./room.js";
import { slider } from "./slider.js";
import { micros, stateText } from "./truth.js";

const view = document.getElementById("rooms");
const cards = h("div.cards");
const free = h("ul.card.free");
const freeBox = h("div.free-box", h("h2", "Not in a group"), free);
const nothing = h("div");
const whole = (value) => String(Math.round(value));

export function buildRooms() {
  view.append(
    h("header.view-head", h("h1", "Rooms"),
      h("button.soft", { onclick: makeGroup }, icon("plus"), h("span", "New group"))),
    h("div.scroll", cards, freeBox, nothing));
}

export function drawRooms() {
  const current = currentGroup();
  const groups = store.allGroups();
  const rooms = store.allRooms();
  keyed(cards, groups, (group) => group.id, createCard, (card, group) => card.draw(group, group.id === current?.id));
  const loose = rooms.filter((room) => !store.groups.has(room.groupId));
  keyed(free, loose, (room) => room.id, createFree, (row, room) => row.draw(room, current));
  freeBox.hidden = !loose.length;
  if (!rooms.length && !nothing.firstChild) {
    nothing.append(empty("speaker", "No room is there yet", "Start a receiver on any Linux machine in this network. It appears here by itself.",
      { command: "tutti-receiver --name Kitchen" }));
  } else if (rooms.length) nothing.replaceChildren();
}

function createCard(group) {
  let shown = group;
  const send = groupVolume();
  const name = h("strong");
  const what = h("span.dim");
  const picture = cover(null);
  const play = iconButton("play", "Play", () => toggle(shown), "filled");
  const muteButton = iconButton("volume", "Mute", () => patchGroup(shown, { muted: !shown.muted }));
  const volume = slider({ label: "Volume of the group", format: whole, className: "volume", oninput: (value) => send({ group: shown, volume: value }) });
  const number = h("span.number", { "aria-hidden": true });
  const members = h("ul.members");
  const card = h("section.card.group",
    h("div.group-head",
      h("button.group-pick", { onclick: () => chooseGroup(shown.id) }, picture, h("span.two", name, what)),
      play, iconButton("more", "More for this group", (event) => groupMenu(event.currentTarget, shown))),
    h("div.volume-row", muteButton, volume.element, number),
    members,
    h("button.add-rooms", { onclick: () => chooseMembers(shown.id) }, icon("plus"), h("span", "Add or remove rooms")));
  card.draw = (group, isCurrent) => {
    shown = group;
    const item = group.item;
    setText(name, group.name || "Empty group");
    setText(what, item ? `${group.state === "paused" ? "Paused: " : ""}${item.title}` : "Nothing plays");
    setCover(picture, item?.artwork);
    card.classList.toggle("current", isCurrent);
    attribute(card, "aria-label", group.name);
    attribute(card.querySelector(".group-pick"), "aria-pressed", isCurrent ? "true" : "false");
    card.querySelector(".group-pick").title = isCurrent ? "This page steers this group" : "Steer this group from this page";
    setIcon(play, isRunning(group) ? "pause" : "play");
    label(play, `${isRunning(group) ? "Pause" : "Play"} in ${group.name}`);
    setIcon(muteButton, group.muted ? "mute" : "volume");
    muteButton.classList.toggle("on", group.muted);
    label(muteButton, `${group.muted ? "Sound on" : "Mute"}: ${group.name}`);
    volume.set(group.volume);
    attribute(volume.input, "aria-label", `Volume of ${group.name}`);
    volume.element.classList.toggle("muted", group.muted);
    setText(number, whole(volume.value));
    keyed(members, store.roomsOf(group), (room) => room.id, createMember, (row, room) => row.draw(room, group));
  };
  return card;
}

function createMember(room) {
  let [shown, group] = [room, null];
  const send = roomVolume();
  const check = iconButton("check", "Leave", () => leave(group, shown), "check");
  const name = h("span.room-name");
  const state = h("span.dim");
  const volume = slider({ label: "Volume", format: whole, className: "volume", oninput: (value) => send({ room: shown, volume: value }) });
  const number = h("span.number", { "aria-hidden": true });
  const row = h("li.member", check, h("span.two", name, state), volume.element, number,
    iconButton("more", "More", () => roomSheet(shown.id)));
  row.draw = (room, owner) => {
    [shown, group] = [room, owner];
    setText(name, room.name);
    const isTrouble = ["away", "noDevice", "taken", "notPaired", "buffering"].includes(room.state);
    const sync = room.state === "playing" && room.sync ? `± ${micros(Math.abs(room.sync.errorUs))}` : "";
    setText(state, room.muted ? "muted" : isTrouble ? stateText(room) : sync || (room.state === "free" ? "" : stateText(room)));
    row.classList.toggle("bad", isTrouble);
    label(check, `Take ${room.name} out of the group`);
    label(row.lastChild, `More for ${room.name}`);
    attribute(volume.input, "aria-label", `Volume of ${room.name}`);
    volume.element.classList.toggle("muted", room.muted);
    volume.set(room.volume);
    setText(number, whole(volume.value));
  };
  return row;
}

function createFree(room) {
  let shown = room;
  const name = h("strong");
  const state = h("span.dim");
  const button = h("button.soft");
  button.addEventListener("click", () => useFree(shown));
  const row = h("li.member.loose", h("span.dot"), h("span.two", name, state), button,
    iconButton("more", "More", () => roomSheet(shown.id)));
  row.draw = (room, current) => {
    shown = room;
    setText(name, room.name);
    setText(state, stateText(room));
    const verb = { away: "", noDevice: "", notPaired: "Pair", taken: "Take over" }[room.state] ?? (current ? "Join" : "Play here");
    button.hidden = !verb;
    setText(button, verb);
    attribute(button, "aria-label", verb === "Join" ? `Join ${room.name} to ${current.name}` : `${verb}: ${room.name}`);
    row.classList.toggle("gone", room.state === "away" || room.state === "noDevice");
    label(row.lastChild, `More for ${room.name}`);
  };
  return row;
}

function useFree(room) {
  const current = currentGroup();
  if (room.state === "notPaired" || !room.isPaired) pair(room);
  else if (current) join(current, room, room.state === "taken");
  else newGroup([room.id]);
}

function groupMenu(anchor, group) {
  const others = store.allGroups().filter((other) => other.id !== group.id);
  menu(anchor, group.name, [
    { icon: "tune", text: "Rename", act: () => ask("Name of the group", { value: group.isNamed ? group.name : "", hint: group.name },
      (name) => act("PATCH", `/groups/${group.id}`, { name }, [["groups", group.id, { name, isNamed: true }]], { isQuiet: true })) },
    { icon: "plus", text: "Add or remove rooms", act: () => chooseMembers(group.id) },
    ...others.map((other) => ({ icon: "speaker", text: `Bring ${other.name} in here`, act: () => act("POST", `/groups/${group.id}/merge`, { groupId: other.id }) })),
    group.roomIds.length > 1 && { icon: "close", text: "Split: each room by itself", act: () => split(group) },
    null,
    { icon: "trash", text: "Dissolve the group", isDangerous: true, act: () => act("DELETE", `/groups/${group.id}`) },
  ]);
}

async function split(group) {
  for (const id of group.roomIds.slice(1)) await act("POST", "/groups", { roomIds: [id] });
}

/** All rooms with a tick for those in the group: a tap joins or leaves at once. */
function chooseMembers(groupId) {
  const list = h("div.picks");
  const draw = () => {
    const group = store.group(groupId);
    if (!group) return dialog.close();
    const rooms = store.allRooms().filter((room) => room.isPaired && (room.isPresent || room.groupId === groupId));
    return keyed(list, rooms, (room) => room.id, (room) => {
      const box = h("input", { type: "checkbox" });
      const place = h("small.dim");
      box.addEventListener("change", () => {
        const [now, owner] = [store.room(room.id), store.group(groupId)];
        if (box.checked) join(owner, now, now.state === "taken");
        else leave(owner, now);
      });
      return h("label.pick", box, h("span.two", h("span", room.name), place), icon("check"));
    }, (pick, room) => {
      pick.querySelector("input").checked = room.groupId === groupId;
      const other = room.groupId !== groupId && store.group(room.groupId);
      setText(pick.querySelector("small"), other ? `now in ${other.name}` : room.state === "taken" ? stateText(room) : "");
    });
  };
  const dialog = sheet("Rooms that play together", (body, close) => {
    body.append(list, h("button.primary", { onclick: close }, "Done"));
  }, { className: "small", onclose: () => (store.listeners = store.listeners.filter((listener) => listener !== draw)) });
  draw();
  store.listeners.push(draw);
}

function makeGroup() {
  const rooms = store.allRooms().filter((room) => room.isPaired && room.isPresent && !["taken", "noDevice"].includes(room.state));
  sheet("New group", (body, close) => {
    const start = async () => {
      const roomIds = [...body.querySelectorAll("input:checked")].map((input) => input.value);
      if (!roomIds.length) return;
      close();
      await newGroup(roomIds);
    };
    body.append(h("p.dim", "Rooms leave the group that they are in. The others there play on."),
      ...rooms.map((room) => h("label.pick", h("input", { type: "checkbox", value: room.id }),
        h("span.two", h("span", room.name), h("small.dim", store.group(room.groupId)?.name ?? "")), icon("check"))),
      h("button.primary", { onclick: start }, "Make the group"));
  }, { className: "small" });
}
