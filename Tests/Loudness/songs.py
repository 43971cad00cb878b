"""The music of loudness.py: noise of known loudness, in files of several formats, and a library of thousands of them."""

import dataclasses
import functools
import re
import subprocess

import numpy

RATE = 44_100
SOUNDS = 100  # that differ; all other songs are copies of these with tags of their own
ALBUM = 10  # songs
TAGGED = 90  # the sounds from here on have ReplayGain tags
RISE = 26  # dB, of the crescendo
CRESCENDO_S = 40
CODERS = {"flac": [], "mp3": ["-b:a", "128k"], "opus": ["-c:a", "libopus", "-b:a", "96k"], "m4a": ["-c:a", "aac", "-b:a", "128k"]}
# Each copy gets other numbers in their place, and so stays as long as it is.
MARKS = {"title": "Song 00000000", "album": "Album 0000000", "artist": "Singer 000000"}


@dataclasses.dataclass
class Song:
    """`tag` is the kind of tag that gives its loudness. Songs of one `album` play beside each other."""
    name: str
    level: float
    rate: int = RATE
    channels: int = 2
    seconds: int = 20
    tag: str = None
    album: str = None

    def path(self, folder):
        return folder / "Levels" / (self.album or self.name) / self.name


CRESCENDO = Song("crescendo.flac", -20, seconds=CRESCENDO_S)
LEVELS = [Song("loud.flac", -8), Song("usual.mp3", -14), Song("quiet.opus", -23), Song("very quiet.m4a", -30), Song("mono.flac", -20, channels=1),
          Song("fine.flac", -27, rate=96_000), Song("tagged.flac", -26, tag="ReplayGain"), Song("tagged.mp3", -12, tag="ReplayGain"),
          Song("tagged.opus", -10, tag="R128")]
TOGETHER = [Song("1 loud.flac", -12, album="Together"), Song("2 quiet.flac", -20, album="Together")]


def loudness(*source, given=None):
    """What FFmpeg's `ebur128` says, in LUFS. `source` are the words that name the input of `ffmpeg`."""
    done = subprocess.run(["ffmpeg", "-hide_banner", "-nostats", *map(str, source), "-af", "ebur128=framelog=verbose", "-f", "null", "-"],
                          input=given, capture_output=True, check=True)
    return float(re.findall(r"I: +(-?[\d.]+) LUFS", done.stderr.decode(errors="replace"))[-1])


def raw(rate, channels, kind="f32le"):
    return ["-f", kind, "-ar", rate, "-ac", channels, "-i", "-"]


def noise(seed, song):
    """Dull noise that is louder and quieter in turn, as music is, and has low peaks; in each channel half of it differs."""
    draw, count = numpy.random.default_rng(seed), song.seconds * song.rate
    dull = [numpy.convolve(draw.uniform(-1, 1, count), numpy.hanning(41), "same") for _ in range(song.channels + 1)]
    frames = numpy.stack([dull[0] + one for one in dull[1:]], 1)
    frames = numpy.tanh(1.2 * frames / frames.std())
    return frames * 10 ** (2 * numpy.sin(numpy.arange(count) / song.rate * 2.1)[:, None] / 20)


def at_level(frames, song):
    """A mono song is meant to have its loudness where two loudspeakers play it."""
    heard = frames if song.channels > 1 else numpy.repeat(frames, 2, 1)
    known = loudness(*raw(song.rate, heard.shape[1]), given=heard.astype("<f4").tobytes())
    frames = frames * 10 ** ((song.level - known) / 20)
    assert abs(frames).max() < 1, f"{song.name} would clip"
    return frames


