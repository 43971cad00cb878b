#!/usr/bin/env python3
"""Measures whether the picture of a film is in step with its sound in three rooms: mpv plays it through the ALSA plug-in of
Examples/Sources/alsa, from the start, through a pause and through a seek. `make test-film` builds the programs and runs it:

    Tests/Film/lips.py
    Tests/Film/lips.py --shift 40     # a film whose sound is 40 ms late: must fail

The film shows a white flash and sounds a beep at the same instants. Xvfb keeps its screen in a file, where a loop sees the flashes.
Each room writes a recording, and logs the time of its first frame by the same clock. What a monitor and a sound card add is not
measured. It takes a minute. Exit code: 0 in step, 1 not in step or something missing, 2 it could not be measured.
"""

import argparse
import array
import os
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import time

from stage import HEIGHT, PROGRAMS, ROOMS, WIDTH, Player, Stage, Unmeasured, now

TOOLS = {"mpv": "mpv", "ffmpeg": "ffmpeg", "Xvfb": "xvfb", "cc": "gcc libasound2-dev"}
FPS, RATE = 25, 48000
FLASH = 3  # pictures; a beep lasts as long
# Pictures from one mark, a flash and a beep, to the next. No two intervals are the same, so no mark is taken for another.
INTERVALS = (40, 31, 43, 35, 51, 39, 29, 47, 33, 55, 37, 45, 53, 41, 49, 57)
MARKS = [sum(INTERVALS[: n + 1]) / FPS for n in range(len(INTERVALS))]  # seconds of the film
LENGTH = MARKS[-1] + FLASH / FPS  # so that a player that drops the film's end is found out


def between(n):
    """Returns the place in the film, in seconds, amid marks n and n + 1."""
    return (MARKS[n] + MARKS[n + 1]) / 2


PAUSE, SEEK, TARGET = between(5), between(10), between(7)
PAUSED = 1.5  # seconds
PARTS = {
    "from the start": [mark for mark in MARKS if mark < PAUSE],
    "after a pause": [mark for mark in MARKS if PAUSE < mark < SEEK],
    "after a seek": [mark for mark in MARKS if mark > TARGET],
}
PAIR = 0.5  # seconds; a flash and a beep that are further apart are no pair. Intervals are more than twice as long.
PATIENCE = 2 * LENGTH + 60  # seconds for mpv to come to the film's end


