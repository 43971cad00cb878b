"""Measures the bench itself with made-up recordings, then with players that know true time. Each check also runs once on
a deliberate mistake, and must fail then."""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import analysis
import house as houses
import made_up
import reference
import report
import run
import scenario as scenarios

SECONDS = 40
PROBE = [sys.executable, os.path.join(houses.HERE, "probe.py")]
ROOMS = {"a": (1.0, 0.0), "b": (60.0, 7.3e-6), "c": (-45.0, 21e-6), "d": (8.0, 1e-3)}  # card's ppm, s late


class Checks:
    def __init__(self):
        self.failed = 0

    def expect(self, what, holds, figure="", broken=None):
        """`broken` names a deliberate mistake; with it the check must fail."""
        right = bool(holds) != bool(broken)
        self.failed += not right
        if broken:
            what = f"{broken} is found by '{what}'"
        print(f"{'ok  ' if right else 'FAIL'} {what}{': ' if figure else ''}{figure}", flush=True)


def made_up_recordings(checks):
    signal = os.path.join(tempfile.gettempdir(), f"tutti-bench-{os.getpid()}.wav")
    reference.write_signal(signal, SECONDS, seed=7)
    sound = reference.read_signal(signal)
    try:
        for broken, wrong in ((None, {}), ("a slip in b", {"edit": lambda sound: np.delete(sound, 15 * reference.RATE)}),
                              ("b's clock shifted by 5 µs", {"shift": 5e-6}),
                              ("a rate of b that is false by 1 ppm", {"false_ppm": 1.0})):
            with tempfile.TemporaryDirectory() as place:
                for name, (ppm, late) in ROOMS.items():
                    made_up.write(os.path.join(place, name), sound, ppm, late, **(wrong if name == "b" else {}))
                judge_even(checks, place, signal, broken)
        with tempfile.TemporaryDirectory() as place:
            made_up.write(os.path.join(place, "a"), sound, edit=made_up.damage)
            made_up.write(os.path.join(place, "b"), sound, form="FLOAT_LE")
            judge_damage(checks, place, signal)
    finally:
        os.unlink(signal)


def judge_even(checks, place, signal, broken):
    cards = {name: os.path.join(place, name) for name in ROOMS}
    figures, grid, offsets = analysis.analyse(cards, signal, play=100, steady=(102, 138), end=138.5)
    inside = (grid > 102) & (grid < 138)
    true = np.array([[-late] for _, late in ROOMS.values()])
    errors = (offsets - offsets[0] - true)[1:, inside] * 1e6
    rooms = figures["rooms"].values()
    what = broken or ""
    if not broken or "slip" in what:
        counts = [sum(r[k] for r in rooms) for k in ("slips", "spots", "dropouts")]
        checks.expect("no slip, spot or dropout in even sound", not any(counts), "%d, %d, %d" % tuple(counts), broken)
    if not broken or "clock" in what or "rate" in what:
        worst = float(np.abs(errors).max())
        checks.expect("alignment right to 0.1 µs", worst <= 0.1, f"{worst:.4f} µs at most", broken)
    if not broken or "rate" in what:
        pace = max(abs(r["pace_ppm"]) for r in rooms)
        checks.expect("drift right to 0.001 ppm", pace < 1e-3, f"{pace:.5f} ppm", broken)
    if not broken:
        snr = [r["snr_db"]["median"] for r in rooms]
        checks.expect("ideal 16-bit resampling reads 84 dB", all(abs(s - 84) < 0.5 for s in snr),
                      f"{min(snr):.1f} to {max(snr):.1f} dB")
        first = max(abs(r["first_sound_s"] - made_up.LEAD) for r in rooms)
        checks.expect("first sound right to 5 ms", first < 5e-3, f"{first * 1e3:.2f} ms off at most")


def judge_damage(checks, place, signal):
    figures, _, _ = analysis.analyse({name: os.path.join(place, name) for name in "ab"}, signal, play=100, steady=(102, 138), end=138.5)
    a = figures["rooms"]["a"]
    slips, frames, holes, silent = (a[k] for k in ("slips", "slipped_frames", "dropouts", "silent_ms"))
    checks.expect("3 slips of 482 frames found", slips == 3 and abs(frames - 482) < 1, f"{slips} of {frames:.0f}")
    checks.expect("a hole of 20 ms found", holes == 1 and abs(silent - 20) < 0.2, f"{holes} of {silent:.1f} ms")
    checks.expect("2 damaged spots found (hole, click)", a["spots"] == 2, str(a["spots"]))
    snr = figures["rooms"]["b"]["snr_db"]["median"]
    checks.expect("unchanged sound reads 130 dB or more", snr > 130, f"{snr:.0f} dB")


def medians(checks):
    """Checks the figures of several runs in the tables."""
    told = report.middle([30.0, 7.04, 8.0], report.us, " µs")
    checks.expect("three runs are told as their median and range", told == "8.0 µs (7.0–30.0)", told)
    told = [report.middle(values, report.us) for values in ([8.0], [8.0, 8.0], [None, 8.0], [float("nan")])]
    checks.expect("a range is told where there is one, and runs without a figure", told == ["8.0", "8.0", "8.0 in 1 of 2 runs", "–"],
                  "; ".join(told))


