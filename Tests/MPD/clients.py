#!/usr/bin/env python3
"""Lets real clients of MPD steer `tutti serve`. `make test-mpd-clients` runs it.

    clients.py [NAME…]         only these: mpc python desktop satellite terminal cantata ario gmpc mpdscribble
    clients.py --songs 10000   only Cantata, which must read so many songs within 2 seconds, three times

Needs mpd and ffmpeg. Clients that are not installed are left out, which it says. What `mpc` prints is compared with what it
prints for Debian's mpd; the others fail if they do not show what they should within 20 seconds. Where `TUTTI_SHOTS` names a folder,
it gets a picture of each client that has a window.
"""
import argparse
import asyncio
import http.server
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from desktops import DESK, by_ario, by_cantata, by_gmpc
from exchanges import SONGS, WAIT, Bed, free_ports, make_many, make_songs, settle
from watching import FAILURES, Proxy, check, mpc, output, reach

# What mpc prints for both servers. Of times only the length counts.
MPC = """
clear|ls|ls Björk|listall|list artist|list album artist "Nina Simone"|list title artist Björk|list genre|lsplaylists|outputs|find artist Björk|search artist björk|search any o|find base Björk
find "((Artist == \\"Björk\\") AND (Track == \\"2\\"))"|add Björk|add "Nina Simone/Pastel Blues/10.flac"|findadd album Hunter|searchadd title sinner|add nowhere|playlist|-f "%position% %artist% %title% %time% %file%" playlist
play|current|queued|next|current|prev|pause|toggle|pause-if-playing|toggle|seek 3|seek +2|seek -1|seek 0:00:02|seekthrough +0:00:01|searchplay Sinner|current|stop|status|next|prev|seek 5|toggle|stop
play 99|play 2|move 1 3|playlist|del 1|del 99|insert "Anna Calvi/Hunter/1.flac"|playlist|crop|playlist|stop|add Björk|save Evening|save Evening|lsplaylists|playlist Evening|clear|load Evening|load nowhere
-r 0:1 load Evening|playlist|rm Evening|rm Evening|volume 40|volume +5|volume -10|volume 200|repeat on|repeat off|crossfade 3|crossfade|crossfade 0|clearerror|replaygain|replaygain off|clear|volume 50
"""


def same_by_mpc(ports, bed):
    def shown(port, line):
        found = mpc(port, *shlex.split(line))
        words = re.sub(r"\d+:\d\d/(\d+:\d\d) \(\d+%\)", r"\1", found.stdout + found.stderr)
        words = re.sub(r"\tvolume=.*\n", "", words)
        # The order of files is each server's own.
        return found.returncode, sorted(words.split("\n")) if re.match("ls|list|search ", line) else words

    lines = [line for line in re.split(r"[|\n]", MPC) if line]
    for line in lines:
        theirs, ours = (shown(port, line) for port in ports)
        check(theirs == ours, f"mpc {line}: mpd {theirs}, tutti {ours}")
    other = bed.folder / "music/Björk/Début/3.flac"
    shutil.copyfile(other.with_name("1.flac"), other)
    for port in ports:
        check(mpc(port, "-w", "update").returncode == 0, "mpc -w update")
        check("Björk/Début/3.flac" in mpc(port, "listall", "Björk").stdout, f"mpc -w update has not waited on port {port}")
    # The clients that come next know how many songs there are.
    other.unlink()
    for port in ports:
        check(mpc(port, "-w", "update").returncode == 0, "mpc -w update")
        check("Björk/Début/3.flac" not in mpc(port, "listall", "Björk").stdout, f"a song that was removed is still listed on port {port}")
    return f"{len(lines) + 2} commands"


def by_python(port):
    try:
        import mpd
        from mpd.asyncio import MPDClient
    except ImportError:
        return "left out, as there is no python3-mpd"
    steering = mpd.MPDClient()
    steering.connect("127.0.0.1", port)
    for command, part in [(("setvol", 41), "mixer"), (("add", "Björk"), "playlist"), (("play", 0), "player"), (("repeat", 1), "options"), (("save", "Python"), "stored_playlist")]:
        waiting, told = mpd.MPDClient(), []
        waiting.connect("127.0.0.1", port)
        thread = threading.Thread(target=lambda: told.extend(waiting.idle(part)), daemon=True)
        thread.start()
        getattr(steering, command[0])(*command[1:])
        thread.join(WAIT)
        check(told == [part], f"python-mpd2: idle {part} is told of {told} after {command}")
    steering.command_list_ok_begin()
    steering.status()
    steering.currentsong()
    check(steering.command_list_end()[1]["title"] == "Human Behaviour", "python-mpd2: a list of commands")

    async def both():
        client = MPDClient()
        await client.connect("127.0.0.1", port)
        await asyncio.gather(*(client.status() for _ in range(50)))
        found = await client.lsinfo("Björk")
        client.disconnect()
        return found

    check(asyncio.run(asyncio.wait_for(both(), WAIT)) == [{"directory": "Björk/Début"}], "python-mpd2: asyncio")
    for line in ["rm Python", "clear", "repeat off"]:
        mpc(port, *line.split())
    return "synchronous and asyncio"