def make_film(stage, shift):
    """Writes film.mkv, with its beeps `shift` ms after the flashes."""
    white = {round(mark * FPS) + n for mark in MARKS for n in range(FLASH)}
    pictures = b"".join((b"\xff" if n in white else b"\x10") * (32 * 24) for n in range(round(LENGTH * FPS)))
    sound = array.array("h", bytes(2 * round((LENGTH + max(0, shift) / 1000) * RATE)))
    for mark in MARKS:
        first = round((mark + shift / 1000) * RATE)
        for n in range(FLASH * RATE // FPS):
            sound[first + n] = 16000 if n // 24 % 2 else -16000  # 1 kHz
    (stage.folder / "sound.raw").write_bytes(sound.tobytes())
    stage.run("ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "gray", "-s", "32x24", "-r", FPS, "-i", "-", "-f", "s16le", "-ar",
              RATE, "-ac", 1, "-i", "sound.raw", "-vf", f"scale={WIDTH}:{HEIGHT}", "-c:v", "mpeg4", "-q:v", 4, "-c:a", "pcm_s16le",
              "-ac", 2, "film.mkv", input=pictures)


def watch(player, screen):
    """Plays the film, with a pause and a seek. Returns the times of the flashes, how exactly they are known, and when both were."""
    flashes, doubts, orders, resume = [], [], [], None
    was_white, before, end = False, now(), now() + PATIENCE
    while player.is_playing():
        time.sleep(0.0005)
        is_white, instant = screen.is_white(), now()
        if is_white and not was_white:
            flashes.append((before + instant) / 2)
            doubts.append((instant - before) / 2)
        was_white, before = is_white, instant
        player.listen()
        if not orders and player.place >= PAUSE:
            player.tell("set_property", "pause", True)
            orders.append(instant)
            resume = instant + PAUSED
        elif resume and instant >= resume:
            player.tell("set_property", "pause", False)
            resume = None
        elif len(orders) == 1 and not resume and player.place >= SEEK:
            player.tell("seek", TARGET, "absolute+exact")
            orders.append(instant)
        if instant > end:
            raise Unmeasured(f"mpv does not come to the film's end, and stands at {player.place} s")
    return flashes, doubts, orders


def beeps(stage, name):
    """Returns the times at which the beeps of a room's recording begin and end."""
    begun = stage.told(name, r"frame 0 at (\d+) ns of CLOCK_MONOTONIC_RAW")
    if len(begun) != 1:
        raise Unmeasured(f"{name} began {len(begun)} recordings instead of one:\n{stage.last(name)}")
    recording = (stage.folder / f"{name}.wav").read_bytes()
    kind, channels, rate = struct.unpack_from("<HHI", recording, recording.index(b"fmt ") + 8)
    if kind != 3:
        raise Unmeasured(f"the recording of {name} does not hold floats, but format {kind}")
    data = recording[recording.index(b"data") + 8 :]
    left = array.array("f", data[: len(data) // 4 * 4])[::channels]
    found, last = [], -rate
    for n, sample in enumerate(left):
        if abs(sample) > 0.1:
            if n - last > rate / 4:
                found.append([n, n])
            found[-1][1] = last = n
    return [[int(begun[0]) / 1e9 + n / rate for n in ends] for ends in found]


def judge(late, sounds, marks, limit):
    """Returns what is wrong in a part of the film in a room."""
    wrong = []
    if len(late) != len(marks) or len(sounds) != len(marks):
        wrong.append(f"MISSING: the film has {len(marks)} marks there, and {len(sounds)} beeps were heard")
    if any(abs(end - begin - FLASH / FPS) > 0.01 for begin, end in sounds):
        wrong.append("A BEEP IS NOT WHOLE")
    if any(abs(ms) > limit for ms in late):
        wrong.append("NOT IN STEP")
    return ", ".join(wrong)


def report(flashes, orders, heard, limit):
    """Prints a line for each room and part of the film. Returns whether all is in step and nothing is missing."""
    is_good, bounds = True, [0, *orders, *[float("inf")] * (3 - len(orders))]
    print("How much later the sound is than the picture:")
    for name in ROOMS:
        for part, marks, low, high in zip(PARTS, PARTS.values(), bounds, bounds[1:]):
            sounds = [ends for ends in heard[name] if low <= ends[0] < high]
            nearest = [min((begin - flash for begin, _ in sounds), key=abs, default=PAIR) for flash in flashes if low <= flash < high]
            late = [1000 * later for later in nearest if abs(later) < PAIR]
            wrong = judge(late, sounds, marks, limit)
            median, worst = (statistics.median(late), max(late, key=abs)) if late else (0, 0)
            figures = f"median {median:+5.1f} ms  worst {worst:+5.1f} ms"
            print(f"{name:8} {part:15} {len(late)} of {len(marks)} pairs  {figures}  {wrong}".rstrip())
            is_good = is_good and not wrong
    return is_good


def measure(folder, options):
    with Stage(folder) as stage:
        make_film(stage, options.shift)
        stage.make_device(stage.start_rooms())
        screen = stage.start_screen()
        player = Player(stage, "film.mkv")
        flashes, doubts, orders = watch(player, screen)
        if player.process.returncode:
            raise Unmeasured(f"mpv ended with {player.process.returncode}:\n{stage.last('mpv')}")
        stage.stop(*ROOMS)
        is_good = report(flashes, orders, {name: beeps(stage, name) for name in ROOMS}, options.limit)
        doubt = 1000 * max(doubts, default=0)
        print(f"The flashes' times are exact to {doubt:.1f} ms.")
        if doubt > options.limit / 2:
            raise Unmeasured("that is too vague: the machine was too busy. Run it again when it is idle.")
        if not is_good:
            print(f"lips: this film is not in step everywhere; a line above says where. The last that mpv said:\n{stage.last('mpv')}")
        return 0 if is_good else 1


def main():
    head, *rest = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=head, epilog="\n\n".join(rest))
    parser.add_argument("--limit", type=float, default=20, metavar="MS", help="how far apart picture and sound may be (default: 20)")
    parser.add_argument("--shift", type=float, default=0, metavar="MS", help="make the film's sound so much later, to see this fail")
    parser.add_argument("--keep", metavar="FOLDER", help="leave film, recordings and logs in this new folder")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        missing = sorted(package for tool, package in TOOLS.items() if not shutil.which(tool))
        if missing:
            raise Unmeasured(f"something is missing; install it: apt install {' '.join(missing)}")
        for name in ("tutti-receiver", "libtutti-c.so"):
            if not (PROGRAMS / name).exists():
                raise Unmeasured(f"there is no {name} in {PROGRAMS}; build and measure: make test-film")
        if options.keep:
            os.mkdir(options.keep)
            return measure(os.path.abspath(options.keep), options)
        with tempfile.TemporaryDirectory(prefix="tutti-film.") as folder:
            return measure(folder, options)
    except (Unmeasured, OSError) as problem:
        print(f"lips: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
