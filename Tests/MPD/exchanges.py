#!/usr/bin/env python3
"""Says the same things to Debian's real mpd and to `tutti serve`, and compares what they answer. `make test-mpd` runs it.

    exchanges.py [--show]     --show prints each exchange in which the two differ

Needs mpd and ffmpeg. Answers are compared key by key. Numbers of songs, times and versions of the queue count as equal where both have
one, for each server counts by itself; of an error the code and the command count, not the words. What differs must be one of the
DIFFERENCES, which docs/operating.md lists for users; anything else ends with exit status 1.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS") or pathlib.Path(__file__).resolve().parents[2] / ".build/release")
WAIT = 20  # seconds after which something counts as missing
# Each server counts these by itself, or they go on by themselves.
OWN = {"Id", "songid", "nextsongid", "playlist", "elapsed", "time", "uptime", "playtime", "db_update", "db_playtime", "bitrate",
       "updating_db", "Last-Modified", "cpos"}

# The reasons, in the order of the manual: pairs of the commands where each holds, and of what tells it in the lines that only one of the
# two has.
DIFFERENCES = {
    "random, single, consume and replay gain": [(r"^(consume|single|replay_gain_mode|random|status|replay_gain_status)\b",
                                                 r"^(consume|single|random|replay_gain_mode|ACK|OK)")],
    "commands that there are not": [(r"^(sticker|subscribe|unsubscribe|channels|readmessages|sendmessage|mount|unmount|listmounts|getfingerprint|prio|rangeid|addtagid"
                                     r"|commands|notcommands|config|mixrampdb|mixrampdelay)\b|\nidle\n", r"")],
    "patterns and formats in filters": [(r"=~|AudioFormat", r"")],
    "tags, dates and formats": [(r"", r"^(Format|audio|tagtype|Date|artists|handler|plugin|suffix|mime_type): "), (r"^readcomments ", r": |OK"), (r"Date 2018", r": ")],
    "folders and playlists have no time of their own": [(r"", r"^Last-Modified")],
    "pictures are found in more places": [(r"^(albumart|readpicture)\b", r"")],
    "rooms are outputs, and groups are partitions": [(r"^(outputs|outputset|toggleoutput|enableoutput|disableoutput|moveoutput)\b", r""), (r"", r"^partition: ")],
    "parts of the queue": [(r"^shuffle \d", r"")],
    "files and their order": [(r"", r"^order$"), (r"^listfiles ", r""), (r"/\"$", r""), (r" window ", r": ")],
    "a seek beyond the end": [(r"^seekcur 9999", r"")],
}

SONGS = [  # artist, album, track, title, genre, date, seconds
    ("Anna Calvi", "One Breath", 1, "Suddenly", "Rock", "2013", 7), ("Anna Calvi", "One Breath", 2, "Eliza", "Rock", "2013", 8),
    ("Anna Calvi", "Hunter", 1, "As a Man", "Rock", "2018-08-31", 9), ("Björk", "Début", 1, "Human Behaviour", "Pop", "1993", 10),
    ("Björk", "Début", 2, "Crying \"out\"", "Pop", "1993", 11), ("Nina Simone", "Pastel Blues", 9, "Strange Fruit", "Jazz", "1965", 12),
    ("Nina Simone", "Pastel Blues", 10, "Sinnerman", "Jazz", "1965", 60), ("nina simone", "Live", 1, "It's \\ so", "Jazz", "1968", 13),
]


def exchanges():
    """All that is said, in order. `$N` stands for the Id of the song at place N of the queue."""
    yield from ["ping", "status", "currentsong", "stats", "tagtypes", "tagtypes clear", "currentsong", "tagtypes enable Artist Title", "tagtypes all", "urlhandlers",
                "decoders", "outputs", "listpartitions", "partition nowhere", "commands", "notcommands", "replay_gain_status", "getvol",
                "nonsense", "PING", "ping x", "status x", "ping \"", "  ping", "ping ", "", "ping\t", "password wrong", "listplaylists",
                "command_list_begin\nping\nping\ncommand_list_end", "command_list_ok_begin\nping\nstatus\ncommand_list_end",
                "command_list_ok_begin\nping\nnonsense\nping\ncommand_list_end", "command_list_begin\ncommand_list_end", "command_list_end"]
    # What there is.
    for path in ["", " \"\"", " \"/\"", " \"Björk\"", " \"Björk/Début\"", " \"Björk/Début/1.flac\"", " Nowhere", " \"../\"", " \"/etc\"", " \"Björk/\""]:
        yield from ["lsinfo" + path, "listall" + path, "listallinfo" + path, "listfiles" + path]
    for tag in ["Artist", "Album", "AlbumArtist", "Title", "Genre", "Date", "Track", "artist", "Nonsense", "file", "filename", "Composer"]:
        yield from [f"list {tag}", f"count group {tag}", f"list {tag} group Genre"]
    for words in ["list Album Artist \"Nina Simone\"", "list Album \"Nina Simone\"", "list Title \"x\"", "list Artist Genre Jazz", "list Album Artist \"\"", "list Genre \"(Artist == \\\"Björk\\\")\"",
                  "list Date Artist \"Anna Calvi\" Album Hunter", "list Album group AlbumArtist group Date", "list", "list Artist x y z", "count Artist \"Anna Calvi\"", "count", "count \"(Genre == \\\"Jazz\\\")\"",
                  "list Artist group", "list Album group Artist group Nonsense"]:
        yield words
    for command in ["find", "search"]:
        for words in ["Artist \"Nina Simone\"", "artist \"nina simone\"", "Artist \"Nina Simone\" Album Live", "any simone", "any Simone", "any \"\"", "Title Sinnerman", "title sinner", "file \"Björk/Début/1.flac\"", "filename Début",
                      "base \"Björk\"", "base Nowhere", "base \"\"", "Date 1965", "Date 2018", "Genre Jazz window 0:2", "Genre Jazz window 1:", "Genre Jazz window 5:9", "Genre Jazz window x", "Genre Jazz sort Title",
                      "Genre Jazz sort -Title", "Genre Jazz sort Title window 0:1", "Genre Jazz sort Nonsense", "Artist", "", "Nonsense x", "\"(Artist == \\\"Nina Simone\\\")\"", "\"(Artist != \\\"Nina Simone\\\")\"",
                      "\"((Artist == \\\"Björk\\\") AND (Track == \\\"2\\\"))\"", "\"(!(Artist == \\\"Björk\\\"))\"", "\"(Title contains \\\"man\\\")\"", "\"(any contains \\\"NINA\\\")\"", "\"(file == \\\"Björk/Début/1.flac\\\")\"", "\"(base \\\"Nina Simone\\\")\"",
                      "\"(Artist =~ \\\"B.*\\\")\"", "\"(modified-since \\\"2001-01-01\\\")\"", "\"(modified-since \\\"2101-01-01\\\")\"", "modified-since 2001-01-01", "\"(Artist == \\\"Björk\\\"\"", "\"(Artist Björk)\"", "\"()\"", "\"(AudioFormat == \\\"48000:16:2\\\")\"",
                      "Artist Björk Album Début Title \"Crying \\\"out\\\"\"", "AlbumArtist Björk", "Track 9"]:
            yield f"{command} {words}".strip()
    # The queue.
    yield from ["playlistinfo", "playlistid", "playlist", "playlistinfo 0", "playlistinfo 0:", "playlistinfo -1", "playlistid 77777", "plchanges 0", "plchangesposid 0", "plchanges 4294967295", "plchanges x",
                "add \"Björk/Début/1.flac\"", "add \"Nina Simone\"", "add Nowhere", "add", "add \"\"  x y", "addid \"Björk/Début/2.flac\"", "addid \"Anna Calvi/Hunter/1.flac\" 0", "addid Nowhere", "addid \"Anna Calvi\"", "addid \"Anna Calvi/Hunter/1.flac\" 99",
                "addid \"Anna Calvi/Hunter/1.flac\" x", "addid \"Anna Calvi/Hunter/1.flac\" -1", "add file:///etc/passwd", "add /etc/passwd", "add ../secret.flac", "playlistinfo", "playlistinfo 1", "playlistinfo 1:3", "playlistinfo 1:", "playlistinfo 9:3", "playlistinfo 99",
                "playlistid $1", "playlist", "plchanges 0", "plchangesposid 0", "plchanges 4294967295", "plchangesposid 99999999", "status",
                "playlistfind Artist Björk", "playlistsearch artist nina", "playlistfind \"(Artist == \\\"Björk\\\")\"", "playlistfind", "playlistsearch Nonsense x",
                "move 0 2", "move 99 0", "move 0 99", "move x 0", "move 0:2 1", "moveid $0 3", "moveid 77777 0", "swap 0 1", "swap 0 99", "swapid $0 $1", "swapid $0 77777",
                "playlistinfo", "delete 0", "delete 99", "delete x", "deleteid 77777", "deleteid $0", "delete 0:2", "delete 1:99", "playlistinfo", "clear", "clear x", "playlistinfo", "status",
                "findadd Artist \"Nina Simone\"", "searchadd artist björk", "findadd Artist Nobody", "findadd", "searchadd \"(Genre == \\\"Rock\\\")\"", "playlistinfo",
                "addid \"Björk/Début/2.flac\" +0", "add \"Björk/Début/2.flac\" 0", "playlistinfo 0"]
    # Playing.
    yield from ["stop", "pause", "pause 1", "status", "play 99", "play x", "playid 77777", "play -1", "stop", "clear", "add \"Nina Simone\"", "add \"Björk\"", "play 1", "?state=play song=1", "status", "currentsong", "pause 1", "?state=pause", "status", "currentsong", "pause 0", "?state=play",
                "pause", "?state=pause", "pause", "?state=play", "pause 2", "next", "?song=2", "currentsong", "previous", "?song=1", "seekcur 5", "seekcur +2", "seekcur -1", "seekcur x", "seek 1 3.5", "seek 99 1", "seekid $1 2", "seekid 77777 2", "seekcur 9999", "play 1", "?state=play song=1",
                "seekcur 6", "previous", "?song=0", "pause 1", "?state=pause", "next", "?state=play song=1", "stop", "?state=stop", "status", "currentsong", "next", "previous", "stop", "playid $2", "?state=play song=2", "status", "currentsong", "delete 0", "status", "clear", "?state=stop", "status", "currentsong"]
    # Options.
    yield from ["repeat 1", "status", "repeat 0", "repeat 2", "repeat x", "repeat", "random 0", "random x", "single 0", "single oneshot", "single 7", "consume 0", "consume 1", "crossfade 3", "status", "crossfade 0", "crossfade -1", "crossfade x",
                "setvol 30", "getvol", "setvol 101", "setvol -1", "setvol x", "volume +5", "volume -5", "volume x", "mixrampdb 0", "mixrampdelay 1", "replay_gain_mode off", "replay_gain_mode nonsense", "replay_gain_status"]
    # Lists.
    yield from ["add \"Björk\"", "save Evening", "save Evening", "listplaylists", "listplaylist Evening", "listplaylistinfo Evening", "listplaylist Nowhere", "listplaylistinfo Nowhere", "load Evening", "playlistinfo", "load Evening 0:1", "load Nowhere", "load Evening 7:9",
                "playlistadd Evening \"Nina Simone/Live/1.flac\"", "playlistadd Evening Nowhere", "playlistadd Morning \"Anna Calvi\"", "listplaylist Evening", "playlistmove Evening 0 1", "playlistmove Evening 0 99", "playlistmove Nowhere 0 1", "playlistdelete Evening 0", "playlistdelete Evening 99", "listplaylist Evening",
                "playlistclear Morning", "listplaylist Morning", "load Morning", "rename Evening Night", "rename Nowhere X", "rename Night Morning", "listplaylists", "rm Night", "rm Night", "rm Morning", "save \"a/b\"", "save \"\"", "listplaylists", "searchaddpl Mix artist björk", "listplaylist Mix", "rm Mix"]
    # The rest.
    yield from ["albumart \"Björk/Début/1.flac\" 0", "readpicture \"Björk/Début/1.flac\" 0", "albumart Nowhere 0", "readpicture Nowhere 0", "albumart \"Björk/Début/1.flac\"", "albumart \"Björk/Début/1.flac\" x", "binarylimit 64", "binarylimit 1", "binarylimit x",
                "sticker get song x y", "sticker", "subscribe a", "channels", "readmessages", "mount", "listmounts", "getfingerprint x", "prio 5 0", "rangeid 1 1:2", "addtagid 1 Title x", "config",
                "readcomments \"Björk/Début/1.flac\"", "readcomments Nowhere", "update Nowhere x y", "idle nonsense", "noidle", "clearerror", "command_list_begin\nidle\ncommand_list_end", "shuffle 0:1", "shuffle", "toggleoutput 99", "enableoutput 99", "disableoutput 99", "outputset 99 x y", "toggleoutput x",
                "moveoutput nowhere", "newpartition \"\"", "clear", "ping"]


class Server:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), WAIT)
        self.file = self.socket.makefile("rb")
        self.greeting = self.file.readline().decode()

    def ask(self, command):
        """Returns the lines of the answer; its last one is OK or an ACK. Bytes of a picture count as one line. A closed line is one, too."""
        try:
            self.socket.sendall(command.encode() + b"\n")
            lines = []
            while not lines or not re.match(r"OK$|ACK ", lines[-1]):
                line = self.file.readline()
                if not line:
                    return [*lines, "closed"]
                lines.append(line.decode(errors="replace").rstrip("\n"))
                if lines[-1].startswith("binary: "):
                    self.file.read(int(lines[-1][8:]) + 1)
            return lines
        except TimeoutError:
            return ["no answer"]
        except OSError:
            return ["closed"]

    def status(self):
        return dict(line.split(": ", 1) for line in self.ask("status")[:-1])

    def numbered(self, command):
        """Puts the Id of the song at place N of the queue where `$N` stands."""
        if "$" not in command:
            return command
        ids = [line[4:] for line in self.ask("playlistinfo") if line.startswith("Id: ")]
        return re.sub(r"\$(\d+)", lambda found: ids[int(found[1])] if int(found[1]) < len(ids) else "88888", command)

    def reach(self, wanted):
        """Waits until the status has these values."""
        pairs = dict(pair.split("=") for pair in wanted.split())
        end = time.monotonic() + WAIT
        while any(self.status().get(key) != value for key, value in pairs.items()):
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True


def plain(line):
    """A line as it is compared."""
    if found := re.match(r"ACK \[(\d+)@(\d+)\] (\{\w*\})", line):
        return "ACK " + " ".join(found.groups())
    key, colon, _ = line.partition(": ")
    return f"{key}: *" if colon and key in OWN else line


def parts(lines):
    """Splits an answer into its objects, so that a missing line does not move all others."""
    found = [[]]
    for line in lines:
        if re.match(r"(file|directory|playlist|outputid|partition|OK|ACK|list_OK)\b", line) and found[-1]:
            found.append([])
        found[-1].append(line)
    return found


def differing(theirs, ours):
    """Returns the lines that only one of the two has; `order` where all that differs is the order of the objects."""
    one, two = [plain(line) for line in theirs], [plain(line) for line in ours]
    lines = [line for line in one if one.count(line) > two.count(line)] + [line for line in two if two.count(line) > one.count(line)]
    if not lines and [part[0] for part in parts(one)] != [part[0] for part in parts(two)]:
        return ["order"]
    return sorted(set(lines))


def reasons(command, lines):
    """Returns the reason for each line; None for those without one."""
    return [next((reason for reason, pairs in DIFFERENCES.items() if any(re.search(where, command) and re.search(what, line) for where, what in pairs)), None)
            for line in lines]


def make_songs(folder, songs):
    for artist, album, track, title, genre, date, seconds in songs:
        path = folder / artist / album
        path.mkdir(parents=True, exist_ok=True)
        tags = {"artist": artist, "album": album, "track": str(track), "title": title, "genre": genre, "date": date, "album_artist": artist}
        words = [word for key, value in tags.items() for word in ("-metadata", f"{key}={value}")]
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"sine=frequency={200 + 50 * track}:sample_rate=48000:duration={seconds}", "-ac", "2", *words,
                        "-c:a", "flac", path / f"{track}.flac"], check=True)


def make_many(folder, count):
    """Songs of a second: 4 on each album, 40 of each artist. All are copies of one file, with tags of their own."""
    make_songs(folder, [("One", "One", 1, "One", "Pop", "2000", 1)])
    first = (folder / "One/One/1.flac").read_bytes()
    shutil.rmtree(folder / "One")
    place, is_last = 4, False  # of the blocks before the sound; the first one says what its format is
    while not is_last:
        is_last, place = first[place] & 0x80, place + 4 + int.from_bytes(first[place + 1:place + 4], "big")
    for number in range(count):
        artist, album, track = f"Artist {number // 40}", f"Album {number // 4}", number % 4 + 1
        tags = [f"{name}={text}".encode() for name, text in [("ARTIST", artist), ("ALBUM", album), ("TITLE", f"Song {number}"), ("TRACKNUMBER", track), ("DATE", 1950 + number % 70)]]
        block = b"".join(len(text).to_bytes(4, "little") + text for text in [b"", *tags])
        block = block[:4] + len(tags).to_bytes(4, "little") + block[4:]
        path = folder / artist / album / f"{track}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"fLaC\0" + first[5:42] + b"\x84" + len(block).to_bytes(3, "big") + block + first[place:])


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Bed:
    def __init__(self, folder):
        self.folder, self.running = folder, []
        self.ports = free_ports(4)

    def start(self, name, *words):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.running.append(subprocess.Popen([str(word) for word in words], stdout=log, stderr=log, env={**os.environ, "HOME": str(self.folder)}, cwd=self.folder))

    def end(self):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
        for process in reversed(self.running):
            process.wait(WAIT)

    def connect(self, port, name):
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            try:
                return Server(port)
            except OSError:
                time.sleep(0.05)
        sys.exit(f"exchanges: {name} does not answer:\n{(self.folder / f'{name}.log').read_text(errors='replace')[-2000:]}")

    def start_mpd(self, port):
        (self.folder / "playlists").mkdir()
        (self.folder / "mpd.conf").write_text(f"""music_directory "{self.folder}/music"
