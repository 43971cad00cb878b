"""What loudness.py finds in the recordings of rooms: how loud songs are in them, and by how much a song was made louder from second to second."""

import os
import pathlib
import subprocess
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Servers"))

from bed import fast  # noqa: E402
from songs import loudness, raw  # noqa: E402

QUIET = 0.001  # of full scale: music does not begin below it
EDGE = 0.5  # seconds by which a recording may be longer or shorter than its songs: an MP3 has a little more, and on a busy machine a card runs dry


class Recording:
    """What a room's card has played, from the first sound to the last."""

    def __init__(self, room, kind, rate):
        self.rate = rate
        frames = numpy.fromfile(room.folder / "card/heard", {"S16_LE": "<i2", "S32_LE": "<i4"}[kind])
        frames = frames[:len(frames) // 2 * 2].reshape(-1, 2)
        self.frames = frames.astype("<f4") / numpy.float32(-float(numpy.iinfo(frames.dtype).min))
        sounds = numpy.flatnonzero(abs(self.frames).max(1) > QUIET)
        self.frames = self.frames[sounds[0]:sounds[-1] + 1] if len(sounds) else self.frames[:0]
        self.seconds = len(self.frames) / rate

    def fits(self, songs):
        return abs(self.seconds - sum(song.seconds for song in songs)) <= EDGE

    def cut(self, songs):
        """Returns the frames of each song; they follow each other without a gap."""
        ends = numpy.cumsum([song.seconds * self.rate for song in songs])
        return numpy.split(self.frames, ends[:-1])

    def loudness(self, frames):
        return loudness(*raw(self.rate, 2), given=frames.tobytes())

    def gains(self, frames, path):
        """Returns for each second but those at the ends by how many dB it is louder than in the file, and how loud it is there."""
        done = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "f32le", "-ac", "2", "-ar", str(self.rate), "-"], capture_output=True, check=True)
        wanted = numpy.frombuffer(done.stdout, "<f4").reshape(-1, 2)[:, 0].astype(float)
        heard, second = frames[:, 0].astype(float), self.rate
        # Most like it is what is loud.
        place = len(wanted) - 2 * second
        late = int(fast(heard, wanted[place:place + second]).argmax()) - place
        found = []
        for begin in range(second, min(len(wanted), len(heard) - late) - 2 * second + 1, second):
            before, after = (power(part) for part in (wanted[begin:begin + second], heard[begin + late:begin + late + second]))
            found.append((after - before, before))
        return found


def power(part):
    return 10 * numpy.log10(numpy.mean(part ** 2) + 1e-20)


def forget(room):
    """Empties its record. A card that is open goes on at the place where it was, so silence is before that."""
    if room.heard():
        os.truncate(room.folder / "card/heard", 0)
