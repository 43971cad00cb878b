// Reordering a virtual list by touch and by mouse, through Pointer Events.

/** `onmove(from, to)` is called when a row has been dropped in another place. Rows are taken by their `.handle`. */
export function reorder(list, { onmove }) {
  const { scroller, element } = list;
  let drag = null;

  element.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest(".handle");
    const row = handle?.closest("li");
    if (!row?.entry || event.button !== 0) return;
    handle.setPointerCapture(event.pointerId);
    row.wasDragged = false;
    const index = Number(row.dataset.index);
    drag = { id: event.pointerId, row, handle, from: index, to: index, y: event.clientY, startTop: scroller.scrollTop, isMoving: false, clientY: event.clientY };
  });

  element.addEventListener("pointermove", (event) => {
    if (event.pointerId !== drag?.id) return;
    drag.clientY = event.clientY;
    if (!drag.isMoving && Math.abs(event.clientY - drag.y) < 5) return;
    if (!drag.isMoving) lift();
    follow();
  });

  element.addEventListener("pointerup", (event) => event.pointerId === drag?.id && drop(true));
  element.addEventListener("pointercancel", (event) => event.pointerId === drag?.id && drop(false));
  element.addEventListener("lostpointercapture", (event) => event.pointerId === drag?.id && drop(false));
  window.addEventListener("keydown", (event) => event.key === "Escape" && drag && drop(false));

  function lift() {
    drag.isMoving = true;
    drag.row.classList.add("lifted");
    element.classList.add("dragging");
    list.shift = (index) => {
      if (index === drag.from) return way();
      if (index > drag.from && index <= drag.to) return -list.height;
      if (index < drag.from && index >= drag.to) return list.height;
      return 0;
    };
    roll();
  }

  const way = () => drag.clientY - drag.y + scroller.scrollTop - drag.startTop;

  function follow() {
    const moved = Math.round(way() / list.height);
    drag.to = Math.min(list.count - 1, Math.max(0, drag.from + moved));
    list.placeAll();
  }

  /** Scrolls while the finger is near an edge. */
  function roll() {
    if (!drag?.isMoving) return;
    const box = scroller.getBoundingClientRect();
    const edge = 56;
    const above = box.top + edge - drag.clientY;
    const below = drag.clientY - (box.bottom - edge);
    const speed = above > 0 ? -above : below > 0 ? below : 0;
    if (speed) {
      scroller.scrollTop += Math.max(-edge, Math.min(edge, speed)) / 4;
      follow();
    }
    requestAnimationFrame(roll);
  }

  function drop(isDone) {
    const { row, from, to, isMoving } = drag;
    drag = null;
    list.shift = () => 0;
    row.classList.remove("lifted");
    if (!isMoving) return;
    row.wasDragged = true;
    setTimeout(() => (row.wasDragged = false));
    element.classList.remove("dragging");
    if (isDone && from !== to) onmove(from, to);
    else list.placeAll();
  }
}
