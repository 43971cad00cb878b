#!/usr/bin/env python3
"""Measures the loudness of ten thousand songs, and plays some of them in two rooms. `make test-loudness` builds the programs and runs it:

    apt-get install ffmpeg python3-numpy avahi-daemon dbus iproute2 gcc libasound2-dev
    Tests/Loudness/loudness.py [--tracks 10000] [--plain]

A real daemon on one core scans the library and then measures it, because somebody plays with a loudness. Its tables must agree with FFmpeg's
`ebur128` on every song, and it must have been fast: 30 times real time, by the time of the processor that the daemon and all its programs took.
Then another daemon with the same tables plays in rooms with virtual cards. In their recordings, songs that were very differently loud must have
-16.0 LUFS, and a crescendo must rise as it does in its file, also where the daemon begins anew meanwhile.
With --plain the group plays without a loudness, so the run must fail.
Exit codes: 0 all is as it should be, 1 something is wrong, 2 nothing was measured because the machine was so busy that a card ran dry.
"""

import argparse
import os
import pathlib
import sqlite3
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Page"))

from heard import Recording, forget  # noqa: E402
from household import Household  # noqa: E402
from songs import CRESCENDO, CRESCENDO_S, LEVELS, RISE, TOGETHER, Library, loudness  # noqa: E402

FAST = 30  # times real time, on one core
GOAL, OFF = -16.0, 0.3  # LUFS
AGREED = 0.15  # LU: both sides round to 0.1
STEADY = 0.1  # dB by which the gain may change within a song
ROOMS = {"Kitchen": ("S16_LE", 48_000), "Study": ("S32_LE", 44_100)}
MEASURED = "the loudness of all tracks is measured"
MEASURING = "measuring the loudness"


class Verdict:
    is_good = True

    def say(self, text, is_right=True):
        self.is_good &= bool(is_right)
        print(text + ("" if is_right else "  WRONG"), flush=True)


class Home(Household):
    """Its daemon runs on one core at first."""

    def __init__(self, count, effects):
        super().__init__(rooms=tuple(ROOMS), stranger=None)
        self.library, self.effects, self.core = Library(count), effects, max(os.sched_getaffinity(0))

    def make_music(self, folder):
        begun = time.monotonic()
        self.library.make(folder, self.folder / "sounds")
        print(f"made {self.library.count} songs ({self.library.kinds()}) in {time.monotonic() - begun:.0f} s", flush=True)

    def card(self, room):
        return "FORMAT={},RATE={}".format(*ROOMS[room])

    def start(self):
        cores = os.sched_getaffinity(0)
        if self.core is not None:
            os.sched_setaffinity(0, {self.core})
        self.begun = time.monotonic()
        super().start()
        os.sched_setaffinity(0, cores)

    def wait(self, condition, seconds=3_600):
        return super().wait(condition, seconds)

    def start_again(self):
        self.stop()
        self.core = None
        self.start()
        self.wait(lambda state: all(room["isPresent"] for room in state["rooms"]) and not state["library"].get("scan"))

    def begin(self, songs):
        """Lets both rooms play songs, one after the other."""
        state = self.state()
        for group in state["groups"]:
            self.api("DELETE", f"/groups/{group['id']}")
        self.wait(lambda state: all(room["state"] == "free" for room in state["rooms"]))
        self.group = self.api("POST", "/groups", {"roomIds": [room["id"] for room in state["rooms"]]})["id"]
        self.api("PATCH", f"/groups/{self.group}", {"effects": self.effects})
        for room in self.rooms.values():
            forget(room)
        folders = list(dict.fromkeys(str(song.path(pathlib.Path("music")).parent) for song in songs))
        self.api("POST", f"/groups/{self.group}/queue", {"items": [{"folder": folder} for folder in folders], "at": "now"})
        self.wait(lambda state: self.is_at(state, "playing"))

    def tell(self):
        """Prints what the programs have said last."""
        for program in [self.daemon, *[room.program for room in self.rooms.values()]]:
            print(*[line for line in program.lines[-30:] if line], sep="\n")

    def dry(self):
        return [line for room in self.rooms.values() for line in room.program.lines if line and "ran dry" in line]

    def is_at(self, state, name, position=0):
        return any(group["id"] == self.group and group["state"] == name and group["positionS"] >= position for group in state["groups"])

    def recordings(self):
        """Waits for the end of what plays."""
        self.wait(lambda state: self.is_at(state, "stopped"))
        return {name: Recording(room, *ROOMS[name]) for name, room in self.rooms.items()}

    def processor(self):
        """Returns the seconds that the daemon and all its programs have had a processor, and those of the daemon itself."""
        return family(self.daemon.process.pid), times(self.daemon.process.pid)[0]


