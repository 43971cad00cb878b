"""Writes samples into a pipe as a sound card would record them: each block when its last frame is over.

    feeder.py WAV PIPE BLOCK_MS     prints the true time of the first frame, in ns
"""
import os
import sys
import time
import wave

path, pipe, block_ms = sys.argv[1], sys.argv[2], float(sys.argv[3])
with wave.open(path) as file:
    rate, block = file.getframerate(), round(file.getframerate() * block_ms / 1000)
    out = os.open(pipe, os.O_WRONLY)  # waits for one who reads
    began = time.monotonic_ns() + 100_000_000
    print(began, flush=True)
    written = 0
    while samples := file.readframes(block):
        written += block
        due = began + written * 1_000_000_000 // rate
        time.sleep(max(0, due - time.monotonic_ns()) * 1e-9)
        try:
            os.write(out, samples)
        except BrokenPipeError:
            sys.exit()
