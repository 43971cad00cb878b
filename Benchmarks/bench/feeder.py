"""Writes samples into a pipe as a sound card would record them: each block after its last frame.

    feeder.py WAV PIPE     prints the true time of the first frame, in ns
"""
import os
import sys
import time
import wave

with wave.open(sys.argv[1]) as file:
    rate, block = file.getframerate(), file.getframerate() // 500  # 2 ms
    out = os.open(sys.argv[2], os.O_WRONLY)  # waits for a reader
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
