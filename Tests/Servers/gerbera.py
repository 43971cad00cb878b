#!/usr/bin/env python3
"""Plays from Gerbera, a media server of UPnP that cannot search in version 1.1, and lists each song in eight places without saying that it
is the same. `make test-servers` builds the programs and runs it where Gerbera is installed:

    apt-get install gerbera ffmpeg python3-numpy
    Tests/Servers/gerbera.py

It makes a folder of 200 songs, has Gerbera scan it, and starts `tutti serve` with Gerbera as a library and a room that records. Exit code:
0 all as it should be, 1 not so, 2 it could not be measured. Run it in a network namespace of its own, for its ports are fixed.
"""

import html
import json
import re
import subprocess
import sys
import urllib.request

from bed import Bed, added, cover, listed, play, run, until

PORT = 49494
OWN = "192.168.78.1"  # of this machine, on an interface that searches ask; Gerbera takes none without multicast
ADDRESS = f"http://{OWN}:{PORT}/description.xml"
SERVICE = "urn:schemas-upnp-org:service:ContentDirectory:1"
CONFIG = """<?xml version="1.0" encoding="UTF-8"?>
<config version="2" xmlns="http://mediatomb.cc/config/2">
<server><ui enabled="no"/><name>Attic</name><udn>uuid:5f1d0b5c-3c3c-4a3e-8a55-0a5f3c1f2b77</udn><home>{home}</home>
<webroot>/usr/share/gerbera/web</webroot>
<storage><sqlite3 enabled="yes"><database-file>gerbera.db</database-file></sqlite3></storage></server>
<import hidden-files="no"><autoscan use-inotify="no">
<directory location="{music}" mode="timed" interval="3600" level="full" recursive="yes" hidden-files="no"/></autoscan>
<scripting script-charset="UTF-8"><virtual-layout type="builtin"/></scripting>
<mappings><extension-mimetype ignore-unknown="no"><map from="flac" to="audio/x-flac"/></extension-mimetype>
<mimetype-upnpclass><map from="audio/*" to="object.item.audioItem.musicTrack"/>
<map from="image/*" to="object.item.imageItem"/></mimetype-upnpclass>
<mimetype-contenttype><treat mimetype="audio/x-flac" as="flac"/><treat mimetype="image/jpeg" as="jpg"/></mimetype-contenttype></mappings></import></config>
"""


def browse(container):
    """Returns the identifiers of containers by their titles, and how many objects there are."""
    body = (f'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><u:Browse xmlns:u="{SERVICE}"><ObjectID>{container}</ObjectID>'
            "<BrowseFlag>BrowseDirectChildren</BrowseFlag><Filter>*</Filter><StartingIndex>0</StartingIndex><RequestedCount>9</RequestedCount>"
            "<SortCriteria></SortCriteria></u:Browse></s:Body></s:Envelope>")
    request = urllib.request.Request(f"http://{OWN}:{PORT}/upnp/control/cds", body.encode(),
                                     {"Content-Type": 'text/xml; charset="utf-8"', "SOAPACTION": f'"{SERVICE}#Browse"'})
    with urllib.request.urlopen(request, timeout=20) as answer:
        text = html.unescape(answer.read().decode())
    inner = {title: number for number, title in re.findall(r'<container id="([^"]+)".*?<dc:title>(.*?)</dc:title>', text)}
    return inner, int(re.search(r"<TotalMatches>(\d+)", text)[1])


class Gerbera(Bed):
    def __init__(self, folder, count):
        super().__init__(folder, count, PORT)

    def start_server(self):
        home = self.folder / "gerbera"
        home.mkdir(exist_ok=True)
        (home / "config.xml").write_text(CONFIG.format(home=home, music=self.music))
        self.start("server", "gerbera", "-c", home / "config.xml", "-e", "attic", "-p", PORT)

    def set_up_server(self):
        # Gerbera fails where an address of IPv6 is not ready yet.
        for words in ("link add attic type veth peer name street", "link set attic addrgenmode none", f"addr add {OWN}/24 dev attic",
                      "link set attic up", "link set street up"):
            subprocess.run(["ip", *words.split()], check=True)
        self.start_server()
        if not until(self.has_scanned, 300):
            sys.exit(f"gerbera does not scan: {self.log('server')}")

    def has_scanned(self):
        try:
            audio = browse(browse("0")[0]["Audio"])[0]
            # Of a song's places this is the last but one.
            return browse(audio["All - full name"])[1] == self.count
        except (KeyError, OSError):
            return False

    def library(self, port):
        return f"upnp = {ADDRESS}\n"

    def words(self):
        return ["--upnp", ADDRESS], ""


def listing(bed):
    if found := listed(bed):
        bed.say(f"{bed.count} songs are in the library {found[0]:.2f} s after the start, from gerbera", found[1])
    tracks = json.loads(bed.get(f"/api/v1/library/tracks?limit={bed.count}"))["tracks"]
    titles = {track["title"] for track in tracks}
    bed.say(f"{len(titles)} titles are those of the files", titles == {f"Song {number}" for number in range(bed.count)})
    # Gerbera tells no length of the others, which have 0.2 s.
    bed.say("the long song has its length", sorted(track.get("durationS") or 0 for track in tracks)[-1] == 40)


def found(bed):
    said = bed.tutti("servers", "--find")
    bed.say(f"found in the network: {said.strip()}", said == f"Attic  {ADDRESS}\n")


if __name__ == "__main__":
    sys.exit(run(Gerbera, "gerbera", (added, listing, found, cover, play), songs=200))
