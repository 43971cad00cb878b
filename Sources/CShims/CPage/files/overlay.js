// What lies above the page: sheets, menus, short messages.

import { h, icon, iconButton } from "./dom.js";

/** A sheet: from below on a phone, in the middle elsewhere. `fill(body, close)` builds it. Returns the dialog. */
export function sheet(title, fill, { className = "", onclose } = {}) {
  const dialog = h(`dialog.sheet${className && `.${className}`}`, { "aria-label": title });
  const close = () => dialog.close();
  const body = h("div.sheet-body");
  dialog.append(
    h("header", h("h2", title), iconButton("close", "Close", close)), body);
  show(dialog, onclose);
  fill(body, close);
  dialog.querySelector("[autofocus]")?.focus();
  return dialog;
}

/** A menu beside `anchor`. Items: { icon, text, act, isDangerous, isOn } or null for a line. */
export function menu(anchor, title, items) {
  const dialog = h("dialog.menu", { "aria-label": title });
  dialog.append(h("p.menu-title", title));
  for (const item of items.filter((item) => item !== false && item !== undefined)) {
    if (!item) dialog.append(h("hr"));
    else {
      const pick = () => {
        dialog.close();
        item.act();
      };
      dialog.append(h(item.isDangerous ? "button.danger" : "button", { onclick: pick },
        icon(item.icon), h("span", item.text), item.isOn && icon("check")));
    }
  }
  show(dialog);
  place(dialog, anchor);
  dialog.querySelector("button").focus();
  const step = { ArrowDown: 1, ArrowUp: -1 };
  dialog.addEventListener("keydown", (event) => {
    if (!step[event.key]) return;
    const buttons = [...dialog.querySelectorAll("button")];
    const next = buttons.indexOf(document.activeElement) + step[event.key];
    buttons.at(next % buttons.length)?.focus();
    event.preventDefault();
  });
}

function show(dialog, onclose) {
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  // A tap beside it closes it. The tap must also have begun there: a drag out of a slider does not count.
  let beganOutside = false;
  dialog.addEventListener("pointerdown", (event) => (beganOutside = event.target === dialog));
  dialog.addEventListener("click", (event) => beganOutside && event.target === dialog && dialog.close());
  dialog.showModal();
}

function place(dialog, anchor) {
  if (innerWidth < 700) return;
  const from = anchor.getBoundingClientRect();
  const own = dialog.getBoundingClientRect();
  const left = Math.min(Math.max(8, from.right - own.width), innerWidth - own.width - 8);
  const below = from.bottom + 4;
  const top = below + own.height < innerHeight - 8 ? below : Math.max(8, from.top - own.height - 4);
  dialog.style.left = `${left}px`;
  dialog.style.top = `${top}px`;
}

/** A short message. `undo` gives it a button. */
export function toast(text, { isError = false, undo } = {}) {
  const box = document.getElementById("toasts");
  for (const old of [...box.children].slice(0, -1)) old.remove();
  const message = h(isError ? "div.toast.error" : "div.toast", isError && icon("warn"), h("span", text));
  const leave = () => message.remove();
  if (undo) {
    message.append(h("button", { onclick: () => { leave(); undo(); } }, "Undo"));
  }
  box.append(message);
  setTimeout(leave, undo || isError ? 8000 : 3000);
}

/** Says something to screen readers only. */
export function tell(text) {
  document.getElementById("told").textContent = text;
}

/** Asks for one line of text. */
export function ask(title, { value = "", hint = "", button = "Save", inputmode = "text", detail }, act) {
  sheet(title, (body, close) => {
    const input = h("input", { type: "text", value, placeholder: hint, inputmode, "aria-label": title, autofocus: true, autocomplete: "off" });
    const problem = h("p.problem", { role: "alert" });
    const send = async (event) => {
      event.preventDefault();
      if (!input.value.trim()) return input.focus();
      problem.textContent = "";
      try {
        await act(input.value.trim());
        close();
      } catch (error) {
        problem.textContent = error.message;
        input.select();
      }
    };
    body.append(h("form.ask", { onsubmit: send }, detail && h("p", detail), input, problem,
      h("button.primary", { type: "submit" }, button)));
  }, { className: "small" });
}

/** An empty state: what is missing, the one next thing to do, and a command to copy. */
export function empty(symbol, title, text, { command, button, act } = {}) {
  return h("div.empty", icon(symbol), h("h2", title), h("p", text),
    command && h("div.command", h("code", command),
      iconButton("copy", "Copy the command", () => copy(command))),
    button && h("button.primary", { onclick: act }, button));
}

/** Copies text. A page without TLS has no clipboard object, so the old way stands behind it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea.unseen");
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied");
}
