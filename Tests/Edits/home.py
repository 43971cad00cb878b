"""What the scripts of this folder share: a household whose songs are so long that none ends by itself, and a podcast."""

import contextlib
import http.server
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Page"))

from household import Household, ffmpeg  # noqa: E402

ALBUMS, SONGS = 6, 4
# Less than 20 minutes: longer songs go on where somebody has left them.
SECONDS = 19 * 60
EPISODES = 6


class Home(Household):
    """Silence needs little space and no time to be made."""

    def __init__(self, rooms):
        super().__init__(rooms=rooms, stranger=None)

    def make_music(self, folder):
        ffmpeg("-f", "lavfi", "-i", "anullsrc=r=44100:cl=stereo", "-t", SECONDS, self.folder / "silence.flac")
        for album in range(ALBUMS):
            place = folder / f"Album {album}"
            place.mkdir(parents=True)
            for song in range(SONGS):
                tags = {"title": f"Song {album}.{song}", "artist": f"Artist {album}", "album": f"Album {album}", "track": song + 1}
                ffmpeg("-i", self.folder / "silence.flac", "-c", "copy", *[word for key, value in tags.items() for word in ("-metadata", f"{key}={value}")],
                       place / f"{song}.flac")

    def tracks(self):
        return self.api("GET", "/library/tracks?limit=200")["tracks"]

    def albums_by_title(self):
        return sorted(self.api("GET", "/library/albums?limit=20")["albums"], key=lambda album: album["title"])


class Feeds(http.server.BaseHTTPRequestHandler):
    """Podcasts with a few episodes each, at /0, /1 …"""

    def do_GET(self):
        number = self.path.strip("/")
        items = "".join(f"<item><title>Episode {number}.{i}</title><guid>{number}-{i}</guid><pubDate>Mon, 0{i + 1} Jun 2026 06:00:00 GMT</pubDate>"
                        f'<enclosure url="{self.address()}/{number}/{i}.mp3" type="audio/mpeg" length="1"/></item>' for i in range(EPISODES))
        body = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Podcast {number}</title>{items}</channel></rss>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # The daemon is killed while it reads.
            self.wfile.write(body)

    def address(self):
        return "http://127.0.0.1:%d" % self.server.server_address[1]

    def log_message(self, *_):
        pass


def serve_feeds():
    """Returns the address under which the podcasts are."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Feeds)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return "http://127.0.0.1:%d" % server.server_address[1]
