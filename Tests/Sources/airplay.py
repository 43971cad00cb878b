#!/usr/bin/env python3
"""Plays by AirPlay in three rooms, with the real programs: PulseAudio, PipeWire and a phone play to shairport-sync, which `tutti serve`
runs as `tutti sources add airplay` has set it up. `make test-airplay` builds the programs and runs it, as root:

    Tests/Sources/airplay.py
    Tests/Sources/airplay.py --only PipeWire

All of it runs in two network namespaces of its own, a household and a phone, each with its own D-Bus and Avahi. The rooms write recordings.
The phone is phone.py, because neither PulseAudio nor PipeWire tells titles. Exit code: 0 all as it should be, 1 not so, 2 it could not
be measured.
"""

import argparse
import os
import pathlib
import shutil
import signal
import statistics
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Film"))

from house import ROOMS, House  # noqa: E402
from network import connect, until  # noqa: E402
from senders import SENDERS  # noqa: E402
from sound import apart, lateness, noise  # noqa: E402
from stage import PROGRAMS, Stage, Unmeasured, now  # noqa: E402

TOOLS = {"shairport-sync": "shairport-sync", "pulseaudio": "pulseaudio pulseaudio-module-raop", "pacat": "pulseaudio-utils",
         "pipewire": "pipewire", "pipewire-pulse": "pipewire-pulse", "wireplumber": "wireplumber", "avahi-daemon": "avahi-daemon",
         "dbus-daemon": "dbus", "dbus-run-session": "dbus-daemon", "nsenter": "util-linux", "ip": "iproute2"}
LIMIT = 20  # microseconds between rooms
PLAYED = 15  # seconds of noise, before a pause and after it
LATEST = 10  # seconds after which a sound, or a state, counts as missing
SETTLING = 6  # seconds until the delay is steady: the clock of the source is measured, and its pitch corrected, meanwhile
STEADY = 0.02  # seconds that the delay may change within a part
KEPT = 3  # seconds; an input keeps 2
GROWTH = 1  # seconds that a pause may add to the delay


class Verdict:
    """Prints what was found, and keeps whether all of it was as it should be."""

    is_good = True

    def say(self, name, text, is_right=True):
        self.is_good &= bool(is_right)
        print(f"{name:10} {text}{'' if is_right else '  WRONG'}", flush=True)

    def expect(self, name, text, ready, seconds=LATEST):
        """Waits for something to become true."""
        begun = now()
        is_right = until(ready, seconds)
        self.say(name, f"{text} after {now() - begun:.1f} s" if is_right else f"{text}: not within {seconds} s", is_right)


def follow(house, sender, verdict):
    """Lets a sender play, pause and play on. Returns the times: begin and end of both parts."""
    name, times = sender.name, []
    sender.start()
    times.append(sender.begins[-1])
    verdict.expect(name, "plays", lambda: house.state() == "playing")
    if sender.tells_titles:
        sender.title("Sinnerman", "Nina Simone", "Pastel Blues")
        verdict.expect(name, "its title is told", lambda: "Sinnerman" == house.status()["title"])
    if sender.tells_volume:
        # The first volume of a sender is what it happens to have.
        sender.volume(90)
        time.sleep(1)
        before = house.volumes()
        sender.volume(60)
        verdict.expect(name, "its volume is that of the rooms", lambda: all(one < 0.9 * two for one, two in zip(house.volumes(), before)))
    time.sleep(max(0, times[0] + PLAYED - now()))
    times.append(now())
    sender.pause()
    verdict.expect(name, "its pause pauses the rooms", lambda: house.state() == "paused", sender.idle + LATEST)
    time.sleep(3)
    times.append(now())
    sender.resume()
    verdict.expect(name, "it plays on, and so do the rooms", lambda: house.state() == "playing")
    time.sleep(PLAYED)
    house.tutti("pause")
    time.sleep(4)
    house.tutti("resume")
    times.append(now())
    time.sleep(PLAYED)
    times.append(now())
    sender.stop()
    verdict.expect(name, "it leaves, and the rooms pause", lambda: house.state() == "paused", sender.idle + LATEST)
    time.sleep(2)
    return times


def kill(house, sender, verdict):
    """Kills shairport-sync while a sender plays. Returns the times of the kill and of the sender's next begin."""
    sender.start()
    verdict.expect("kill -9", "plays before", lambda: house.state() == "playing")
    time.sleep(PLAYED)
    killed, process = now(), house.kill_speaker()
    verdict.expect("kill -9", "shairport-sync is started again", lambda: house.speaker() not in (None, process))
    sender.stop()
    time.sleep(2)
    sender.start()
    begun = sender.begins[-1]
    time.sleep(PLAYED)
    lines = house.stage.told("daemon", ".*was ended by signal 9.*")
    verdict.say("kill -9", f"the log has {len(lines)} line about it: {' | '.join(lines)}", len(lines) == 1)
    sender.stop()
    return killed, begun


