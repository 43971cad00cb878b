"""Runs a scenario on a system, and leaves recordings, figures and a picture in a folder."""
import datetime
import functools
import heapq
import importlib
import itertools
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import analysis
import house as houses
import plot
import reference
import scenario as scenarios

FAULTS = {"freeze", "kill", "underrun", "unplug", "suspend", "outage"}
CONTROLS = {"unplug": "vanish", "suspend": "suspend", "underrun": "underrun"}

progress = functools.partial(print, flush=True)


class Run:
    def __init__(self, house, system, scenario):
        self.house, self.system, self.scenario = house, system, scenario
        self.faults, self.commands, self.announcements = [], [], []
        self.todo, self.order = [], itertools.count()

    def at(self, t, action, *arguments):
        heapq.heappush(self.todo, (t, next(self.order), action, arguments))

    def go(self, wav):
        """Plays, carries out the events, and ends. Times are in s since the house was built."""
        self.system.start()
        house, seconds = self.house, self.scenario["seconds"]
        house.prefer()
        before = [host.cost()[0] for host in house.hosts]
        busy = processors()
        self.play = house.now()
        progress(f"  {self.scenario['name']}: playing for {seconds} s")
        if self.scenario["live"]:
            words = [sys.executable, os.path.join(houses.HERE, "feeder.py"), wav, self.system.listen()]
            house.start(0, "feeder", words, true_clock=True)
        else:
            self.system.play(wav)
        for event in self.scenario["events"]:
            self.at(self.play + event["at"], self.event, event)
        for t in range(20, seconds, 20):
            self.at(self.play + t, progress, f"  {t} s")
        self.at(self.play + 3, house.expect_health)
        for t in (3, 8):
            self.at(self.play + t, house.prefer)
        while (now := house.now()) < self.play + seconds:
            if self.todo and self.todo[0][0] <= now:
                _, _, action, arguments = heapq.heappop(self.todo)
                action(*arguments)
            else:
                time.sleep(min(0.1, max(0.001, min([self.play + seconds, *(t for t, *_ in self.todo[:1])]) - now)))
        self.end = house.now()
        self.fed = int(house.log("feeder")) if self.scenario["live"] else None
        self.cost = [self._cost(host, old) for host, old in zip(house.hosts, before)]
        self.switch = json.loads(house.command("stats"))
        self.machine = {key: new - old for (key, new), old in zip(processors().items(), busy.values())}

    def _cost(self, host, before):
        cpu, memory = host.cost()
        seconds = sum(s - before.get(pid, 0) for pid, s in cpu.items())
        return {"cpu_percent": 100 * seconds / (self.end - self.play), "memory_mib": memory}

    def event(self, event):
        do, room, lasts = event["do"], event.get("room", 0), event.get("for", 0)
        t = self.house.now()
        progress(f"  {t - self.play:.1f} s: {do}" + (f", room {room}" if room else "") + (f", for {lasts} s" if lasts else ""))
        if do in FAULTS:
            self.begin(do, room, lasts)
            if lasts:
                self.at(t + lasts, self.finish, do, room, t)
            else:
                self.faults.append({"what": do, "room": room, "from": t, "until": t})
        elif do == "announce":
            self.announcements.append(t)
            self.system.announce(clip_file())
        else:
            self.commands.append({"what": do, "t": t})
            self.system.steer(do, *([event["to"]] if do == "seek" else []))

    def begin(self, do, room, lasts):
        if do == "outage":
            self.house.command(f"outage {room} {lasts}")
        elif do == "freeze":
            self.house.hosts[room].signal(signal.SIGSTOP)
        elif do == "kill":
            self.house.kill(room)
        else:
            open(os.path.join(self.house.card(room), CONTROLS[do]), "w").close()

    def finish(self, do, room, began):
        if do == "freeze":
            self.house.hosts[room].signal(signal.SIGCONT)
        elif do == "kill":
            self.system.restart(room)
            self.at(self.house.now() + 3, self.house.prefer)
        elif do in CONTROLS:
            os.unlink(os.path.join(self.house.card(room), CONTROLS[do]))
        self.faults.append({"what": do, "room": room, "from": began, "until": self.house.now()})


def processors():
    """Times of all processors so far, in s."""
    with open("/proc/stat") as file:
        fields = [int(f) / houses.TICKS for f in file.readline().split()[1:9]]
    return {"all": sum(fields), "idle": fields[3] + fields[4], "stolen": fields[7]}


