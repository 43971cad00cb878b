#!/usr/bin/env python3
"""in_step.py FREQUENCY MICROSECONDS RECORDING NS RECORDING NS: says how far apart two rooms played the same tone.

NS is the time of a recording's first frame, which its receiver logs. The tone's phase in each block of both gives the distance, up to
half a period. The first second is left out, in which a room that began later may still catch up.
"""

import math
import sys

from compare import BLOCK, RATE, samples


def phase(block, frequency):
    """The phase of a sine of this frequency at the block's first sample, in radians."""
    step = 2 * math.pi * frequency / RATE
    real = sum(x * math.cos(step * n) for n, x in enumerate(block))
    imaginary = sum(x * math.sin(step * n) for n, x in enumerate(block))
    return math.atan2(real, imaginary)


def distances(frequency, one, one_ns, other, other_ns):
    """Microseconds by which the other room is later, in each quarter of a second."""
    begin = next(n for n, x in enumerate(one) if abs(x) > 300)
    end = len(one) - next(n for n, x in enumerate(reversed(one)) if abs(x) > 300)
    found = []
    for start in range(begin + RATE, end - RATE, RATE // 4):
        at = (one_ns - other_ns) * RATE / 1e9 + start
        place = math.floor(at)
        if place < 0 or place + BLOCK > len(other):
            continue
        turn = phase(one[start : start + BLOCK], frequency) - phase(other[place : place + BLOCK], frequency)
        # The other block begins a part of a frame earlier than this one.
        turn -= 2 * math.pi * frequency / RATE * (at - place)
        turn = math.remainder(turn, 2 * math.pi)
        found.append(turn / (2 * math.pi * frequency) * 1e6)
    return found


def main(frequency, limit, one, one_ns, other, other_ns):
    found = sorted(abs(x) for x in distances(frequency, samples(one), one_ns, samples(other), other_ns))
    if len(found) < 20:
        return "the recordings have only %d places in common" % len(found)
    print("median %.0f µs, worst %.0f µs" % (found[len(found) // 2], found[-1]))
    if found[-1] > limit:
        return "the rooms were %.0f µs apart, more than %.0f µs" % (found[-1], limit)
    return None


if __name__ == "__main__":
    numbers = sys.argv
    problem = main(float(numbers[1]), float(numbers[2]), numbers[3], int(numbers[4]), numbers[5], int(numbers[6]))
    if problem:
        sys.exit("in_step: " + problem)
