"""A real household: a library of tones with tags and covers, receivers on virtual sound cards, an Avahi daemon that only
they see, and `tutti serve`. The programs are those of `make build`, or of the folder TUTTI_PROGRAMS."""

import array
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import catalogue
import covers

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS", HERE.parents[1] / ".build/release"))
SUPPORT = HERE.parent / "Support"
FILM = "The Lighthouse"


class Program:
    """A process with its output. `kill` ends it with a signal that it cannot ignore."""

    def __init__(self, command, environment):
        self.command = command
        self.lines, self.news = [], threading.Condition()
        self.process = subprocess.Popen(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip())
                self.news.notify_all()
        with self.news:
            self.lines.append(None)
            self.news.notify_all()

    def line(self, pattern, seconds=60):
        """Returns the first line that fits, now or later."""
        def found():
            return [line for line in self.lines if line is None or re.search(pattern, line)]
        with self.news:
            if not self.news.wait_for(found, timeout=seconds) or found()[0] is None:
                raise RuntimeError(f"{self.command} did not say {pattern}, but: {self.lines}")
            return re.search(pattern, found()[0])

    def kill(self):
        """Kills the process, like a power cut."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.listener.join()
        self.process.stdout.close()


class Avahi:
    """A bus and an Avahi daemon of the test's own; see avahi-bed.sh."""

    def __init__(self, folder):
        self.environment = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/bus"}
        self.process = subprocess.Popen(["/bin/sh", str(SUPPORT / "avahi-bed.sh"), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._expect("ready")
        for command in ["start_bus", "start_daemon"]:
            self.process.stdin.write(f"{command}\n")
            self.process.stdin.flush()
            self._expect(command)

    def _expect(self, answer):
        line = self.process.stdout.readline().strip()
        if line != answer:
            raise RuntimeError(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Room:
    """A receiver on a virtual card, or without sound. `user` determines if it must be paired with the daemon."""

    def __init__(self, house, name, user="ann", hasCard=True):
        self.house, self.name, self.port, self.program = house, name, 0, None
        self.folder = house.folder / name
        (self.folder / "card").mkdir(parents=True)
        output = ["--device", f"virtual:DIR={self.folder}/card,{house.card(name)}"] if hasCard else ["--output", "null"]
        self.arguments = ["--name", name, "--start-volume", "100", "--state-dir", str(self.folder / "state"), *output]
        self.environment = house.environment(user)

    def start(self):
        self.program = Program([str(PROGRAMS / "tutti-receiver"), *self.arguments, "--port", str(self.port)], self.environment)
        self.port = int(self.program.line(rf"listening: {self.name} on port (\d+)")[1])

    def run(self, *command):
        """Runs a command of the receiver's owner."""
        return subprocess.run([str(PROGRAMS / "tutti-receiver"), *command, "--state-dir", str(self.folder / "state")],
                              env={**os.environ, **self.environment}, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def loudest(self, since=0):
        """Returns the largest sample that its card was given, from a byte of `heard` on."""
        data = array.array("h")
        size = self.heard()
        if not size:
            return 0
        with open(self.folder / "card/heard", "rb") as file:
            # A card that was opened again has begun its record anew.
            file.seek(since - since % 4 if since <= size else 0)
            bytes = file.read()
            data.frombytes(bytes[:len(bytes) // 2 * 2])
        return max(map(abs, data), default=0)

    def heard(self):
        """Returns the number of bytes that its card was given."""
        path = self.folder / "card/heard"
        return path.stat().st_size if path.exists() else 0


class Household:
    """Use it in a `with`. Kitchen, Bathroom and Terrace belong to the daemon's user, Office to another one. A bare one is not set up:
    its configuration names nothing, and its music lies in its user's music folder."""

    def __init__(self, albums=(12, 30, 7, 22), rooms=("Kitchen", "Bathroom", "Terrace"), stranger="Office", isBare=False):
        self.albums, self.names, self.stranger, self.isBare = albums, rooms, stranger, isBare
        self.port, self.daemon, self.rooms = 0, None, {}

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory(prefix="tutti-page-")
        self.folder = pathlib.Path(self.place.name)
        try:
            self._furnish()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _furnish(self):
        for user in ["ann", "bob"]:
            (self.folder / user).mkdir(mode=0o700)
        subprocess.run(["/bin/sh", str(SUPPORT / "virtual-card/build.sh"), str(self.folder / "plugin")], check=True)
        self.avahi = Avahi(self.folder / "avahi")
        self.make_music(self.folder / "music")
        (self.folder / "empty.conf").touch()
        (self.folder / "ann/.config").mkdir()
        (self.folder / "ann/.config/user-dirs.dirs").write_text(f'XDG_MUSIC_DIR="{self.folder}/music"\n')
        for name in self.names:
            self.rooms[name] = Room(self, name)
        if self.stranger:
            self.rooms[self.stranger] = Room(self, self.stranger, user="bob", hasCard=self.isBare)
        for room in self.rooms.values():
            room.start()
        self.start()
        self.wait(lambda state: {room["name"] for room in state["rooms"] if room["isPresent"]} >= set(self.rooms))
        if not self.isBare:
            self.wait(lambda state: state["library"]["trackCount"] and not state["library"].get("scan"))

    def make_music(self, folder):
        make_library(folder, self.albums)

    def card(self, room):
        """What is special about a room's virtual card."""
        return "FORMAT=S16_LE"

    def __exit__(self, *_):
        for program in [self.daemon, *[room.program for room in self.rooms.values()]]:
            if program:
                program.kill()
        if hasattr(self, "avahi"):
            self.avahi.end()
        self.place.cleanup()

    def environment(self, user):
        return {**self.avahi.environment, "ALSA_CONFIG_PATH": str(self.folder / "plugin/asound.conf"), "XDG_RUNTIME_DIR": str(self.folder / user),
                "HOME": str(self.folder / user)}

    # The daemon

    def start(self):
        self.daemon = Program([str(PROGRAMS / "tutti"), "serve", "--config", str(self.folder / "empty.conf"), "--name", "study",
                               *([] if self.isBare else ["--library", str(self.folder / "music")]), "--listen", "127.0.0.1", "--port", str(self.port),
                               "--state-dir", str(self.folder / "daemon")], self.environment("ann"))
        self.port = int(self.daemon.line(r"the page is http://.*:(\d+)")[1])
        self.address = f"http://127.0.0.1:{self.port}/"

    def stop(self):
        """Kills the process, like a power cut: the daemon must not take it for a death by its music, of which it allows two in a row."""
        self.daemon.kill()
        (self.folder / "daemon" / "house.db.starts").unlink(missing_ok=True)

    def again(self):
        """Takes the address of a daemon that has begun anew in the same process."""
        def addresses():
            return [found[1] for line in self.daemon.lines if line and (found := re.search(r"the page is http://.*:(\d+)", line))]
        with self.daemon.news:
            if not self.daemon.news.wait_for(lambda: len(addresses()) > 1, timeout=60):
                raise RuntimeError(f"the daemon has not begun anew: {self.daemon.lines}")
            self.port = int(addresses()[-1])
        self.address = f"http://127.0.0.1:{self.port}/"

    def tutti(self, *command, typed=""):
        """Runs a command in a terminal of the daemon's machine. Returns what it printed."""
        return subprocess.run([str(PROGRAMS / "tutti"), *command, "--state-dir", str(self.folder / "daemon")], check=True, capture_output=True, text=True,
                              input=typed, env={**os.environ, **self.environment("ann")}).stdout

    # The daemon's answers, without a page

    def api(self, method, path, body=None):
        request = urllib.request.Request(f"{self.address}api/v1{path}", method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={} if body is None else {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def state(self):
        return self.api("GET", "/state")

    def wait(self, condition, seconds=30):
        """Checks the state after each event of the daemon until the condition holds. Returns the state."""
        deadline = time.monotonic() + seconds
        with urllib.request.urlopen(f"{self.address}api/v1/events", timeout=20) as events:
            for line in events:
                if not line.startswith(b"data:"):
                    continue
                state = self.state()
                if condition(state):
                    return state
                if time.monotonic() > deadline:
                    raise RuntimeError(f"it did not come: {json.dumps(state)}")
        raise RuntimeError("the daemon has ended the events")

    def room(self, name):
        return next(room for room in self.state()["rooms"] if room["name"] == name)

    def play(self, *names, album=0):
        """Makes a group of these rooms, which plays an album. Returns the group's id once all of them play."""
        state = self.state()
        for group in state["groups"]:
            self.api("DELETE", f"/groups/{group['id']}")
        ids = [room["id"] for name in names for room in state["rooms"] if room["name"] == name]
        self.wait(lambda state: all(room["state"] == "free" for room in state["rooms"] if room["name"] in self.names))
        group = self.api("POST", "/groups", {"roomIds": ids})["id"]
        albums = self.api("GET", "/library/albums")["albums"]
        self.api("POST", f"/groups/{group}/queue", {"items": [{"albumId": albums[album]["id"]}, {"albumId": albums[album - 1]["id"]}], "at": "now"})
        self.wait(lambda state: all(room["state"] == "playing" for room in state["rooms"] if room["id"] in ids))
        for room in ids:
            self.api("PATCH", f"/rooms/{room}", {"volume": 50, "muted": False, "delayMs": 0, "channels": "stereo"})
        return group


# The library

def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], check=True)


def make_library(folder, albums):
    """Makes albums of the mock library, with covers, as MP3 and FLAC files, and a film."""
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(make_album, folder, number) for number in albums]
        jobs.append(pool.submit(make_film, folder / "Films"))
        for job in jobs:
            job.result()


def make_album(folder, number):
    album = catalogue.ALBUM[f"a{number}"]
    place = folder / album["artist"] / album["title"]
    place.mkdir(parents=True)
    picture = place / "cover.svg"
    picture.write_bytes(covers.cover(album["artwork"]))
    ffmpeg("-i", picture, "-q:v", 3, place / "cover.jpg")
    picture.unlink()
    # Encode one tone, and then cut it, which is fast. FLAC files contain their length, so they stay as they are.
    ending = ["mp3", "flac"][number % 2]
    tone = place.parent / f"{number}.{ending}"
    ffmpeg("-f", "lavfi", "-i", f"sine=f={200 + number * 7}:r=44100:d={180 if ending == 'mp3' else 100}", "-af", "volume=0.5", "-b:a", "64k", tone)
    for track in catalogue.tracks(album["id"])[:7]:
        tags = {"title": track["title"], "artist": track["artist"], "album": track["album"], "track": track["track"], "date": track["year"]}
        cut = ["-t", track["durationS"] // 4 + 70] if ending == "mp3" else []
        ffmpeg("-i", tone, "-c", "copy", *cut, *[word for key, value in tags.items() for word in ("-metadata", f"{key}={value}")],
               place / f"{track['track']:02} {track['id']}.{ending}")
    tone.unlink()


def make_film(folder):
    folder.mkdir(parents=True)
    ffmpeg("-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=60", "-f", "lavfi", "-i", "sine=f=330:r=48000:d=60", "-c:v", "libvpx", "-g", 25,
           "-deadline", "realtime", "-cpu-used", 8, "-c:a", "libopus", "-metadata", f"title={FILM}", "-metadata", "artist=Odette Vane", folder / "lighthouse.webm")


if __name__ == "__main__":
    # For other tools: prints its address, plays in two rooms, and runs until its input ends.
    with Household() as house:
        house.play("Kitchen", "Bathroom")
        print(house.address, flush=True)
        sys.stdin.read()
