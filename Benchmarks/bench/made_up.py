"""Makes recordings with known errors. It does not use the analysis's own interpolator: it stretches and moves the test signal
by its spectrum, which is exact."""
import os

import numpy as np

import reference

LEAD = 1.3  # s of silence before the sound


def stretched(signal, ppm, late):
    """The frames with which a card that runs `ppm` fast plays the signal at its true pace, `late` seconds late."""
    count = round(len(signal) * (1 + ppm * 1e-6))
    spectrum = np.fft.rfft(signal)
    turn = 2 * np.pi * np.fft.rfftfreq(len(signal), 1 / reference.RATE)
    return np.fft.irfft(spectrum * np.exp(-1j * turn * late), count) * (count / len(signal)), (count / len(signal) - 1) * 1e6


def write(folder, signal, ppm=0.0, late=0.0, start=100.0, form="S16_LE", edit=None, shift=0.0, false_ppm=0.0):
    """Writes a take in which the signal sounds evenly from `start + LEAD` on. `edit` damages the sound; `shift` (s) and
    `false_ppm` put a wrong clock and a wrong rate into the card's notes."""
    sound, ppm = stretched(signal, ppm, late)
    sound = sound[:-reference.RATE]  # the end of a shifted signal is its beginning
    if edit:
        sound = edit(sound)
    pace = reference.RATE * (1 + ppm * 1e-6)
    lead = round(LEAD * pace)
    start += LEAD - lead / pace
    sound = np.concatenate([np.zeros(lead), sound])
    os.makedirs(folder)
    path = os.path.join(folder, "take-000")
    sound = np.rint(sound * 32768).clip(-32768, 32767).astype("<i2") if form == "S16_LE" else sound.astype("<f4")
    np.stack([sound, sound], 1).tofile(path)
    pace *= 1 + false_ppm * 1e-6
    with open(path + ".times", "w") as times:
        times.write(f"{form} 2 {reference.RATE} {ppm + false_ppm:.6f} 0\n")
        for what, frame in [("start", 0)] + [("at", f) for f in range(4800, len(sound), 4800)] + [("stop", len(sound))]:
            times.write(f"{what} {round((start + shift + frame / pace) * 1e9)} {frame}\n")


def damage(sound):
    """One frame dropped, one doubled, 10 ms skipped, 20 ms of silence, and a click."""
    at = reference.RATE
    sound = np.delete(sound, 8 * at)
    sound = np.insert(sound, 12 * at, sound[12 * at])
    sound = np.delete(sound, np.arange(16 * at, 16 * at + 480))
    sound[20 * at:20 * at + 960] = 0
    sound[24 * at:24 * at + 200] += 0.3
    return sound
