// The plot of sync errors: microseconds over time, a line per room. Below, on a scale of its own, the clocks' error bounds.

import { clamp, h, micros, signed, svg } from "./kit.js"

const ranges = [10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000, 50000]
const exact = (us) => (Math.abs(us) < 100 ? `${signed(us)} µs` : micros(us))

export class Plot {
	constructor(spanMs) {
		this.spanMs = spanMs
		this.picture = svg("svg", { class: "plot", role: "img" })
		this.element = h("figure.plot-box", this.picture)
		new ResizeObserver(() => this.last && this.draw(...this.last)).observe(this.element)
	}

	/** `rooms`: { id, name, color, points }, points as in sync.js. `marks`: { atMs, roomId, text }. */
	draw(nowMs, rooms, marks) {
		this.last = [nowMs, rooms, marks]
		const { clientWidth: width, clientHeight: height } = this.element
		if (!width || !height) return
		const seen = rooms.map((room) => ({ ...room, points: room.points.filter(([at]) => at >= nowMs - this.spanMs) }))
		const largest = Math.max(5, ...seen.flatMap(({ points }) => points.map(([, error]) => Math.abs(error))))
		const widest = Math.max(1, ...seen.flatMap(({ points }) => points.map(([, , bound]) => bound)))
		const range = ranges.find((range) => range >= largest * 1.05) ?? ranges.at(-1)
		const isWide = width > 560
		const [left, right, top, floor] = [46, width - (isWide ? 128 : 14), 26, height - 28]
		const bottom = floor - 84
		const x = (at) => right - ((nowMs - at) / this.spanMs) * (right - left)
		const y = (us) => (top + bottom) / 2 - (clamp(us, -range, range) / range) * (bottom - top) / 2
		const boundY = (us) => floor - (Math.min(us, widest) / widest) * 48
		const frame = { left, right, top, bottom, floor, x, y, boundY, widest, range, nowMs, isWide }
		this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`)
		const now = seen.filter(({ points }) => points.length).map(({ name, points }) => `${name} ${exact(points.at(-1)[1])}`)
		this.picture.ariaLabel = `Sync error of each room over the last five minutes. Now: ${now.join(", ")}.`
		this.picture.replaceChildren(this.grid(frame), ...seen.map((room) => boundOf(room, frame)), ...this.marks(marks, seen, frame),
			...seen.map((room) => lineOf(room, frame)), ...ends(seen, frame))
	}

	grid({ left, right, bottom, floor, x, y, widest, range, nowMs, isWide }) {
		const group = svg("g", { class: "grid-lines" }, text(left, 14, "", range < 1000 ? "µs early" : "ms early"))
		for (const share of [1, 0.5, 0, -0.5, -1]) {
			const at = y(share * range)
			const value = share * (range < 1000 ? range : range / 1000)
			group.append(line(left, right, at, at, share ? "" : "zero"), text(left - 8, at + 4, "end", signed(value, value % 1 ? 1 : 0)))
		}
		group.append(line(left, right, floor, floor), text(left, floor - 56, "", "Bound of each clock"), text(left - 8, floor - 44, "end", `±${Math.round(widest)}`), text(left - 8, floor + 4, "end", "0"))
		const last = this.spanMs / 60000
		for (let minute = 0; minute <= last; minute++) {
			const at = x(nowMs - minute * 60000)
			group.append(line(at, at, bottom, bottom + 4), line(at, at, floor, floor + 4), text(at, floor + 19, minute || isWide ? "middle" : "end",
				minute === 0 ? "now" : isWide ? `${minute} min ago` : minute === last ? "5 min" : String(minute)))
		}
		return group
	}

	/** Draws the marks. A text that would cover the one before is drawn one line lower. */
	marks(marks, rooms, { left, right, top, bottom, x, nowMs, isWide }) {
		const taken = [-Infinity, -Infinity, -Infinity]
		return marks.filter(({ atMs }) => atMs > nowMs - this.spanMs && atMs <= nowMs).map(({ atMs, roomId, text: what }) => {
			const room = rooms.find(({ id }) => id === roomId)
			const at = x(atMs)
			const told = `${room.name}: ${what}`
			const isLeft = at > right - 150
			const begin = isLeft ? at - 160 : at
			const row = Math.max(0, taken.findIndex((end) => end < begin))
			taken[row] = begin + 160
			return svg("g", { class: `mark line-${room.color}` }, svg("title", {}, told), line(at, at, top, bottom), svg("path", { d: `M${at} ${top - 5}l5 5-5 5-5-5z` }),
				isWide ? text(isLeft ? at - 9 : at + 9, top + 17 + row * 16, isLeft ? "end" : "", told) : "")
		})
	}
}

const line = (x1, x2, y1, y2, kind = "") => svg("line", { x1, x2, y1, y2, class: kind })
const text = (x, y, anchor, words, kind = "") => svg("text", { x, y, "text-anchor": anchor || "start", class: kind }, words)
const dot = (cx, cy, color) => svg("circle", { cx, cy, r: 4, class: `end line-${color}` })
const place = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`

/** Splits a line wherever a room reported nothing for more than three seconds. */
function pieces(points) {
	const found = []
	for (const point of points) {
		if (point[0] - (found.at(-1)?.at(-1)[0] ?? -Infinity) > 3000) found.push([])
		found.at(-1).push(point)
	}
	return found
}

const boundOf = ({ points, color }, { x, boundY }) => svg("path", { class: `bound line-${color}`,
	d: pieces(points).map((piece) => `M${piece.map(([at, , bound]) => place(x(at), boundY(bound))).join("L")}`).join("") })

const lineOf = ({ points, color }, { x, y }) => svg("path", { class: `line line-${color}`,
	d: pieces(points).map((piece) => `M${piece.map(([at, error]) => place(x(at), y(error))).join("L")}`).join("") })

/** Draws each room's name and value at the end of its line, without overlaps. */
function ends(rooms, { right, top, bottom, x, y, nowMs, isWide }) {
	const gap = 32
	const all = rooms.filter(({ points }) => nowMs - (points.at(-1)?.[0] ?? 0) < 3000).map((room) => {
		const [at, error] = room.points.at(-1)
		return { ...room, at: x(at), own: y(error), y: y(error), error }
	}).sort((a, b) => a.y - b.y)
	all.forEach((label, index) => (label.y = Math.max(label.y, index ? all[index - 1].y + gap : top)))
	for (let index = all.length - 1, limit = bottom - 12; index >= 0; index--, limit -= gap) all[index].y = Math.min(all[index].y, limit)
	return all.flatMap(({ name, color, at, own, y, error }) => [dot(at, own, color), ...(isWide ? [
		svg("path", { class: `lead line-${color}`, d: `M${at + 5} ${own}L${right + 12} ${y}` }),
		text(right + 16, y - 1, "", name.length > 15 ? `${name.slice(0, 14)}…` : name, `name line-${color}`), text(right + 16, y + 13, "", exact(error)),
	] : [])])
}
