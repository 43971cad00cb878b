// Elements without a framework: building them, keeping lists of them, and text for numbers.

/** Builds an element: `h("li.row.big", { title, onclick }, "text", child, …)`. The properties may be left out. */
export function h(selector, ...rest) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  if (tag === "button") element.type = "button";
  const hasProperties = rest[0]?.constructor === Object;
  for (const [name, value] of Object.entries(hasProperties ? rest.shift() : {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else attribute(element, name, value);
  }
  element.append(...rest.flat().filter((child) => child != null && child !== false));
  return element;
}

/** Sets an attribute where it differs; false and null take it away. */
export function attribute(element, name, value) {
  if (value == null || value === false) element.removeAttribute(name);
  else {
    const text = value === true && !name.startsWith("aria") ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const svgNamespace = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function icon(name) {
  return svg("svg", { class: "icon", "aria-hidden": "true" }, svg("use", { href: `#i-${name}` }));
}

export function setIcon(button, name) {
  const use = button.querySelector("use");
  if (use.getAttribute("href") !== `#i-${name}`) use.setAttribute("href", `#i-${name}`);
}

/** A button that shows an icon; `label` is what screen readers say and what the tooltip shows. */
export function iconButton(name, label, onclick, className = "") {
  return h(`button.round${className && `.${className}`}`, { "aria-label": label, title: label, onclick }, icon(name));
}

export function label(button, text) {
  attribute(button, "aria-label", text);
  attribute(button, "title", text);
}

/** Makes `parent`'s children follow `items`: one element a key, kept, moved or removed as needed. */
export function keyed(parent, items, keyOf, create, update) {
  const keys = new Set(items.map((item) => String(keyOf(item))));
  const old = new Map();
  for (const child of [...parent.children]) {
    if (keys.has(child.dataset.key)) old.set(child.dataset.key, child);
    else child.remove();
  }
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    const child = old.get(key) ?? create(item);
    child.dataset.key = key;
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
    update?.(child, item);
  }
}

/** A cover, or a quiet note where there is none. */
export function cover(hash, size = 300) {
  const box = h("span.cover", icon("note"));
  setCover(box, hash, size);
  return box;
}

export function setCover(box, hash, size = 300) {
  const address = hash ? `api/v1/artwork/${encodeURIComponent(hash)}?size=${size}` : "";
  if ((box.dataset.address ?? "") === address) return;
  box.dataset.address = address;
  box.querySelector("img")?.remove();
  if (!address) return;
  const image = h("img", { src: address, alt: "", loading: size > 300 ? "eager" : "lazy", decoding: "async" });
  image.addEventListener("error", () => image.remove());
  box.append(image);
}

/** 622 → "10:22". */
export function clock(seconds) {
  if (seconds == null) return "";
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(rest).padStart(2, "0")}`;
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

/** 4200 → "1 h 10 min". */
export function span(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return `${Math.max(1, Math.round(seconds))} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** 12 → "12 tracks"; 1 → "1 track". */
export const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
