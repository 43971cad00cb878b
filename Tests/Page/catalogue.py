"""An invented library for the mock server: the same 3000 albums on every run."""

import os
import random

ADJECTIVES = """Amber Paper Silver Slow Distant Quiet Northern Hollow Velvet Copper Winter Broken Electric Golden Small Blue
Salt Burning Wooden Late Hidden Open Crooked Gentle Wild Foreign Early Second Painted Heavy""".split()
NOUNS = """Rivers Lanterns Orchard Harbour Letters Machines Weather Gardens Mirrors Signals Horses Stairs Islands Engines
Windows Tides Bridges Feathers Stations Voices Kingdom Daughters Hours Telephones Mountains Satellites Fires Shadows Maps Swimmers""".split()
FIRST = """Ada Marlow Ines Tomas Leila Jonah Freya Milan Odette Ravi Solveig Caspar Nadia Emil Yuna Theo Marta Idris Petra Oskar
Lucia Anton Selma Kofi Greta Hugo Amara Viktor Elin Mateo""".split()
LAST = """Winter Calloway Brandt Okafor Lindqvist Moreau Castell Haruki Novak Abrams Santoro Vane Ferreira Ashdown Kessler Duarte
Holm Sinclair Varga Mbeki Rosen Tanaka Quill Armitage Bellamy Soler Nyberg Ibarra Thorne Adeyemi""".split()
PHRASES = """After the Rain|Nothing to Declare|Where the Road Bends|A Room with No Clock|Half Past Anything|Letters from the Coast
Leave the Light On|The Long Way Home|Everything at Once|Songs for an Empty House|Between Two Trains|Say It Slowly
The Year We Stood Still|Underneath the Noise|Good Morning, Stranger|What the Water Said""".replace("\n", "|").split("|")
CODECS = [("MP3", "as it is"), ("FLAC", "as it is"), ("AAC", "as it is"), ("Opus", "not every room decodes ALAC")]
ALBUMS = int(os.environ.get("TUTTI_MOCK_ALBUMS", 3000))
NOW_S = 1795000000

RADIOS = [
    {"id": f"s{n}", "name": name, "uri": f"http://radio.example/{n}", "artwork": f"radio{n}"}
    for n, name in enumerate(["Radio Meridian", "Night Jazz FM", "Chamber Two", "Harbour 97.4", "Deep Archive", "Morning Folk"])
]


def artist_name(number):
    chance = random.Random(f"artist{number}")
    shape = chance.random()
    if shape < 0.55:
        return f"{chance.choice(FIRST)} {chance.choice(LAST)}"
    if shape < 0.8:
        return f"The {chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}"
    if shape < 0.92:
        return f"{chance.choice(NOUNS)} & {chance.choice(NOUNS)}"
    return f"{chance.choice(FIRST)} {chance.choice(LAST)} Quartet"


ARTISTS = sorted({artist_name(n) for n in range(420)}, key=lambda n: n.removeprefix("The ").lower())


def _album(number):
    chance = random.Random(f"album{number}")
    artist = chance.randrange(len(ARTISTS))
    shape = chance.random()
    if shape < 0.4:
        title = chance.choice(PHRASES)
    elif shape < 0.8:
        title = f"{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}"
    elif shape < 0.92:
        title = chance.choice(NOUNS)
    else:
        title = f"{chance.choice(PHRASES)} (Live at the {chance.choice(NOUNS)} Hall, Remastered Edition)"
    return {
        "id": f"a{number}", "title": title, "artist": ARTISTS[artist], "artistId": f"r{artist}",
        "year": chance.randint(1958, 2026), "trackCount": chance.randint(7, 14), "durationS": chance.randint(1900, 4200),
        "artwork": None if number % 41 == 40 else f"cover{number}", "addedAtS": NOW_S - number * 7000,
    }


ALBUM_LIST = [_album(n) for n in range(ALBUMS)]
ALBUM = {a["id"]: a for a in ALBUM_LIST}
SORTED = {
    "artist": sorted(ALBUM_LIST, key=lambda a: (a["artist"].removeprefix("The ").lower(), a["year"])),
    "title": sorted(ALBUM_LIST, key=lambda a: a["title"].lower()),
    "year": sorted(ALBUM_LIST, key=lambda a: -a["year"]),
    "added": ALBUM_LIST,
}


