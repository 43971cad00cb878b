#!/usr/bin/env python3
"""Lets alarms ring though their daemon is gone, and the network with it. `make test-alarm` runs it, as root, after make build:

    Tests/Alarms/alarm.py
    Tests/Alarms/alarm.py --only network
    Tests/Alarms/alarm.py --ahead 330            one that is set half a minute before the daemon is gone: may fail, see below
    Tests/Alarms/alarm.py --links wifi           on a busy Wi-Fi: may fail, as rooms are some 100 us apart
    Tests/Alarms/alarm.py --wander 0.5           crystals that nobody can predict, so the run must fail

Two households at once, each of four machines on a switch, as those of the bench: a daemon, and three rooms whose clocks and virtual sound
cards run at rates of their own. An alarm is set for a minute of the wall clock. Five minutes before it, the daemon of each household is
killed; in one of them, all machines are cut off from each other as well. Then the recordings of the cards are compared with the alarm's
music. Exit code: 0 all as it should be, 1 not so, 2 it could not be measured.

Alone, a room goes on by the rate of the daemon's clock that it has measured over the last two minutes: an error of 0.1 ppm makes 30 us in
five minutes. In the first seconds the room is filled, which delays answers more than requests, by some 50 us. So half a minute of
measuring, from there on, is wrong by 0.1 to 0.3 ppm; once those seconds are two minutes old, the error is below 0.1 ppm.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS") or ROOT / ".build/release")
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "Benchmarks/bench"))
sys.path.append(str(ROOT / "Tests/Second"))

import analysis  # noqa: E402
import house as houses  # noqa: E402
import recording  # noqa: E402
import reference  # noqa: E402
import scenario as scenarios  # noqa: E402
from second import until  # noqa: E402
from systems.tutti import System  # noqa: E402

CASES = {"daemon": "the daemon is killed", "network": "all cables are pulled out, and the daemon is killed"}
LEAD = 600  # seconds before it rings at which rooms are filled
HELD = 5  # seconds until they hold it
LENGTH = 60  # seconds that it rings
LATE = 0.1  # seconds
APART_US = 50
SETTLED = 0.2  # seconds until it is as loud as it becomes


def ahead(clock):
    """Returns how far a clock is ahead of true time, which is CLOCK_MONOTONIC, in ns."""
    before, there, after = time.monotonic_ns(), time.clock_gettime_ns(clock), time.monotonic_ns()
    return there - (before + after) // 2


def steered():
    """Returns how far the wall clock is ahead of the one by which programs count, in ns: time servers change it."""
    return ahead(time.CLOCK_REALTIME) - ahead(time.CLOCK_MONOTONIC_RAW)


class House(houses.House):
    nice = 0


class Case:
    """A household, and what became of its alarm."""

    problem = "it was not carried out to its end"

    def __init__(self, name, folder, music, options):
        self.name, self.folder, self.music, self.options, self.is_good = name, folder, music, options, True
        wander = [f"walk:{options.wander}:{number}" for number in range(1, 7)]
        self.scenario = scenarios.load(options.links, clock_wander=["", *wander[:3]], card_wander=wander[3:])
        # The daemon's machine shows the right time.
        self.scenario["clocks"][0] |= {"ppm": 0, "offset_s": 0}

    def say(self, text, is_right=True):
        self.is_good &= bool(is_right)
        print(f"{self.name:8} {text}{'' if is_right else '  WRONG'}", flush=True)

    def go(self):
        """Sets the alarm, takes away what it is not to need, and lets it ring."""
        try:
            with House(self.scenario, self.folder) as self.house:
                self.set_alarm()
                self.wait(self.due - self.options.alone)
                self.cut()
                self.wait(self.due + LENGTH + 1)
                # In true time, in seconds since the household was built.
                self.rung = self.due - (ahead(time.CLOCK_REALTIME) + self.house.zero_ns) / 1e9
                self.steered = (steered() - self.steered) / 1e6
            self.problem = None
        except (SystemExit, OSError) as problem:
            self.problem = problem

    def set_alarm(self):
        self.system = System(self.house, {"programs": PROGRAMS, "daemon": "yes"})
        self.system.start()
        at = [word for host in self.house.hosts[1:] for word in ("--at", f"{host.address}:7770")]
        self.system.ask("play", "--stay", *at)
        names = {f"r{room}" for room in range(1, self.house.rooms + 1)}
        self.expect("the daemon finds its rooms", lambda: {room["name"] for room in self.told("status").get("rooms", [])} == names)
        self.due = math.ceil((time.time() + self.options.ahead) / 60) * 60
        self.system.ask("alarms", "add", time.strftime("%H:%M", time.localtime(self.due)), "--on", ",".join(sorted(names)),
                        "--play", self.music, "--volume", "100", "--length", str(LENGTH // 60))
        self.say(f"an alarm is set, {self.due - time.time():.0f} s before it is due")
        self.wait(self.due - LEAD)
        begun = time.time()
        self.expect("its rooms hold it", lambda: len(self.told("alarms")["readyRoomIds"]) == self.house.rooms)
        self.say(f"all rooms hold it, {self.due - time.time():.1f} s before it is due", time.time() - begun <= HELD)

    def told(self, what):
        return json.loads((self.system.ask(what, "--json").splitlines() or ["{}"])[0])

    def expect(self, what, ready):
        if not until(ready):
            raise SystemExit(f"not within a minute: {what}")

    def wait(self, time_of_day):
        """Waits for a time by the wall clock, while all programs run."""
        while (left := time_of_day - time.time()) > 0:
            for host in self.house.hosts:
                for program in host.programs:
                    if program.name.startswith("receiver") and program.poll() is not None:
                        raise SystemExit(f"{program.name} has ended:\n{self.house.log(program.name)[-2000:]}")
            time.sleep(min(left, 1))

    def cut(self):
        late = json.loads(self.house.command("stats"))["late_us"]
        self.say(f"until now a packet took {late['p50']} us longer than it was to, {late['p99']} us for one in a hundred")
        if self.name == "network":
            for host in self.house.hosts:
                if said := host.call(["ip", "link", "set", "eth0", "down"]).stderr:
                    raise SystemExit(said)
        self.house.kill(0)
        self.steered = steered()
        self.say(f"{CASES[self.name]}, {self.due - time.time():.1f} s before it is due")
        self.expect("the daemon has ended", lambda: all(program.poll() is not None for program in self.house.hosts[0].programs))
        knock = f"exec 3<>/dev/tcp/{self.house.hosts[2].address}/7770"
        reaches = self.house.hosts[1].call(["bash", "-c", knock]).returncode == 0
        self.say(f"a room {'reaches' if reaches else 'does not reach'} another one", reaches == (self.name == "daemon"))

    # What was heard

    def judge(self):
        if self.problem:
            raise SystemExit(f"{self.name}: {self.problem}")
        references = analysis.references_of(self.music)
        self.say(f"the wall clock was steered by {self.steered:.3f} ms while the daemon was gone")
        rooms = [self.room(number, references) for number in range(1, self.house.rooms + 1)]
        if all(rooms):
            self.compare(rooms)
        if not self.is_good:
            for number in range(1, self.house.rooms + 1):
                print(f"receiver{number}", self.house.log(f"receiver{number}")[-2000:], sep="\n")

    def room(self, number, references):
        """Says how a room rang, and returns it; None if it did not."""
        pieces = recording.read_card(self.house.card(number), self.house.zero_ns)
        spans = sorted(span for piece in pieces for span in piece.loud())
        if not spans:
            return self.say(f"r{number} is silent", False)
        first, end = spans[0][0], self.rung + LENGTH
        self.say(f"r{number}: first sound {1000 * (first - self.rung):.2f} ms after its second, nothing before", abs(first - self.rung) <= LATE)
        for piece in pieces:
            edges = numpy.interp([first, end + 1], piece.times, piece.frames)
            piece.first, piece.last = max(piece.first, int(edges[0])), min(piece.last, int(edges[1]))
        room = analysis.Room(f"r{number}", pieces, references)
        if not len(room.times):
            return self.say(f"r{number}: what sounds is not the alarm's music", False)
        late = 1e3 * -(room.offsets + self.rung)
        edge = [numpy.median(late[(room.times >= t) & (room.times < t + 1)]) for t in (room.times[0], end - 1)]
        self.say(f"r{number}: the music is {edge[0]:.3f} ms late at first, and {edge[1]:.3f} ms at the end", max(map(abs, edge)) <= LATE * 1000)
        figures = room.figures(self.rung + SETTLED, end, self.rung)
        snr = figures["snr_db"]["median"] if figures["snr_db"] else -99
        self.say(f"r{number}: {figures['silent_ms']:.1f} ms of silence, {figures['slips']} slips, {figures['spots']} spots, SNR {snr:.0f} dB",
                 not figures["dropouts"] and not figures["slips"] and not figures["spots"] and snr > 60)
        return room

    def compare(self, rooms):
        grid = numpy.arange(self.rung + SETTLED, self.rung + LENGTH - SETTLED, analysis.GRID)
        spread = numpy.ptp(numpy.stack([room.on(grid) for room in rooms]), axis=0) * 1e6
        missing = int(numpy.isnan(spread).sum())
        self.say(f"all rooms play the music at {len(spread) - missing} of {len(spread)} instants", not missing)
        p50, p99, most = numpy.nanpercentile(spread, [50, 99, 100]) if missing < len(spread) else [numpy.inf] * 3
        self.say(f"rooms apart: p50 {p50:.1f} us, p99 {p99:.1f}, most {most:.1f}", most <= APART_US)


def measure(folder, options):
    # In memory, so that no program waits for a disk.
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    music = os.path.join(folder, "music.wav")
    reference.write_signal(music, LENGTH + 30)
    cases = []
    for name in [options.only] if options.only else CASES:
        os.mkdir(os.path.join(folder, name))
        cases.append(Case(name, os.path.join(folder, name), music, options))
    threads = [threading.Thread(target=case.go, daemon=True) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for case in cases:
        case.judge()
    is_good = all(case.is_good for case in cases)
    print("alarm: all is as it should be" if is_good else "alarm: something is WRONG; a line above says what")
    if options.keep:
        shutil.copytree(folder, options.keep, ignore=shutil.ignore_patterns("home*", "state*", "lock"))
    return 0 if is_good else 1


def main():
    head, *rest = __doc__.split("\n\n")
    options = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=head, epilog="\n\n".join(rest))
    options.add_argument("--only", choices=CASES, help="one household")
    options.add_argument("--ahead", type=int, default=LEAD, metavar="S", help="set the alarm so long before it is due (default: 600), and up to a minute more")
    options.add_argument("--alone", type=int, default=300, metavar="S", help="kill the daemon so long before it is due (default: 300)")
    options.add_argument("--links", choices=("wired", "wifi"), default="wired", help="how the machines are connected (default: wired)")
    options.add_argument("--wander", type=float, default=0.001, metavar="PPM",
                         help="random walk of all crystals in the square root of a second; default: that at room temperature")
    options.add_argument("--keep", metavar="FOLDER", help="leave recordings and logs in this new folder")
    options = options.parse_args()
    if "TUTTI_OWN_NETWORK" not in os.environ:
        os.environ["TUTTI_OWN_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "-m", "-n", sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    folder = tempfile.mkdtemp(prefix="tutti-alarm.")
    try:
        houses.build()
        return measure(folder, options)
    except (SystemExit, OSError, subprocess.CalledProcessError) as problem:
        print(f"alarm: {problem}", file=sys.stderr)
        return 2
    finally:
        subprocess.run(["umount", "-l", folder], capture_output=True)
        os.rmdir(folder)


if __name__ == "__main__":
    sys.exit(main())
