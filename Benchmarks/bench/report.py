"""Turns the figures of all runs into the tables of the documents."""
import glob
import json
import os
import textwrap

import house
import plot
import scenario

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
ORDER = ["zero", "wired", "wired-ntp", "wander", "wifi", "wifi-bad", "mixed", "asymmetric", "outage", "rooms-8"]


def load(results):
    found = []
    for path in glob.glob(os.path.join(results, "*", "figures.json")):
        with open(path) as file:
            found.append(json.load(file))

    def rank(r):
        name = r["scenario"]["name"]
        return ORDER.index(name) if name in ORDER else len(ORDER), name, r["system"] != "tutti", r["system"]
    return sorted(found, key=rank)


def us(value):
    return "–" if value is None else f"{value:.1f}" if value < 100 else f"{value:,.0f}".replace(",", " ")


def number(value, form="{:.2f}"):
    return "–" if value is None or value != value else form.format(value)


def quality(rooms, key):
    values = [r["snr_db"][key] for r in rooms if r["snr_db"] and r["snr_db"][key] is not None]
    return "–" if not values else "exact" if min(values) > 170 else f"{min(values):.0f}"


HEAD = ["scenario", "system", "spread p50, µs", "p99", "max", "first sound in all rooms, s", "dropouts", "slips and spots",
        "SNR, dB: median", "worst 5 %", "CPU of a room, %", "of the sender, %"]


def title(r):
    """The scenario, and what differs from its file."""
    usual = scenario.load(r["scenario"]["name"])
    forms = {"seconds": "{} s", "rooms": "{} rooms", "seed": "seed {}"}
    changes = [form.format(r["scenario"][key]) for key, form in forms.items() if r["scenario"][key] != usual[key]]
    return ", ".join([f"`{r['scenario']['name']}`", *changes])


def row(r):
    rooms = list(r["rooms"].values())
    spread = r["spread"] or {}
    wrong = sum(room["slips"] + room["spots"] for room in rooms)
    return [title(r), r["system"], us(spread.get("p50_us")), us(spread.get("p99_us")), us(spread.get("max_us")),
            number(r["sound_on_all_s"]), str(sum(room["dropouts"] for room in rooms)), str(wrong), quality(rooms, "median"),
            quality(rooms, "p5"), number(max(c["cpu_percent"] for c in r["cost"][1:]), "{:.1f}"),
            number(r["cost"][0]["cpu_percent"], "{:.1f}")]


def lines_of(r):
    """What faults and commands did."""
    name = f"`{r['scenario']['name']}`, {r['system']}"
    if latency := r.get("latency_ms"):
        yield f"- {name}: {latency['median']:.1f} ms from the recording of a frame to its sound ({latency['least']:.1f} to {latency['most']:.1f})"
    if counts := r.get("concealed"):  # packets of 5 ms
        packets = 200 * (r["steady_s"][1] - r["steady_s"][0])
        shares = ", ".join(f"{100 * count / packets:.3f}" for count in counts.values())
        yield f"- {name}: {shares} % of the packets concealed, longest silence {max(x['longest_ms'] for x in r['rooms'].values()):.1f} ms"
    for f in r["recovery"]:
        lasted = f", {f['until'] - f['from']:.0f} s" if f["until"] - f["from"] > 0.5 else ""
        back = "not within 1 ms again" if f["within_1ms_s"] is None else f"within 1 ms again after {f['within_1ms_s']:.1f} s"
        silent = f"{f['silent_ms'] / 1e3:.2f} s of silence"
        yield f"- {name}: {f['what']}{lasted}: {silent}, {back}, then {us(f['worst_us'])} µs off at most"
    for c in r["commands"]:
        yield f"- {name}: {c['what']}: heard after {', '.join(number(s and s * 1e3, '{:.0f}') for s in c['heard_after_s'])} ms"


def table(results):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(row(r)) + " |" for r in results]
    return lines


def report(results):
    """Markdown: from which machine, source and command, then the figures."""
    if not results:
        raise SystemExit("bench: there are no results; run make bench")
    versions = sorted({f"{r['system']} {r['version']}" for r in results})
    commits, dates = sorted({r["commit"] for r in results}), sorted({r["date"] for r in results})
    stolen = max(r["stolen_percent"] for r in results)
    busy = max(r["busy_percent"] for r in results)
    late = max(r["switch"]["late_us"]["p99"] for r in results)
    days = " to ".join(sorted({dates[0], dates[-1]}))
    text = [textwrap.fill(
        f"{', '.join(versions)}; commit {', '.join(commits)}; {days}. The machine has {results[0]['machine']}; its processors were up "
        f"to {busy:.0f} % busy, the hypervisor took up to {stolen:.1f} % of them, and 99 % of the packets left the switch at most "
        f"{late} µs late. Commands: `sudo make bench`, and `sudo Benchmarks/bench/bench.py run SCENARIO` for other rows.", 126), ""]
    text += table(results)
    extra = [line for r in results for line in lines_of(r)]
    return "\n".join(text + ([""] + extra if extra else []))


def summary(results):
    """The README's four figures."""
    by = {(r["system"], r["scenario"]["name"]): r for r in results}
    systems = [s for s in ("tutti", "snapcast") if (s, "wired") in by and (s, "wifi") in by]

    def cells(what, value):
        return f"| {what} | " + " | ".join(value(s) for s in systems) + " |"

    def spread(system, scenario):
        return us(by[system, scenario]["spread"]["p99_us"]) + " µs"
    heads = [f"{s.title()} {by[s, 'wired']['version']}" for s in systems]
    return "\n".join([
        "| | " + " | ".join(heads) + " |", "|---|" + "---|" * len(systems),
        cells("largest distance between two rooms for 99 % of the time, wired", lambda s: spread(s, "wired")),
        cells("the same on a busy Wi-Fi", lambda s: spread(s, "wifi")),
        cells("from play to sound in all rooms, wired", lambda s: number(by[s, "wired"]["sound_on_all_s"]) + " s"),
        cells("signal-to-noise ratio of the worst 5 % of the blocks of 85 ms, wired",
              lambda s: quality(by[s, "wired"]["rooms"].values(), "p5") + " dB")])


def fill(path, text):
    """Puts it between the marks in a document."""
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
    spread = r["spread"] or {}
    rooms = list(r["rooms"].values())
    values = [us(spread.get(key)) for key in ("p50_us", "p99_us", "max_us")]
    return (f"{r['system']:9} {r['scenario']['name']:11} spread p50 {values[0]:>6}  p99 {values[1]:>6}  max {values[2]:>6} µs   "
            f"first sound {number(r['sound_on_all_s'])} s   dropouts {sum(x['dropouts'] for x in rooms)}   "
            f"slips {sum(x['slips'] for x in rooms)}   SNR {quality(rooms, 'median')} / {quality(rooms, 'p5')} dB   "
            f"machine {r['busy_percent']:.0f} % busy, {r['stolen_percent']:.1f} % taken")