playlist_directory "{self.folder}/playlists"
db_file "{self.folder}/mpd.db"
bind_to_address "127.0.0.1"
port "{port}"
zeroconf_enabled "no"
audio_output {{
  type "null"
  name "Room"
  mixer_type "null"
}}
""")
        self.start("mpd", "mpd", "--no-daemon", self.folder / "mpd.conf")
        return self.connect(port, "mpd")

    def start_tutti(self, port, page, room):
        self.start("room", PROGRAMS / "tutti-receiver", "--name", "Room", "--port", room, "--access", "open", "--no-mdns", "--start-volume", "100",
                   "--state-dir", self.folder / "room", "--output", f"wav:{self.folder}/room.wav")
        (self.folder / "tutti.conf").write_text(f"port = {page}\nmpd = {port}\nlibrary = {self.folder}/music\n")
        self.start("tutti", PROGRAMS / "tutti", "serve", "--config", self.folder / "tutti.conf", "--state-dir", self.folder / "state")
        self.connect(port, "tutti")
        made = subprocess.run([PROGRAMS / "tutti", "play", "--stay", "--at", f"127.0.0.1:{room}", "--state-dir", self.folder / "state"], capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"exchanges: {made.stdout}{made.stderr}")
        return self.connect(port, "tutti")


def settle(server, name, count):
    """Waits until all songs are there, for a minute longer with each 1000 of them, and gives both the same options."""
    end = time.monotonic() + WAIT + count * 0.06
    while f"songs: {count}" not in server.ask("stats") or "updating_db" in server.status():
        if time.monotonic() > end:
            sys.exit(f"exchanges: {name} has not all songs: {server.ask('stats')}")
        time.sleep(0.05)
    for command in ["clear", "setvol 50", "repeat 0", "random 0"]:
        server.ask(command)


def compare(mpd, tutti, ports, bed, shows):
    used, unexplained, count = {}, [], 0
    for command in exchanges():
        if command.startswith("?"):
            for server, name in ((mpd, "mpd"), (tutti, "tutti")):
                if not server.reach(command[1:]):
                    unexplained.append((command, [f"{name} does not reach it: {server.status()}"]))
            continue
        count += 1
        theirs, ours = mpd.ask(mpd.numbered(command)), tutti.ask(tutti.numbered(command))
        if theirs[-1] in ("closed", "no answer"):
            mpd = bed.connect(ports[0], "mpd")
        if ours[-1] in ("closed", "no answer"):
            tutti = bed.connect(ports[1], "tutti")
        lines = differing(theirs, ours)
        found = reasons(command, lines)
        for reason in set(found) - {None}:
            used[reason] = used.get(reason, 0) + 1
        if None in found:
            unexplained.append((command, [line for line, reason in zip(lines, found) if reason is None]))
        if shows and lines:
            print(f"{command!r}\n  mpd    {theirs}\n  tutti  {ours}"[:1500])
    return count, used, unexplained


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--show", action="store_true")
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutti-mpd.") as name:
        bed = Bed(pathlib.Path(name))
        try:
            make_songs(bed.folder / "music", SONGS)
            mpd, tutti = bed.start_mpd(bed.ports[0]), bed.start_tutti(*bed.ports[1:])
            print(f"mpd says {mpd.greeting.strip()}, tutti says {tutti.greeting.strip()}")
            for server, who in ((mpd, "mpd"), (tutti, "tutti")):
                settle(server, who, len(SONGS))
            count, used, unexplained = compare(mpd, tutti, bed.ports, bed, options.show)
        finally:
            bed.end()
    for command, lines in unexplained:
        print(f"differs: {command!r}: {lines[:6]}"[:400])
    for reason, times in used.items():
        print(f"{times:4} × {reason}")
    print(f"{count} exchanges, {len(used)} kinds of differences that are known, {len(unexplained)} exchanges that differ otherwise")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
