#!/usr/bin/env python3
"""compare.py RECORDING FREQUENCY SECONDS DECIBELS: says whether a recording is one whole tone.

The tone that was played has this frequency and length. A recording has silence around it, and its rate follows a clock, so
samples cannot be compared one by one: each block of 4096 is fitted with a sine of the same frequency, and the residual is the
noise. A gap, a repeat or a click makes at least one block worse than DECIBELS.
"""

import array
import math
import subprocess
import sys

BLOCK = 4096
RATE = 48000


def samples(path):
    """The left channel, as 16-bit numbers."""
    raw = subprocess.run(
        ["sox", path, "-r", str(RATE), "-b", "16", "-e", "signed", "-t", "raw", "-", "remix", "1"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return array.array("h", raw[: len(raw) // 2 * 2])


def fitted(block, frequency):
    """Signal and noise of a block, in decibels: the ratio, or none of a silent one. The frequency may be off by some ppm."""
    best = None
    step = 2 * math.pi * frequency / RATE
    cos = [math.cos(step * n) for n in range(len(block))]
    sin = [math.sin(step * n) for n in range(len(block))]
    cc = sum(c * c for c in cos)
    ss = sum(s * s for s in sin)
    cs = sum(c * s for c, s in zip(cos, sin))
    xc = sum(x * c for x, c in zip(block, cos))
    xs = sum(x * s for x, s in zip(block, sin))
    det = cc * ss - cs * cs
    a, b = (xc * ss - xs * cs) / det, (xs * cc - xc * cs) / det
    power = sum(x * x for x in block)
    noise = sum((x - a * c - b * s) ** 2 for x, c, s in zip(block, cos, sin))
    best = 10 * math.log10(power / max(noise, 1e-9)) if power else None
    return best


def main(path, frequency, seconds, decibels):
    sound = samples(path)
    loud = [n for n in range(0, len(sound), 16) if abs(sound[n]) > 300]
    if not loud:
        return "%s holds no sound" % path
    first, last = loud[0], loud[-1]
    length = (last - first) / RATE
    ratios = []
    for start in range(first + BLOCK, last - 2 * BLOCK, BLOCK):
        ratios.append(fitted(sound[start : start + BLOCK], frequency))
    if None in ratios:
        return "%s has a silent block in the middle" % path
    ratios.sort()
    print("%.2f s, signal to noise: worst block %.0f dB, median %.0f dB"
          % (length, ratios[0], ratios[len(ratios) // 2]))
    if abs(length - seconds) > 0.1:
        return "%s lasts %.3f s, not %.3f s" % (path, length, seconds)
    if ratios[0] < decibels:
        return "%s has a block of %.0f dB, less than %.0f dB" % (path, ratios[0], decibels)
    return None


if __name__ == "__main__":
    problem = main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
    if problem:
        sys.exit("compare: " + problem)
