#!/usr/bin/env python3
"""Moves music from one room to another and back, and listens to both. `make test-edits` builds the programs and runs it:

    apt-get install ffmpeg python3-numpy iproute2
    Tests/Second/moves.py [--moves 10] [--seed N] [--lose MS] [--over S]

A daemon and two rooms, each in a network namespace of its own, as in second.py. The music is noise, so each piece of it is found in what a room's
virtual card was given. At each instant one of the rooms sounds at least; each frame of the file is heard, and none twice in one room; while both
sound, they are compared with each other. With --lose this much of a recording is taken out at the first move, so the run must fail. With --over the room joins, and the other one
leaves so many seconds later: what a move is to sound like.
Exit code: 0 all as it should be, 1 not so, 2 it could not be measured.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

import second
from second import RATE, ROOMS, WINDOW, until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Sources"))

from sound import shift as later  # noqa: E402

BLOCK = RATE // 1000
QUIET = 2 ** 31 * 3 / 32_768  # of a 32-bit sample: the noise is a thousand times as loud
STEP = 2  # frames by which the place in the music may change from window to window
APART_US = 100
# What is missing at the edge of a span is within its fade, and a block.
EDGE = 8 * BLOCK


class Bed(second.Bed):
    """Its cards begin a record anew each time they are opened, and keep the times."""

    lead = None  # of the file's frames before the instants at which they sound

    def make_network(self):
        super().make_network()
        with open(self.folder / "plugin/asound.conf", "a") as conf:
            conf.write("pcm.recording {\n@args [ DIR ]\n@args.DIR { type string }\ntype virtual_card\ndir $DIR\ntakes 1\n}\n")

    def card(self, room):
        return f"recording:DIR={self.folder / room / 'card'}"

    def house(self, name, seconds=20):
        return super().house(name, seconds)

    def send(self, method, path="", body=None):
        group = self.group("first")["id"]
        data = [] if body is None else ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        words = ["curl", "-s", "-f", "-X", method, *data, f"http://127.0.0.1:8770/api/v1/groups/{group}{path}"]
        subprocess.run(self.words("first", words), check=True, capture_output=True)

    def move(self, number, goal, over):
        """As the page does it for `Move the music here`, and as a terminal does."""
        ids = self.ids()
        if over:
            self.send("POST", "/rooms", {"roomId": ids[goal]})
            until(lambda: self.plays_in(goal))
            end = self.position() + over
            until(lambda: self.position() >= end)
            self.send("DELETE", f"/rooms/{next(id for room, id in ids.items() if room != goal)}")
        elif number % 2:
            self.ask("first", "tutti", "join", goal.capitalize(), "--instead")
        else:
            self.send("PATCH", body={"roomIds": [ids[goal]]})

    def ids(self):
        return {room["name"].lower(): room["id"] for room in self.house("first")["rooms"]}

    def plays_in(self, room, isAlone=False):
        states = {one["name"].lower(): one["state"] for one in self.house("first")["rooms"]}
        return states.get(room) == "playing" and not (isAlone and any(state == "playing" for name, state in states.items() if name != room))

    def position(self):
        return self.group("first").get("positionS", 0)

    def runs(self, room):
        """Returns for each time that a card ran without a stop: the instant of its first frame, in frames, and its frames."""
        found = []
        for times in sorted((self.folder / room / "card").glob("take-*.times")):
            head, *lines = [line.split() for line in times.read_text().splitlines()]
            kind, channels, rate = head[0], int(head[1]), int(head[2])
            assert (kind, rate) == ("S32_LE", RATE), head
            frames = numpy.fromfile(times.with_suffix(""), numpy.int32)[::channels].astype(float)
            for index, (word, ns, frame) in enumerate(lines):
                if word == "start":
                    # What was written and not heard is overwritten by the next run.
                    ends = [float(later[2]) for later in lines[index + 1:] if later[0] != "at"]
                    last = int(ends[0]) if ends else int(float(lines[-1][2]))
                    found.append((int(ns) * 1e-9 * RATE, frames[int(float(frame)):last]))
        return found


class Span:
    """Sound of a room without a pause: when it begins, in frames, and which frame of the file that is."""

    def __init__(self, bed, room, begin, frames):
        self.room, self.begin, self.end, self.frames = room, begin, begin + len(frames), frames
        self.shifts = bed.shifts(frames, bed.lead and int(round(bed.lead + begin)))
        known = [shift for shift in self.shifts if shift is not None and shift == shift]
        # The first and the last window may lie in a fade.
        self.strange = sum(shift is None or shift != shift for shift in self.shifts[1:-1])
        self.jumps = [b - a for a, b in zip(known, known[1:]) if abs(b - a) > STEP]
        self.file = (known[0], known[-1] + len(frames)) if known else None
        if known:
            # All rooms play the same frame at the same instant, so the next span begins there, too.
            bed.lead = known[0] - begin


def spans(bed, room):
    found = []
    for begin, frames in bed.runs(room):
        blocks = numpy.abs(frames[:len(frames) // BLOCK * BLOCK]).reshape(-1, BLOCK).max(axis=1) > QUIET
        # The noise itself is quiet for a moment now and then.
        for index in numpy.flatnonzero(~blocks[1:-1]) + 1:
            blocks[index] |= blocks[index - 1] and blocks[index + 1:index + 4].any()
        edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[0], blocks.view(numpy.int8), [0]])))
        for first, last in edges.reshape(-1, 2) * BLOCK:
            found.append(Span(bed, room, begin + first, frames[first:last]))
    return sorted(found, key=lambda span: span.begin)


def holes(ranges):
    """Returns what no range covers between the first and the last."""
    found, end = [], None
    for first, last in sorted(ranges):
        if end is not None and first > end:
            found.append(first - end)
        end = last if end is None else max(end, last)
    return found


def apart(one, other):
    """Returns by how many µs the music of two spans is apart where both sound, window by window."""
    found = []
    begin, end = max(one.begin, other.begin) + EDGE, min(one.end, other.end) - EDGE
    while begin + WINDOW <= end:
        first, second = (int(round(begin - span.begin)) for span in (one, other))
        pieces = one.frames[first:first + WINDOW], other.frames[second:second + WINDOW]
        delay = (other.begin + second) - (one.begin + first) + later(*pieces)
        found.append(abs(delay) / RATE * 1e6)
        begin += WINDOW
    return found


def judge(bed, lost):
    heard = {room: spans(bed, room) for room in ROOMS}
    if lost:
        cut = heard[ROOMS[0]][0]
        heard[ROOMS[0]][0] = Span(bed, ROOMS[0], cut.begin, cut.frames[:-int(lost * RATE / 1000)])
    every = [span for room in ROOMS for span in heard[room]]
    for room in ROOMS:
        parts = heard[room]
        bed.say(f"{room}: {len(parts)} times music, {sum(len(span.frames) for span in parts) / RATE:.1f} s; {sum(span.strange for span in parts)} windows of something else, "
                f"frames left out or heard twice within: {[jump for span in parts for jump in span.jumps] or 'none'}",
                all(span.file and not span.strange and not span.jumps for span in parts))
        twice = [before.file[1] - after.file[0] for before, after in zip(parts, parts[1:]) if before.file and after.file]
        bed.say(f"{room}: between its parts of the file lie at least {-max(twice, default=0) / RATE:.2f} s, so no frame is heard twice", all(frames <= 0 for frames in twice))
    silent = holes([(span.begin, span.end) for span in every])
    bed.say(f"silence in both rooms: {', '.join(f'{frames / RATE * 1000:.1f} ms' for frames in silent) or 'none'}", not silent)
    unheard = holes([span.file for span in every if span.file])
    bed.say(f"frames of the file that no room has played: {', '.join(f'{frames:.0f}' for frames in unheard) or 'none'}", not unheard)
    pairs = [(one, other) for one in heard[ROOMS[0]] for other in heard[ROOMS[1]] if min(one.end, other.end) > max(one.begin, other.begin)]
    both = [(min(one.end, other.end) - max(one.begin, other.begin)) / RATE * 1000 for one, other in pairs]
    off = [us for pair in pairs for us in apart(*pair)]
    bed.say(f"both sound for {min(both, default=0):.0f} to {max(both, default=0):.0f} ms at each of {len(pairs)} moves", pairs)
    bed.say(f"then they are apart by {numpy.median(off) if off else 0:.1f} µs (median), {max(off, default=0):.1f} µs at most, in {len(off)} windows",
            off and max(off) <= APART_US)
    return len(pairs)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--moves", type=int, default=10)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options.add_argument("--lose", type=float, default=0, metavar="MS")
    options.add_argument("--over", type=float, default=0, metavar="S")
    options = options.parse_args()
    draw = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="moves-") as folder:
        bed = Bed(pathlib.Path(folder))
        try:
            bed.make_network()
            bed.make_music()
            bed.start_rooms()
            (bed.folder / "first/tutti.conf").write_text("open = yes\n")
            bed.serve("first")
            until(lambda: "ready" in bed.log("first")) or sys.exit(bed.log("first"))
            bed.ask("first", "tutti", "play", bed.folder / "music.flac", "--on", ROOMS[0].capitalize())
            until(lambda: bed.plays_in(ROOMS[0])) or sys.exit(bed.log("first"))
            place = 0
            for number in range(options.moves):
                # The room before sounds for another second: music that returns within it has never left.
                place = bed.position() + draw.uniform(1.5, 5)
                until(lambda: bed.position() >= place) or sys.exit("the music stands still")
                goal = ROOMS[(number + 1) % 2]
                bed.move(number, goal, options.over)
                took = until(lambda: bed.plays_in(goal, isAlone=True), 15)
                bed.say(f"move {number + 1} to {goal}: there after {took[0]:.2f} s" if took else f"move {number + 1} to {goal}: the rooms are not as they should be", took)
            end = bed.position() + 1
            until(lambda: bed.position() >= end)
            bed.ask("first", "tutti", "pause")
            until(lambda: bed.group("first").get("state") == "paused")
            moves = judge(bed, options.lose)
            bed.say(f"{options.moves} moves, {moves} of them found", moves == options.moves)
        finally:
            bed.end()
    return 0 if bed.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