GENRES = ["Ambient", "Baroque", "Blues", "Chanson", "Classical", "Country", "Dub", "Electronic", "Folk", "Funk", "Hip-Hop", "Jazz", "Metal",
          "Opera", "Pop", "Punk", "Rock", "Soul", "Soundtrack", "World"]
COMPOSERS = [f"{last}, {first}" for first, last in zip(FIRST, LAST)]


def genre(album):
    """The number of an album's genre: an artist has one."""
    return int(album["artistId"][1:]) % len(GENRES)


def composer(album):
    return int(album["id"][1:]) % len(COMPOSERS)


def tagged(tag_id):
    number = int(tag_id[1:])
    if number >= 100:
        return [a for a in SORTED["artist"] if composer(a) == number - 100]
    return [a for a in SORTED["artist"] if genre(a) == number]


def tags(kind):
    names, of, base = (GENRES, genre, 0) if kind == "genres" else (COMPOSERS, composer, 100)
    found = [{"id": f"g{base + n}", "name": name, "albumCount": 0, "trackCount": 0} for n, name in enumerate(names)]
    for album in ALBUM_LIST:
        found[of(album)]["albumCount"] += 1
        found[of(album)]["trackCount"] += album["trackCount"]
    return sorted((t for t in found if t["albumCount"]), key=lambda tag: tag["name"])


def letters(names):
    """Where each first letter begins in a sorted list of names."""
    places = {}
    for index, name in enumerate(names):
        first = name.removeprefix("The ")[:1].upper()
        places.setdefault(first if first.isalpha() else "#", index)
    return [{"letter": letter, "offset": index} for letter, index in places.items()]


_ALL_TRACKS = []


def all_tracks():
    """In the order of their titles; made when somebody asks."""
    if not _ALL_TRACKS:
        _ALL_TRACKS.extend(sorted((t for a in ALBUM_LIST for t in tracks(a["id"])), key=lambda t: t["title"].removeprefix("The ").lower()))
    return _ALL_TRACKS


def tracks(album_id):
    album = ALBUM[album_id]
    chance = random.Random("tracks" + album_id)
    found = []
    for number in range(album["trackCount"]):
        title = chance.choice(PHRASES) if chance.random() < 0.45 else f"{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}"
        found.append({
            "id": f"t{album_id[1:]}-{number}", "title": title, "artist": album["artist"], "albumArtist": album["artist"],
            "album": album["title"], "albumId": album_id, "artistId": album["artistId"], "track": number + 1, "disc": 1,
            "year": album["year"], "durationS": chance.randint(120, 420), "codec": CODECS[int(album_id[1:]) % 4][0],
            "artwork": album["artwork"], "hasVideo": False,
        })
    if album_id == "a5":
        found[0]["hasVideo"] = True
    return found


def track(track_id):
    album, number = track_id[1:].split("-")
    return tracks("a" + album)[int(number)]


def search(text, limit):
    words = text.lower().split()

    def hits(name):
        return all(word in name.lower() for word in words)

    albums = [a for a in ALBUM_LIST if hits(a["title"] + " " + a["artist"])][:limit]
    found = [t for a in ALBUM_LIST[:400] for t in tracks(a["id"]) if hits(t["title"])][:limit]
    artists = [artist(n) for n, name in enumerate(ARTISTS) if hits(name)][:limit]
    return {"tracks": found, "albums": albums, "artists": artists, "radios": [r for r in RADIOS if hits(r["name"])]}


_COUNTS = {}
for _a in ALBUM_LIST:
    _COUNTS.setdefault(_a["artistId"], []).append(_a)


def artist(number):
    own = _COUNTS.get(f"r{number}", [])
    return {"id": f"r{number}", "name": ARTISTS[number], "albumCount": len(own), "artwork": own[0]["artwork"] if own else None}


def folder(path):
    if not path:
        return {"path": "", "folders": [{"path": n, "name": n} for n in ARTISTS], "tracks": []}
    parts = path.split("/", 1)
    own = [a for a in ALBUM_LIST if a["artist"] == parts[0]]
    if len(parts) == 1:
        names = [f'{a["year"]} {a["title"]}'.replace("/", "-") for a in own]
        return {"path": path, "folders": [{"path": f"{path}/{n}", "name": n} for n in names], "tracks": []}
    return {"path": path, "folders": [],
            "tracks": [t for a in own if f'{a["year"]} {a["title"]}' == parts[1] for t in tracks(a["id"])]}
