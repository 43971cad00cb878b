#!/usr/bin/env python3
"""Plays from minidlna, a media server of UPnP. `make test-servers` builds the programs and runs it:

    apt-get install minidlna ffmpeg python3-numpy
    Tests/Servers/upnp.py

It makes a folder of 5000 songs, has minidlna scan it, and starts `tutti serve` with minidlna as a library and a room that records. Exit
code: 0 all as it should be, 1 not so, 2 it could not be measured. Run it in a network namespace of its own, for its ports are fixed.
"""

import os
import subprocess
import sys
import urllib.request

from bed import LISTED, Bed, added, cover, listed, play, run, until

PORT = 8200
OWN = "192.168.77.1"  # of this machine, on an interface that searches ask


class MiniDLNA(Bed):
    def __init__(self, folder, count):
        super().__init__(folder, count, PORT)

    def start_server(self):
        config = self.folder / "minidlna.conf"
        tables = self.folder / "minidlna"
        tables.mkdir(exist_ok=True)
        config.write_text(
            f"port={PORT}\nmedia_dir=A,{self.music}\ndb_dir={tables}\nlog_dir={tables}\nfriendly_name=Loft\ninotify=no\n"
            f"network_interface=lo,near\nalbum_art_names=cover.jpg\nuser={os.getuid()}\n")
        self.start("server", "/usr/sbin/minidlnad", "-S", "-f", config, "-P", self.folder / "minidlna.pid")

    def set_up_server(self):
        for words in ("link add near type veth peer name far", f"addr add {OWN}/24 dev near", "link set near up", "link set far up"):
            subprocess.run(["ip", *words.split()], check=True)
        self.start_server()
        if not until(lambda: self.knocks(PORT) and f"finished ({self.count} files)" in self.scan_log(), 300):
            sys.exit(f"minidlna does not scan: {self.log('server')}{self.scan_log()}")

    def scan_log(self):
        path = self.folder / "minidlna" / "minidlna.log"
        return self.log("server") + (path.read_text(errors="replace") if path.exists() else "")

    def library(self, port):
        return f"upnp = http://127.0.0.1:{port}/rootDesc.xml\n"

    def words(self):
        return ["--upnp", f"http://127.0.0.1:{PORT}/rootDesc.xml"], ""


def listing(bed):
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/rootDesc.xml", timeout=20) as answer:
        answer.read()
    if found := listed(bed):
        bed.say(f"{bed.count} songs are in the library {found[0]:.2f} s after the start, from minidlna", found[1] and found[0] <= LISTED)


def found(bed):
    said = bed.tutti("servers", "--find")
    bed.say(f"found in the network: {said.strip()}", said == f"Loft  http://{OWN}:{PORT}/rootDesc.xml\n")


def places(bed):
    tables = [path.name for path in (bed.folder / "state").glob("*.db*") if f"127.0.0.1:{PORT}".encode() in path.read_bytes()]
    bed.say(f"no table has an address of the server: {tables or 'none'}", not tables)


if __name__ == "__main__":
    sys.exit(run(MiniDLNA, "minidlnad", (added, listing, found, cover, play, places)))
