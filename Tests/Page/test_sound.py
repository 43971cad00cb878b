#!/usr/bin/env python3
"""How soon a tap on a song is heard: from nothing, out of a pause, and while something else plays. The times are those of the virtual card: the
place of the first loud frame in what it plays.

    Tests/Page/test_sound.py [names of tests …]
"""

import array
import re
import time
import unittest

import test_page
from browser import PHONE
from household import Household, ffmpeg
from test_page import PageTest

PROMISE = 0.3
TAPS = 10
LOUD = 100


class QuietHousehold(Household):
    """Has a song of silence as well: whatever is loud while it plays was tapped."""

    def make_music(self, folder):
        super().make_music(folder)
        (folder / "Silence").mkdir()
        ffmpeg("-f", "lavfi", "-i", "anullsrc=r=44100:cl=stereo:d=120", "-metadata", "title=Silence", folder / "Silence/silence.flac")


def setUpModule():
    global house
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)
    house = unittest.enterModuleContext(QuietHousehold(albums=(12,), rooms=("Kitchen", "Bathroom"), stranger=None))


class Ear:
    """Listens to a room's card from now on."""

    def __init__(self, room):
        self.room = room
        # The card's record ends with what is written ahead, all of which the room may take back.
        self.since = max(0, room.heard() // 4 - self.description()[1])

    def description(self):
        """Returns the card's rate, and the frames written ahead; before it is opened, nothing is."""
        words = re.findall(r"device: .*: (\d+) Hz, .*, lead (\d+),", "\n".join(line for line in self.room.program.lines if line))
        return tuple(map(int, words[-1])) if words else (0, 0)

    def until_quiet(self):
        """Waits until nothing loud is left of what is written ahead."""
        self._until(lambda: self.room.loudest(since=4 * Ear(self.room).since) <= LOUD, "it never was quiet")

    @staticmethod
    def _until(condition, problem, seconds=10):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(problem)
            time.sleep(0.02)

    def first_loud(self):
        """Returns when the first loud frame is heard, by `time.monotonic`."""
        self._until(lambda: self.room.loudest(since=4 * self.since) > LOUD, "nothing was heard")
        samples = array.array("h")
        record = (self.room.folder / "card/heard").read_bytes()[4 * self.since:]
        samples.frombytes(record[:len(record) // 4 * 4])
        frame = self.since + next(number for number, sample in enumerate(samples) if abs(sample) > LOUD) // 2
        starts = [tuple(map(int, line.split()[:2])) for line in (self.room.folder / "card/starts").read_text().splitlines()]
        begun, first = [start for start in starts if start[1] <= frame][-1]
        return begun / 1e9 + (frame - first) / self.description()[0]


class TapToSound(PageTest):
    def setUp(self):
        self.server, self.faults = house, []
        state = house.state()
        for group in state["groups"]:
            house.api("DELETE", f"/groups/{group['id']}")
        house.wait(lambda state: all(room["state"] == "free" for room in state["rooms"]))
        self.group = house.api("POST", "/groups", {"roomIds": [room["id"] for room in state["rooms"]]})["id"]
        tracks = house.api("GET", "/library/tracks")["tracks"]
        self.silence = next(track["id"] for track in tracks if track["title"] == "Silence")
        self.page = self.open("library/tracks", PHONE)
        rows = self.page.locator("#library .row .row-main")
        self.songs = [rows.nth(number) for number, track in enumerate(tracks) if track["id"] != self.silence][:TAPS]

    def tap(self, song):
        """Returns the time from a tap on a song until it is heard in each room."""
        song.scroll_into_view_if_needed()
        box = song.bounding_box()
        ears = [Ear(room) for room in house.rooms.values()]
        tapped = time.monotonic()
        self.page.touchscreen.tap(box["x"] + 60, box["y"] + box["height"] / 2)
        return max(ear.first_loud() for ear in ears) - tapped

    def prepare(self, state, verb, **fields):
        house.api("POST", f"/groups/{self.group}/{verb}", fields or None)
        house.wait(lambda now: now["groups"][0]["state"] == state)

    def check(self, name, prepare):
        took = []
        for song in self.songs:
            prepare()
            for room in house.rooms.values():
                Ear(room).until_quiet()
            took.append(self.tap(song))
        print(f"{name}: {', '.join(f'{seconds:.2f}' for seconds in sorted(took))} s", flush=True)
        self.assertLess(max(took), PROMISE)

    def test_from_nothing(self):
        took = self.tap(self.songs[0])
        print(f"from nothing: {took:.2f} s", flush=True)
        self.assertLess(took, PROMISE)

    def test_out_of_a_pause(self):
        self.prepare("playing", "queue", items=[{"trackId": self.silence}], at="now")
        self.check("out of a pause", lambda: self.prepare("paused", "pause"))

    def test_while_something_else_plays(self):
        self.check("while something else plays", lambda: self.prepare("playing", "queue", items=[{"trackId": self.silence}], at="now"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
