"""The programs that lips.py runs: rooms, a screen without a monitor, and mpv, all in a folder of their own."""

import json
import mmap
import os
import pathlib
import re
import socket
import struct
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS", ROOT / ".build/release")).resolve()
ROOMS = ("Kitchen", "Bedroom", "Study")
WIDTH, HEIGHT = 320, 240
PATIENCE = 60  # seconds for a program to start


class Unmeasured(Exception):
    """Says why nothing can be measured."""


def now():
    """Returns the time of the clock by which receivers tell when their recordings began, in seconds."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) / 1e9


class Stage:
    """The folder of a run, and the programs that run in it until its end."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.running = {}
        home = self.folder / "home"
        home.mkdir()
        self.environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
        self.environment |= {"HOME": str(home), "XDG_STATE_HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C.UTF-8"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(*self.running)

    def start(self, name, *command, **options):
        """Starts a program, whose messages go to NAME.log."""
        with open(self.folder / f"{name}.log", "w") as log:
            self.running[name] = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  env=self.environment, cwd=self.folder, **options)
        return self.running[name]

    def stop(self, *names):
        for name in names:
            self.running[name].terminate()
        for name in names:
            try:
                self.running[name].wait(20)
            except subprocess.TimeoutExpired:
                self.running[name].kill()
                self.running[name].wait()
            del self.running[name]

    def run(self, *command, **options):
        """Runs a program to its end."""
        done = subprocess.run([str(word) for word in command], capture_output=True, cwd=self.folder, **options)
        if done.returncode:
            raise Unmeasured(f"{command[0]} failed:\n{done.stderr.decode(errors='replace')[-1000:]}")

    def wait(self, name, ready):
        """Returns what `ready` returns, once that is something."""
        end = now() + PATIENCE
        while now() < end:
            found = ready()
            if found:
                return found
            if self.running[name].poll() is not None:
                break
            time.sleep(0.02)
        raise Unmeasured(f"{name} does not start:\n{self.last(name)}")

    def told(self, name, pattern):
        """Returns everything in a program's log that the group of a pattern matches."""
        return re.findall(pattern, (self.folder / f"{name}.log").read_text(errors="replace"))

    def last(self, name):
        """Returns the last lines of a program's log."""
        return "\n".join(self.told(name, ".+")[-5:]) or "it has said nothing"

    def start_rooms(self):
        """Starts receivers that record, and returns their addresses."""
        for name in ROOMS:
            self.start(name, PROGRAMS / "tutti-receiver", "--name", name, "--port", 0, "--no-mdns", "--access", "open", "--start-volume",
                       100, "--state-dir", self.folder / name, "--output", f"wav:{self.folder / name}.wav")
        return ["127.0.0.1:" + self.wait(name, lambda: self.told(name, r"listening: .* port (\d+)"))[0] for name in ROOMS]

    def make_device(self, addresses):
        """Compiles the plug-in as its first lines say, and describes the ALSA device `rooms`."""
        library = self.folder / "libasound_module_pcm_tutti.so"
        self.run("cc", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-DPIC", "-I", ROOT / "Sources/CTutti/include", "-o",
                 library, ROOT / "Examples/Sources/alsa/pcm_tutti.c", "-L", PROGRAMS, "-ltutti-c", "-lasound", "-Wl,-z,nodelete",
                 f"-Wl,-rpath,{PROGRAMS}")
        description = self.folder / "asoundrc"
        description.write_text(f'pcm_type.tutti {{ lib "{library}" }}\n'
                               f'pcm.rooms {{ type plug  slave.pcm {{ type tutti  rooms "{",".join(addresses)}" }} }}\n')
        self.environment["ALSA_CONFIG_PATH"] = f"/usr/share/alsa/alsa.conf:{description}"

    def start_screen(self):
        told, tell = os.pipe()
        self.start("Xvfb", "Xvfb", "-displayfd", tell, "-screen", 0, f"{WIDTH}x{HEIGHT}x24", "-fbdir", self.folder, "-nolisten", "tcp",
                   pass_fds=(tell,))
        os.close(tell)
        with os.fdopen(told) as number:
            display = number.readline().strip()
        if not display:
            raise Unmeasured(f"Xvfb does not start:\n{self.last('Xvfb')}")
        self.environment["DISPLAY"] = f":{display}"
        return Screen(self.folder / "Xvfb_screen0")


class Screen:
    """The memory of Xvfb's screen, which is a file in the format of xwd."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        header = struct.unpack_from(">25I", self.memory)
        size, bits, line, colors = header[0], header[11], header[12], header[19]
        self.middle = size + 12 * colors + HEIGHT // 2 * line + WIDTH // 2 * bits // 8

    def is_white(self):
        return min(self.memory[self.middle : self.middle + 3]) > 128


class Player:
    """mpv, steered over its socket."""

    def __init__(self, stage, film):
        self.place, self.rest = 0.0, b""  # seconds of the film
        path = stage.folder / "mpv.socket"
        self.process = stage.start("mpv", "mpv", "--no-config", "--vo=x11", "--ao=alsa", "--audio-device=alsa/rooms", "--osd-level=0",
                                   "--no-osc", "--no-border", f"--geometry={WIDTH}x{HEIGHT}+0+0", "--msg-level=all=warn,ao=v",
                                   f"--input-ipc-server={path}", film)
        self.socket = socket.socket(socket.AF_UNIX)
        stage.wait("mpv", lambda: self.socket.connect_ex(str(path)) == 0)
        self.socket.setblocking(False)
        self.tell("observe_property", 1, "time-pos")

    def is_playing(self):
        return self.process.poll() is None

    def tell(self, *command):
        self.socket.sendall(json.dumps({"command": command}).encode() + b"\n")

    def listen(self):
        """Keeps the place that mpv has told last."""
        try:
            self.rest += self.socket.recv(1 << 16)
        except (BlockingIOError, ConnectionError):
            return
        *lines, self.rest = self.rest.split(b"\n")
        for event in map(json.loads, lines):
            if event.get("event") == "property-change" and event.get("data") is not None:
                self.place = event["data"]
