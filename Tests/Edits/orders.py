#!/usr/bin/env python3
"""Two pages and a terminal steer one household, and agree after each order. `make test-edits` builds the programs and runs it:

    Tests/Edits/orders.py [--orders 1000] [--seed N] [--lie WHAT]

Chromium shows the page twice, at the bare address; orders are drawn for both pages and for `tutti` commands, sometimes for all of them at the same
time. After each, both pages, in what they know and in what they show, and what the terminal prints are compared with the API: groups, rooms,
volumes, now playing, play state, and the queues in their order. With --lie one of these is changed in the comparison, so the run must fail.
Exit code: 0 all as it should be, 1 not so.
"""

import argparse
import collections
import json
import os
import random
import subprocess
import sys
import time

from playwright.sync_api import TimeoutError

from home import ALBUMS, Home
from part import difference

from browser import chromium, context
from household import PROGRAMS
from pages import READ, Page

ROOMS = ("Kitchen", "Bathroom", "Study")
AGREE_S = 15
LONGEST = 14  # entries: so many rows are in view
TOGETHER = 0.3  # share of orders that are given at the same time as others
SIZE = (1440, 1600)


class Disagreement(Exception):
    pass


class Terminal:
    name = "terminal"

    def __init__(self, house, draw):
        self.house, self.random = house, draw

    def start(self, words):
        command = [str(PROGRAMS / "tutti"), *map(str, words), "--state-dir", str(self.house.folder / "daemon")]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **self.house.environment("ann")})

    def lines(self, *words):
        process = self.start([*words, "--json"])
        told, problem = process.communicate(timeout=20)
        if process.returncode:
            raise Disagreement(f"tutti {' '.join(map(str, words))}: {problem}")
        return [json.loads(line) for line in told.splitlines()]

    def shown(self):
        """What the commands print of groups with rooms, by the names of their rooms."""
        found = {}
        for group in self.lines("groups"):
            if not group["rooms"]:
                continue
            of = ["--group", group["rooms"][0]]
            status = self.lines("status", *of)[0]
            queue = self.lines("queue", *of) if status["itemCount"] else []
            found[", ".join(group["rooms"])] = {
                "name": group["name"], "state": group["state"], "title": group.get("title"), "volume": round(group["volume"]), "repeat": status["repeat"],
                "current": next((entry["number"] - 1 for entry in queue if entry["current"]), None), "queue": [entry["title"] for entry in queue],
                "rooms": {room["name"]: [room.get("volume"), room.get("muted")] for room in status["rooms"]}}
        return found

    def draw(self, truth):
        """Returns the kind of an order, and what starts it."""
        heard = [group for group in truth["groups"].values() if group["rooms"]]
        words = self.draw_words(heard, truth)
        return words and (f"tutti {words[0]}", lambda: self.start(words))

    def draw_words(self, heard, truth):
        song = lambda: self.house.folder / "music" / f"Album {self.random.randrange(ALBUMS)}" / f"{self.random.randrange(4)}.flac"
        free = [name for name, room in truth["rooms"].items() if not room["group"]]
        if not heard:
            return ["play", song(), "--on", self.random.choice(ROOMS)]
        group = self.random.choice(heard)
        count, of = len(group["queue"]), ["--group", group["rooms"][0]]
        kinds = ["add", "play", "volume", "volume all", "repeat", "mute"]
        if count:
            kinds += ["pause", "resume", "next", "previous", "jump", "jump", "shuffle", "move", "move", "remove", "undo", "undo"]
        kinds += ["clear"] * (count > LONGEST - 3) + ["join"] * 2 * bool(free) + ["leave"] * (len(group["rooms"]) > 1) + ["merge"] * 2 * (len(heard) > 1)
        kind = self.random.choice(kinds)
        place = lambda: self.random.randint(1, count)
        if kind == "add":
            where = self.random.choice([[], ["--next"], ["--now"], ["--at", 1]])
            return ["add", song(), *where, *of] if count < LONGEST else ["clear", *of]
        return {
            "play": lambda: ["play", song(), song(), *of], "volume": lambda: ["volume", self.random.randint(5, 95), "--on", self.random.choice(group["rooms"]), *of],
            "volume all": lambda: ["volume", self.random.choice(["+5", "-5"]), *of], "repeat": lambda: ["repeat", self.random.choice(["off", "one", "all"]), *of],
            "mute": lambda: ["volume", self.random.choice(["--mute", "--no-mute"]), "--on", self.random.choice(group["rooms"]), *of],
            "jump": lambda: ["jump", place(), *of], "shuffle": lambda: ["shuffle", *(["off"] if group["isShuffled"] else []), *of],
            "move": lambda: ["move", place(), place(), *of], "remove": lambda: ["remove", place(), *of], "join": lambda: ["join", self.random.choice(free), *of],
            "leave": lambda: ["leave", self.random.choice(group["rooms"]), *of],
            "merge": lambda: ["merge", self.random.choice([one["rooms"][0] for one in heard if one is not group]), *of],
        }.get(kind, lambda: [kind, *of])()


