// One room: exact volume, delay, channels, a sound to find it, pairing.

import { leave, newGroup, join, patchRoom } from "./actions.js";
import { act, newest, store } from "./api.js";
import { h, icon, iconButton, setText } from "./dom.js";
import { ask, sheet, toast } from "./overlay.js";
import { slider } from "./slider.js";
import { choices, field } from "./sound.js";
import { stateText } from "./truth.js";

export function pair(room) {
  ask(`Pair ${room.name}`, {
    hint: "1234 5678", button: "Pair", inputmode: "numeric",
    detail: "Type the PIN of this room. It stands in the receiver's log, and on its display if it has one.",
  }, async (pin) => {
    await act("POST", `/rooms/${room.id}/pair`, { pin }, [], { isQuiet: true });
    toast(`${room.name} is paired`);
  });
}

export function roomSheet(id) {
  const room = () => store.room(id);
  const sendVolume = newest((volume) => patchRoom(room(), { volume }));
  const sendDelay = newest((delayMs) => patchRoom(room(), { delayMs }), 200);
  const [volumeText, delayText, status] = [h("output"), h("output"), h("p.dim")];
  const volume = slider({ label: "Volume", format: (value) => String(Math.round(value)), className: "volume", oninput: (value) => setVolume(value) });
  const milliseconds = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value)} ms`;
  const delay = slider({ label: "Delay in milliseconds", min: -200, max: 200, tapStep: 1, format: milliseconds, className: "centred", oninput: (value) => setDelay(value) });
  const channels = choices("Channels", { Stereo: "stereo", Left: "left", Right: "right", Mono: "mono" }, (value) => patchRoom(room(), { channels: value }));
  const mute = h("button.soft", { onclick: () => patchRoom(room(), { muted: !room().muted }) }, icon("mute"), h("span"));
  const clampTo = (value, low, high) => Math.min(high, Math.max(low, value));

  function setVolume(value) {
    volume.set(value);
    setText(volumeText, String(Math.round(value)));
    sendVolume(value);
  }
  function setDelay(value) {
    delay.set(value);
    setText(delayText, milliseconds(value));
    sendDelay(value);
  }
  const stepper = (control, title, set, low, high) => h("div.stepper",
    iconButton("minus", `${title}: one less`, () => set(clampTo(Math.round(control.value) - 1, low, high))), control.element,
    iconButton("plus", `${title}: one more`, () => set(clampTo(Math.round(control.value) + 1, low, high))));

  function draw() {
    const now = room();
    if (!now) return dialog.close();
    volume.set(now.volume);
    delay.set(now.delayMs ?? 0);
    setText(volumeText, now.muted ? `${Math.round(volume.value)}, muted` : String(Math.round(volume.value)));
    setText(delayText, milliseconds(delay.value));
    channels.update(now.channels);
    setText(mute.lastChild, now.muted ? "Sound on" : "Mute");
    mute.classList.toggle("on", now.muted);
    setText(status, [now.model, stateText(now)].filter(Boolean).join(" · "));
    return undefined;
  }

  const dialog = sheet(room().name, (body, close) => {
    const now = room();
    const group = store.group(now.groupId);
    const then = (what) => () => { close(); what(); };
    body.append(status);
    if (now.isPaired) {
      body.append(
        field("Volume", volumeText, stepper(volume, "Volume", setVolume, 0, 100)),
        field("Delay", delayText, stepper(delay, "Delay", setDelay, -200, 200),
          h("p.hint", "Makes this room sound later than the others, or earlier: for a slow amplifier, or a room far away.")),
        field("Channels", null, channels.element));
    }
    body.append(h("div.buttons",
      now.isPaired && mute,
      now.isPaired && now.isPresent && button("speaker", "Make a sound here", identify),
      !now.isPaired && button("check", "Pair", then(() => pair(now))),
      group && button("close", "Leave the group", then(() => leave(group, room()))),
      now.isPaired && now.isPresent && now.state !== "taken" && (!group || group.roomIds.length > 1) && button("plus", "Its own group", then(() => newGroup([id]))),
      ...store.allGroups().filter((other) => now.isPaired && now.isPresent && other.id !== now.groupId)
        .map((other) => button("right", `Move to ${other.name}`, then(() => join(other, room(), room().state === "taken")))),
      now.isPaired && button("trash", "Forget the pairing", then(() => act("DELETE", `/rooms/${id}/pairing`)), ".danger")));
  }, { onclose: () => (store.listeners = store.listeners.filter((listener) => listener !== draw)) });
  draw();
  store.listeners.push(draw);

  async function identify() {
    if (await act("POST", `/rooms/${id}/identify`)) toast(`${room().name} makes a sound`);
  }
}

const button = (symbol, text, onclick, className = "") =>
  h(`button.soft${className}`, { onclick }, icon(symbol), h("span", text));
