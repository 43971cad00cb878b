#!/usr/bin/env python3
"""Takes the picture of the page that the README shows: a real `tutti serve` that plays in two groups of real receivers.

    Tests/Page/readme.py [docs/page.png]
"""

import pathlib
import sys
import tempfile

import browser as support
from household import Household, ffmpeg

ALBUMS = (12, 30, 7, 22, 3, 8, 14, 51, 68, 90, 102, 124)


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else support.HERE.parents[1] / "docs/page.png")
    with Household(ALBUMS, ("Kitchen", "Bathroom", "Living room", "Terrace"), stranger=None) as house, support.chromium() as browser:
        house.play("Kitchen", "Bathroom", album=3)
        rooms = {room["name"]: room["id"] for room in house.state()["rooms"]}
        other = house.api("POST", "/groups", {"roomIds": [rooms["Living room"]]})["id"]
        album = house.api("GET", "/library/albums")["albums"][7]
        house.api("POST", f"/groups/{other}/queue", {"items": [{"albumId": album["id"]}], "at": "now"})
        for name, volume in [("Kitchen", 62), ("Bathroom", 48), ("Living room", 35)]:
            house.wait(lambda state: all(room["state"] == "playing" for room in state["rooms"] if room["name"] == name))
            house.api("PATCH", f"/rooms/{rooms[name]}", {"volume": volume})
        for group in house.state()["groups"]:
            house.api("POST", f"/groups/{group['id']}/seek", {"positionS": 63})
        house.wait(lambda state: all(group["state"] == "playing" and group["positionS"] > 64 for group in state["groups"]))
        shoot(browser, house, target)
    print(f"{target}: {target.stat().st_size} bytes")


def shoot(browser, house, target):
    page = support.context(browser, (1280, 800), color_scheme="dark", reduced_motion="reduce").new_page()
    page.goto(f"{house.address}#/library")
    # Pictures in view; the others are not loaded.
    page.wait_for_function("""() => [...document.querySelectorAll(".tile img, .entry img")].every((image) => {
        const { left, top } = image.getBoundingClientRect();
        return image.naturalWidth || !image.closest("li").contains(document.elementFromPoint(left + 8, top + 8));
    })""")
    with tempfile.TemporaryDirectory() as folder:
        raw = pathlib.Path(folder) / "page.png"
        page.screenshot(path=raw)
        # 256 colours are enough, and make the file a third as large.
        ffmpeg("-i", raw, "-vf", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=dither=none", "-compression_level", 9, target)


if __name__ == "__main__":
    main()
