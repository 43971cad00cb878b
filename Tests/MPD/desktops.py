"""Clients with windows, each on an X server, a session bus and in a home of its own. Where `TUTTI_SHOTS` names a folder, it gets a picture of each."""
import os
import pathlib
import sqlite3
import subprocess
import tempfile

from exchanges import WAIT
from watching import Proxy, check, mpc, output, reach

DESK = ["Xvfb", "dbus-run-session"]  # what each of them needs


class Desk:
    def __init__(self, bed, program, settings):
        self.program, self.home = program, pathlib.Path(tempfile.mkdtemp(prefix=f"{program}.", dir=bed.folder))
        for name, text in settings.items():
            path = self.home / ".config" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        reading, writing = os.pipe()
        self.screen = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1000x24", "-nolisten", "tcp"], pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as number:
            display = f":{number.readline().strip()}"
        self.environment = {**{key: text for key, text in os.environ.items() if not key.startswith("XDG_")}, "HOME": str(self.home), "DISPLAY": display}
        self.running = subprocess.Popen(["dbus-run-session", "--", program], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if folder := os.environ.get("TUTTI_SHOTS"):
            output("import", "-window", "root", f"{folder}/{self.program}.png", env=self.environment)
        os.killpg(self.running.pid, 15)
        self.running.wait(WAIT)
        self.screen.terminate()
        self.screen.wait(WAIT)

    def tool(self, *words):
        return output("xdotool", *words, env=self.environment).stdout.split("\n")

    def focus(self):
        """Waits for the window, and takes it for all that follows."""
        reach(f"{self.program} shows a window", lambda: self.tool("search", "--onlyvisible", "--class", self.program)[0])
        self.window = self.tool("search", "--onlyvisible", "--class", self.program)[0]
        self.tool("windowfocus", "--sync", self.window)


def queue(port):
    for line in ["clear", "add|Nina Simone/Pastel Blues/10.flac", "add|Björk"]:
        mpc(port, *line.split("|"))


def becomes(port, wanted, after):
    reach(f"{wanted} after {after}", lambda: all(word in mpc(port, "status").stdout for word in wanted))


def by_ario(port, bed):
    proxy = Proxy(port)
    queue(port)
    settings = {"ario/options.xml": '<ario-options><option key="first_time_flag">1</option></ario-options>',
                "ario/profiles/profiles.xml": f'<ario-profiles><profile host="127.0.0.1" port="{proxy.port}" current="true">Tutti</profile></ario-profiles>'}
    with Desk(bed, "ario", settings) as desk:
        reach("Ario reads the library and the queue", lambda: proxy.idles_after("list Artist", 'find Artist "Anna Calvi"', 'find Artist "Anna Calvi" Album "Hunter"', 'plchanges "4294967295"'))
        desk.focus()
        desk.tool("mousemove", "--window", desk.window, 75, 50, "click", 1)
        becomes(port, ["Sinnerman", "[playing]"], "Ario's button")
        desk.tool("key", "space")
        becomes(port, ["Sinnerman", "[paused]"], "Ario's button")
        mpc(port, "next")
        reach("Ario shows the next song", lambda: desk.tool("getwindowname", desk.window)[0] == "Ario - Human Behaviour")
    proxy.check_refusals("Ario", "nothing")
    mpc(port, "clear")
    return "reads the library and the queue, plays, pauses, shows the song"


def by_gmpc(port, bed):
    proxy = Proxy(port)
    queue(port)
    settings = {"gmpc/profiles.cfg": f'[Default]\nhostname="127.0.0.1"\nname="Default"\npassword=""\nportnumber="{proxy.port}"\nuseauth="0"\nmusic directory=""\ndb update time="0"\n', "gmpc/gmpc.cfg": '[Default]\nfirst-run="0"\n\n[connection]\nautoconnect="1"\n'}
    with Desk(bed, "gmpc", settings) as desk:
        reach("GMPC reads the queue", lambda: proxy.idles_after("commands", "notcommands", "urlhandlers", "outputs", "stats", *(f'playlistinfo "{place}"' for place in range(3))))
        desk.focus()
        desk.tool("key", "shift+F2")
        reach("GMPC reads the library", lambda: proxy.idles_after("list artist", "list album"))
        for key, wanted in [("ctrl+Up", ["Sinnerman", "[playing]"]), ("ctrl+Up", ["Sinnerman", "[paused]"]), ("ctrl+Right", ["#2/3", "[playing]"])]:
            desk.tool("key", key)
            becomes(port, wanted, f"{key} in GMPC")
    proxy.check_refusals("GMPC", r"\{listplaylistinfo\} No such playlist")
    mpc(port, "clear")
    return "reads the library and the queue, plays, pauses, skips"


def kept(home):
    """How many songs Cantata has in its own database."""
    try:
        return sum(sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("SELECT count(*) FROM songs").fetchone()[0] for path in home.rglob("*.sql"))
    except sqlite3.Error:
        return None


def by_cantata(port, bed, songs):
    folders = {str(path.relative_to(bed.folder / "music")) for path in (bed.folder / "music").rglob("*") if path.is_dir()}
    proxy = Proxy(port)
    with Desk(bed, "cantata", {"cantata/cantata.conf": f"[General]\nversion=2.5.0\ncurrentConnection=\n\n[Connection]\nhost=127.0.0.1\nport={proxy.port}\ndir=\n"}) as desk:
        reach("Cantata reads all folders", lambda: folders <= {line[8:-1] for line in list(proxy.answered) if line and line.startswith('lsinfo "')}, 10 * WAIT)
        reach("Cantata reads the playlists", lambda: any(line == "listplaylists" for _, line in proxy.said))
        reach(f"Cantata has {songs} songs", lambda: kept(desk.home) == songs, 10 * WAIT)
    proxy.check_refusals("Cantata", r"unknown command \"channels\"|Unsupported URI scheme|\{listplaylistinfo\} No such playlist|\{albumart\} No file exists")
    # Cantata says its name by a folder that there is not.
    walk = [(said, line) for said, line in proxy.said if line.startswith("lsinfo ") and "://" not in line]
    seconds = max(proxy.answered[line] for _, line in walk) - walk[0][0]
    check(seconds <= 2, f"Cantata has read {songs} songs in {seconds:.2f} s")
    return f"walked {songs} songs in {seconds:.2f} s by {len(walk)} commands, with a load of {os.getloadavg()[0]:.1f}"