def machine_clocks(checks):
    for broken, ppm in ((None, 50.0), ("a clock 1 ppm faster", 51.0)):
        out = subprocess.run(PROBE + ["clock"], capture_output=True, text=True, check=True, env=dict(
            os.environ, LD_PRELOAD=os.path.join(houses.BUILT, "clock.so"), CLOCK_PPM=str(ppm), CLOCK_OFFSET="-3"))
        clock = json.loads(out.stdout)
        want = -3e9 + 50e-6 * clock["true_ns"]
        worst = max(abs(clock[c] - want) for c in ("monotonic", "raw", "realtime"))
        checks.expect("machine clocks right to 50 µs", worst < 50e3, f"{worst / 1e3:.1f} µs off", broken)
        if not broken:
            checks.expect("waits of 50 ms last so long", all(0.0499 < clock[w] < 0.07 for w in ("sleep", "event")),
                          f"{clock['sleep'] * 1e3:.2f}, {clock['event'] * 1e3:.2f} ms")
            checks.expect("stamps of packets follow the machine clock", 0 <= clock["stamp"] < 20e6,
                          f"{clock['stamp'] / 1e3:.0f} µs")


def network(checks, folder):
    scenario = scenarios.load("zero", rooms=2)
    with houses.House(scenario, folder) as house:
        house.start(1, "echo", [*PROBE, "echo", "9000"], true_clock=True)
        house.wait_for("echo", "ready")
        house.prefer()

        def ping(settings="", lanes="both", count=300):
            house.command("set 1 both delay=0 jitter=uniform:0 jitter=gamma:0:0 loss=0 burst=0:0:0 rate=0:0")
            house.command(f"set 1 {lanes} {settings}")
            words = ["chrt", "-r", "5", *PROBE, "ping", house.hosts[1].address, "9000", str(count)]
            answers = json.loads(house.hosts[0].call(words).stdout)
            return [number for number, _ in answers], np.array([us for _, us in answers] or [0]) / 1e3

        back, plain = ping()
        checks.expect("a link without delay: all packets back", len(back) == 300, f"{np.median(plain):.3f} ms there and back")
        _, ms = ping("delay=2000")
        checks.expect("2 ms each way are 4 ms", 4 <= ms.min() < 4.5, f"{ms.min():.3f} ms")
        _, ms = ping("jitter=uniform:2000", "up")
        checks.expect("jitter of 0 to 2 ms is so wide, and 1 ms at its median",
                      ms.min() < 0.5 and 0.8 < np.median(ms) < 1.5 and 1.8 < np.percentile(ms, 98) < 2.7,
                      f"{ms.min():.2f}, {np.median(ms):.2f}, {np.percentile(ms, 98):.2f} ms")
        back, ms = ping("jitter=gamma:2:5000", "up")
        checks.expect("jitter of 10 ms keeps the order", back == list(range(300)) and 10 < ms.mean() < 25, f"{ms.mean():.1f} ms")
        back, _ = ping("loss=0.3", count=1000)
        checks.expect("30 % loss each way let 49 % back", 430 < len(back) < 550, f"{len(back) / 10:.0f} %")
        back, _ = ping("burst=0.05:0.25:1", "up", count=1000)
        bursts = [gap - 1 for gap in np.diff([-1, *back, 1000]) if gap > 1] or [0]
        checks.expect("bursts lose 4 packets each, 17 % in all", 2.8 < np.mean(bursts) < 5.6 and 100 < sum(bursts) < 250,
                      f"{np.mean(bursts):.1f} packets, {sum(bursts) / 10:.0f} %")
        back, ms = ping("rate=50:240", "up")
        checks.expect("48 bytes take 7.7 ms at 50 kbit/s; 240 wait 38 ms, and no more", 7.68 <= ms.min() < 8.6 and
                      38 < ms.max() < 48 and len(back) < 250, f"{ms.min():.2f} to {ms.max():.1f} ms, {len(back)} of 300 back")
        ping(count=1)
        house.command("outage 1 2")
        back, _ = ping(count=50)
        time.sleep(2)
        after, _ = ping()
        checks.expect("an outage of 2 s lets nothing pass, and ends", not back and len(after) == 300,
                      f"{len(back)} of 50, then {len(after)} of 300 back")


def true_players(checks, folder):
    """Checks all parts together: cards, clocks, analysis."""
    for broken, name, changes in ((None, "zero", {}), (None, "wired", {}),
                                  ("a card 1 ppm faster", "wired", {"card_ppm": [61, -45, 8]})):
        figures = run.judge(run.perform("true", name, folder, {}, seconds=25, settle=5, **changes))
        paces = {room: f["pace_ppm"] for room, f in figures["rooms"].items()}
        drift = paces["r1"] - paces["r2"]
        true = 0 if name == "zero" else 105
        checks.expect(f"true players drift by the difference of their cards, {true} ppm", abs(drift - true) < 0.01,
                      f"{drift:.4f} ppm", broken)
        if not broken:
            wrong = [sum(f[k] for f in figures["rooms"].values()) for k in ("slips", "spots", "dropouts")]
            checks.expect("no slip, spot or dropout in it", not any(wrong), "%d, %d, %d" % tuple(wrong))
            first = max(abs(f["first_sound_s"] + figures["play"] - figures["true_start"]) for f in figures["rooms"].values())
            checks.expect("first sound right to 5 ms", first < 5e-3, f"{first * 1e3:.2f} ms off at most")
        if name == "zero":
            moved = figures["spread"]["max_us"] - min(figures["spread_us"])
            checks.expect("two true players keep their distance to 0.1 µs", moved < 0.1, f"{moved:.3f} µs")
            checks.expect("and begin within one frame", figures["spread"]["max_us"] < 21, f"{figures['spread']['max_us']:.1f} µs")


def main():
    checks = Checks()
    houses.build()
    medians(checks)
    made_up_recordings(checks)
    machine_clocks(checks)
    with tempfile.TemporaryDirectory() as folder:
        network(checks, folder)
        true_players(checks, folder)
    print("the bench measures right" if not checks.failed else f"{checks.failed} checks failed")
    return checks.failed
