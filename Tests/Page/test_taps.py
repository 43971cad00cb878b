#!/usr/bin/env python3
"""Taps what can be tapped in each view of an invented house of 50 rooms and 100 000 tracks, and measures the time until the page shows it:
the median of three taps.

    Tests/Page/test_taps.py [--all]     --all prints each tap, not only the slowest of each view
"""
import argparse
import statistics
import sys

import playwright.sync_api as playwright

import browser as support
from browser import PHONE

LONGEST_MS = 100
VIEWS = ["now", "queue", "library", "library/albums", "library/album/a12", "library/artists", "library/artist/r3", "library/tracks", "library/genres", "library/history",
         "library/folders", "library/radio", "library/playlists", "library/playlist/p2", "library/search/amber", "rooms", "alarms", "sync"]
# Notes when a finger comes down, and when the first frame has been made in which something else changes than what moves anyway.
PROBE = """
let moving = new WeakSet(), start;
window.settle = () => { moving = new WeakSet(); };
const done = () => {
  const from = start;
  start = undefined;
  requestAnimationFrame(() => setTimeout(() => { window.tapped = performance.now() - from; }));
};
new MutationObserver((list) => {
  if (start === undefined) list.forEach(({target}) => moving.add(target));
  else if (list.some(({target}) => !moving.has(target))) done();
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
addEventListener('scroll', () => start !== undefined && done(), true);
addEventListener('pointerdown', () => { start = performance.now(); }, true);
"""


def opened(page, server, view):
    """What moves as the page opens is no answer to a tap, and neither is what moves by itself for a while after that."""
    page.goto("about:blank")
    page.goto(f"{server.address}#/{view}")
    page.wait_for_timeout(400)
    page.evaluate("settle()")
    page.wait_for_timeout(300)


def targets(page):
    """What can be tapped and is wholly in sight, one of each kind: by its class and place in the page, not by its name. What leads to where the page is
    already is left out."""
    return page.evaluate("""() => {
      const seen = new Map();
      for (const element of document.querySelectorAll('button, a[href], [role=switch], input[type=checkbox]')) {
        const box = element.getBoundingClientRect();
        const x = box.x + box.width / 2, y = box.y + box.height / 2;
        if (!box.width || box.top < 0 || box.bottom > innerHeight || x < 0 || x > innerWidth) continue;
        const top = document.elementFromPoint(x, y);
        if (element.disabled || element.matches('[aria-label="Jump to what plays"]') || element.hash && element.hash === location.hash || element.matches('[aria-current]:not([aria-current=false]), [aria-pressed=true]') || !top || !(element === top || element.contains(top))) continue;
        const kind = element.className + '|' + (element.parentElement?.className ?? '') + '|' + (element.closest('section, nav, header, footer, article')?.className ?? '');
        const name = element.getAttribute('aria-label') || element.textContent.trim().slice(0, 40);
        if (!seen.has(kind)) seen.set(kind, {x, y, name});
      }
      return [...seen.values()];
    }""")


def tapped(page, server, view, name):
    """The time from the finger to the frame, in ms; 2000 if nothing changes until then. Nothing where the taps before have made it go away."""
    opened(page, server, view)
    target = next((target for target in targets(page) if target["name"] == name), None)
    if not target:
        return []
    page.evaluate("window.tapped = undefined")
    page.touchscreen.tap(target["x"], target["y"])
    try:
        page.wait_for_function("() => typeof window.tapped === 'number'", timeout=2000)
    except playwright.TimeoutError:
        return [2000]
    return [page.evaluate("window.tapped")]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--all", action="store_true")
    options = options.parse_args()
    slow, every = [], []
    with support.chromium() as browser, support.Server("large") as server:
        page = support.context(browser, PHONE).new_page()
        page.add_init_script(PROBE)
        page.on("dialog", lambda dialog: dialog.dismiss())
        for view in VIEWS:
            opened(page, server, view)
            times = []
            for name in [target["name"] for target in targets(page)]:
                taps = [took for _ in range(3) for took in tapped(page, server, view, name)]
                if not taps:
                    continue
                took = statistics.median(taps)
                times.append((took, name))
                if options.all:
                    print(f"  {took:6.1f} ms  {name}")
            every += [took for took, _ in times]
            slow += [f"{view}: {name!r} after {took:.0f} ms" for took, name in times if took > LONGEST_MS]
            print(f"{view:24} {len(times):3} taps, median {statistics.median(t for t, _ in times):5.1f} ms, slowest {max(times)[0]:5.1f} ms: {max(times)[1]}", flush=True)
    print(f"all {len(every)} taps: median {statistics.median(every):.1f} ms, slowest {max(every):.1f} ms")
    for line in slow:
        print("WRONG  " + line)
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
