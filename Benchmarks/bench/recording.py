"""Reads the recording of a virtual card: its takes, cut into pieces without a break."""
import glob
import os

import numpy as np

FORMATS = {"S16_LE": ("<i2", 2 ** 15), "S24_LE": ("<i4", 2 ** 23), "S24_3LE": (None, 2 ** 23), "S32_LE": ("<i4", 2 ** 31),
           "FLOAT_LE": ("<f4", 1)}
QUIET = 2.5 / 32768   # samples up to this count as silence
SHORTEST = 0.001      # s; shorter silences do not count


def read_frames(path, form, channels):
    kind, full = FORMATS[form]
    data = np.fromfile(path, np.uint8 if kind is None else kind)
    if kind is None:
        three = data[:len(data) // 3 * 3].reshape(-1, 3).astype(np.int32)
        data = (three[:, 0] << 8 | three[:, 1] << 16 | three[:, 2] << 24) >> 8
    data = data[:len(data) // channels * channels].reshape(-1, channels)
    if form == "S24_LE":
        data = data << 8 >> 8
    return (data / np.float32(full)).astype(np.float32)


class Piece:
    """Frames [first, last) of a take, and the true time at which each is heard."""

    def __init__(self, sound, rate, pace, knots):
        self.sound, self.rate, self.pace = sound, rate, pace
        frames, times = zip(*knots)
        self.frames, self.times = np.array(frames), np.array(times)
        self.first, self.last = round(frames[0]), min(int(frames[-1]), len(sound))

    def time(self, frame):
        """Time of a frame in s. Beyond the card's notes it assumes the pace of the crystal."""
        frame = np.asarray(frame, float)
        beyond = frame - np.clip(frame, self.frames[0], self.frames[-1])
        return np.interp(frame, self.frames, self.times) + beyond / self.pace

    def loud(self):
        """Spans of sound, in s, cut at silences of a millisecond or more."""
        quiet = np.abs(self.sound[self.first:self.last]).max(axis=1) <= QUIET
        edges = np.flatnonzero(np.diff(np.concatenate([[0], quiet.view(np.int8), [0]])))
        spans, at = [], self.first
        for begin, end in edges.reshape(-1, 2) + self.first:
            if end - begin >= SHORTEST * self.rate:
                spans.append((at, begin))
                at = end
        spans.append((at, self.last))
        return [(float(self.time(a)), float(self.time(b))) for a, b in spans if b > a]


def read_take(path, zero_ns):
    with open(path + ".times") as file:
        lines = [line.split() for line in file if line.endswith("\n")]
    form, channels, rate, ppm, latency = lines[0]
    rate, pace = int(rate), int(rate) * (1 + float(ppm) * 1e-6)
    sound = read_frames(path, form, int(channels))
    knots = []
    for what, ns, frame in lines[1:] + [["end", "0", "0"]]:
        here = (float(frame), (int(ns) - zero_ns) * 1e-9 + float(latency))
        if what == "at" and knots:
            knots.append(here)
            continue
        if knots:
            end, (frame, t) = here, knots[-1]
            if what == "killed":  # the card stopped here, or had run dry before
                end = (frame + (here[1] - t) * pace, here[1])
            elif what in ("start", "end"):  # the piece continues to the end of the recording
                end = (len(sound), t + (len(sound) - frame) / pace)
            if end[0] > frame:
                knots.append(end)
            if len(knots) > 1:
                yield Piece(sound, rate, pace, knots)
        knots = [here] if what == "start" else []


def read_card(folder, zero_ns=0):
    """Returns the pieces in order; times are in s of true time since `zero_ns`."""
    return [piece for take in sorted(glob.glob(os.path.join(glob.escape(folder), "take-[0-9][0-9][0-9]")))
            for piece in read_take(take, zero_ns)]
