"""Computes the figures of a run from its recordings."""
import copy

import numpy as np

import recording
import reference
import track

GRID, SPAN = 0.05, 0.1   # s: interval of the comparisons, and length of each one's median
HOLD = 2.0               # s for which rooms must stay together to count as together
SETTLED = 0.3            # s after an announcement at which the music is as loud as before
BLOCKS = 120             # number of places at which SNR is measured


class Room:
    """The recording of one card. `times` (s) of the windows, and `offsets` (s): media time minus true time."""

    def __init__(self, name, pieces, references):
        self.name = name
        tracks, guess = [], None
        for piece in pieces:
            known = None if guess is None else round((guess + float(piece.time(piece.first))) * piece.rate) - piece.first
            one = track.Track(piece, references(piece.rate), known)
            found = np.isfinite(one.places)
            if found.any():
                tracks.append(one)
                guess = one.places[found][-1] / piece.rate - float(piece.time(one.frames[found][-1]))
        parts = [(t.piece.time(t.frames), t.places / t.piece.rate) for t in tracks]
        times = np.concatenate([p[0] for p in parts] or [np.zeros(0)])
        offsets = np.concatenate([p[1] for p in parts] or [np.zeros(0)]) - times
        self.times, self.offsets = times[np.isfinite(offsets)], offsets[np.isfinite(offsets)]
        self.tracks = tracks
        self.loud = sorted(span for piece in pieces for span in piece.loud())
        self.slips, self.spots = [], []
        for one in tracks:
            slips, spots = one.breaks()
            self.slips += [(float(one.piece.time(f)), jump) for f, jump in slips]
            self.spots += [float(one.piece.time(f)) for f in spots]

    def on(self, grid):
        out = np.full(len(grid), np.nan)
        first, last = np.searchsorted(self.times, grid - SPAN / 2), np.searchsorted(self.times, grid + SPAN / 2)
        for i, (a, b) in enumerate(zip(first, last)):
            if b - a >= 8:
                out[i] = np.median(self.offsets[a:b])
        return out

    def silences(self, begin, end):
        """Silent spans of a millisecond or more."""
        spans, at = [], begin
        for a, b in self.loud:
            if b > begin and a < end:
                if a - at > recording.SHORTEST:
                    spans.append((at, a))
                at = max(at, b)
        return spans + ([(at, end)] if end - at > recording.SHORTEST else [])

    def quality(self, begin, end):
        """SNR in dB, or None."""
        places = [(one, i) for one in self.tracks for i, t in enumerate(one.piece.time(one.frames))
                  if begin <= t <= end and np.isfinite(one.places[i])]
        values, clean = [], []
        jumps = np.array([t for t, _ in self.slips] or [np.inf])
        for one, i in places[::max(16, len(places) // BLOCKS)]:
            if (db := one.quality(i)) is not None:
                values.append(db)
                if np.abs(jumps - float(one.piece.time(one.frames[i]))).min() > 0.08:
                    clean.append(db)
        if not values:
            return None
        return {"median": float(np.median(values)), "p5": float(np.percentile(values, 5)),
                "between_slips": float(np.median(clean)) if clean else None}

    def figures(self, begin, end, play):
        silences = self.silences(begin, end)
        slips = [jump for t, jump in self.slips if begin <= t <= end]
        inside = (self.times >= begin) & (self.times <= end)
        pace = np.polyfit(self.times[inside], self.offsets[inside], 1)[0] * 1e6 if inside.sum() > 10 else None
        return {"first_sound_s": min((a for a, _ in self.loud), default=np.nan) - play, "dropouts": len(silences),
                "silent_ms": 1e3 * sum(b - a for a, b in silences),
                "longest_ms": 1e3 * max((b - a for a, b in silences), default=0), "slips": len(slips),
                "slipped_frames": float(np.abs(np.round(slips)).sum()), "spots": sum(begin <= t <= end for t in self.spots),
                "snr_db": self.quality(begin, end), "pace_ppm": None if pace is None else float(pace)}


def percentiles(seconds):
    e = np.abs(seconds[np.isfinite(seconds)]) * 1e6
    return dict(zip(("p50_us", "p95_us", "p99_us", "max_us"), map(float, np.percentile(e, [50, 95, 99, 100])))) if len(e) else None


def lasting(grid, good):
    """The first time from which `good` holds for a while, or None."""
    count = int(HOLD / GRID)
    runs = np.convolve(good, np.ones(count), "valid") == count if len(good) >= count else np.zeros(1, bool)
    return float(grid[int(np.argmax(runs))]) if runs.any() else None


def together(grid, spread, limit, after):
    ok = grid >= after
    t = lasting(grid[ok], np.nan_to_num(spread[ok], nan=9) < limit)
    return None if t is None else t - after


def recovery(fault, room, offsets, others, grid, end):
    """Measures a fault of one room: `from`, `until`, `room`."""
    after = (grid >= fault["until"]) & (grid < end)
    error = offsets - np.nanmedian(others, axis=0)
    step = np.abs(error[after])
    back = lasting(grid[after], np.nan_to_num(step, nan=9) < 1e-3)
    return fault | {"silent_ms": 1e3 * sum(b - a for a, b in room.silences(fault["from"], end)),
                    "worst_us": float(np.nanmax(step) * 1e6) if np.isfinite(step).any() else None,
                    "within_1ms_s": None if back is None else back - fault["until"]}


def comeback(fault, rooms, grid, spread, end):
    """Measures what the rooms hear of a fault of the sender."""
    begin = fault["from"]
    return fault | {"silent_ms": 1e3 * max(sum(b - a for a, b in r.silences(begin, end)) for r in rooms),
                    "slips": sum(begin <= t <= end for r in rooms for t, _ in r.slips),
                    "spots": sum(begin <= t <= end for r in rooms for t in r.spots),
                    "spread": percentiles(spread[(grid >= begin) & (grid < end)])}


def announced(t, clip, rooms):
    """Measures an announcement that was asked for at `t`: when it begins, and how the music sounds behind it."""
    references, begins, behind = references_of(clip), [], []
    for room in rooms:
        piece = copy.copy(next((one.piece for one in room.tracks if one.piece.times[0] < t < one.piece.times[-1]), None))
        if piece is None:
            continue
        rate = piece.rate
        piece.first = int(np.interp(t, piece.times, piece.frames))
        piece.last = min(piece.last, piece.first + (reference.CLIP_SECONDS + 3) * rate)
        one = track.Track(piece, references(rate))
        found = np.isfinite(one.places)
        if found.any():
            begins.append(float(np.median(piece.time(one.frames[found]) - one.places[found] / rate)))
            end = begins[-1] + reference.CLIP_SECONDS
            values = [own.quality(i) for own in room.tracks for i in np.flatnonzero(np.isfinite(own.places))[::16]
                      if end + SETTLED < float(own.piece.time(own.frames[i])) < end + SETTLED + 3]
            behind += [value for value in values if value is not None]
    return {"t": t, "rooms": len(begins), "heard_after_ms": [1e3 * (begin - t) for begin in begins],
            "spread_us": 1e6 * (max(begins) - min(begins)) if begins else None, "snr_behind_db": min(behind, default=None)}


def reaction(command, until, rooms):
    """Time until a command is heard in each room."""
    t, after = command["t"], []
    for room in rooms:
        if command["what"] == "pause":
            ends = [a for a, b in room.silences(t, until) if b - a > 0.5]
        else:  # the first window that is a second away from the old position, or that ends a silence
            new, old = room.times > t, room.offsets[room.times < t]
            ends = room.times[new][np.abs(room.offsets[new] - old[-1]) > 1][:1] if len(old) else []
        after.append(float(ends[0] - t) if len(ends) else None)
    return command | {"heard_after_s": after}


def references_of(path):
    """Returns a function that makes the reference of a rate at its first use."""
    signal, made = reference.read_signal(path), {}

    def at(rate):
        if rate not in made:
            made[rate] = reference.Reference(signal, rate)
        return made[rate]
    return at


def analyse(cards, signal, play=0.0, steady=None, end=None, zero_ns=0, faults=(), commands=(), fed_ns=None,
            announcements=()):
    """`cards`: folder by the room's name. Times are in s of true time after `zero_ns`. Returns the figures, the times at which
    rooms were compared, and media time minus true time in each room at those times."""
    references = references_of(signal)
    rooms = [Room(name, recording.read_card(folder, zero_ns), references) for name, folder in cards.items()]
    heard = [r for r in rooms if len(r.times)]
    if not heard:
        raise SystemExit("bench: no card recorded anything of the signal; the programs' logs say why")
    if end is None:
        end = max(r.times[-1] for r in heard)
    grid = np.arange(np.floor(min(r.times[0] for r in heard) / GRID) * GRID, end, GRID)
    offsets = np.stack([r.on(grid) for r in rooms])
    spread = np.ptp(offsets, axis=0)
    begin, until = steady or (play + 10, end)
    inside = (grid >= begin) & (grid <= until)
    latency = None
    if fed_ns is not None:  # from the instant at which a frame was recorded to its sound
        heard = -1e3 * (offsets[:, inside] + (fed_ns - zero_ns) * 1e-9)
        latency = dict(zip(("least", "median", "most"), map(float, np.nanpercentile(heard, [0, 50, 100]))))
    figures = {"steady_s": [begin, until], "spread": percentiles(spread[inside]), "latency_ms": latency,
               "rooms": {r.name: r.figures(begin, until, play) for r in rooms},
               "within_1ms_s": together(grid, spread, 1e-3, play), "within_100us_s": together(grid, spread, 1e-4, play)}
    figures["sound_on_all_s"] = max(r["first_sound_s"] for r in figures["rooms"].values())
    ends = [f["from"] for f in faults][1:] + [end]
    figures["recovery"] = [recovery(f, rooms[i], offsets[i], np.delete(offsets, i, 0), grid, stop)
                           for f, stop in zip(faults, ends) for i in [f["room"] - 1] if i >= 0 and len(rooms) > 1]
    figures["comebacks"] = [comeback(f, rooms, grid, spread, stop) for f, stop in zip(faults, ends) if f["room"] == 0]
    figures["announcements"] = [announced(t, clip, rooms) for t, clip in announcements]
    ends = [c["t"] for c in commands][1:] + [end]
    figures["commands"] = [reaction(c, stop, rooms) for c, stop in zip(commands, ends)]
    return figures, grid, offsets