def judge_part(name, what, recordings, begin, end, zero, verdict):
    """Says how a part sounded: when it began, how far rooms were apart, and how late they were."""
    played, spans = noise(), [recording.loud(begin, end) for recording in recordings]
    if not all(spans):
        return verdict.say(name, f"{what}: silent", False)
    first = spans[0][0][0]
    for room, found in zip(ROOMS, spans):
        longest = max(found, key=lambda span: span[1] - span[0])
        if longest[1] - longest[0] < PLAYED / 3:
            verdict.say(name, f"{what}: {room} has holes: {[f'{a - begin:.2f} to {b - begin:.2f}' for a, b in found]}", False)
    longest = max(spans[0], key=lambda span: span[1] - span[0])
    found = 1e6 * np.array(apart(recordings, [(longest[0] + 0.5, longest[1] - 0.5)]))
    late = [lateness(recordings[0], played, zero, time) for time in np.arange(longest[0] + SETTLING, longest[1] - 1, 0.5)]
    heard = [one for one in late if one is not None]
    text = f"{what}: first sound after {first - begin:.2f} s"
    if len(found):
        verdict.say(name, f"{text}; rooms apart: median {np.median(found):.2f} us, p99 {np.percentile(found, 99):.2f}, most {found.max():.2f}",
                    found.max() < LIMIT)
    if not heard:
        verdict.say(name, f"{what}: the noise is not to be found", False)
        return None
    change = max(heard) - min(heard)
    verdict.say(name, f"{what}: delay from the program to the room {statistics.median(heard):.3f} s, changes by {1000 * change:.2f} ms",
                change < STEADY and len(heard) > len(late) * 0.9)
    return statistics.median(heard)


def judge(name, times, begins, recordings, verdict):
    begin, paused, resumed, home, end = times
    first = judge_part(name, "from the start", recordings, begin, paused, begins[0], verdict)
    judge_part(name, "played on", recordings, resumed, home - 4, begins[-1], verdict)
    last = judge_part(name, "after tutti pause and resume", recordings, home, end, begins[-1], verdict)
    if first and last:
        verdict.say(name, f"the pauses have added {last - first:.2f} s to the delay", last - first < GROWTH)


def measure(folder, options):
    verdict = Verdict()
    with Stage(folder) as stage:
        stage.environment["PATH"] += ":/usr/sbin"
        sound = stage.folder / "noise.raw"
        sound.write_bytes((np.repeat(noise(), 2) * 32767).astype("<i2").tobytes())
        home, phone = connect(stage)
        house = House(stage, home)
        house.start()
        # A daemon has run for longer than an input keeps, so what it kept is heard first.
        time.sleep(KEPT)
        house.play()
        senders = [kind(stage, phone, sound) for kind in SENDERS if options.only in (None, kind.name)]
        stories = [(sender, follow(house, sender, verdict)) for sender in senders]
        begins = {sender.name: list(sender.begins) for sender in senders}
        killed, begun = kill(house, senders[-1], verdict)
        stage.stop(*ROOMS)
        recordings = house.recordings()
        for sender, times in stories:
            judge(sender.name, times, begins[sender.name], recordings, verdict)
        for room, recording in zip(ROOMS, recordings):
            silent = killed + LATEST / 2
            spans = [span for span in recording.loud(killed, begun) if span[1] > silent]
            verdict.say("kill -9", f"{room} is silent until the sender plays again", not spans)
        judge_part("kill -9", "then", recordings, begun, begun + PLAYED, senders[-1].begins[-1], verdict)
    print("airplay: all is as it should be" if verdict.is_good else "airplay: something is WRONG; a line above says what")
    return 0 if verdict.is_good else 1


def main():
    head, *rest = __doc__.split("\n\n")
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=head, epilog="\n\n".join(rest))
    parser.add_argument("--only", choices=[kind.name for kind in SENDERS], help="let only this one play")
    parser.add_argument("--keep", metavar="FOLDER", help="leave recordings and logs in this new folder")
    options = parser.parse_args()
    if "TUTTI_OWN_NETWORK" not in os.environ:
        os.environ["TUTTI_OWN_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "-m", "-n", sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        missing = sorted(package for tool, package in TOOLS.items() if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"))
        if missing:
            raise Unmeasured(f"something is missing; install it: apt install {' '.join(missing)}")
        for name in ("tutti-receiver", "tutti"):
            if not (PROGRAMS / name).exists():
                raise Unmeasured(f"there is no {name} in {PROGRAMS}; build and measure: make test-airplay")
        if options.keep:
            os.mkdir(options.keep)
            return measure(os.path.abspath(options.keep), options)
        with tempfile.TemporaryDirectory(prefix="tutti-airplay.") as folder:
            return measure(folder, options)
    except (Unmeasured, OSError) as problem:
        print(f"airplay: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
