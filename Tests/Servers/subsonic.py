#!/usr/bin/env python3
"""Plays from supysonic, a real server that speaks Subsonic's interface. `make test-servers` builds the programs and runs it:

    apt-get install supysonic python3-waitress ffmpeg python3-numpy
    Tests/Servers/subsonic.py

It makes a folder of 5000 songs, has supysonic scan it, and starts `tutti serve` with supysonic as a library and a room that records. Exit
code: 0 all as it should be, 1 not so, 2 it could not be measured. Run it in a network namespace of its own, for its ports are fixed.
"""

import http.server
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request

from bed import LISTED, Bed, added, cover, listed, play, run, until

PORT = 5722
PASSWORD = "sesame-opens-all"


class Supysonic(Bed):
    def __init__(self, folder, count):
        super().__init__(folder, count, PORT)

    def start_server(self):
        self.start("server", "supysonic-server", "-h", "127.0.0.1", "-p", PORT)

    def set_up_server(self):
        (self.folder / ".supysonic").write_text(
            f"[base]\ndatabase_uri = sqlite:///{self.folder}/supysonic.db\n[webapp]\ncache_dir = {self.folder}/cache\n"
            f"[daemon]\nrun_watcher = no\nsocket = {self.folder}/supysonic.sock\n")
        is_known = (self.folder / "supysonic.db").exists()
        for words in () if is_known else (["user", "add", "anna", "-p", PASSWORD], ["folder", "add", "music", str(self.music)],
                      ["folder", "scan", "music", "-f", "--foreground"]):
            made = subprocess.run(["supysonic-cli", *words], env=self.home, cwd=self.folder, capture_output=True, text=True)
            if made.returncode:
                sys.exit(f"supysonic-cli {words[0]} {words[1]}: {made.stdout}{made.stderr}")
        self.start_server()
        if not until(lambda: self.knocks(PORT)):
            sys.exit(f"supysonic does not start: {self.log('server')}")

    def library(self, port):
        secret = self.folder / "password"
        secret.write_text(PASSWORD + "\n")
        secret.chmod(0o600)
        return f"subsonic = http://127.0.0.1:{port}\nuser = anna\nlogin = password\npassword-file = {secret}\n"

    def words(self):
        return ["--subsonic", f"http://127.0.0.1:{PORT}", "--user", "anna", "--login", "password"], PASSWORD + "\n"


def listings(bed):
    """Lists from supysonic, which takes most of the time, and from a server that has its answers ready."""
    pages, begun = {}, time.monotonic()
    for offset in range(0, bed.count + 1, 500):
        query = f"u=anna&p={PASSWORD}&v=1.8.0&c=test&f=json&query=&artistCount=0&albumCount=0&songCount=500&songOffset={offset}"
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/rest/search3.view?{query}", timeout=100) as answer:
            pages[str(offset)] = answer.read()
    alone = time.monotonic() - begun

    class Ready(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = pages.get(urllib.parse.parse_qs(self.path.partition("?")[2]).get("songOffset", [""])[0], b"{}")
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    ready = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ready)
    threading.Thread(target=ready.serve_forever, daemon=True).start()
    if found := listed(bed, "ready", ready.server_port):
        bed.say(f"{bed.count} songs are in the library {found[0]:.2f} s after the start, from a server that has its answers ready",
                found[1] and found[0] <= LISTED)
    bed.kill("ready", signal.SIGTERM)
    ready.shutdown()
    if found := listed(bed):
        bed.say(f"{bed.count} songs are in the library {found[0]:.2f} s after the start, from supysonic, which alone took {alone:.2f} s", found[1])


def secrets(bed):
    places = [bed.folder / "daemon.log", *(bed.folder / "state").glob("*.db*")]
    leaks = [path.name for path in places if any(word in path.read_bytes() for word in (PASSWORD.encode(), PASSWORD.encode().hex().encode(),
                                                 PASSWORD.encode().hex().upper().encode(), b"/rest/"))]
    bed.say(f"neither log nor tables have the password, or an address with it: {leaks or 'none'}", not leaks)


if __name__ == "__main__":
    sys.exit(run(Supysonic, "supysonic-server", (added, listings, cover, play, secrets)))
