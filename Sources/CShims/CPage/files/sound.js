// Speed, pitch, loudness, equalizer, sleep timer, and how this page looks.

import { currentGroup, effects, patchGroup } from "./actions.js";
import { newest, store } from "./api.js";
import { h, setText, span } from "./dom.js";
import { sheet } from "./overlay.js";
import { slider } from "./slider.js";

const equalizers = {
  "Off": null,
  "More bass": "bass=g=6",
  "Less bass": "bass=g=-6",
  "Brighter": "treble=g=4",
  "Voice": "highpass=f=120,equalizer=f=2500:width_type=o:w=2:g=5",
  "Night": "acompressor=threshold=-24dB:ratio=4:attack=20:release=250:makeup=2",
};
const loudnesses = { "As it is": null, "Quiet −23": -23, "Even −16": -16, "Loud −12": -12 };
const sleeps = { "Off": 0, "15 min": 900, "30 min": 1800, "45 min": 2700, "1 h": 3600, "1½ h": 5400 };

/** A row of choices of which one is chosen. `update(value)` marks it. */
export function choices(title, options, pick) {
  const buttons = Object.entries(options).map(([text, value]) =>
    h("button", { onclick: () => pick(value), "data-value": JSON.stringify(value) }, text));
  const element = h("div.choices", { role: "group", "aria-label": title }, buttons);
  return {
    element,
    update(value) {
      for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.value === JSON.stringify(value ?? null));
    },
  };
}

export function field(title, value, ...controls) {
  return h("div.field", h("div.field-head", h("h3", title), value), controls);
}

export function sound() {
  const group = () => currentGroup();
  const send = newest((patch) => group() && effects(group(), patch), 250);
  const [rateText, pitchText, sleepText] = [h("output"), h("output"), h("output")];
  const rate = slider({ label: "Speed", min: 0.5, max: 2, step: 0.05, tapStep: 0.05, format: (value) => `${value.toFixed(2)}×`,
    oninput: (value) => { send({ rate: value }); setText(rateText, `${value.toFixed(2)}×`); } });
  const semitones = (value) => (value === 0 ? "as it is" : `${value > 0 ? "+" : "−"}${Math.abs(value)}`);
  const pitch = slider({ label: "Pitch in semitones", min: -12, max: 12, step: 1, tapStep: 1, format: semitones, className: "centred",
    oninput: (value) => { send({ pitch: value }); setText(pitchText, semitones(value)); } });
  const loudness = choices("Loudness", loudnesses, (value) => group() && effects(group(), { loudness: value }));
  const equalizer = choices("Equalizer", equalizers, (value) => group() && effects(group(), { filter: value }));
  const sleep = choices("Sleep timer", sleeps, (value) => group() && patchGroup(group(), { sleepInS: value },
    { sleepAtMs: value ? store.nowMs() + value * 1000 : null }));
  const theme = choices("Look of this page", { "As the system": "auto", "Light": "light", "Dark": "dark" }, setTheme);

  function update() {
    const current = group();
    if (!current) return;
    const now = current.effects ?? {};
    rate.set(now.rate ?? 1);
    pitch.set(now.pitch ?? 0);
    setText(rateText, `${rate.value.toFixed(2)}×`);
    setText(pitchText, semitones(pitch.value));
    loudness.update(now.loudness);
    equalizer.update(now.filter);
    const left = current.sleepAtMs ? (current.sleepAtMs - store.nowMs()) / 1000 : 0;
    sleep.update(left > 0 ? Object.values(sleeps).find((value) => Math.abs(value - left) < 45) : 0);
    setText(sleepText, left > 0 ? `pauses in ${span(left)}` : "");
    theme.update(document.documentElement.dataset.theme ?? "auto");
  }
  function setTheme(value) {
    if (value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
    localStorage.setItem("tutti.theme", value);
    update();
  }

  const dialog = sheet(group() ? `Sound in ${group().name}` : "This page", (body) => {
    if (group()) {
      body.append(field("Speed", rateText, rate.element), field("Pitch", pitchText, pitch.element),
        field("Loudness", null, loudness.element), field("Equalizer", null, equalizer.element), field("Sleep timer", sleepText, sleep.element));
    }
    body.append(field("Look of this page", null, theme.element));
    update();
    theme.update(document.documentElement.dataset.theme ?? "auto");
  }, { onclose: () => (store.listeners = store.listeners.filter((listener) => listener !== update)) });
  store.listeners.push(update);
  return dialog;
}
