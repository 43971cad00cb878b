"""Turns the figures of all runs into the tables of the documents."""
import glob
import json
import os
import statistics
import textwrap

import house
import plot
import scenario

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
ORDER = ["zero", "wired", "wired-ntp", "wander", "wifi", "wifi-bad", "mixed", "asymmetric", "outage", "rooms-8"]


def grouped(figures):
    """Groups the runs by system and scenario, in the order of the tables."""
    groups = {}
    for r in figures:
        groups.setdefault((r["system"], r["scenario"]["name"]), []).append(r)

    def rank(key):
        system, name = key
        return ORDER.index(name) if name in ORDER else len(ORDER), name, system != "tutti", system
    return [groups[key] for key in sorted(groups, key=rank)]


def load(results):
    found = []
    for path in glob.glob(os.path.join(results, "*", "run-*", "figures.json")):
        with open(path) as file:
            found.append(json.load(file))
    return grouped(found)


def us(value):
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}".replace(",", " ")


def middle(values, form, end=""):
    """The median, with the range if values differ, and with the number of runs if some have no value."""
    there = [v for v in values if v is not None and v == v]
    if not there:
        return "–"
    least, most = form(min(there)), form(max(there))
    text = form(statistics.median(there)) + end
    if least != most:
        text += f" ({least}–{most})"
    return text if len(there) == len(values) else f"{text} in {len(there)} of {len(values)} runs"


def fixed(digits):
    return lambda value: f"{value:.{digits}f}"


def quality(r, key):
    """The lowest SNR of all rooms."""
    return min((room["snr_db"][key] for room in r["rooms"].values() if room["snr_db"] and room["snr_db"][key] is not None),
               default=None)


def decibels(value):
    return "exact" if value > 170 else f"{value:.0f}"


HEAD = ["scenario", "system", "runs", "spread p50, µs", "p99", "max", "first sound in all rooms, s", "dropouts", "slips and spots",
        "SNR, dB: median", "worst 5 %", "CPU of a room, %", "of the sender, %"]


def title(r):
    """The scenario's name, and options that differ from its file."""
    usual = scenario.load(r["scenario"]["name"])
    forms = {"seconds": "{} s", "rooms": "{} rooms", "seed": "seed {}"}
    changes = [form.format(r["scenario"][key]) for key, form in forms.items() if r["scenario"][key] != usual[key]]
    return ", ".join([f"`{r['scenario']['name']}`", *changes])


def spread(r, key):
    return (r["spread"] or {}).get(key)


def counted(r, *keys):
    return sum(room[key] for room in r["rooms"].values() for key in keys)


def row(runs):
    def cell(of, form):
        return middle([of(r) for r in runs], form)
    return [title(runs[0]), runs[0]["system"], str(len(runs)), *(cell(lambda r: spread(r, key), us) for key in ("p50_us", "p99_us", "max_us")),
            cell(lambda r: r["sound_on_all_s"], fixed(2)), cell(lambda r: counted(r, "dropouts"), fixed(0)),
            cell(lambda r: counted(r, "slips", "spots"), fixed(0)), cell(lambda r: quality(r, "median"), decibels),
            cell(lambda r: quality(r, "p5"), decibels), cell(lambda r: max(c["cpu_percent"] for c in r["cost"][1:]), fixed(1)),
            cell(lambda r: r["cost"][0]["cpu_percent"], fixed(1))]


def lines_of(runs):
    """The effects of faults and commands."""
    r = runs[0]
    name = f"`{r['scenario']['name']}`, {r['system']}"
    if r.get("latency_ms"):
        latency = middle([r["latency_ms"]["median"] for r in runs], fixed(1), " ms")
        least, most = min(r["latency_ms"]["least"] for r in runs), max(r["latency_ms"]["most"] for r in runs)
        yield f"- {name}: {latency} from the recording of a frame to its sound (all: {least:.1f} to {most:.1f})"
    if r.get("concealed"):
        silence = middle([max(x["longest_ms"] for x in r["rooms"].values()) for r in runs], fixed(1), " ms")
        shares = ", ".join(middle([concealed(r, room) for r in runs], fixed(3), " %") for room in r["concealed"])
        yield f"- {name}: {shares} of the packets concealed, longest silence {silence}"
    for faults in zip(*(r["recovery"] for r in runs)):
        yield f"- {name}: {recovered(faults)}"
    for faults in zip(*(r.get("comebacks", []) for r in runs)):
        yield f"- {name}: {missed(faults)}"
    for made in zip(*(r.get("announcements", []) for r in runs)):
        after = middle([max(a["heard_after_ms"], default=None) for a in made], fixed(0), " ms")
        apart = middle([a["spread_us"] for a in made], us, " µs")
        behind = middle([a["snr_behind_db"] for a in made], decibels, " dB")
        rooms = middle([a["rooms"] for a in made], fixed(0))
        yield f"- {name}: an announcement: heard after {after} in {rooms} rooms, {apart} apart; SNR of the music behind it at least {behind}"
    for commands in zip(*(r["commands"] for r in runs)):
        rooms = zip(*(c["heard_after_s"] for c in commands))
        after = ", ".join(middle([s and s * 1e3 for s in room], fixed(0), " ms") for room in rooms)
        yield f"- {name}: {commands[0]['what']}: heard after {after}"


def concealed(r, room):
    """Share of concealed packets of 5 ms, in percent."""
    return 100 * r["concealed"].get(room, 0) / (200 * (r["steady_s"][1] - r["steady_s"][0]))


