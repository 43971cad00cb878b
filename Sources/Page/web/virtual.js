// A list or grid of any length that only has elements for its visible part.

import { h, on } from "./dom.js"

/** `create()` makes an `li`, `update(li, index)` fills it. `columns(width)` and `rowHeight(cell)` are the layout, in pixels. `need(first, end)` gets the range in view. */
export class VirtualList {
	constructor(scroller, { create, update, need, rowHeight, columns = () => 1, gap = 0, kind }) {
		Object.assign(this, { scroller, create, update, need, rowHeight, columns, gap })
		this.count = 0
		this.items = new Map()
		this.shift = () => 0
		this.element = h(`ul.virtual.${kind}`)
		on(scroller, "scroll", () => {
			this.frame ??= requestAnimationFrame(() => {
				this.frame = undefined
				this.draw(false)
			})
		})
		new ResizeObserver(() => this.refresh()).observe(scroller)
	}

	/** Computes the layout again, and fills every existing element again. */
	refresh(count = this.count) {
		this.count = count
		const width = this.element.clientWidth
		if (!width) return
		this.perRow = this.columns(width)
		this.cell = (width - this.gap * (this.perRow - 1)) / this.perRow
		this.height = this.rowHeight(this.cell)
		this.element.style.height = `${Math.ceil(count / this.perRow) * this.height}px`
		this.draw(true)
	}

	top() {
		return this.element.offsetTop - this.scroller.offsetTop
	}

	draw(isFull) {
		if (!this.height || !this.element.isConnected) return
		const top = this.scroller.scrollTop - this.top()
		const seen = this.scroller.clientHeight
		const first = Math.max(0, Math.floor((top - seen * 0.6) / this.height)) * this.perRow
		const end = Math.min(this.count, Math.ceil((top + seen * 1.6) / this.height) * this.perRow)
		for (const [index, item] of this.items) {
			const isUsed = index < this.count && (item.contains(document.activeElement) || item.classList.contains("lifted"))
			if ((index >= first && index < end) || isUsed) continue
			item.remove()
			this.items.delete(index)
		}
		for (let index = first; index < end; index++) {
			const old = this.items.get(index)
			const item = old ?? this.insert(index)
			if (old && !isFull) continue
			item.ariaPosInSet = index + 1
			item.ariaSetSize = this.count
			this.update(item, index)
			this.place(item, index)
		}
		this.need(first, end)
	}

	/** Keeps elements in the list's order, which the Tab key and screen readers follow. */
	insert(index) {
		const item = this.create()
		item.dataset.index = index
		this.items.set(index, item)
		this.element.insertBefore(item, [...this.element.children].find((other) => Number(other.dataset.index) > index) ?? null)
		return item
	}

	place(item, index) {
		const x = (index % this.perRow) * (this.cell + this.gap)
		item.style.transform = `translate(${x}px, ${Math.floor(index / this.perRow) * this.height + this.shift(index)}px)`
		item.style.width = `${this.cell}px`
	}

	placeAll() {
		for (const [index, item] of this.items) this.place(item, index)
	}

	/** `share`: how far down in the view the item then is. */
	scrollTo(index, behavior = "smooth", share = 0.3) {
		this.scroller.scrollTo({ top: this.top() + Math.floor(index / this.perRow) * this.height - this.scroller.clientHeight * share, behavior })
	}
}
