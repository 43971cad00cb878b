"""Snapcast of Debian 12: snapserver on host 0, which reads a pipe; a snapclient on each other host. The server has no
pause: the program that writes to the pipe stops.

options: codec=flac, buffer=1000 (ms)
"""
import os
import signal
import subprocess

SERVER = """[server]
datadir = {home}
[http]
enabled = false
[tcp]
enabled = true
[stream]
source = pipe://{pipe}?name=bench&mode=read&sampleformat=48000:16:2&codec={codec}
codec = {codec}
buffer = {buffer}
"""


class System:
    def __init__(self, house, options):
        self.house, self.options = house, options
        self.pipe, self.place, self.feeder = house.path("pipe"), 0.0, None
        try:
            text = subprocess.run(["snapserver", "--version"], capture_output=True, text=True).stdout
        except FileNotFoundError:
            raise SystemExit("bench: apt-get install snapserver snapclient") from None
        self.version = text.split("\n")[0].split()[-1].lstrip("v")

    def start(self):
        os.mkfifo(self.pipe)
        with open(self.house.path("snapserver.conf"), "w") as file:
            file.write(SERVER.format(home=self.house.folder, pipe=self.pipe, codec=self.options.get("codec", "flac"),
                                     buffer=self.options.get("buffer", "1000")))
        self.house.start(0, "snapserver", ["snapserver", "-c", self.house.path("snapserver.conf"), "--logging.sink=stdout"])
        self.house.wait_for("snapserver", "bench")
        for room in range(1, self.house.rooms + 1):
            self.restart(room)
        for room in range(1, self.house.rooms + 1):
            self.house.wait_for(f"snapclient{room}", "odec")

    def restart(self, room):
        self.house.start(room, f"snapclient{room}", [
            "snapclient", "-h", self.house.hosts[0].address, "-p", "1704", "-s", "card", "--player", "alsa",
            "--hostID", f"r{room}", "--logsink", "stdout"])

    def listen(self):
        return self.pipe

    def play(self, wav):
        self.wav = wav
        self._feed()

    def _feed(self):
        self.began = self.house.now() - self.place
        first = 45 + int(self.place * 48000) * 4
        self.feeder = self.house.start(0, "feeder", ["sh", "-c", f"exec tail -c +{first} {self.wav} >{self.pipe}"], true_clock=True)

    def _stop(self):
        for pid in self.house.hosts[0].processes():
            with open(f"/proc/{pid}/comm") as file:
                if file.read() == "tail\n":
                    os.kill(pid, signal.SIGKILL)
        self.feeder.wait()

    def steer(self, do, seconds=None):
        if do != "resume":
            self.place = self.house.now() - self.began if seconds is None else seconds
            self._stop()
        if do != "pause":
            self._feed()