def about():
    """Describes the machine and the source of this run."""
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "-C", houses.ROOT, "-c", f"safe.directory={houses.ROOT}", "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip()
    return {"machine": f"{os.cpu_count()} cores of {model}, Linux {platform.release()}", "commit": commit or "unknown",
            "date": datetime.date.today().isoformat(), "command": " ".join(["bench.py", *sys.argv[1:]])}


def signal_file(seconds):
    """Makes the test signal: of the usual length for all runs up to that, otherwise as long as needed."""
    os.makedirs(houses.BUILT, exist_ok=True)
    seconds = max(reference.SECONDS, seconds + 10)
    path = os.path.join(houses.BUILT, f"signal-{seconds}.wav")
    reference.write_signal(path, seconds)
    return path


def clip_file():
    """Makes what is announced: other noise than the signal."""
    path = os.path.join(houses.BUILT, f"clip-{reference.CLIP_SECONDS}.wav")
    reference.write_signal(path, reference.CLIP_SECONDS, seed=2)
    return path


def place(system_name, scenario_name, results):
    """The folder of all runs of a scenario on a system."""
    return os.path.join(results, ".".join([system_name, scenario_name]))


def perform(system_name, scenario_name, results, options, number=1, **changes):
    """Performs a run, and returns the folder with its files."""
    scenario = scenarios.load(scenario_name, **changes)
    progress(f"{system_name}, {scenario['rooms']} rooms, run {number}")
    result = os.path.join(place(system_name, scenario_name, results), f"run-{number}")
    folder = tempfile.mkdtemp(prefix="run-", dir=results)  # in memory during the run, so that no program waits for a disk
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=90%", "tmpfs", folder], check=True)
    try:
        wav = shutil.copy(signal_file(scenario["seconds"]), folder)
        with houses.House(scenario, folder) as house:
            system = importlib.import_module("systems." + system_name).System(house, scenario["options"] | options)
            run = Run(house, system, scenario)
            run.go(wav)
        os.unlink(wav)
        first = min([e["at"] for e in scenario["events"]], default=scenario["seconds"])
        facts = about() | {"system": system_name, "version": system.version, "scenario": scenario, "zero_ns": house.zero_ns,
                           "play": run.play, "end": run.end, "fed_ns": run.fed, "steady": [run.play + scenario["settle"], run.play + first - 1],
                           "faults": run.faults, "commands": run.commands, "announcements": run.announcements, "cost": run.cost, "switch": run.switch,
                           "busy_percent": 100 * (1 - run.machine["idle"] / run.machine["all"]),
                           "stolen_percent": 100 * run.machine["stolen"] / run.machine["all"],
                           "true_start": getattr(system, "at", None)}
        if scenario["live"] and hasattr(system, "concealed"):
            facts["concealed"] = system.concealed(scenario["settle"], scenario["seconds"])
        with open(os.path.join(folder, "run.json"), "w") as file:
            json.dump(facts, file, indent=1)
        shutil.copytree(folder, result, ignore=shutil.ignore_patterns("pipe", "raw", "home*", "state*", "lock"))
    finally:
        subprocess.run(["umount", "-l", folder])
        os.rmdir(folder)
    return result


def judge(folder, keep=False):
    """Analyses the files of a run, and returns its figures."""
    with open(os.path.join(folder, "run.json")) as file:
        facts = json.load(file)
    cards = {f"r{room}": os.path.join(folder, f"card{room}") for room in range(1, facts["scenario"]["rooms"] + 1)}
    wav = signal_file(facts["scenario"]["seconds"])
    figures, grid, offsets = analysis.analyse(cards, wav, facts["play"], facts["steady"], facts["end"], facts["zero_ns"],
                                              facts["faults"], facts["commands"], facts.get("fed_ns"),
                                              [(t, clip_file()) for t in facts.get("announcements", [])])
    figures = facts | figures
    plot.run(os.path.join(folder, "plot.png"), figures, grid, offsets)
    spread = (offsets.max(axis=0) - offsets.min(axis=0)) * 1e6
    inside = (grid >= facts["steady"][0]) & (grid <= facts["steady"][1])
    figures["spread_us"] = [None if s != s else round(float(s), 2) for s in spread[inside]]
    with open(os.path.join(folder, "figures.json"), "w") as file:
        json.dump(figures, file, indent=1)
    if not keep:
        for path in cards.values():
            shutil.rmtree(path)
    return figures