def times(process):
    """Returns the seconds of a process, and those of its children that have ended."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    own, other, ended, others = (int(word) / os.sysconf("SC_CLK_TCK") for word in words[11:15])
    return own + other, ended + others


def family(process):
    found = 0
    try:
        found = sum(times(process))
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            found += sum(map(family, (task / "children").read_text().split()))
    except OSError:
        pass  # It has just ended: its parent counts it.
    return found


def scan(house, verdict):
    """Waits until everything is found and measured."""
    library = house.library
    listed = house.state()["library"]
    count = library.count + 1 + len(LEVELS) + len(TOGETHER)
    found, (spent, _) = time.monotonic() - house.begun, house.processor()
    verdict.say(f"found {listed['trackCount']} songs on {listed['albumCount']} albums: {found:.1f} s, {spent:.1f} s of the processor", listed["trackCount"] == count)
    begun, (before, own) = time.monotonic(), house.processor()
    house.begin([CRESCENDO])
    house.daemon.line(MEASURED, seconds=600 + library.count)
    wall, (after, own_after) = time.monotonic() - begun, house.processor()
    seconds = library.seconds() + sum(song.seconds for song in [CRESCENDO, *LEVELS, *TOGETHER] if not song.tag)
    took = after - before
    verdict.say(f"measured {seconds} s of audio: {wall:.1f} s, {took:.1f} s of the processor, {own_after - own:.1f} s of that in the daemon itself")
    verdict.say(f"that is {seconds / took:.0f} times real time on one core, {seconds / (took + spent):.0f} times with the search for songs and their tags, "
                f"and {seconds / wall:.0f} times by the clock on the wall", seconds / (took + spent) >= FAST)


def mean(counts):
    """The loudness of a histogram of blocks, as EBU R 128 says: those count that are at most 10 LU below the mean of all."""
    def of(first):
        kept = [(-69.95 + place / 10, count) for place, count in counts if place >= first]
        return 10 * numpy.log10(sum(count * 10 ** (level / 10) for level, count in kept) / sum(count for _, count in kept))
    return of(numpy.ceil((of(0) + 60) * 10))


def compare(house, verdict):
    """Compares the daemon's tables with what FFmpeg says of each sound."""
    with sqlite3.connect(f"file:{house.folder}/daemon/library.db?mode=ro", uri=True) as tables:
        rows = tables.execute("SELECT f.path || '/' || t.name, t.measured, t.loudness FROM track t JOIN folder f ON f.id = t.folder").fetchall()
    sounds, off, counts = house.library.by_path(), [], {"measured": 0, "tagged": 0, "neither": 0}
    for path, attempt, blocks in rows:
        if sound := sounds.pop(path.removeprefix("music/"), None):
            counts["neither" if attempt != 1 or bool(blocks) == sound.isTagged else "tagged" if sound.isTagged else "measured"] += 1
            if blocks:
                off.append(abs(mean([tuple(map(int, pair.split(":"))) for pair in blocks.split()]) - sound.level))
    verdict.say(f"{counts['measured']} are measured, {counts['tagged']} have tags that give it, {len(sounds) + counts['neither']} are neither",
                not sounds and not counts["neither"])
    verdict.say(f"the daemon and FFmpeg differ by {max(off):.2f} LU at most", max(off) <= AGREED)


def rises(recording, frames, path):
    """Returns by how much the crescendo rises in the file and in the room, and the least and the greatest gain, in dB."""
    found = recording.gains(frames, path)
    gains = [gain for gain, _ in found]
    (first, begin), (last, end) = found[0], found[-1]
    return end - begin, end + last - begin - first, min(gains), max(gains)


