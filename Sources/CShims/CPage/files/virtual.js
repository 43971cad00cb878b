// A list or grid of any length that holds only the elements that can be seen.

import { h } from "./dom.js";

/**
 * `scroller` scrolls, `head` pixels of it lie above the list. `create(index)` makes an `li`, `update(li, index)` fills it.
 * `columns(width)` and `rowHeight(columnWidth)` lay it out; a list has one column.
 */
export class VirtualList {
  constructor(scroller, { create, update, columns = () => 1, rowHeight, gap = 0, className = "" }) {
    Object.assign(this, { scroller, create, update, columns, rowHeight, gap });
    this.count = 0;
    this.items = new Map();
    this.shift = () => 0;
    this.element = h(`ul.virtual.${className}`);
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.refresh()).observe(scroller);
  }

  setCount(count) {
    this.count = count;
    this.refresh();
  }

  /** Lays everything out again and fills every element that is there. */
  refresh() {
    const width = this.element.clientWidth;
    if (!width) return;
    this.perRow = this.columns(width);
    this.cell = (width - this.gap * (this.perRow - 1)) / this.perRow;
    this.height = this.rowHeight(this.cell);
    this.element.style.height = `${Math.ceil(this.count / this.perRow) * this.height}px`;
    this.draw(true);
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw(false);
    });
  }

  /** The first and the one after the last index that should have an element. */
  window() {
    const top = this.scroller.scrollTop - this.element.offsetTop + this.scroller.offsetTop;
    const beyond = this.scroller.clientHeight * 0.6;
    const first = Math.max(0, Math.floor((top - beyond) / this.height)) * this.perRow;
    const end = Math.min(this.count, Math.ceil((top + this.scroller.clientHeight + beyond) / this.height) * this.perRow);
    return [first, end];
  }

  draw(isFull) {
    if (!this.height) return;
    const [first, end] = this.window();
    for (const [index, item] of this.items) {
      if (index >= first && index < end) continue;
      if (index < this.count && (item.contains(document.activeElement) || item.classList.contains("lifted"))) continue;
      item.remove();
      this.items.delete(index);
    }
    for (let index = first; index < end; index++) {
      let item = this.items.get(index);
      const isNew = !item;
      if (isNew) {
        item = this.create(index);
        this.items.set(index, item);
        this.insert(item, index);
      }
      if (isNew || isFull) {
        item.setAttribute("aria-posinset", index + 1);
        item.setAttribute("aria-setsize", this.count);
        this.update(item, index);
        this.place(item, index);
      }
    }
    this.ondraw?.(first, end);
  }

  /** Keeps the elements in the order of the list, which is the order of the Tab key and of screen readers. */
  insert(item, index) {
    item.dataset.index = index;
    const next = [...this.element.children].find((other) => Number(other.dataset.index) > index);
    this.element.insertBefore(item, next ?? null);
  }

  place(item, index) {
    const x = (index % this.perRow) * (this.cell + this.gap);
    const y = Math.floor(index / this.perRow) * this.height + this.shift(index);
    item.style.transform = `translate(${x}px, ${y}px)`;
    item.style.width = `${this.cell}px`;
  }

  placeAll() {
    for (const [index, item] of this.items) this.place(item, index);
  }

  scrollTo(index, behavior = "smooth") {
    const top = this.element.offsetTop - this.scroller.offsetTop + Math.floor(index / this.perRow) * this.height;
    this.scroller.scrollTo({ top: top - this.scroller.clientHeight * 0.3, behavior });
  }
}
