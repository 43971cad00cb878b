"""A household of the real programs: a daemon and receivers without cards. TUTTI_PROGRAMS says where they are."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
import math
import os
from pathlib import Path
import queue
import select
import signal
import struct
import subprocess
import threading
import time
import wave

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("TUTTI_PROGRAMS", ROOT / ".build" / "release"))
TOKEN = "a-token-of-the-household"
# Seconds, beyond which something is broken.
PATIENCE = 30
# This machine as others see it: run.sh gives it this address.
ADDRESS = "192.0.2.1"


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
        )
        self.lines, self.seen, self.wake = queue.Queue(), [], os.pipe()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        output, rest = self.process.stdout.fileno(), b""
        # A worker of a killed daemon may have its output for some seconds yet.
        while output in select.select([output, self.wake[0]], [], [])[0]:
            part = os.read(output, 1 << 16)
            if not part:
                break
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self.lines.put(line.decode().rstrip())
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

    def said(self, part):
        """Return the first line with `part`, of those that came and those that will."""
        return next((line for line in self.seen if part in line), None) or self.line(part)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=PATIENCE)
        if self.reader.is_alive():
            os.write(self.wake[1], b"!")
            self.reader.join(timeout=PATIENCE)


def tone(path, seconds=60, rate=8000):
    second = b"".join(struct.pack("<h", round(8000 * math.sin(n * 0.3))) for n in range(rate))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(seconds * second)


class Receivers:
    """Rooms, found by an Avahi daemon of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.avahi = Avahi(folder / "avahi")
        self.programs = {}
        for name in ("Kitchen", "Study"):
            self.start(name)

    def start(self, name, access="open"):
        # Another user's receiver, as it seems: it proves nothing to the daemon by a file, and asks for its PIN.
        runtime = self.folder / f"run-{name}"
        runtime.mkdir(mode=0o700, exist_ok=True)
        self.programs[name] = Program(
            "tutti-receiver", "--name", name, "--port", "0", "--output", "null",
            "--access", access, "--state-dir", self.folder / name,
            environment={**self.avahi.environment, "XDG_RUNTIME_DIR": str(runtime)},
        )  # fmt: skip
        self.programs[name].line("announced: ")

    def pin(self, name):
        """Return the PIN of a room."""
        said = subprocess.run(
            [PROGRAMS / "tutti-receiver", "--state-dir", self.folder / name, "pin"],
            capture_output=True, text=True, check=True, timeout=PATIENCE,
        ).stdout  # fmt: skip
        return "".join(c for c in said.splitlines()[0] if c.isdigit())

    def end(self):
        for program in self.programs.values():
            program.end()
        self.avahi.end()


class House:
    """A daemon, which plays in the rooms."""

    def __init__(self, folder, receivers, name="Home", more=""):
        self.folder, self.receivers, self.name, self.port = folder, receivers, name, 0
        self.token, self.more = TOKEN, more
        self.music = folder / "music"
        self.music.mkdir(parents=True)
        for title in ("Dawn", "Noon"):
            tone(self.music / f"{title}.wav")
        self.start()

    def start(self):
        """Start the daemon; again at the same port where it ran before."""
        configuration = self.folder / "tutti.conf"
        configuration.write_text(
            f"name = {self.name}\ntoken = {self.token}\nlibrary = {self.music}\n{self.more}"
        )
        self.daemon = Program(
            "tutti", "serve", "--config", configuration, "--listen", "127.0.0.1",
            "--port", str(self.port), "--state-dir", self.folder / "daemon",
            environment=self.receivers.avahi.environment,
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
            env=self.receivers.avahi.environment, capture_output=True, text=True, timeout=PATIENCE,
        )  # fmt: skip

    def run_until_done(self, *arguments):
        """Run a command again until it works: rooms have to be found first."""
        end = time.monotonic() + PATIENCE
        while (done := self.try_to(*arguments)).returncode:
            assert time.monotonic() < end, done.stdout + done.stderr

    def meet(self):
        """Let both rooms play in one group, as soon as the daemon has found them."""
        songs = [self.music / "Dawn.wav", self.music / "Noon.wav"]
        self.run_until_done("play", *songs, "--on", "Kitchen,Study")

    def pin(self):
        """Return the PIN of the household."""
        said = self.run("pin")
        return "".join(c for c in said.splitlines()[0] if c.isdigit())

    def end(self):
        self.daemon.end()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Stream:
    """A web server with songs, at this machine's address in the network."""

    def __init__(self, folder):
        folder.mkdir()
        for name, seconds in (("flow", 60), ("next", 60), ("bell", 1)):
            tone(folder / f"{name}.wav", seconds)
        self.server = ThreadingHTTPServer((ADDRESS, 0), partial(Quiet, directory=str(folder)))
        self.server.daemon_threads = False
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    def address(self, name):
        return f"http://{ADDRESS}:{self.server.server_port}/{name}.wav"

    def end(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
