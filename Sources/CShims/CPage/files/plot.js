// The picture of the sync errors: time to the right, microseconds upwards, one line a room, its clock's bound as a band.

import { h, svg } from "./dom.js";
import { micros } from "./truth.js";

const steps = [10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000, 50000];

export class Plot {
  constructor(spanMs) {
    this.spanMs = spanMs;
    this.picture = svg("svg", { class: "plot", role: "img" });
    this.tip = h("div.tip", { hidden: true });
    this.element = h("figure.plot-box", this.picture, this.tip);
    this.rangeUs = 10;
    this.colors = new Map();
    new ResizeObserver(() => this.again()).observe(this.element);
    this.picture.addEventListener("pointermove", (event) => {
      this.pointer = event.offsetX;
      this.again();
    });
    this.picture.addEventListener("pointerleave", () => {
      this.pointer = null;
      this.again();
    });
  }

  colorOf(id) {
    return this.colors.get(id);
  }

  again() {
    if (this.last) this.draw(...this.last);
  }

  draw(nowMs, rooms, marks) {
    this.last = [nowMs, rooms, marks];
    for (const room of rooms) this.colors.set(room.id, room.color);
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height) return;
    const isWide = width > 560;
    const box = { left: 46, right: width - (isWide ? 128 : 14), top: 22, bottom: height - 26 };
    this.choose(rooms, nowMs);
    const x = (at) => box.right - ((nowMs - at) / this.spanMs) * (box.right - box.left);
    const y = (us) => (box.top + box.bottom) / 2 - (Math.max(-this.rangeUs, Math.min(this.rangeUs, us)) / this.rangeUs) * (box.bottom - box.top) / 2;
    const frame = { box, x, y, nowMs, isWide };

