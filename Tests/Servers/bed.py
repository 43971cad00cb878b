"""What the tests of this folder share: 5000 songs, a daemon with a server as its library, a room that records, and the comparison of what
it has recorded with the song."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy

PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS") or pathlib.Path(__file__).resolve().parents[2] / ".build/release")
PAGE, ROOM = 8770, 7770
LISTED = 5.0  # seconds until all songs are in the library
WAIT = 60  # seconds after which something counts as missing
RATE = 44_100


def until(ready, seconds=WAIT):
    """Returns the seconds that it took, or None."""
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        if found := ready():
            return time.monotonic() - begun, found
        time.sleep(0.02)
    return None


def tagged(file, tags):
    """Puts a block of tags behind the first one of a FLAC file, and leaves out all others."""
    place, is_last = 4, False
    while not is_last:
        is_last, size = file[place] & 0x80, int.from_bytes(file[place + 1:place + 4], "big")
        first = file[place:place + 4 + size] if place == 4 else first
        place += 4 + size
    texts = [f"{name}={text}".encode() for name, text in tags.items()]
    block = struct.pack("<II", 0, len(tags)) + b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return b"fLaC" + bytes([first[0] & 0x7F]) + first[1:] + bytes([0x84]) + len(block).to_bytes(3, "big") + block + file[place:]


class Bed:
    def __init__(self, folder, count, port):
        self.port = port
        self.folder, self.count, self.running, self.is_good = folder, count, {}, True
        self.home = {**os.environ, "HOME": str(folder)}
        self.music = folder / "music"

    def say(self, what, is_right=True):
        self.is_good &= bool(is_right)
        print(what + ("" if is_right else "  WRONG"), flush=True)

    def make_songs(self):
        """One song is long and heard; the others are short, each with tags of its own."""
        # Dull noise: rooms follow a clock of their own, so their frames lie between those of the song.
        dull = numpy.convolve(numpy.random.default_rng(1).uniform(-1, 1, 40 * RATE), numpy.hanning(41), "same")
        noise = numpy.repeat((6_000 * dull / abs(dull).max()).astype(numpy.int16)[:, None], 2, 1)
        for name, frames in (("long", noise), ("short", noise[:RATE // 4])):
            raw = self.folder / f"{name}.raw"
            raw.write_bytes(frames.tobytes())
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "s16le", "-ar", str(RATE), "-ac", "2", "-i", raw,
                            self.folder / f"{name}.flac"], check=True)
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "color=red:size=600x600", "-frames:v", "1",
                        self.folder / "cover.jpg"], check=True)
        self.noise = noise
        if self.music.exists():
            return
        files = {name: (self.folder / f"{name}.flac").read_bytes() for name in ("long", "short")}
        for number in range(self.count):
            album = self.music / f"Artist {number // 100}" / f"Album {number // 10}"
            album.mkdir(parents=True, exist_ok=True)
            if number % 10 == 0:
                shutil.copy(self.folder / "cover.jpg", album / "cover.jpg")
            tags = {"title": f"Song {number}", "artist": f"Artist {number // 100}", "album": f"Album {number // 10}",
                    "tracknumber": str(number % 10 + 1), "genre": "Noise"}
            (album / f"{number % 10:02} song.flac").write_bytes(tagged(files["long" if number == 0 else "short"], tags))

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "ab")
        self.running[name] = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, env=self.home, cwd=self.folder)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def kill(self, name, number=signal.SIGKILL):
        process = self.running.pop(name)
        process.send_signal(number)
        process.wait(20)

    @staticmethod
    def knocks(port):
        import socket
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def start_server(self):
        raise NotImplementedError

    def library(self, port):
        """Lines of the configuration."""
        raise NotImplementedError

    def words(self):
        """Those of `tutti servers` that name it, and what is typed."""
        raise NotImplementedError

    def start_daemon(self, name="daemon", port=None):
        config = self.folder / f"{name}.conf"
        config.write_text(f"port = {PAGE}\n[library Home]\n" + self.library(port or self.port))
        state = self.folder / ("state" if name == "daemon" else name)
        self.start(name, PROGRAMS / "tutti", "serve", "--config", config, "--state-dir", state)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{PAGE}{path}", timeout=20) as answer:
            return answer.read()

    def tutti(self, *words):
        made = subprocess.run([PROGRAMS / "tutti", *words, "--state-dir", self.folder / "state"], capture_output=True, text=True, env=self.home)
        if made.returncode:
            print(f"tutti {' '.join(words)}: {made.stdout}{made.stderr}")
        return made.stdout

    def status(self):
        lines = self.tutti("status", "--json").splitlines()
        return json.loads(lines[0]) if lines else {}

    def position(self):
        return self.status().get("positionS") or 0


def listed(bed, name="daemon", port=None):
    bed.start_daemon(name, port)
    begun = time.monotonic()
    found = until(lambda: re.search(r"library Home: \S+ has (\d+) songs", bed.log(name)), 300)
    if not found:
        return bed.say(f"no listing: {bed.log(name)}", False)
    tracks = json.loads(bed.get("/api/v1/library/tracks?limit=1"))["count"]
    return time.monotonic() - begun, int(found[1].group(1)) == tracks == bed.count


def added(bed):
    """Adds the server to a daemon whose configuration names none, and removes it."""
    config, state = bed.folder / "added.conf", bed.folder / "added"
    config.write_text(f"port = {PAGE}\n")
    bed.start("added", PROGRAMS / "tutti", "serve", "--config", config, "--state-dir", state)
    until(lambda: bed.knocks(PAGE))

    def servers(*words, typed=""):
        made = subprocess.run([PROGRAMS / "tutti", "servers", *words, "--state-dir", state], input=typed, capture_output=True, text=True, env=bed.home)
        return made.stdout + made.stderr

    def count():
        return json.loads(bed.get("/api/v1/library/tracks?limit=1"))["count"]

    words, typed = bed.words()
    if typed:
        said = servers("--add", "Home", *words, typed="wrong\n")
        bed.say(f"a wrong password: {said.strip()}", "refuses the user or the password" in said and not json.loads(bed.get("/api/v1/servers"))["servers"])
    said = servers("--add", "Home", *words[:1], "http://127.0.0.1:1/none", *words[2:], typed=typed)
    bed.say(f"a wrong address: {said.strip()}", "gives no library" in said)
    begun = time.monotonic()
    said = servers("--add", "Home", *words, typed=typed)
    found = until(lambda: count() == bed.count, 300)
    bed.say(f"{said.strip()}: {count()} songs {time.monotonic() - begun:.1f} s after it was added", found)
    bed.say(servers("--remove", "Home").strip(), until(lambda: count() == 0))
    bed.kill("added", signal.SIGTERM)


def cover(bed):
    albums = json.loads(bed.get("/api/v1/library/albums?limit=1"))
    artwork = albums["albums"][0].get("artwork")
    picture = artwork and until(lambda: fetched(bed, artwork), 10)
    bed.say(f"{albums['count']} albums, and a cover of {len(picture[1]) if picture else 0} bytes", picture)


def fetched(bed, artwork):
    try:
        return bed.get(f"/api/v1/artwork/{artwork}?size=300")
    except OSError:
        return None


def play(bed):
    """Plays the long song twice; in the second time the server is killed in its middle, and comes back."""
    recording = bed.folder / "room.wav"
    bed.start("room", PROGRAMS / "tutti-receiver", "--name", "Room", "--port", ROOM, "--access", "open", "--start-volume", "100",
              "--state-dir", bed.folder / "room", "--output", f"wav:{recording}")
    until(lambda: bed.knocks(ROOM))
    bed.tutti("play", "--stay", "--at", f"127.0.0.1:{ROOM}")
    said = bed.tutti("search", "Song 0")
    number = next((line.split()[0] for line in said.splitlines() if re.search(r"Song 0\b", line)), "1")
    bed.tutti("search", "Song 0", "--play", number)
    bed.say("the song begins", until(lambda: bed.position() > 1))
    bed.say("the song ends", until(lambda: bed.status().get("state") != "playing", 90))
    bed.tutti("search", "Song 0", "--play", number)
    until(lambda: bed.status().get("state") == "playing")
    bed.kill("server")
    bed.say("the server is killed while the song plays")
    time.sleep(8)
    bed.say(f"8 s later it is at {bed.position():.1f} s, {bed.status().get('state')}")
    bed.start_server()
    bed.say("the song ends all the same", until(lambda: bed.status().get("state") != "playing" and bed.position() == 0
                                                or bed.status().get("state") in ("stopped", "idle"), 120))
    time.sleep(1)
    bed.kill("room", signal.SIGTERM)
    compare(bed, recording)


def compare(bed, path):
    """Finds parts of the song in the recording, which has it twice, and says how much they are like it. That packets and samples are the
    file's own bit for bit is shown by SecretAddressTests; the log says `FLAC as it is`."""
    # Samples are 32 bits of floating point.
    data = path.read_bytes()
    _, channels, rate = struct.unpack_from("<HHI", data, data.index(b"fmt ") + 8)
    samples = data[data.index(b"data") + 8:]
    sound = numpy.frombuffer(samples[:len(samples) // (4 * channels) * 4 * channels], "<f4").reshape(-1, channels)[:, 0].astype(float)
    wanted = bed.noise[:, 0].astype(float) / 32_768
    bed.say(f"the room recorded {len(sound) / rate:.1f} s at {rate} Hz")
    for begin in (2, 20, 36):
        part = wanted[begin * RATE:begin * RATE + RATE]
        at = int(fast(sound, part).argmax())
        alike = numpy.corrcoef(sound[at:at + len(part)], part)[0, 1]
        bed.say(f"second {begin} of the song is in the recording: correlation {alike:.5f}", alike > 0.99)
    count = bed.log("daemon").count("FLAC as it is")
    bed.say(f"its packets were passed on as they are, {count} times", count == 2)


def fast(sound, part):
    size = 1 << (len(sound) + len(part)).bit_length()
    return numpy.fft.irfft(numpy.fft.rfft(sound, size) * numpy.conj(numpy.fft.rfft(part, size)), size)[:len(sound) - len(part)]


def run(kind, program, steps, songs=5_000):
    """Makes a bed of this kind, and takes the steps; returns the exit code."""
    options = argparse.ArgumentParser()
    options.add_argument("--songs", type=int, default=songs)
    options.add_argument("--keep", help="a folder that is kept, with its songs, and used again")
    options = options.parse_args()
    if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin"):
        print(f"there is no {program}; see the head of this file", file=sys.stderr)
        return 2
    folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="tutti-servers."))
    folder.mkdir(exist_ok=True)
    for old in ("state", "ready", "added", "room", "daemon.log", "ready.log", "room.log", "server.log"):
        path = folder / old
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    bed = kind(folder, options.songs)
    try:
        bed.make_songs()
        bed.set_up_server()
        for step in steps:
            step(bed)
    finally:
        for name in list(bed.running):
            bed.kill(name)
        print(bed.log("daemon") if (folder / "daemon.log").exists() else "")
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0 if bed.is_good else 1