class Run:
    def __init__(self, house, browser, seed, lie):
        self.house, self.lie = house, lie
        self.random = random.Random(seed)
        self.counts, self.waits = collections.Counter(), []
        self.pages = [Page(name, house, context(browser, SIZE), self.random) for name in ("first page", "second page")]
        self.terminal = Terminal(house, self.random)
        self.slept = 0

    # What there is

    def truth(self):
        state = self.house.state()
        names = {room["id"]: room["name"] for room in state["rooms"]}
        groups = {}
        for group in state["groups"]:
            queue = self.house.api("GET", f"/groups/{group['id']}/queue?limit=1000")
            groups[group["id"]] = {
                "name": group["name"], "rooms": [names[room] for room in group["roomIds"]], "state": group["state"], "title": group.get("item", {}).get("title"),
                "volume": group["volume"], "muted": group["muted"], "repeat": group["repeat"], "isShuffled": group["queue"]["isShuffled"],
                "canUndo": group["queue"].get("canUndo"), "current": queue.get("index"), "queue": [entry["title"] for entry in queue["entries"]]}
        rooms = {room["name"]: {"group": room.get("groupId"), "state": room["state"], "volume": room.get("volume"), "muted": room.get("muted")}
                 for room in state["rooms"]}
        return {"groups": groups, "rooms": rooms}

    def problem(self, truth):
        """Says who does not show what the API says; None if all do."""
        for page in self.pages:
            shown = page.page.evaluate(READ)
            if problem := page.problem(shown, truth):
                return f"{page.name}: {problem}"
        wanted = {}
        for group in truth["groups"].values():
            if group["rooms"]:
                wanted[", ".join(group["rooms"])] = {
                    "name": group["name"], "state": group["state"], "title": group["title"], "volume": round(group["volume"]), "repeat": group["repeat"],
                    "current": group["current"], "queue": group["queue"],
                    "rooms": {name: [truth["rooms"][name]["volume"], truth["rooms"][name]["muted"]] for name in group["rooms"]}}
        found = self.terminal.shown()
        for key in found.keys() & wanted.keys():
            # The API knows the volume that a room had when it was connected last; a terminal shows it of connected rooms alone.
            found[key]["rooms"] = {name: wanted[key]["rooms"].get(name) if room == [None, None] and truth["rooms"][name]["state"] != "playing" else room
                                   for name, room in found[key]["rooms"].items()}
        return None if found == wanted else f"terminal: {difference(wanted, found)}"

    def agree(self, what):
        """Waits until all show the same, and the household is the same before and after they were asked."""
        begun = time.monotonic()
        problem = "nothing stays as it is"
        while time.monotonic() - begun < AGREE_S:
            truth = self.truth()
            told = changed(truth, self.lie)
            found = self.problem(told)
            if found is None and self.truth() == truth:
                self.waits.append(time.monotonic() - begun)
                return truth
            problem = found or problem
        raise Disagreement(f"{AGREE_S} s after {what}: {problem}")

    # What is done

    def step(self, truth):
        givers = [*self.pages, self.terminal]
        count = self.random.choice([2, 3]) if self.random.random() < TOGETHER else 1
        orders = [(giver, order) for giver in self.random.sample(givers, count) if (order := giver.draw(truth))]
        if not orders:
            return truth
        what = " and ".join(f"{giver.name}: {order[0]}" for giver, order in orders)
        processes = []
        for giver, (kind, start) in orders:
            try:
                made = start()
            except TimeoutError as error:
                # Another order, given at the same time, has taken the button away.
                self.counts["gone"] += 1
                if len(orders) == 1:
                    raise Disagreement(f"{what}: {error}") from error
                continue
            if giver is self.terminal:
                processes.append((kind, made))
        for kind, process in processes:
            process.communicate(timeout=60)
            self.counts["refused"] += process.returncode != 0
        for page in self.pages:
            page.until_answered()
        after = self.agree(what)
        for giver, (kind, _) in orders:
            self.counts[giver.name] += 1
            self.counts[f"kind {kind}"] += 1
        self.counts["together"] += len(orders) > 1
        self.counts["orders"] += len(orders)
        self.counts["changed"] += after != truth
        self.counts["steps"] += 1
        return after


def changed(truth, lie):
    """What the comparison is told; with a lie it is not what the household is."""
    if not lie:
        return truth
    told = json.loads(json.dumps(truth))
    for group in told["groups"].values():
        if lie == "order" and len(set(group["queue"])) > 1:
            group["queue"].append(group["queue"].pop(0))
        elif lie == "now":
            group["title"] = "Another song"
        elif lie == "state":
            group["state"] = "paused" if group["state"] == "playing" else "playing"
        elif lie == "volume":
            group["volume"] = 100 - group["volume"] + 3
        elif lie == "rooms":
            group["rooms"] = group["rooms"] + ["Attic"]
    return told


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--orders", type=int, default=1000)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options.add_argument("--lie", choices=["order", "now", "state", "volume", "rooms"])
    options = options.parse_args()
    print(f"seed {options.seed}", flush=True)
    begun = time.monotonic()
    with Home(ROOMS) as house, chromium() as browser:
        run = Run(house, browser, options.seed, options.lie)
        isRight = True
        try:
            truth = run.agree("the start")
            while run.counts["orders"] < options.orders:
                truth = run.step(truth)
                if faults := [fault for page in run.pages for fault in page.faults]:
                    raise Disagreement(f"a page reports: {faults}")
        except Disagreement as error:
            print(error, f"the rooms are {run.truth()['rooms']}", *house.daemon.lines[-15:], sep="\n")
            isRight = False
        report(run, time.monotonic() - begun)
    return 0 if isRight else 1


def report(run, seconds):
    counts, waits = run.counts, sorted(run.waits)
    for key in sorted(key for key in counts if key.startswith("kind ")):
        print(f"  {key[5:]:28} {counts[key]}")
    print(f"{counts['orders']} orders in {seconds:.0f} s: {counts['first page']} of the first page, {counts['second page']} of the second, {counts['terminal']} of the "
          f"terminal; {counts['together']} times several at the same time; {counts['changed']} of {counts['steps']} steps have changed what is compared, "
          f"{counts['refused']} commands were refused, {counts['gone']} buttons were gone")
    if waits:
        print(f"all agreed after {1000 * waits[len(waits) // 2]:.0f} ms (median), {1000 * waits[-1]:.0f} ms at most", flush=True)


if __name__ == "__main__":
    sys.exit(main())
