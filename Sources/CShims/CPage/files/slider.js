// A slider that follows the finger anywhere on its row, and that no echo can move while it is held.

import { clamp, h } from "./dom.js";

/**
 * `oninput(value, isLast)` is called while the slider moves, and once more when it is let go.
 * `isAbsolute`: a finger's place is the value. Otherwise a drag moves the value by its way, and a tap beside the
 * thumb by one step, so that no touch makes it loud at once. A mouse is always exact enough for its place.
 */
export function slider({ label, min = 0, max = 100, step = 1, tapStep = 2, keyStep = step, format = String, oninput, isAbsolute = false, className = "" }) {
  const input = h("input", { type: "range", min, max, step, "aria-label": label });
  const bubble = h("output", { "aria-hidden": true });
  const element = h(`div.slider.${className || "plain"}`, h("div.track", h("i.ahead"), h("i.fill")),
    h("i.thumb"), input, bubble);
  let value = min;
  let isHeld = false;
  let drag = null;

  function draw() {
    const share = max > min ? (clamp(value, min, max) - min) / (max - min) : 0;
    element.style.setProperty("--at", share.toFixed(4));
    if (Number(input.value) !== value) input.value = value;
    const text = format(value);
    if (input.getAttribute("aria-valuetext") !== text) input.setAttribute("aria-valuetext", text);
    if (isHeld && bubble.textContent !== text) bubble.textContent = text;
  }

  function move(next, isLast) {
    next = clamp(Number((Math.round(next / step) * step).toFixed(4)), min, max);
    if (next === value && !isLast) return;
    value = next;
    draw();
    oninput?.(value, isLast);
  }

  function hold(isNow) {
    isHeld = isNow;
    element.classList.toggle("held", isNow);
    draw();
  }

  const placeOf = (event) => {
    const box = element.getBoundingClientRect();
    return min + clamp((event.clientX - box.left - inset) / (box.width - 2 * inset), 0, 1) * (max - min);
  };

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || input.disabled) return;
    event.preventDefault();
    input.focus({ preventScroll: true, focusVisible: false });
    const isByPlace = isAbsolute || event.pointerType === "mouse";
    drag = { id: event.pointerId, x: event.clientX, value, isByPlace, isMoving: event.pointerType === "mouse" };
    element.setPointerCapture(event.pointerId);
    if (drag.isMoving) {
      hold(true);
      move(placeOf(event), false);
    }
  });
  element.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.id) return;
    const way = event.clientX - drag.x;
    if (!drag.isMoving && Math.abs(way) < 5) return;
    drag.isMoving = true;
    if (!isHeld) hold(true);
    const width = element.getBoundingClientRect().width - 2 * inset;
    move(drag.isByPlace ? placeOf(event) : drag.value + (way / width) * (max - min), false);
  });
  element.addEventListener("pointerup", (event) => {
    if (event.pointerId !== drag?.id) return;
    const { isMoving, isByPlace } = drag;
    drag = null;
    if (!isMoving && isByPlace) move(placeOf(event), true);
    else if (!isMoving) move(value + Math.sign(placeOf(event) - value) * tapStep, true);
    else move(value, true);
    hold(false);
  });
  element.addEventListener("pointercancel", (event) => {
    if (event.pointerId !== drag?.id) return;
    const { isMoving } = drag;
    drag = null;
    hold(false);
    if (isMoving) oninput?.(value, true);
  });
  input.addEventListener("input", () => move(Number(input.value), true));
  const ways = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
  input.addEventListener("keydown", (event) => {
    if (!ways[event.key]) return;
    event.preventDefault();
    move(value + ways[event.key] * keyStep, true);
  });

  return {
    element,
    input,
    get isHeld() {
      return isHeld;
    },
    get value() {
      return value;
    },
    /** What the server says. Ignored while the slider is held. */
    set(next, options = {}) {
      if (options.max !== undefined) input.max = max = options.max;
      if (isHeld) return;
      value = next;
      draw();
    },
  };
}

/** Half a thumb, in pixels: the value's ends lie this far inside the slider's. */
const inset = 8;
