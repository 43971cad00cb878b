#!/usr/bin/env python3
"""speech.py: makes Sources/CShims/CSpeech/digits.opus, the words with which a receiver says its PIN.

Run by hand when a word or the voice changes; needs espeak-ng, sox and opus-tools. The file holds the words 0 to 9 and then "PIN is",
each as: number of packets (1 byte), and for each packet its length (2 bytes, the most significant first) and its bytes. The packets
are Opus, mono, 48 kHz, 60 ms each, without the Ogg container.
"""

import pathlib
import struct
import subprocess
import tempfile

WORDS = "zero one two three four five six seven eight nine".split() + ["My PIN is:"]
OUT = pathlib.Path(__file__).resolve().parent.parent / "Sources/CShims/CSpeech/digits.opus"
# Slow and clear. The silence around a word is cut, so that pauses are the receiver's.
VOICE = ["espeak-ng", "-v", "en-gb-x-rp", "-s", "115", "-p", "45"]
TRIM = ["silence", "1", "0.01", "0.5%", "reverse", "silence", "1", "0.01", "0.5%", "reverse", "pad", "0.01", "0.03"]
ENCODE = ["opusenc", "--quiet", "--speech", "--bitrate", "10", "--framesize", "60", "--comp", "10", "--discard-comments", "--padding", "0"]


def packets(ogg):
    """The packets of an Ogg file with one stream, without its two headers."""
    found, part, at = [], b"", 0
    while at < len(ogg):
        assert ogg[at:at + 4] == b"OggS"
        count = ogg[at + 26]
        sizes = ogg[at + 27:at + 27 + count]
        at += 27 + count
        for size in sizes:
            part += ogg[at:at + size]
            at += size
            if size < 255:
                found.append(part)
                part = b""
    return found[2:]


def word(text, folder):
    spoken, cut, coded = (folder / name for name in ("a.wav", "b.wav", "c.opus"))
    subprocess.run(VOICE + ["-w", spoken, text], check=True)
    subprocess.run(["sox", "-D", spoken, "-r", "48000", "-c", "1", cut, *TRIM, "norm", "-6"], check=True)
    subprocess.run(ENCODE + [cut, coded], check=True)
    found = packets(coded.read_bytes())
    return bytes([len(found)]) + b"".join(struct.pack(">H", len(p)) + p for p in found)


with tempfile.TemporaryDirectory() as name:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_bytes(b"".join(word(text, pathlib.Path(name)) for text in WORDS))
print(f"{OUT}: {OUT.stat().st_size} bytes")
