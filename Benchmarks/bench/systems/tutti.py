"""Tutti: `tutti play` on host 0, a `tutti-receiver` on each other host, addressed directly.

options: programs=FOLDER of both, codec=flac, play=FLAGS of `tutti play`, access=paired: the rooms are paired before,
daemon=yes: a household's daemon plays, and `tutti play` only tells it to,
sound=FLAGS of `tutti sound`: the last room has a FIR filter of 8192 taps, and this sound
"""
import json
import os
import shlex
import subprocess

import house as houses
import reference


class System:
    def __init__(self, house, options):
        self.house, self.options = house, options
        self.programs = os.path.abspath(options.get("programs", os.path.join(houses.ROOT, ".build", "release")))
        self._access = options.get("access", "open")
        self._has_sound = "sound" in options
        self._has_daemon = options.get("daemon", "no") == "yes"
        self.version = subprocess.run([self._program("tutti"), "--version"], capture_output=True, text=True).stdout.strip()

    def _program(self, name):
        path = os.path.join(self.programs, name)
        if not os.path.exists(path):
            raise SystemExit(f"bench: {path} is missing; run make build, or give --programs FOLDER")
        return path

    def start(self):
        for room in range(1, self.house.rooms + 1):
            self.restart(room)
        for room in range(1, self.house.rooms + 1):
            self.house.wait_for(f"receiver{room}", " listening: ")
            if self._access == "paired":
                self._pair(room)
        if self._has_sound:
            self._tune(self.house.rooms)
        if self._has_daemon:
            self.restart(0)
            self.house.wait_for("daemon", "ready")

    def _pair(self, room):
        host = self.house.hosts[room]
        pin = host.call([self._program("tutti-receiver"), "pin", "--state-dir", self.house.path(f"state{room}")]).stdout.strip()
        said = self.house.hosts[0].call(self._tutti("pair", "--at", f"{host.address}:7770", "--pin", pin))
        if said.returncode:
            raise SystemExit(f"bench: room {room} could not be paired: {said.stdout}{said.stderr}")

    def _tune(self, room):
        flags = shlex.split(self.options["sound"])
        said = self.house.hosts[0].call(self._tutti("sound", "--at", f"{self.house.hosts[room].address}:7770", "--fir", *flags))
        if said.returncode:
            raise SystemExit(f"bench: room {room} did not take its sound: {said.stdout}{said.stderr}")

    def restart(self, room):
        if room == 0:
            empty = self.house.path("daemon.conf")  # not that of this machine
            open(empty, "a").close()
            return self.house.start(0, "daemon", self._tutti("serve", "--config", empty, "--port", "0", "--codec",
                                                             self.options.get("codec", "flac")))
        own = []
        if self._has_sound and room == self.house.rooms:
            reference.write_filter(self.house.path("fir.wav"))
            own = ["--fir", self.house.path("fir.wav")]
        self.house.start(room, f"receiver{room}", [
            self._program("tutti-receiver"), "--name", f"r{room}", "--device", "card", "--access", self._access, "--no-mdns",
            "--start-volume", "100",
            "--state-dir", self.house.path(f"state{room}"), *own])

    def _tutti(self, *words):
        return [self._program("tutti"), *words, "--state-dir", self.house.path("state0")]

    def listen(self):
        pipe = self.house.path("pipe")
        os.mkfifo(pipe)
        self.play("pipe:" + pipe, "--raw", "48000:16:2")
        return pipe

    def play(self, source, *more):
        rooms = [word for host in self.house.hosts[1:] for word in ("--at", f"{host.address}:7770")]
        own = [] if self._has_daemon else ["--codec", self.options.get("codec", "flac"), "--json"]
        self.house.start(0, "tutti", self._tutti("play", source, *more, *rooms, *own, *shlex.split(self.options.get("play", ""))))

    def announce(self, clip):
        self.house.start(0, "announcement", self._tutti("announce", clip, "--no-chime"))

    def concealed(self, begin, end):
        """Number of packets that each room concealed from `begin` to `end`, in s of the music, by its reports each second."""
        counts, last = {}, {}
        for line in self.house.log("tutti").splitlines():
            status = json.loads(line).get("status", {}) if line.startswith("{") else {}
            for room in (r for r in status.get("rooms", []) if "sync" in r):
                name, now = room["name"], room["sync"]["lost"]
                new = max(0, now - last.get(name, 0))  # a room that was away starts counting at 0
                last[name] = now
                counts[name] = counts.get(name, 0) + (new if begin <= status.get("positionS", 0) <= end else 0)
        return counts

    def ask(self, *words):
        """Runs `tutti` on host 0 to its end, and returns what it says."""
        said = self.house.hosts[0].call(self._tutti(*words))
        if said.returncode:
            raise SystemExit(f"bench: tutti {' '.join(words)}: {said.stdout}{said.stderr}")
        return said.stdout

    def steer(self, do, *seconds):
        self.house.hosts[0].call(self._tutti(do, *map(str, seconds)))
