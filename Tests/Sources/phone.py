#!/usr/bin/env python3
"""Plays to an AirPlay speaker, as a phone does that tells titles: phone.py HOST PORT SOUND, the samples of 44100:16:2 in a file.

It takes lines on its standard input: `volume DECIBELS`, `title TITLE|ARTIST|ALBUM`, `cover FILE`, `pause`, `play`, `leave`. It writes
each when it has done it; and whenever it plays, the time of CLOCK_MONOTONIC_RAW at which the first frame was, or would have been.
`--ppm` makes its clock fast.
"""

import argparse
import os
import pathlib
import queue
import random
import socket
import struct
import sys
import threading
import time

RATE, PACKET, LATENCY = 44100, 352, 88200  # frames
# A phone sends ahead: frames.
AHEAD = 2 * PACKET
# Stereo, no size, not compressed: 23 bits.
ALAC = 1 << 20 | 1


def raw():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) / 1e9


def ntp(seconds):
    whole = int(seconds)
    return struct.pack(">II", whole + 0x83AA7E80 & 0xFFFFFFFF, int((seconds - whole) * 2**32))


def dmap(tag, data):
    return tag.encode() + struct.pack(">I", len(data)) + data


def packed(samples):
    """Returns an ALAC frame that is not compressed, of samples with the lower byte first."""
    swapped = bytearray(len(samples))
    swapped[::2], swapped[1::2] = samples[1::2], samples[::2]
    bits = ALAC << 8 * len(swapped) | int.from_bytes(swapped, "big")
    return (bits << 1).to_bytes(len(swapped) + 3, "big")


