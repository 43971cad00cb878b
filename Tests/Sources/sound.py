"""The sound that airplay.py plays, and what recordings tell of it."""

import numpy as np

RATE = 44100
SECONDS = 120
WINDOW = RATE // 4
LOUD = 0.001
LATEST = 20  # seconds


def noise():
    """Noise that never repeats, so each piece of it is found in a recording. It is dull, so that it is found as well where it is played a
    little too fast or too slowly."""
    shape = np.hanning(41)
    dull = np.convolve(np.random.default_rng(1).uniform(-1, 1, RATE * SECONDS), shape, "same")
    return (0.25 * dull / np.sqrt(np.mean(dull**2)) / 3).astype(np.float32)


class Recording:
    """The left channel, from the time of its first frame on, in seconds."""

    def __init__(self, path, begin):
        self.begin = begin
        data = path.read_bytes()
        at = data.index(b"fmt ") + 8
        kind, channels = int.from_bytes(data[at : at + 2], "little"), int.from_bytes(data[at + 2 : at + 4], "little")
        rate = int.from_bytes(data[at + 4 : at + 8], "little")
        if (kind, rate) != (3, RATE):
            raise ValueError(f"{path} has format {kind} and rate {rate}")
        data = data[data.index(b"data") + 8 :]
        self.samples = np.frombuffer(data[: len(data) // (4 * channels) * 4 * channels], "<f4")[::channels]

    def at(self, time, frames):
        """Returns the frames from the first one after a time, and the time of that one."""
        first = int(np.ceil((time - self.begin) * RATE))
        if first < 0 or first + frames > len(self.samples):
            return None, time
        return self.samples[first : first + frames], self.begin + first / RATE

    def loud(self, begin, end):
        """Returns the spans of time with sound; silences of less than 20 ms are part of them."""
        first = max(0, int((begin - self.begin) * RATE))
        part = np.abs(self.samples[first : max(first, int((end - self.begin) * RATE))])
        block = RATE // 100
        heard = part[: len(part) // block * block].reshape(-1, block).max(axis=1) > LOUD
        heard[1:-1] |= heard[:-2] & heard[2:]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], heard.view(np.int8), [0]])))
        start = self.begin + first / RATE
        return [(start + a * block / RATE, start + b * block / RATE) for a, b in edges.reshape(-1, 2)]


def shift(a, b):
    """Returns how many frames later `b` is than `a`, with a fraction: from the slope of their cross spectrum's phase. It is less than
    a few frames."""
    window = np.hanning(len(a))
    spectrum = np.fft.rfft(a * window) * np.conj(np.fft.rfft(b * window))
    band = slice(len(a) * 200 // RATE, len(a) * 2000 // RATE)
    omega = 2 * np.pi * np.arange(len(spectrum))[band] / len(a)
    weight, phase = np.abs(spectrum[band]), np.unwrap(np.angle(spectrum[band]))
    mean_omega, mean_phase = np.average(omega, weights=weight), np.average(phase, weights=weight)
    slope = np.sum(weight * (omega - mean_omega) * (phase - mean_phase)) / np.sum(weight * (omega - mean_omega) ** 2)
    return slope


def apart(recordings, spans):
    """Returns how far the rooms are apart in each window of the spans, in seconds: the largest minus the smallest."""
    found = []
    for begin, end in spans:
        for time in np.arange(begin + 0.05, end - 0.05 - WINDOW / RATE, WINDOW / RATE):
            pieces = [recording.at(time, WINDOW) for recording in recordings]
            if any(piece is None for piece, _ in pieces):
                continue
            times = [0.0]
            for piece, start in pieces[1:]:
                times.append(start - pieces[0][1] + shift(pieces[0][0], piece) / RATE)
            found.append(max(times) - min(times))
    return found


def lateness(recording, played, begin, time):
    """Returns how much later than it was played the noise is heard at a time, in seconds, up to `LATEST`; None if it is not. `begin` is
    the time at which the first frame of `played` was."""
    piece, start = recording.at(time, WINDOW)
    low = max(0, round((start - begin - LATEST) * RATE))
    played = played[low : max(0, round((start - begin) * RATE)) + WINDOW]
    if piece is None or len(played) < 2 * WINDOW:
        return None
    size = 1 << int(np.ceil(np.log2(len(played) + WINDOW)))
    match = np.fft.irfft(np.fft.rfft(played, size) * np.conj(np.fft.rfft(piece, size)), size)[: len(played) - WINDOW]
    place = int(np.argmax(match))
    level = np.sqrt(np.mean(piece**2) * np.mean(played[place : place + WINDOW] ** 2)) * WINDOW
    if level == 0 or match[place] < 0.6 * level:
        return None
    return start - begin - (low + place) / RATE
