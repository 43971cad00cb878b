"""Finds the place in the signal of each short window of a recording, and the jumps and damages of the recording."""
import numpy as np

WINDOW, HOP, REACH, BATCH = 1024, 256, 64, 256  # frames; REACH: how far from the last place to search
LOST = 8            # after so many windows without a place, search the whole signal again
ALIKE = 0.6         # windows with a smaller likeness to the signal have no place
EVEN_DB = 50.0      # from this SNR on sound is played evenly; a frame dropped or doubled leaves 5 to 30 dB
LONG = 4096         # frames to search in the whole signal

_hann = np.hanning(WINDOW + 1)[:WINDOW]
_turn = 2 * np.pi * np.fft.rfftfreq(WINDOW)


class Track:
    """For each window: the frame in its middle (`frames`), its place in the signal (`places`, in frames; NaN if none) and
    their likeness."""

    def __init__(self, piece, reference, guess=None):
        self.piece, self.reference = piece, reference
        self.x = piece.sound[:, 0]
        self.starts = np.arange(piece.first, piece.last - WINDOW + 1, HOP)
        self.frames = self.starts + WINDOW / 2
        self.places = np.full(len(self.starts), np.nan)
        self.alike = np.zeros(len(self.starts))
        self._follow(guess)

    def _follow(self, lag):
        """`lag`: place minus frame, if it is roughly known."""
        i, known, lost = 0, lag, lag is None
        while i < len(self.starts):
            if lost:
                i, lag = self._find(i, known)
                if lag is None:
                    return
            i, lag, lost = self._batch(i, lag)
            known = lag

    def _find(self, i, known):
        """Returns the first window from i on that is in the signal, and its lag."""
        skip = 8
        while i < len(self.starts):
            start = self.starts[i]
            y = self.x[start:min(start + LONG, self.piece.last)].astype(float)
            if np.dot(y, y) > 1e-6 * len(y):
                near, all_of_it = 3 * self.reference.rate, (0, self.reference.length)
                for first, last in ([(start + known - near, start + known + near)] if known is not None else []) + [all_of_it]:
                    place, alike = self.reference.search(y, first, last)
                    if alike > ALIKE:
                        return i, place - start
                skip = min(skip * 2, 2000)
            i += skip
        return i, None

    def _batch(self, i, lag):
        """Follows windows from i on. Returns the next window, its lag, and True if the signal was lost."""
        starts = self.starts[i:i + BATCH]
        y = np.stack([self.x[s:s + WINDOW] for s in starts]).astype(float)
        r = np.stack([self.reference.frames(s + lag - REACH, WINDOW + 2 * REACH) for s in starts]).astype(float)
        size = 2 * WINDOW
        likeness = np.fft.irfft(np.fft.rfft(r, size) * np.conj(np.fft.rfft(y, size)), size)[:, :2 * REACH + 1]
        best = np.argmax(likeness, axis=1)
        r = np.stack([row[b:b + WINDOW] for row, b in zip(r, best)])
        power = np.einsum("ij,ij->i", y, y) * np.einsum("ij,ij->i", r, r)
        alike = likeness[np.arange(len(best)), best] / np.sqrt(power + 1e-12)
        found = alike > ALIKE
        # the fraction of a frame, from the phase's slope in the cross spectrum
        cross = np.fft.rfft(r * _hann) * np.conj(np.fft.rfft(y * _hann))
        band = (_turn > 0.02) & (_turn < 2 * np.pi * min(15000 / self.reference.rate, 0.33))
        weight = np.abs(cross[:, band])
        between = (weight * np.angle(cross[:, band]) * _turn[band]).sum(1) / ((weight * _turn[band] ** 2).sum(1) + 1e-30)

        count = len(starts)
        missing = np.convolve(~found, np.ones(LOST), "valid") == LOST
        lost = bool(missing.any())
        if lost:
            count = int(np.argmax(missing)) + LOST
        far = np.flatnonzero(found[:count] & (abs(best[:count] - REACH) > REACH * 3 // 4))
        if len(far) and far[0] > 0:
            count, lost = int(far[0]), False
        self.places[i:i + count] = np.where(found, starts + lag - REACH + best + WINDOW / 2 - between, np.nan)[:count]
        self.alike[i:i + count] = alike[:count]
        last = np.flatnonzero(found[:count])
        if len(last):
            lag = int(lag - REACH + best[last[-1]])
        return i + count, lag, lost

    def is_even(self, first, last, lag):
        """True if these frames are the signal, played at an even pace."""
        first, last = max(int(first), self.piece.first), min(int(last), self.piece.last)
        count = min(4096, last - first)
        if count < 256:
            return False
        starts = list(range(first, last - count, count // 2)) + [last - count]
        return all(self.reference.fit(self.x[s:s + count].astype(float), s + count / 2 + lag)[0] > EVEN_DB for s in starts)

    def breaks(self):
        """Returns slips (frame, number of missing frames; below 0: repeated), and frames around which sound is damaged."""
        good = np.isfinite(self.places)
        frames, lags, alike = self.frames[good], (self.places - self.frames)[good], self.alike[good]
        slips, spots = [], []
        if len(frames) < 16:
            return slips, spots
        pace, usual = np.median(np.diff(lags)), np.median(alike)
        jumps = np.abs(np.diff(lags)) > 0.15 + abs(pace)
        bad = np.concatenate([jumps, [False]]) | np.concatenate([[False], jumps])
        bad |= alike < min(0.97, usual) - max(0.05, 0.3 * (1 - usual))
        bad[1:] |= np.diff(frames) > HOP  # the windows between them had no place
        suspects = np.flatnonzero(bad)
        for group in np.split(suspects, np.flatnonzero(np.diff(suspects) > 3) + 1):
            if not len(group):
                continue
            i, j = group[0], group[-1] + 1
            before, after = lags[max(0, i - 4):max(i, 1)], lags[min(j, len(lags) - 1):j + 4]
            begin, end = frames[max(i - 1, 0)], frames[min(j, len(frames) - 1)]
            if self.is_even(begin - WINDOW // 2, end + WINDOW // 2, np.median(np.concatenate([before, after]))):
                continue
            jump = float(np.median(after) - np.median(before) - pace * (j - i + 4))
            if abs(jump) > 0.3:
                slips.append(((begin + end) / 2, jump))
            else:
                spots.append((begin + end) / 2)
        return slips, spots

    def quality(self, i, count=4096):
        """SNR of the frames around window `i`, in dB; None at the edges."""
        start = int(self.frames[i] - count / 2)
        if self.piece.first <= start and start + count <= self.piece.last:
            return self.reference.fit(self.x[start:start + count].astype(float), self.places[i])[0]
        return None
