"""What plays to the speaker of airplay.py, on the phone's machine: each begins with `start`, and plays the noise until `stop`."""

import os
import pathlib
import subprocess
import sys
import threading
import time

from network import HOME, until
from stage import Unmeasured, now

HERE = pathlib.Path(__file__).resolve().parent
CHUNK = 441 * 4  # bytes: 10 ms


class Sender:
    """`begins` are the times at which it has begun to play the noise from its first frame on."""

    tells_volume, tells_titles = True, False

    def __init__(self, stage, phone, sound):
        self.stage, self.phone, self.sound, self.begins = stage, phone, sound, []


class Server(Sender):
    """A sound server. A program writes the noise into it as it is made, a hundredth of a second at a time."""

    def start(self):
        self.start_server()
        self.sink = until(self.find, 30)
        if not self.sink:
            raise Unmeasured(f"{self.name} does not find the speaker:\n{self.stage.last(self.name)}")
        # PulseAudio can fail where a program plays while it still asks the speaker what it can.
        until(lambda: "SUSPENDED" in self.phone.ask("pactl", "list", "short", "sinks")[1], 10)
        self.play()

    def find(self):
        code, said = self.phone.ask("pactl", "list", "short", "sinks")
        return next((line.split("\t")[1] for line in said.splitlines() if "raop" in line), None)

    def play(self):
        self.is_over = False
        self.pacat = subprocess.Popen(
            self.phone.command("pacat", "--raw", "--rate=44100", "--format=s16le", "--channels=2", "--latency-msec=100", "-d", self.sink),
            stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.begins.append(now())
        threading.Thread(target=self.write, daemon=True).start()

    def write(self):
        data, begin = self.sound.read_bytes(), self.begins[-1]
        for number, at in enumerate(range(0, len(data), CHUNK)):
            time.sleep(max(0, begin + number / 100 - now()))
            if self.is_over:
                return
            try:
                self.pacat.stdin.write(data[at : at + CHUNK])
                self.pacat.stdin.flush()
            except OSError:
                return

    def leave(self):
        """The program that plays ends."""
        self.is_over = True
        self.pacat.kill()
        self.pacat.wait()

    def volume(self, percent):
        self.phone.ask("pactl", "set-sink-volume", self.sink, f"{percent}%")

    def pause(self):
        self.leave()

    def resume(self):
        self.sink = until(self.find, 30)
        self.play()

    def stop(self):
        self.leave()
        self.stage.stop(*self.parts)


class PulseAudio(Server):
    name = "PulseAudio"
    parts = ("PulseAudio",)
    idle = 2  # seconds until it pauses the speaker

    def start_server(self):
        self.phone.start("PulseAudio", "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--disable-shm=yes", "-L",
                         "module-native-protocol-unix", "-L", "module-raop-discover", "-L", "module-suspend-on-idle timeout=2")
        self.stage.wait("PulseAudio", lambda: self.phone.ask("pactl", "info")[0] == 0)


class PipeWire(Server):
    name = "PipeWire"
    parts = ("wireplumber", "pipewire-pulse", "PipeWire")
    idle = 5
    # Version 0.3.65.
    tells_volume = False

    def start_server(self):
        self.phone.start("PipeWire", "dbus-run-session", "pipewire")
        self.stage.wait("PipeWire", lambda: (self.phone.folder / "rt/pipewire-0").exists())
        self.phone.start("pipewire-pulse", "pipewire-pulse")
        self.phone.start("wireplumber", "dbus-run-session", "wireplumber")
        self.stage.wait("pipewire-pulse", lambda: self.phone.ask("pactl", "info")[0] == 0)
        self.phone.ask("pactl", "load-module", "module-raop-discover")


class Phone(Sender):
    """phone.py, which tells titles as well."""

    name = "phone"
    parts = ("phone",)
    idle = 0
    tells_titles = True

    def start(self):
        told, tell = os.pipe()
        self.phone.start(self.name, sys.executable, HERE / "phone.py", HOME, 5000, self.sound, "--orders", told, pass_fds=(told,))
        os.close(told)
        self.orders = os.fdopen(tell, "w")
        begun = self.stage.wait(self.name, lambda: self.stage.told(self.name, r"frame 0 at ([\d.]+)"))
        self.begins.append(float(begun[0]))

    def tell(self, line):
        print(line, file=self.orders, flush=True)
        self.stage.wait(self.name, lambda: line in self.stage.told(self.name, ".+"))

    def volume(self, percent):
        self.tell(f"volume {percent * 0.3 - 30:.2f}")

    def pause(self):
        self.tell("pause")

    def resume(self):
        self.orders.write("play\n")
        self.orders.flush()
        begun = until(lambda: self.stage.told(self.name, r"frame 0 at ([\d.]+)")[len(self.begins):], 10)
        self.begins.append(float(begun[0]))

    def title(self, title, artist, album):
        self.tell(f"title {title}|{artist}|{album}")

    def stop(self):
        self.orders.close()
        self.stage.stop(self.name)


SENDERS = (PulseAudio, PipeWire, Phone)