def encode(frames, song, path, **tags):
    """A tag says how loud the file is, which an encoder may have changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    coder = CODERS[path.suffix[1:]] + (["-sample_fmt", "s16" if song.rate == RATE else "s32"] if path.suffix == ".flac" else [])

    def write(tags):
        words = [word for name, text in tags.items() for word in ("-metadata", f"{name}={text}")]
        subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, raw(song.rate, song.channels)), *coder, *words, path], input=frames.astype("<f4").tobytes(), check=True)

    write(tags)
    if song.tag == "ReplayGain":
        write(tags | {"REPLAYGAIN_TRACK_GAIN": f"{-18 - loudness('-i', path):.2f} dB", "REPLAYGAIN_TRACK_PEAK": f"{abs(frames).max():.6f}"})
    elif song.tag == "R128":
        write(tags | {"R128_TRACK_GAIN": round(256 * (-23 - loudness("-i", path)))})


def make_levels(folder):
    for number, song in enumerate([CRESCENDO, *LEVELS, *TOGETHER]):
        frames = noise(1000 + number, song)
        if song is CRESCENDO:
            frames *= 10 ** (numpy.linspace(-RISE, 0, len(frames))[:, None] / 20)
        encode(at_level(frames, song), song, song.path(folder), title=song.name, album=song.album or song.name, artist="Levels")


class Sound:
    """One of those that are copied: its bytes, its seconds, and its loudness in LUFS."""

    def __init__(self, number, folder):
        kind = list(CODERS)[number % len(CODERS)]
        self.isTagged = number >= TAGGED
        if self.isTagged and kind == "m4a":
            kind = "mp3"
        tag = "R128" if kind == "opus" else "ReplayGain"
        song = Song(f"{number}.{kind}", -10 - number % 23, seconds=6 + number % 9, tag=tag if self.isTagged else None)
        self.path, self.seconds = folder / song.name, song.seconds
        encode(at_level(noise(number, song), song), song, self.path, **MARKS)
        self.level, self.kind = loudness("-i", self.path), kind
        self.bytes = self.path.read_bytes()
        assert all(text.encode() in self.bytes for text in MARKS.values()), f"{self.path} has other tags"

    def copy(self, number):
        bytes = self.bytes
        for text, count in zip(MARKS.values(), (number, number // ALBUM, number // ALBUM // 10)):
            word, digits = text.split()
            bytes = bytes.replace(text.encode(), f"{word} {count:0{len(digits)}}".encode())
        return checked(bytes) if self.kind == "opus" else bytes


@functools.cache
def remainders():
    """The table of Ogg's checksum."""
    found = []
    for value in range(256):
        value <<= 24
        for _ in range(8):
            value = value << 1 ^ (0x104C11DB7 if value & 0x80000000 else 0)
        found.append(value)
    return found


def checked(bytes):
    """Corrects the checksum of an Ogg file's second page, which has the tags."""
    begin = bytes.index(b"OggS", 4)
    end = bytes.index(b"OggS", begin + 4)
    page, value = bytearray(bytes[begin:end]), 0
    page[22:26] = b"\0\0\0\0"
    for byte in page:
        value = (value << 8 & 0xFFFFFFFF) ^ remainders()[value >> 24 ^ byte]
    page[22:26] = value.to_bytes(4, "little")
    return bytes[:begin] + page + bytes[end:]


class Library:
    """`count` songs in albums of ten, a tenth of them with tags that give their loudness."""

    def __init__(self, count):
        self.count = count

    def make(self, folder, sounds):
        sounds.mkdir()
        self.sounds = [Sound(number, sounds) for number in range(min(SOUNDS, self.count))]
        for number in range(self.count):
            path = folder / self.path(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.sound(number).copy(number))
        make_levels(folder)

    def sound(self, number):
        return self.sounds[number % len(self.sounds)]

    def path(self, number):
        album = number // ALBUM
        return f"Singer {album // 10:06}/Album {album:07}/{number:08}.{self.sound(number).kind}"

    def by_path(self):
        return {self.path(number): self.sound(number) for number in range(self.count)}

    def seconds(self):
        """Of the songs without tags."""
        return sum(self.sound(number).seconds for number in range(self.count) if not self.sound(number).isTagged)

    def kinds(self):
        kinds = [self.sound(number).kind for number in range(self.count)]
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in CODERS)