    const parts = [this.grid(frame)];
    const seen = rooms.map((room) => ({ ...room, points: room.points.filter(([at]) => at >= nowMs - this.spanMs) }));
    for (const room of seen) parts.push(this.band(room, frame));
    parts.push(...this.marks(marks, seen, frame));
    for (const room of seen) parts.push(this.line(room, frame));
    parts.push(...this.ends(seen, frame));
    parts.push(...this.cross(seen, frame));
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.setAttribute("aria-label", describe(seen));
    this.picture.replaceChildren(...parts.filter(Boolean));
  }

  /** A range that holds every line, from a short list, so that the picture seldom changes its scale. */
  choose(rooms, nowMs) {
    let largest = 5;
    for (const { points } of rooms) {
      for (const [at, error, bound] of points) if (at >= nowMs - this.spanMs) largest = Math.max(largest, Math.abs(error) + Math.min(bound, 3 * Math.abs(error) + 20));
    }
    this.rangeUs = steps.find((step) => step >= largest * 1.05) ?? steps.at(-1);
  }

  grid({ box, x, y, nowMs, isWide }) {
    const group = svg("g", { class: "grid-lines" });
    const half = this.rangeUs / 2;
    for (const us of [this.rangeUs, half, 0, -half, -this.rangeUs]) {
      group.append(svg("line", { x1: box.left, x2: box.right, y1: y(us), y2: y(us), class: us === 0 ? "zero" : "" }));
      group.append(svg("text", { x: box.left - 8, y: y(us) + 4, "text-anchor": "end" }, us === 0 ? "0" : `${us > 0 ? "+" : "−"}${short(Math.abs(us))}`));
    }
    const minutes = this.spanMs / 60000;
    for (let minute = 0; minute <= minutes; minute++) {
      const at = x(nowMs - minute * 60000);
      group.append(svg("line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }));
      const text = minute === 0 ? "now" : isWide || minute === minutes ? `${minute} min ago` : String(minute);
      group.append(svg("text", { x: at, y: box.bottom + 18, "text-anchor": minute === minutes ? "start" : minute === 0 && !isWide ? "end" : "middle" }, text));
    }
    group.append(svg("text", { x: box.left, y: 12, class: "axis" }, this.rangeUs >= 1000 ? "ms early" : "µs early"));
    return group;
  }

  band(room, { x, y }) {
    return pieces(room.points).map((points) => {
      const upper = points.map(([at, error, bound]) => `${x(at).toFixed(1)},${y(error + bound).toFixed(1)}`);
      const lower = points.map(([at, error, bound]) => `${x(at).toFixed(1)},${y(error - bound).toFixed(1)}`).reverse();
      return svg("polygon", { class: `band line-${room.color}`, points: [...upper, ...lower].join(" ") });
    }).reduce((group, piece) => (group.append(piece), group), svg("g"));
  }

  line(room, { x, y }) {
    const path = pieces(room.points).map((points) => "M" + points.map(([at, error]) => `${x(at).toFixed(1)} ${y(error).toFixed(1)}`).join("L")).join("");
    return svg("path", { class: `line line-${room.color}`, d: path });
  }

  marks(marks, rooms, { box, x, nowMs, isWide }) {
    let taken = [-Infinity, -Infinity, -Infinity];
    return marks.filter((mark) => mark.atMs > nowMs - this.spanMs && mark.atMs <= nowMs).map((mark) => {
      const room = rooms.find((room) => room.id === mark.roomId);
      const at = x(mark.atMs);
      const text = `${room?.name ?? "A room"}: ${mark.text}`;
      const isLeft = at > box.right - 150;
      const begin = isLeft ? at - 160 : at;
      const row = Math.max(0, taken.findIndex((end) => end < begin));
      taken[row] = begin + 160;
      return svg("g", { class: `mark line-${room?.color ?? 7}` }, svg("title", {}, text),
        svg("line", { x1: at, x2: at, y1: box.top, y2: box.bottom }), svg("path", { d: `M${at} ${box.top - 5}l5 5-5 5-5-5z` }),
        isWide ? svg("text", { x: isLeft ? at - 9 : at + 9, y: box.top + 4 + row * 16, "text-anchor": isLeft ? "end" : "start" }, text) : "");
    });
  }

  /** Each line's name and value at its end, pushed apart where they would cover each other. */
  ends(rooms, { box, x, y, isWide }) {
    const labels = rooms.filter((room) => room.points.length).map((room) => {
      const [at, error] = room.points.at(-1);
      return { room, at: x(at), y: y(error), place: y(error), error };
    }).sort((a, b) => a.place - b.place);
    const gap = 30;
    for (let index = 1; index < labels.length; index++) labels[index].place = Math.max(labels[index].place, labels[index - 1].place + gap);
    const over = (labels.at(-1)?.place ?? 0) - (box.bottom - 12);
    if (over > 0) {
      for (let index = labels.length - 1, limit = box.bottom - 12; index >= 0; index--, limit -= gap) labels[index].place = Math.min(labels[index].place, limit);
    }
    return labels.map(({ room, at, y: own, place, error }) => svg("g", { class: `end line-${room.color}` },
      svg("circle", { cx: at, cy: own, r: 4 }),
      ...(isWide ? [
        svg("path", { class: "lead", d: `M${at + 5} ${own}L${box.right + 12} ${place}` }),
        svg("text", { x: box.right + 16, y: place - 1, class: "name" }, shorten(room.name)),
        svg("text", { x: box.right + 16, y: place + 13, class: "value" }, sign(error)),
      ] : [])));
  }

  cross(rooms, { box, x, y, nowMs }) {
    if (this.pointer == null || this.pointer < box.left || this.pointer > box.right) {
      this.tip.hidden = true;
      return [];
    }
    const at = nowMs - ((box.right - this.pointer) / (box.right - box.left)) * this.spanMs;
    const values = rooms.map((room) => ({ room, point: nearest(room.points, at) })).filter(({ point }) => point && Math.abs(point[0] - at) < 3000);
    this.tip.hidden = !values.length;
    this.tip.replaceChildren(h("strong", `${Math.round((nowMs - at) / 1000)} s ago`), ...values.map(({ room, point }) =>
      h("span", h(`i.swatch.line-${room.color}`), `${room.name} ${sign(point[1])}`)));
    this.tip.style.left = `${Math.min(this.pointer + 12, box.right - 150)}px`;
    return [svg("line", { class: "cross", x1: this.pointer, x2: this.pointer, y1: box.top, y2: box.bottom }),
      ...values.map(({ room, point }) => svg("circle", { class: `dot-at line-${room.color}`, cx: x(point[0]), cy: y(point[1]), r: 3.5 }))];
  }
}

/** A line is broken where a room was silent for more than three seconds. */
function pieces(points) {
  const found = [];
  for (const point of points) {
    const last = found.at(-1)?.at(-1);
    if (!last || point[0] - last[0] > 3000) found.push([point]);
    else found.at(-1).push(point);
  }
  return found;
}

const nearest = (points, at) => points.reduce((best, point) => (!best || Math.abs(point[0] - at) < Math.abs(best[0] - at) ? point : best), null);
const sign = (us) => `${us < 0 ? "−" : "+"}${Math.abs(us) < 100 ? Math.abs(us).toFixed(1) + " µs" : micros(Math.abs(us))}`;
const short = (us) => (us >= 1000 ? us / 1000 : us);
const shorten = (name) => (name.length > 15 ? `${name.slice(0, 14)}…` : name);

function describe(rooms) {
  const told = rooms.filter((room) => room.points.length).map((room) => `${room.name} ${sign(room.points.at(-1)[1])}`);
  return `Sync error of each room over the last five minutes. Now: ${told.join(", ")}.`;
}