def missed(faults):
    """Describes one fault of the sender over all runs."""
    lasted = statistics.median(f["until"] - f["from"] for f in faults)
    silent, apart = middle([f["silent_ms"] for f in faults], fixed(0), " ms"), middle([f["spread"] and f["spread"]["p99_us"] for f in faults], us, " µs")
    wrong = middle([f["slips"] + f["spots"] for f in faults], fixed(0))
    return f"the sender is gone for {lasted:.0f} s: {silent} of silence, {wrong} slips and spots, rooms {apart} apart (p99)"


def recovered(faults):
    """Describes one fault over all runs."""
    lasted = statistics.median(f["until"] - f["from"] for f in faults)
    silent = middle([f["silent_ms"] / 1e3 for f in faults], fixed(2), " s")
    back = middle([f["within_1ms_s"] for f in faults], fixed(1), " s")
    worst = middle([f["worst_us"] for f in faults], us, " µs")
    return (f"{faults[0]['what']}" + (f", {lasted:.0f} s" if lasted > 0.5 else "") + f": {silent} of silence, "
            + ("not within 1 ms again" if back == "–" else f"within 1 ms again after {back}") + f", then {worst} off at most")


def table(results):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row(r)) + " |" for r in results]
    return lines


def report(results):
    """Markdown: machine, source and command, then the figures. `results` comes from `grouped`."""
    if not results:
        raise SystemExit("bench: there are no results; run make bench")
    runs = [r for group in results for r in group]
    versions = sorted({f"{r['system']} {r['version']}" for r in runs})
    commits, dates = sorted({r["commit"] for r in runs}), sorted({r["date"] for r in runs})
    stolen = max(r["stolen_percent"] for r in runs)
    busy = max(r["busy_percent"] for r in runs)
    late = max(r["switch"]["late_us"]["p99"] for r in runs)
    days = " to ".join(sorted({dates[0], dates[-1]}))
    text = [textwrap.fill(
        f"{', '.join(versions)}; commit {', '.join(commits)}; {days}. The machine has {runs[0]['machine']}; its processors were up "
        f"to {busy:.0f} % busy, the hypervisor took up to {stolen:.1f} % of them, and 99 % of the packets left the switch at most "
        f"{late} µs late. Figures are medians of the runs, with the least and the greatest in brackets. Commands: "
        "`sudo make bench RUNS=5`, and `sudo Benchmarks/bench/bench.py run SCENARIO --runs 5` for other rows.", 126), ""]
    text += table(results)
    extra = [line for group in results for line in lines_of(group)]
    return "\n".join(text + ([""] + extra if extra else []))


def summary(results):
    """The README's four figures."""
    by = {(group[0]["system"], group[0]["scenario"]["name"]): group for group in results}
    systems = [s for s in ("tutti", "snapcast") if (s, "wired") in by and (s, "wifi") in by]

    def cells(what, scenario, of, form, unit):
        return f"| {what} | " + " | ".join(middle([of(r) for r in by[s, scenario]], form, unit) for s in systems) + " |"
    heads = [f"{s.title()} {by[s, 'wired'][0]['version']}" for s in systems]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(systems)]
    for what, scenario, of, form, unit in (
            ("largest distance between two rooms for 99 % of the time, wired", "wired", lambda r: spread(r, "p99_us"), us, " µs"),
            ("the same on a busy Wi-Fi", "wifi", lambda r: spread(r, "p99_us"), us, " µs"),
            ("from play to sound in all rooms, wired", "wired", lambda r: r["sound_on_all_s"], fixed(2), " s"),
            ("signal-to-noise ratio of the worst 5 % of the blocks of 85 ms, wired", "wired", lambda r: quality(r, "p5"), decibels, " dB")):
        lines.append(cells(what, scenario, of, form, unit))
    counts = " and ".join(f"{len(by[s, 'wired'])} runs of {s.title()}" for s in systems)
    return "\n".join([*lines, "", f"Medians of {counts}, with the least and the greatest in brackets."])


def fill(path, text):
    """Replaces the text between the marks in a document."""
    with open(path) as file:
        old = file.read()
    if BEGIN not in old or END not in old:
        raise SystemExit(f"bench: {path} has no marks {BEGIN} and {END}")
    with open(path, "w") as file:
        file.write(old[:old.index(BEGIN) + len(BEGIN)] + "\n" + text + "\n" + old[old.index(END):])


def write_documents(results):
    fill(os.path.join(house.ROOT, "docs", "measurements.md"), report(results))
    fill(os.path.join(house.ROOT, "README.md"), summary(results))
    plot.compare(os.path.join(house.ROOT, "docs", "spread.png"), results)


def short(r):
    """One line for the terminal."""
    def one(value, form):
        return middle([value], form)
    values = [one(spread(r, key), us) for key in ("p50_us", "p99_us", "max_us")]
    return (f"{r['system']:9} {r['scenario']['name']:11} spread p50 {values[0]:>6}  p99 {values[1]:>6}  max {values[2]:>6} µs   "
            f"first sound {one(r['sound_on_all_s'], fixed(2))} s   dropouts {counted(r, 'dropouts')}   "
            f"slips {counted(r, 'slips')}   SNR {one(quality(r, 'median'), decibels)} / {one(quality(r, 'p5'), decibels)} dB   "
            f"machine {r['busy_percent']:.0f} % busy, {r['stolen_percent']:.1f} % taken")
