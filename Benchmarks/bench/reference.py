"""Makes the test signal, and finds pieces of sound in it.

The signal is noise from 60 Hz to 16 kHz that never repeats, so a few milliseconds of it have a unique place. Its wide band
determines that place to a small fraction of a frame.
"""
import os
import wave

import numpy as np

RATE = 48000
SECONDS = 300
CLIP_SECONDS = 3   # length of what is announced
LEVEL_DB = -17.0
BAND = 17500      # Hz; the signal has nothing above
TAPS, PHASES = 64, 4096


def noise(seconds, seed):
    """Makes one channel; full scale is 1."""
    count = seconds * RATE
    random = np.random.default_rng(seed)
    frequency = np.fft.rfftfreq(count, 1 / RATE)
    shape = np.maximum(frequency, 60) ** -0.33  # falls by 2 dB in an octave
    shape *= np.clip((frequency - 40) / 20, 0, 1) * np.clip((BAND - frequency) / 1500, 0, 1)
    spectrum = shape * np.exp(2j * np.pi * random.random(len(frequency)))
    sound = np.fft.irfft(spectrum, count)
    return sound / np.std(sound) * 10 ** (LEVEL_DB / 20)


def write_signal(path, seconds=SECONDS, seed=1):
    """Writes a WAV file with two independent channels. The same arguments make the same file."""
    if os.path.exists(path):
        return
    channels = [np.rint(noise(seconds, [seed, channel]) * 32767).astype("<i2") for channel in range(2)]
    with wave.open(f"{path}.{os.getpid()}", "wb") as out:
        out.setparams((2, 2, RATE, 0, "NONE", ""))
        out.writeframes(np.stack(channels, 1).tobytes())
    os.rename(f"{path}.{os.getpid()}", path)


def write_filter(path, taps=8192):
    """Writes a FIR filter of linear phase that changes the sound by -60 dB: the recording can still be compared with the signal."""
    half = np.random.default_rng(3).normal(0, 1e-3 / np.sqrt(taps), taps // 2)
    values = np.concatenate([half, [1 - abs(half).sum() / 4], half[:0:-1]]).astype("<f4")
    with wave.open(path, "wb") as out:
        out.setparams((1, 3, RATE, 0, "NONE", ""))
        out.writeframes(np.rint(values * 0x7FFFFF).astype("<i4").view("u1").reshape(-1, 4)[:, :3].tobytes())


def read_signal(path):
    """Reads the left channel."""
    with wave.open(path) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")[::2].astype(np.float64) / 32768


def _kernel():
    taps = np.arange(1 - TAPS // 2, TAPS // 2 + 1)
    u = np.arange(PHASES + 1)[:, None] / PHASES - taps
    return taps, np.sinc(u) * np.i0(12 * np.sqrt(np.maximum(0, 1 - (u / (TAPS / 2)) ** 2))) / np.i0(12)


class Reference:
    """The test signal at a card's rate."""

    BLOCK = 1 << 18
    taps, kernel = _kernel()

    def __init__(self, signal, rate=RATE):
        self.rate = rate
        if rate != RATE:  # the signal has nothing above 17.5 kHz, so its spectrum is complete
            count = len(signal) * rate // RATE
            signal = np.fft.irfft(np.fft.rfft(signal), count) * (count / len(signal))
        self.length = len(signal)
        self.margin = self.BLOCK
        self.sound = np.pad(signal.astype(np.float32), self.margin)

    def frames(self, first, count):
        """Returns frames of the signal, and silence outside of it."""
        first = int(np.clip(first + self.margin, 0, len(self.sound) - count))
        return self.sound[first:first + count]

    def search(self, y, first, last):
        """Returns the place in [first, last) at which `y` begins, and their likeness, up to 1."""
        first, last = max(first, -len(y)), min(last, self.length)
        spectrum = np.conj(np.fft.rfft(y, self.BLOCK))
        step = self.BLOCK - len(y)
        best = (0, 0.0)
        for start in range(first, last, step):
            block = self.frames(start, self.BLOCK)
            likeness = np.fft.irfft(np.fft.rfft(block) * spectrum, self.BLOCK)[:min(step, last - start)]
            at = int(np.argmax(likeness))
            alike = likeness[at] / np.sqrt(np.dot(y, y) * np.sum(np.square(block[at:at + len(y)], dtype=float)) + 1e-12)
            if alike > best[1]:
                best = (start + at, float(alike))
        return best

    def at(self, places):
        """Interpolates the signal and its slope between frames."""
        whole = np.floor(places).astype(int)
        phase = (places - whole) * PHASES
        step = phase.astype(int)
        first = int(whole.min()) - TAPS
        around = self.frames(first, int(whole.max()) - first + TAPS + 2).astype(np.float64)
        around = around[(whole - first)[:, None] + self.taps]
        low, high = (np.einsum("ij,ij->i", self.kernel[step + k], around) for k in (0, 1))
        return low + (phase - step) * (high - low), (high - low) * PHASES

    def fit(self, y, place, pace=1.0):
        """Compares `y` with the signal around `place`, which is that of its middle. Returns the SNR in dB after a fit of
        gain, place and pace, and the fitted place."""
        count = len(y)
        k = np.arange(count) - count / 2
        for _ in range(3):
            sound, slope = self.at(place + pace * k)
            terms = np.stack([sound, slope, slope * k / count], 1)
            gain, moved, faster = np.linalg.lstsq(terms, y, rcond=None)[0]
            if abs(gain) < 1e-6:
                return -99.0, place
            place += np.clip(moved / gain, -1, 1)
            pace += np.clip(faster / gain / count, -1e-3, 1e-3)
        sound, _ = self.at(place + pace * k)
        gain = np.dot(y, sound) / np.dot(sound, sound)
        both = np.stack([gain * sound, y - gain * sound])
        if self.rate != RATE:  # a resampler may cut the signal's own 16-bit noise above the band, so only the band counts
            both = np.fft.rfft(both * np.hanning(count))[:, :int(BAND * count / self.rate)]
        signal, error = np.sum(np.abs(both) ** 2, axis=1)
        return 10 * np.log10(max(signal, 1e-20) / max(error, 1e-20)), place
