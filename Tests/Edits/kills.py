#!/usr/bin/env python3
"""Kills the daemon of a household while it is edited, and looks at what is left. `make test-edits` builds the programs and runs it:

    Tests/Edits/kills.py [--kills 200] [--seed N] [--forget KIND]

Edits of every kind come through the API, from several clients at once: queues, groups, scenes, volumes, playlists, favourites, podcasts, a stereo
pair, alarms and settings. SIGKILL comes at a drawn moment, also between a request and its answer. After the next start each edit that was answered
as done is there once, and one without an answer is there wholly or not at all. With --forget the model leaves out an edit of one kind, so the
run must fail. Exit code: 0 all as it should be, 1 not so.
"""

import argparse
import collections
import random
import sys
import threading
import time

from groups import Groups
from home import Home, serve_feeds
from lists import Favourites, Pair, Playlists, Podcasts, Settings
from part import Unanswered, Wrong, tallies

ROOMS, SPEAKERS, LOFT = ("Kitchen", "Bathroom", "Study"), ("Hall left", "Hall right"), "Loft"
COUNTED = {"cut", "strange"}
FREE_S = 5  # seconds in which all rooms are there, and in nobody else's hands


class Requests:
    """Counts the requests of all clients, so that the kill can wait for one of them."""

    def __init__(self):
        self.count, self.news = 0, threading.Condition()

    def note(self):
        with self.news:
            self.count += 1
            self.news.notify_all()

    def wait(self, count, clients, isEnough=None):
        isEnough = isEnough or (lambda: self.count >= count)
        with self.news:
            self.news.wait_for(lambda: isEnough() or not any(client.is_alive() for client in clients), timeout=60)


class Run:
    def __init__(self, home, seed, forgotten):
        self.home, self.forgotten, self.tally = home, forgotten, tallies()
        self.random = random.Random(seed)
        self.parts = [kind(home, seed, self.tally) for kind in (Groups, Playlists, Favourites, Podcasts, Pair, Settings)]
        groups, playlists, favourites, podcasts, pair, settings = self.parts
        groups.begin(ROOMS)
        playlists.begin()
        favourites.begin()
        podcasts.begin(serve_feeds())
        pair.begin(SPEAKERS)
        settings.begin(LOFT)

    def kill(self):
        """Lets all parts be edited until the daemon is killed."""
        self.requests, self.problems = Requests(), []
        clients = [threading.Thread(target=self.edit, args=(part,)) for part in self.parts]
        for client in clients:
            client.start()
        self.requests.wait(self.random.randint(1, 60), clients, self.forgotten and (lambda: any(part.hasForgotten for part in self.parts)))
        # From within the request to after its answer.
        time.sleep(self.random.uniform(0, 0.004))
        self.home.stop()
        for client in clients:
            client.join()
        if self.problems:
            raise self.problems[0]

    def edit(self, part):
        try:
            while True:
                self.requests.note()
                part.edit(self.forgotten)
        except Unanswered:
            pass
        except Exception as error:  # It is raised where the run ends.
            self.problems.append(error)

    def last(self):
        return "\n".join(edit for part in self.parts for edit in part.before[-8:])

    def look(self):
        self.home.start()
        for part in self.parts:
            part.compare()
        # Edits name rooms that discovery has to find again.
        try:
            self.home.wait(lambda state: not self.held(state), seconds=FREE_S)
        except RuntimeError:
            # The music has left these rooms, and they play on: see HandOver.
            for room in self.held(self.home.state()):
                if room["state"] != "taken" or room.get("groupId"):
                    raise Wrong(f"{FREE_S} s after the start {room['name']} is {room['state']}: {room.get('reason')}\n{self.last()}") from None
                self.tally["strange"]["room"] += 1
                self.home.tutti("stop", "--on", room["name"])
            self.home.wait(lambda state: not self.held(state))

    @staticmethod
    def held(state):
        return [room for room in state["rooms"] if not room["isPresent"] or room["state"] in ("away", "taken")]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options.add_argument("--forget", metavar="KIND")
    options.add_argument("--strict", action="store_true", help="also fails on what is counted")
    options = options.parse_args()
    print(f"seed {options.seed}", flush=True)
    begun = time.monotonic()
    with Home([*ROOMS, *SPEAKERS, LOFT]) as home:
        run = Run(home, options.seed, options.forget)
        kill = 0
        try:
            for kill in range(1, options.kills + 1):
                run.kill()
                run.look()
        except Exception as error:
            print(f"after kill {kill}: {error}", *home.daemon.lines[-20:], sep="\n")
            if not isinstance(error, Wrong):
                raise
            return 1
        finally:
            report(run.tally, kill, time.monotonic() - begun)
    missing = [kind for kind, counts in run.tally.items() if kind not in COUNTED and counts["asked"] >= 10 and not counts["done"]]
    if missing:
        print(f"never done: {', '.join(missing)}  WRONG")
    return 1 if missing or options.strict and any(run.tally["strange"].values()) else 0


def report(tally, kills, seconds):
    total = collections.Counter()
    for kind in sorted(tally.keys() - COUNTED):
        total.update(tally[kind])
        print(f"  {kind:24} {tally[kind]['done']:5} done, {tally[kind]['unanswered']:3} without an answer, {tally[kind]['refused']} refused")
    cut = tally["cut"]
    print(f"{kills} kills in {seconds:.0f} s: {total['done']} edits answered as done, {total['unanswered']} without an answer, of which {cut['done']} were done "
          f"and {cut['not done']} not (others would have changed nothing)")
    print(f"counted: {tally['strange']['room']} rooms that played on though the music had left them", flush=True)


if __name__ == "__main__":
    sys.exit(main())
