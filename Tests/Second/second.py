#!/usr/bin/env python3
"""Takes one of a household's two daemons away while music plays. `make test-second` builds the programs and runs it:

    apt-get install ffmpeg python3-numpy iproute2
    Tests/Second/second.py

Four machines on a switch, each in a network namespace of its own: the two daemons, the second one with a clock of its own, and two rooms
whose virtual sound cards keep what they are given. Exit code: 0 all as it should be, 1 not so, 2 it could not be measured.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS") or ROOT / ".build/release")
RATE, SECONDS = 48_000, 240
TAKEN = 5.0  # seconds until the other daemon leads
WAIT = 60
WINDOW = 4_800  # frames that are looked for in the music
MACHINES = {"first": "10.98.0.1", "other": "10.98.0.2", "kitchen": "10.98.0.3", "study": "10.98.0.4"}
ROOMS = ("kitchen", "study")
PIN = "12345671"


def until(ready, seconds=WAIT):
    """Returns the seconds that it took, and what `ready` returned at last; or None."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if found := ready():
            return time.monotonic() - begun, found
        time.sleep(0.02)
    return None


class Bed:
    def __init__(self, folder):
        self.folder, self.running, self.holders, self.is_good = folder, {}, {}, True

    def say(self, what, is_right=True):
        self.is_good &= bool(is_right)
        print(what + ("" if is_right else "  WRONG"), flush=True)

    # The machines

    def make_network(self):
        run("ip link add switch type bridge")
        run("ip link set switch up")
        for number, (name, address) in enumerate(MACHINES.items()):
            # The second daemon's machine was started an hour before the others.
            clock = ["-T", "--monotonic", "3600", "--boottime", "3600", "--fork"] if name == "other" else []
            holder = subprocess.Popen(["unshare", "-n", "-m", *clock, "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            holder.stdout.readline()
            children = pathlib.Path(f"/proc/{holder.pid}/task/{holder.pid}/children").read_text().split()
            self.holders[name] = int(children[0]) if clock else holder.pid
            run(f"ip link add to{number} type veth peer name eth0 netns {self.holders[name]}")
            run(f"ip link set to{number} master switch up")
            for line in ("link set lo up", f"addr add {address}/24 dev eth0", "link set eth0 up"):
                run(["nsenter", "-t", self.holders[name], "-n", "ip", *line.split()])
            (folder := self.folder / name).mkdir()
            (folder / "card").mkdir()
        made = subprocess.run(["sh", ROOT / "Tests/Support/virtual-card/build.sh", self.folder / "plugin"], capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"no virtual card: {made.stderr}")

    def cable(self, name, is_in):
        run(f"ip link set to{list(MACHINES).index(name)} {'up' if is_in else 'down'}")

    def words(self, name, words):
        home = self.folder / name
        variables = {"HOME": home, "XDG_STATE_HOME": home, "XDG_RUNTIME_DIR": home, "PATH": os.environ["PATH"],
                     "ALSA_CONFIG_PATH": self.folder / "plugin/asound.conf", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"}
        clock = ["-T"] if name == "other" else []
        return [str(word) for word in ["nsenter", "-t", self.holders[name], "-n", "-m", *clock, "env", "-i",
                                       *[f"{key}={value}" for key, value in variables.items()], *words]]

    def start(self, name, *words):
        log = open(self.folder / name / "log", "ab")
        self.running[name] = subprocess.Popen(self.words(name, words), stdout=log, stderr=log, cwd=self.folder)

    def log(self, name):
        return (self.folder / name / "log").read_text(errors="replace")

    def ask(self, name, *words):
        done = subprocess.run(self.words(name, [PROGRAMS / words[0], *words[1:]]), capture_output=True, text=True, cwd=self.folder, timeout=60)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def kill(self, name):
        process = self.running.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def end(self):
        """Says what the programs have said, if something is wrong."""
        for name in self.holders:
            if not self.is_good and (self.folder / name / "log").exists():
                print(name, self.log(name), sep="\n")
        for name in list(self.running):
            self.kill(name)
        for pid in self.holders.values():
            os.kill(pid, signal.SIGKILL)

    # The household

    def make_music(self):
        dull = numpy.convolve(numpy.random.default_rng(1).uniform(-1, 1, SECONDS * RATE), numpy.hanning(41), "same")
        self.music = (8_000 * dull / abs(dull).max()).astype(numpy.int16)
        (self.folder / "music.raw").write_bytes(numpy.repeat(self.music[:, None], 2, 1).tobytes())
        run(["ffmpeg", "-v", "error", "-f", "s16le", "-ar", RATE, "-ac", "2", "-i", self.folder / "music.raw", self.folder / "music.flac"])

    def start_rooms(self):
        known = []
        for room in ROOMS:
            self.start(room, PROGRAMS / "tutti-receiver", "--name", room.capitalize(), "--no-mdns", "--device", self.card(room))
            until(lambda: "listening" in self.log(room)) or sys.exit(self.log(room))
            self.ask(room, "tutti-receiver", "pin", "--set", PIN)
            made = self.ask("first", "tutti", "pair", "--at", f"{MACHINES[room]}:7770", "--pin", PIN, "--json")
            known.append({"id": json.loads(made)["id"], "name": room.capitalize(), "model": "", "state": "away",
                          "addresses": [MACHINES[room]], "port": 7770, "codecs": ["pcm", "flac", "opus"]})
        # Without Avahi, rooms are those that were seen before.
        (self.folder / "first/tutti/receivers.json").write_text(json.dumps(known))

    def card(self, room):
        return f"virtual:DIR={self.folder / room / 'card'}"

    def join(self):
        """The PIN is asked for three times at most; a wrong one gets no key."""
        pin = self.ask("first", "tutti", "pin").split()
        pin = next("".join(pin[i:i + 2]) for i in range(len(pin)) if pin[i].isdigit())
        wrong = self.words("other", [PROGRAMS / "tutti", "join-household", MACHINES["first"], "--pin", PIN])
        said = subprocess.run(wrong, capture_output=True, text=True)
        self.say(f"a wrong PIN: {said.stderr.strip()}", said.returncode == 69 and not (self.folder / "other/tutti/sender-key.pem").exists())
        self.say(self.ask("other", "tutti", "join-household", MACHINES["first"], "--pin", pin).strip())

    def serve(self, name):
        self.start(name, PROGRAMS / "tutti", "serve", "--config", self.folder / name / "tutti.conf")

    def configure(self, name, *lines):
        part = "second = yes" if name == "first" else f"with = {MACHINES['first']}"
        (self.folder / name / "tutti.conf").write_text("\n".join(["open = yes", part, *lines, ""]))

    def house(self, name, seconds=0.5):
        """What the page of a daemon says; None where it says nothing."""
        done = subprocess.run(self.words(name, ["curl", "-s", "-m", seconds, "http://127.0.0.1:8770/api/v1/state"]), capture_output=True)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return None

    def group(self, name):
        return (self.house(name) or {}).get("groups", [{}])[0]

    def count(self, name):
        return self.group(name).get("queue", {}).get("count")

    def follows(self, name, times):
        took = until(lambda: self.log(name).count("other daemon leads;") == times)
        self.say(f"{name} follows after {took[0]:.1f} s" if took else f"{name} does not follow", took)

    def takes_over(self, what, name, cut):
        """`cut` takes the leader away."""
        cut()
        took = until(lambda: self.group(name).get("state") == "playing", 20)
        self.say(f"{what}: the page of {name} goes on after {took[0]:.2f} s" if took else f"{what}: nothing goes on", took and took[0] <= TAKEN)

    def leads_on(self, name, leader):
        """The page's address on a machine that follows leads to the other one, and its commands say so."""
        answer = subprocess.run(self.words(name, ["curl", "-s", "-i", "http://127.0.0.1:8770/index.html"]), capture_output=True, text=True).stdout
        self.say(f"its page leads to {leader}", f"Location: http://{MACHINES[leader]}:8770/index.html" in answer)
        told = subprocess.run(self.words(name, [PROGRAMS / "tutti", "status"]), capture_output=True, text=True)
        self.say(f"its commands say: {told.stderr.strip()}", told.returncode == 69 and MACHINES[leader] in told.stderr)

    def shown(self, name):
        """The position that a daemon shows, and what its rooms play then."""
        group = self.group(name)
        # Programs go by the clock that nobody slews.
        slewed = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        at = group["positionAtMs"] * 1e6 + slewed - (3_600e9 if name == "other" else 0)
        for room in ROOMS:
            frames, shifts = self.heard(room)
            start, first = [tuple(map(int, line.split())) for line in (self.folder / room / "card/starts").read_text().splitlines()][-1]
            frame = first + (at - start) * RATE / 1e9
            known = [shift for shift in shifts if shift == shift and shift is not None]
            apart = 1000 * (group["positionS"] - (frame + known[-1]) / RATE)
            self.say(f"{name} shows a position {apart:.1f} ms ahead of what {room} plays", abs(apart) <= 20)

    def heard(self, room):
        frames = numpy.fromfile(self.folder / room / "card/heard", numpy.int32)[::2].astype(float)
        return frames, self.shifts(frames)

    def shifts(self, frames, shift=None):
        """Returns for each window its place in the music less its own: the same number throughout where nothing is left out or heard twice;
        None for silence, and NaN for what is not the music. Where `shift` is known, it is tried first."""
        shifts = []
        for start in range(0, len(frames) - WINDOW, WINDOW):
            window = frames[start:start + WINDOW]
            if numpy.sqrt(numpy.mean(window ** 2)) < 2 ** 31 * 10 / 32_768:
                shifts.append(None)
                continue
            found = shift is not None and self.near(window, start + shift)
            if not found:
                found = self.anywhere(window)
            shift = None if found is None else found - start
            shifts.append(float("nan") if found is None else shift)
        return shifts

    def near(self, window, place, reach=64):
        first = max(0, int(place) - reach)
        return self.best(window, self.music[first:first + len(window) + 2 * reach].astype(float), first)

    def anywhere(self, window):
        return self.best(window, self.music.astype(float), 0)

    @staticmethod
    def best(window, music, first):
        if len(music) < len(window):
            return None
        size = 1 << (len(music) + len(window)).bit_length()
        products = numpy.fft.irfft(numpy.fft.rfft(music, size) * numpy.conj(numpy.fft.rfft(window, size)), size)[:len(music) - len(window) + 1]
        place = int(numpy.argmax(products))
        there = music[place:place + len(window)]
        likeness = products[place] / numpy.sqrt(numpy.sum(there ** 2) * numpy.sum(window ** 2) + 1e-9)
        return first + place if likeness > 0.95 else None


def run(words):
    subprocess.run([str(word) for word in (words.split() if isinstance(words, str) else words)], check=True)


def judge(bed):
    """What the rooms have played, from the first sound on."""
    for room in ROOMS:
        frames, shifts = bed.heard(room)
        first = next(i for i, shift in enumerate(shifts) if shift is not None) + 1  # the beginning is cut
        shifts = shifts[first:]
        silent = sum(shift is None for shift in shifts)
        strange = sum(shift != shift for shift in shifts if shift is not None)
        known = [shift for shift in shifts if shift is not None and shift == shift]
        jumps = [(first + i, b - a) for i, (a, b) in enumerate(zip(known, known[1:])) if abs(b - a) > 2]
        bed.say(f"{room}: {len(frames) / RATE:.1f} s heard, {silent * WINDOW * 1000 // RATE} ms of silence, {strange} windows of something else, "
                f"frames left out or heard twice: {jumps or 'none'}, drift {known[-1] - known[0]} frames",
                silent == 0 and strange == 0 and not jumps)


def main():
    with tempfile.TemporaryDirectory(prefix="second-") as folder:
        bed = Bed(pathlib.Path(folder))
        try:
            bed.make_network()
            bed.make_music()
            bed.start_rooms()
            for name in ("first", "other"):
                bed.configure(name)
            bed.serve("first")
            until(lambda: "ready" in bed.log("first")) or sys.exit(bed.log("first"))
            bed.ask("first", "tutti", "play", bed.folder / "music.flac", "--on", ",".join(room.capitalize() for room in ROOMS))
            bed.join()
            bed.serve("other")
            bed.follows("other", 1)
            time.sleep(8)
            bed.shown("first")

            bed.configure("first", "mpd = 6611")
            took = until(lambda: bed.log("first").count("ready;") == 2, 20)
            bed.say(f"first begins anew for its configuration after {took and took[0]:.1f} s, and still leads",
                    took and "this machine leads" not in bed.log("other"))
            time.sleep(3)

            bed.ask("first", "tutti", "add", bed.folder / "music.flac")
            time.sleep(0.5)
            bed.takes_over("first killed", "other", lambda: bed.kill("first"))
            bed.say(f"the list that was changed before has {bed.count('other')} items", bed.count("other") == 2)
            time.sleep(5)
            bed.shown("other")

            bed.serve("first")
            bed.follows("first", 1)
            bed.leads_on("first", "other")
            time.sleep(3)
            bed.takes_over("network of the other cut", "first", lambda: bed.cable("other", False))
            time.sleep(5)
            bed.shown("first")
            bed.cable("other", True)
            bed.follows("other", 2)
            time.sleep(5)

            bed.takes_over("first ended as by systemd", "other", lambda: bed.running["first"].send_signal(signal.SIGTERM))
            bed.say("it has ended", bed.running.pop("first").wait(10) == 0)
            time.sleep(6)
            judge(bed)
            before = time.monotonic()
            bed.ask("other", "tutti", "pause")
            bed.say(f"a command is done there after {time.monotonic() - before:.2f} s", bed.group("other")["state"] == "paused")
        finally:
            bed.end()
    return 0 if bed.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
