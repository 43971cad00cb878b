#!/usr/bin/env python3
"""Takes pictures of every view at three widths and on a phone on its side, dark and light, and of the empty states.

    Tests/Page/screenshots.py OUTDIR [--base http://localhost:7780/]
"""

import argparse
import pathlib

import browser as support
from browser import LAPTOP, PHONE, TABLET

VIEWS = {"now": "now", "queue": "queue", "library": "library", "rooms": "rooms", "alarms": "alarms", "sync": "sync"}
MORE = {"albums": "library/albums", "album": "library/album/a12", "bare-album": "library/album/a40", "artist": "library/artist/r3", "tracks": "library/tracks",
        "genres": "library/genres", "years": "library/years", "history": "library/history", "folders": "library/folders", "radio": "library/radio", "playlists": "library/playlists", "playlist": "library/playlist/p1",
        "search": "library/search/amber"}
LANDSCAPE = (844, 390)


def taken(page, folder, name):
    page.wait_for_timeout(900)
    page.screenshot(path=folder / f"{name}.png")


def closed(page):
    """Closes a sheet. The page then goes a step back by itself."""
    page.keyboard.press("Escape")
    page.wait_for_function("() => !history.state?.isOpen")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--base")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    with support.chromium() as browser:
        with support.Server(address=arguments.base) as server:
            for scheme in ["dark", "light"]:
                for size in [PHONE, LANDSCAPE, TABLET, LAPTOP]:
                    shoot(browser, server, folder, scheme, size)
        if arguments.base:
            return
        with support.Server("first") as server:
            for scheme in ["dark", "light"]:
                for size in [PHONE, TABLET, LAPTOP]:
                    page = support.context(browser, size, color_scheme=scheme).new_page()
                    page.goto(server.address)
                    taken(page, folder, f"{size[0]}x{size[1]}-{scheme}-set-up")
        for scene in ["empty", "silent"]:
            with support.Server(scene) as server:
                page = support.context(browser, PHONE, color_scheme="dark").new_page()
                for view in VIEWS:
                    page.goto(f"{server.address}#/{view}")
                    taken(page, folder, f"{scene}-{view}")
        lost(browser, folder)


def shoot(browser, server, folder, scheme, size):
    context = support.context(browser, size, color_scheme=scheme)
    page = context.new_page()
    for name, view in {**VIEWS, **(MORE if scheme == "dark" else {})}.items():
        page.goto(f"{server.address}#/{view}")
        taken(page, folder, f"{size[0]}x{size[1]}-{scheme}-{name}")
    page.goto(f"{server.address}#/rooms")
    for name, button in [("room", "More for Kitchen"), ("members", "Add or remove rooms"), ("group-menu", "More for this group"), ("announce", "Announce"), ("settings", "Settings")]:
        page.get_by_role("button", name=button).first.click()
        taken(page, folder, f"{size[0]}x{size[1]}-{scheme}-{name}")
        closed(page)
    page.goto(f"{server.address}#/alarms")
    page.get_by_role("button", name="New alarm").first.click()
    taken(page, folder, f"{size[0]}x{size[1]}-{scheme}-alarm")
    closed(page)
    if not server.isReal:
        rings(page, server, lambda name: taken(page, folder, f"{size[0]}x{size[1]}-{scheme}-{name}"))
    page.goto(f"{server.address}#/now")
    for name, label in [("sound", "Sound and sleep timer"), ("truth", "±")]:
        button = page.get_by_role("button", name=label).first
        # A phone on its side has no place for the signs below the deck.
        if not button.is_visible():
            continue
        button.click()
        taken(page, folder, f"{size[0]}x{size[1]}-{scheme}-{name}")
        closed(page)
    context.close()


def rings(page, server, take):
    """An alarm rings in each view, and above a sheet."""
    turn = lambda state: page.request.post(f"{server.address}api/v1/mock/alarm/a1", data={"state": state})
    turn("ringing")
    for name, view in VIEWS.items():
        page.goto(f"{server.address}#/{view}")
        take(f"rings-{name}")
    page.goto(f"{server.address}#/rooms")
    page.get_by_role("button", name="Announce").click()
    take("rings-sheet")
    closed(page)
    turn("waiting")


def lost(browser, folder):
    with support.Server() as server:
        page = support.context(browser, PHONE, color_scheme="dark").new_page()
        page.goto(f"{server.address}#/now")
        page.wait_for_timeout(500)
        server.stop()
        page.wait_for_timeout(3000)
        taken(page, folder, "lost-now")


if __name__ == "__main__":
    main()
