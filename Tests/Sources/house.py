"""The household of airplay.py: a daemon whose input AirPlay is shairport-sync, and rooms that record."""

import json
import os
import pathlib
import signal

from network import HOME, until
from sound import Recording
from stage import PROGRAMS, Unmeasured

ROOMS = ("Kitchen", "Bedroom", "Study")
SPEAKER = "AirPlay"


class House:
    def __init__(self, stage, home):
        self.stage, self.home, self.config = stage, home, stage.folder / "tutti.conf"
        # The daemon calls shairport-sync by its name.
        home.environment["PATH"] = f"{PROGRAMS}:{home.environment['PATH']}"

    def start(self):
        for room in ROOMS:
            self.home.start(room, PROGRAMS / "tutti-receiver", "--name", room, "--port", 0, "--access", "open", "--start-volume", 100,
                            "--state-dir", self.stage.folder / room, "--output", f"wav:{self.stage.folder / room}.wav")
        self.config.write_text("name = Home\n")
        code, said = self.home.ask("tutti", "sources", "add", "airplay", "--config", self.config)
        if code:
            raise Unmeasured(f"tutti sources add failed: {said}")
        self.start_daemon()
        for room in ROOMS:
            self.stage.wait(room, lambda: self.stage.told(room, "announced"))

    def start_daemon(self):
        self.home.start("daemon", "tutti", "serve", "--config", self.config, "--state-dir", self.stage.folder / "state")
        self.stage.wait("daemon", lambda: self.stage.told("daemon", "ready"))
        if not until(self.speaker, 20):
            raise Unmeasured(f"shairport-sync does not start:\n{self.stage.last('daemon')}")

    def tutti(self, *words):
        code, said = self.home.ask("tutti", *words, "--state-dir", self.stage.folder / "state")
        if code:
            raise Unmeasured(f"tutti {' '.join(words)} failed: {said}")
        return said

    def play(self):
        self.tutti("play", SPEAKER, "--on", ",".join(ROOMS))
        if not until(lambda: self.state() == "playing", 20):
            raise Unmeasured(f"the rooms do not play:\n{self.stage.last('daemon')}")

    def status(self):
        return json.loads(self.tutti("status", "--json").splitlines()[0])

    def state(self):
        return self.status().get("state")

    def volumes(self):
        return [room["volume"] for room in self.status()["rooms"]]

    def speaker(self):
        """Returns the process number of shairport-sync, or None."""
        daemon = self.stage.running["daemon"].pid
        for task in pathlib.Path(f"/proc/{daemon}/task").iterdir():
            for child in (task / "children").read_text().split():
                try:
                    if b"shairport-sync" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                        return int(child)
                except OSError:
                    pass
        return None

    def kill_speaker(self):
        process = self.speaker()
        os.kill(process, signal.SIGKILL)
        return process

    def recordings(self):
        found = []
        for room in ROOMS:
            begun = self.stage.told(room, r"frame 0 at (\d+) ns of CLOCK_MONOTONIC_RAW")
            if len(begun) != 1:
                raise Unmeasured(f"{room} began {len(begun)} recordings instead of one:\n{self.stage.last(room)}")
            found.append(Recording(self.stage.folder / f"{room}.wav", int(begun[0]) / 1e9))
        return found