class Phone:
    def __init__(self, host, port, sound, ppm):
        self.sound, self.pace, self.zero = sound, 1 + ppm * 1e-6, raw()
        self.rtsp = socket.create_connection((host, port), timeout=10)
        local = self.rtsp.getsockname()[0]
        self.host, self.local, self.number = host, local, 0
        self.session, self.id = "", str(random.getrandbits(31))
        self.sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
        for one in self.sockets:
            one.bind((local, 0))
        self.control, self.timing, self.audio = self.sockets
        threading.Thread(target=self.answer_times, daemon=True).start()
        self.first, self.sequence = random.getrandbits(30), random.getrandbits(16)
        # The next frame, its time by this clock, and whether it plays.
        self.frame, self.base, self.is_playing = 0, None, False

    def clock(self):
        """The time of the phone's own clock."""
        return 1e6 + (raw() - self.zero) * self.pace

    def ask(self, method, body=b"", kind=None, **headers):
        self.number += 1
        lines = [f"{method} rtsp://{self.local}/{self.id} RTSP/1.0", f"CSeq: {self.number}", "User-Agent: iTunes/10.6 (phone.py)",
                 "Client-Instance: 0123456789ABCDEF", "DACP-ID: 0123456789ABCDEF", "Active-Remote: 1"]
        lines += [f"Session: {self.session}"] if self.session else []
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"] if body else []
        self.rtsp.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = self.rtsp.recv(4096)
            if not piece:
                raise OSError("the speaker has hung up")
            answer += piece
        if b" 200 " not in answer.split(b"\r\n")[0]:
            raise OSError(answer.split(b"\r\n")[0].decode())
        return dict(line.split(": ", 1) for line in answer.decode().split("\r\n")[1:] if ": " in line)

    def begin(self):
        sdp = (f"v=0\r\no=iTunes {self.id} 0 IN IP4 {self.local}\r\ns=iTunes\r\nc=IN IP4 {self.host}\r\nt=0 0\r\nm=audio 0 RTP/AVP 96\r\n"
               f"a=rtpmap:96 AppleLossless\r\na=fmtp:96 {PACKET} 0 16 40 10 14 2 255 0 0 {RATE}\r\n")
        self.ask("ANNOUNCE", sdp.encode(), "application/sdp")
        ports = [one.getsockname()[1] for one in self.sockets]
        answer = self.ask("SETUP", Transport=f"RTP/AVP/UDP;unicast;interleaved=0-1;mode=record;control_port={ports[0]};timing_port={ports[1]}")
        self.session = answer["Session"]
        told = dict(part.split("=") for part in answer["Transport"].split(";") if "=" in part)
        self.server = (self.host, int(told["server_port"]))
        self.controller = (self.host, int(told["control_port"]))
        self.ask("RECORD", **{"Range": "npt=0-", "RTP_Info": f"seq={self.sequence};rtptime={self.first}"})

    def answer_times(self):
        while True:
            data, sender = self.timing.recvfrom(128)
            received = ntp(self.clock())
            self.timing.sendto(b"\x80\xd3\x00\x07" + bytes(4) + data[24:32] + received + ntp(self.clock()), sender)

    def play(self):
        print(f"frame 0 at {raw() - self.frame / RATE / self.pace:.6f}", flush=True)
        self.base, self.is_playing, self.is_first = self.clock() - self.frame / RATE, True, True
        self.sync_at = self.frame

    def pause(self):
        self.is_playing = False
        self.ask("FLUSH", RTP_Info=f"seq={self.sequence};rtptime={self.first + self.frame}")

    def send(self):
        """Sends what is due. Returns the seconds until the next."""
        while self.is_playing and self.frame <= (self.clock() - self.base) * RATE + AHEAD:
            stamp = self.first + self.frame & 0xFFFFFFFF
            if self.frame >= self.sync_at:
                when = self.base + self.frame / RATE
                self.control.sendto(struct.pack(">BBHI", 0x90 if self.is_first else 0x80, 0xD4, 7, stamp - LATENCY & 0xFFFFFFFF) + ntp(when)
                                    + struct.pack(">I", stamp), self.controller)
                self.sync_at += RATE
            at = 4 * self.frame % (len(self.sound) - 4 * PACKET)
            header = struct.pack(">BBHII", 0x80, 0xE0 if self.is_first else 0x60, self.sequence & 0xFFFF, stamp, 1)
            self.audio.sendto(header + packed(self.sound[at : at + 4 * PACKET]), self.server)
            self.frame, self.sequence, self.is_first = self.frame + PACKET, self.sequence + 1, False
        return 0.004

    def obey(self, line):
        word, _, rest = line.strip().partition(" ")
        info = {"RTP_Info": f"rtptime={self.first + self.frame}"}
        if word == "volume":
            self.ask("SET_PARAMETER", f"volume: {float(rest):.6f}\r\n".encode(), "text/parameters")
        elif word == "title":
            title, artist, album = (part.encode() for part in rest.split("|"))
            item = dmap("minm", title) + dmap("asar", artist) + dmap("asal", album)
            self.ask("SET_PARAMETER", dmap("mlit", item), "application/x-dmap-tagged", **info)
        elif word == "cover":
            self.ask("SET_PARAMETER", pathlib.Path(rest).read_bytes(), "image/jpeg", **info)
        elif word == "pause":
            self.pause()
        elif word == "play":
            self.play()
        print(line.strip(), flush=True)
        if word == "leave":
            self.ask("TEARDOWN")
            sys.exit()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("sound", type=pathlib.Path)
    parser.add_argument("--ppm", type=float, default=0)
    parser.add_argument("--orders", type=int, default=0, help="the descriptor from which it takes lines")
    options = parser.parse_args()
    phone = Phone(options.host, options.port, options.sound.read_bytes(), options.ppm)
    lines = queue.SimpleQueue()
    threading.Thread(target=lambda: [lines.put(line) for line in os.fdopen(options.orders)], daemon=True).start()
    phone.begin()
    phone.play()
    while True:
        pause = phone.send()
        try:
            phone.obey(lines.get(timeout=pause))
        except queue.Empty:
            pass


if __name__ == "__main__":
    main()