def tell_unmeasured(house):
    """The crescendo was not measured when it began to play for the first time."""
    for name, recording in house.recordings().items():
        file, room, least, most = rises(recording, recording.frames, CRESCENDO.path(house.folder / "music"))
        print(f"{name}: before it was measured, the crescendo rose by {room:.1f} dB instead of {file:.1f} dB, gain {least:.2f} to {most:.2f} dB; it had "
              f"{recording.loudness(recording.frames):.1f} LUFS", flush=True)


def listen(house, verdict):
    """Another daemon plays what the first one has measured."""
    house.start_again()
    songs, folder = [CRESCENDO, *LEVELS, *TOGETHER], house.folder / "music"
    house.begin(songs)
    recordings = house.recordings()
    verdict.say("a daemon that starts again measures nothing", not any(MEASURING in line for line in house.daemon.lines if line))
    known = [loudness("-i", song.path(folder)) for song in songs]
    for name, recording in recordings.items():
        length = sum(song.seconds for song in songs)
        verdict.say(f"{name}: recorded {recording.seconds:.2f} s of {length} s at {recording.rate} Hz", recording.fits(songs))
        parts = dict(zip((song.name for song in songs), recording.cut(songs)))
        for song, was in zip(songs, known):
            if song not in TOGETHER:
                judge(verdict, f"{name}: {song.name}, {was:.1f} LUFS" + (f", {song.tag} tag" if song.tag else ""), recording.loudness(parts[song.name]))
        file, room, least, most = rises(recording, parts[CRESCENDO.name], CRESCENDO.path(folder))
        verdict.say(f"{name}: the crescendo of {RISE} dB rises by {room:.2f} dB where its file does by {file:.2f} dB; gain {least:.2f} to {most:.2f} dB",
                    most - least <= STEADY)
        album = [parts[song.name] for song in TOGETHER]
        judge(verdict, f"{name}: an album of two songs, {known[-2]:.1f} and {known[-1]:.1f} LUFS", recording.loudness(numpy.concatenate(album)))
        apart = recording.loudness(album[0]) - recording.loudness(album[1])
        verdict.say(f"{name}: its songs stay {apart:.1f} LU apart", abs(apart - (known[-2] - known[-1])) <= AGREED + 0.1)


def go_on(house, verdict):
    """The daemon begins anew in the middle of the crescendo, because its configuration changes."""
    house.begin([CRESCENDO])
    house.wait(lambda state: house.is_at(state, "playing", CRESCENDO_S / 4))
    (house.folder / "empty.conf").write_text("mpd = 6611\n")
    house.again()
    house.wait(lambda state: house.is_at(state, "playing"))
    for name, recording in house.recordings().items():
        _, _, least, most = rises(recording, recording.frames, CRESCENDO.path(house.folder / "music"))
        verdict.say(f"{name}: the daemon begins anew within the crescendo, of which the room plays {recording.seconds:.2f} s; gain {least:.2f} to {most:.2f} dB",
                    recording.fits([CRESCENDO]) and most - least <= STEADY)


def judge(verdict, what, loud):
    verdict.say(f"{what}: {loud:.1f} LUFS in the room", abs(loud - GOAL) <= OFF + 1e-6)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tracks", type=int, default=10_000)
    options.add_argument("--plain", action="store_true")
    options = options.parse_args()
    verdict = Verdict()
    with Home(options.tracks, {} if options.plain else {"loudness": GOAL}) as house:
        if not options.plain:
            scan(house, verdict)
            compare(house, verdict)
            tell_unmeasured(house)
        dry, was_good = len(house.dry()), verdict.is_good
        listen(house, verdict)
        go_on(house, verdict)
        dry = was_good and len(house.dry()) - dry
        if not verdict.is_good:
            house.tell()
    if verdict.is_good:
        print("loudness: all is as it should be")
        return 0
    print(f"loudness: cards ran dry {dry} times, so nothing is said" if dry else "loudness: something is WRONG; a line above says what")
    return 2 if dry else 1


if __name__ == "__main__":
    sys.exit(main())
