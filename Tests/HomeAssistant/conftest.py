"""A household of the real programs: a daemon and two receivers without cards. TUTTI_PROGRAMS says where they are."""

import math
import os
from pathlib import Path
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import wave

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging" / "home-assistant"))
PROGRAMS = Path(os.environ.get("TUTTI_PROGRAMS", ROOT / ".build" / "release"))
TOKEN = "a-token-of-the-household"
PATIENCE = 30


class Avahi:
    """A bus and an Avahi daemon of the test's own."""

    def __init__(self, folder):
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/bus"}
        self.script = subprocess.Popen(
            ["/bin/sh", ROOT / "Tests" / "Support" / "avahi-bed.sh", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.script.stdout.readline().strip() == "ready"
        for order in ("start_bus", "start_daemon"):
            self.script.stdin.write(order + "\n")
            self.script.stdin.flush()
            assert self.script.stdout.readline().strip() == order

    def end(self):
        self.script.stdin.write("exit\n")
        self.script.stdin.close()
        self.script.wait(timeout=PATIENCE)


class Program:
    """A program whose lines are read as they come."""

    def __init__(self, name, *arguments, environment):
        self.process = subprocess.Popen(
            [PROGRAMS / name, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines, self.seen = queue.Queue(), []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip())
        self.lines.put(None)

    def line(self, part):
        """Return the next line with `part`."""
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"no line with {part!r}, but {self.seen}")
            self.seen.append(line)
            if part in line:
                return line

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(timeout=PATIENCE)


class House:
    """The daemon and its rooms."""

    def __init__(self, folder):
        self.folder, self.port = folder, 0
        self.music = folder / "music"
        self.music.mkdir()
        for name in ("Dawn", "Noon"):
            self.tone(self.music / f"{name}.wav")
        self.avahi = Avahi(folder / "avahi")
        self.receivers = [self._receiver(name) for name in ("Kitchen", "Study")]
        self.start()

    @staticmethod
    def tone(path, seconds=60, rate=8000):
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            frames = (round(8000 * math.sin(n * 0.3)) for n in range(seconds * rate))
            file.writeframes(b"".join(struct.pack("<h", frame) for frame in frames))

    def _receiver(self, name):
        program = Program(
            "tutti-receiver", "--name", name, "--port", "0", "--output", "null",
            "--access", "open", "--state-dir", self.folder / name,
            environment=self.avahi.environment,
        )  # fmt: skip
        program.line("announced: ")
        return program

    def start(self):
        """Start the daemon; again at the same port where it ran before."""
        configuration = self.folder / "tutti.conf"
        configuration.write_text(f"name = Home\ntoken = {TOKEN}\nlibrary = {self.music}\n")
        self.daemon = Program(
            "tutti", "serve", "--config", configuration, "--listen", "127.0.0.1",
            "--port", str(self.port), "--state-dir", self.folder / "daemon",
            environment=self.avahi.environment,
        )  # fmt: skip
        address = self.daemon.line("http://")
        self.port = int(address.split("http://")[1].split(":")[1].split("/")[0].split()[0])

    def run(self, *arguments):
        done = self.try_to(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def try_to(self, *arguments):
        return subprocess.run(
            [PROGRAMS / "tutti", *arguments, "--state-dir", self.folder / "daemon"],
            env=self.avahi.environment, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    def meet(self):
        """Let both rooms play in one group, as soon as the daemon has found them."""
        end = time.monotonic() + PATIENCE
        order = ["play", self.music / "Dawn.wav", self.music / "Noon.wav"]
        while (done := self.try_to(*order, "--on", "Kitchen,Study")).returncode:
            assert time.monotonic() < end, done.stdout + done.stderr

    def end(self):
        for program in [self.daemon, *self.receivers]:
            program.end()
        self.avahi.end()


@pytest.fixture
def house(socket_enabled):
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        try:
            yield house
        finally:
            house.end()


@pytest.fixture(autouse=True)
def _custom(enable_custom_integrations):
    """Let Home Assistant load the integration."""