def by_desktop(port, bed):
    found = output("dbus-run-session", "--", sys.executable, __file__, "--in-session", port, env={**os.environ, "HOME": str(bed.folder), "TUTTI_MUSIC": str(bed.folder / "music")})
    check(found.returncode == 0, f"mpDris2: {found.stdout}{found.stderr}")
    return "playerctl plays, skips, seeks and stops"


def in_session(port):
    """Within a session bus of its own."""
    mpc(port, "add", "Björk")
    bridge = subprocess.Popen(["mpDris2", "--host=127.0.0.1", f"--port={port}", f"--music-dir={os.environ['TUTTI_MUSIC']}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def shows(words):
        return lambda: words in output("playerctl", "-p", "mpd", "metadata", "--format", "{{status}} {{artist}} {{title}} {{loop}}").stdout

    try:
        reach("playerctl finds mpDris2", lambda: "mpd" in output("playerctl", "-l").stdout)
        for words, wanted in [("play", "Playing Björk Human Behaviour"), ("next", "Playing Björk Crying"), ("pause", "Paused"), ("previous", "Playing Björk Human"), ("loop Playlist", "Playlist"), ("loop None", "None"), ("stop", "Stopped")]:
            output("playerctl", "-p", "mpd", *words.split())
            reach(f"playerctl {words} → {wanted}", shows(wanted))
    finally:
        bridge.terminate()
        bridge.wait(WAIT)
    mpc(port, "clear")


def by_satellite(port, bed):
    own = free_ports(1)[0]
    configuration = (bed.folder / "mpd.conf").read_text().replace(f'port "{bed.ports[0]}"', f'port "{own}"')
    configuration = re.sub(r"db_file .*", f'database {{\n  plugin "proxy"\n  host "127.0.0.1"\n  port "{port}"\n}}', configuration)
    (bed.folder / "satellite.conf").write_text(configuration)
    bed.start("satellite", "mpd", "--no-daemon", bed.folder / "satellite.conf")
    bed.connect(own, "satellite")
    for line in ["ls", "ls Björk", "listall Björk", "list artist", "list album artist Björk", "find artist Björk", "search any sinner", "list album albumartist Björk"]:
        one, other = (mpc(number, *shlex.split(line)).stdout for number in (own, port))
        check(one == other and one, f"satellite: {line}: {one!r}, tutti {other!r}")
    mpc(own, "add", "Björk")
    mpc(own, "play")
    reach("the satellite plays", lambda: "[playing]" in mpc(own, "status").stdout)
    return "browses, and plays files that it has itself"


def by_terminal(port, bed):
    """Presses keys, and waits for what the screen shall show then."""
    tmux = ["tmux", "-S", bed.folder / "tmux"]
    environment = {**os.environ, "HOME": str(bed.folder), "TERM": "xterm-256color", "LANG": "C.UTF-8"}

    def screen():
        return output(*tmux, "capture-pane", "-p").stdout

    for program, keys in [("ncmpcpp", [("", "Playlist"), ("2", "[Björk]"), ("4", "Albums"), ("2", "[Björk]"), ("Space", "added"), ("1", "Suddenly"), ("Enter", "Playing: Anna Calvi"), ("7", "Room")]),
                          ("ncmpc", [("3", "[Björk]"), ("a", "Adding"), ("2", "Suddenly"), ("Enter", "Playing: Anna Calvi"), ("8", "Room")])]:
        if not shutil.which(program):
            continue
        output(*tmux, "new-session", "-d", "-x", "120", "-y", "40", program, "-h", "127.0.0.1", "-p", port, env=environment)
        reach(f"{program} connects", lambda: "Volume" in screen() or "Queue" in screen())
        for key, wanted in keys:
            output(*tmux, "send-keys", *key.split())
            reach(f"{program}: {wanted} after {key}", lambda: wanted in screen())
        output(*tmux, "kill-server")
        mpc(port, "clear")
    return "browses, adds and plays"


class Scrobbler(http.server.BaseHTTPRequestHandler):
    """Stands in for a service that hears what was played."""

    def do_GET(self):
        here = f"http://127.0.0.1:{self.server.server_port}"
        self.answer(f"OK\nsession\n{here}/now\n{here}/played\n")

    def do_POST(self):
        words = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.told.append((self.path, dict(urllib.parse.parse_qsl(words))))
        self.answer("OK\n")

    def answer(self, words):
        self.send_response(200)
        self.send_header("Content-Length", str(len(words)))
        self.end_headers()
        self.wfile.write(words.encode())

    def log_message(self, *_):
        pass


def by_mpdscribble(port, bed):
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scrobbler)
    service.told = []
    threading.Thread(target=service.serve_forever, daemon=True).start()
    proxy = Proxy(port)
    (bed.folder / "mpdscribble.conf").write_text(f"""log = -
host = 127.0.0.1
port = {proxy.port}
[stand-in]
url = http://127.0.0.1:{service.server_port}/
username = somebody
password = secret
journal = {bed.folder}/journal
""")
    # mpdscribble tells of nothing that is shorter than 30 seconds, and of the rest when half of it was heard.
    make_songs(bed.folder / "music", [("Moondog", "H'art Songs", 4, "Enough about Human Rights", "Jazz", "1978", 31)])
    mpc(port, "-w", "update")
    for line in ["clear", "add|Moondog", "add|Nina Simone/Pastel Blues/10.flac", "play"]:
        mpc(port, *line.split("|"))
    bed.start("mpdscribble", "mpdscribble", "--no-daemon", "--conf", bed.folder / "mpdscribble.conf")

    def told(path, **wanted):
        return lambda: any(where == path and wanted.items() <= words.items() for where, words in service.told)

    reach("mpdscribble tells what plays", told("/now", a="Moondog", t="Enough about Human Rights", b="H'art Songs", l="31", n="4"))
    reach("half of the song is heard", lambda: re.search(r"0:(1[89]|2\d)/0:31", mpc(port, "status").stdout))
    check(not told("/played")(), "mpdscribble tells of a song before its end")
    mpc(port, "next")
    reach("mpdscribble tells what was played", told("/played", **{"a[0]": "Moondog", "t[0]": "Enough about Human Rights"}))
    reach("mpdscribble tells what plays next", told("/now", a="Nina Simone", t="Sinnerman"))
    proxy.check_refusals("mpdscribble", "unknown command \"subscribe\"")
    mpc(port, "clear")
    return "tells what plays and what was played"


def run(wanted, songs):
    with tempfile.TemporaryDirectory(prefix="tutti-mpd.") as name:
        bed = Bed(pathlib.Path(name))
        theirs, ours = bed.ports[:2]
        try:
            if songs:
                make_many(bed.folder / "music", songs)
                settle(bed.start_tutti(*bed.ports[1:]), "tutti", songs)
            else:
                make_songs(bed.folder / "music", SONGS)
                for server, who in ((bed.start_mpd(theirs), "mpd"), (bed.start_tutti(*bed.ports[1:]), "tutti")):
                    settle(server, who, len(SONGS))
            for client, needs, drive in [
                ("mpc", ["mpc"], lambda: same_by_mpc((theirs, ours), bed)), ("python", [], lambda: by_python(ours)), ("desktop", ["mpDris2", "playerctl", "dbus-run-session"], lambda: by_desktop(ours, bed)),
                ("satellite", [], lambda: by_satellite(ours, bed)), ("terminal", ["tmux"], lambda: by_terminal(ours, bed)),
                ("cantata", ["cantata", *DESK], lambda: "; ".join(by_cantata(ours, bed, songs or len(SONGS)) for _ in range(3 if songs else 1))), ("ario", ["ario", "xdotool", *DESK], lambda: by_ario(ours, bed)),
                ("gmpc", ["gmpc", "xdotool", *DESK], lambda: by_gmpc(ours, bed)), ("mpdscribble", ["mpdscribble"], lambda: by_mpdscribble(ours, bed))]:
                if wanted and client not in wanted:
                    continue
                missing = [program for program in needs if not shutil.which(program)]
                print(f"{client}: {'left out, as there is no ' + ', '.join(missing) if missing else drive()}", flush=True)
        finally:
            bed.end()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--songs", type=int)
    options = options.parse_args()
    run(["cantata"] if options.songs else options.names, options.songs)
    print(f"{len(FAILURES)} failures")
    sys.exit(1 if FAILURES else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-session"]:
        in_session(sys.argv[2])
        sys.exit(1 if FAILURES else 0)
    main()
