#!/usr/bin/env python3
"""Receivers that lie to the sender or break the protocol, one for each given name, each on a port of its own.

Each is the smallest receiver of Examples/smallest-receiver, whose output is changed on its way out. It plays nothing, and
prints the goodbyes that it gets.
"""
import pathlib
import struct
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Examples/smallest-receiver"))
import receiver as honest
from receiver import CREDIT, FLUSHED, GOODBYE, STATUS, WELCOME

MARKER = 0  # A message of this type is sent unchanged, without a length.


def replaced(at, layout, value):
    """Puts a value into each status or credit, at an offset of the payload."""
    return lambda payload: payload[:at] + struct.pack(layout, value) + payload[at + struct.calcsize(layout) :]


def only(kind, change):
    return lambda k, payload: [(k, change(payload) if k == kind else payload)]


def after(kind, *more):
    return lambda k, payload: [(k, payload)] + (list(more) if k == kind else [])


ANCHOR_PAYLOAD = struct.pack(">IIqq", 0, 65_536, 0, 0)
FLAPPING = {"count": 0}


def flapping(payload):
    FLAPPING["count"] += 1
    return bytes([1 + FLAPPING["count"] % 7]) + payload[1:]


# Each takes a message of an honest receiver, and returns the message to send instead.
FAULTS = {
    # These break the protocol.
    "unknown-state": only(STATUS, replaced(0, ">B", 9)),
    "short-status": only(STATUS, lambda payload: payload[:50]),
    "endless-horizon": only(STATUS, replaced(100, ">q", 1 << 40)),
    "negative-bytes": only(STATUS, replaced(44, ">Q", (1 << 64) - 1)),
    "endless-credit": only(CREDIT, replaced(0, ">Q", 1 << 61)),
    "no-generation": after(CREDIT, (FLUSHED, struct.pack(">IIq", 0, 1 << 31, 0))),
    "an-anchor": after(WELCOME, (honest.ANCHOR, ANCHOR_PAYLOAD)),
    "no-length": after(WELCOME, (MARKER, bytes(8))),
    "long-length": after(WELCOME, (MARKER, b"\xff" * 8)),
    # These keep to the protocol, but lie.
    "generous": only(CREDIT, replaced(0, ">Q", 1 << 60)),
    "stingy": lambda kind, payload: [] if kind == CREDIT else [(kind, payload)],
    "late-horizon": only(STATUS, replaced(100, ">q", 10_000_000_000)),
    "flapping": only(STATUS, flapping),
    "wrong-cuts": after(CREDIT, *[(FLUSHED, struct.pack(">IIq", 0, g, g << 40)) for g in range(20)]),
    "unknown-types": after(STATUS, (0x01FF, b"later"), (0x7777, b"")),
}


class NoCard:
    """Replaces the recorder, so that nothing ever sounds."""

    def __init__(self, path, rate):
        self.rate, self.flicks, self.playhead, self.state = rate, honest.FLICKS // rate, 0, honest.IDLE

    def record(self, until, stream, offset, room):
        stream.blocks = stream.blocks[-100:]

    def close(self):
        pass


class Liar(honest.Receiver):
    def __init__(self, fault):
        super().__init__("", fault, 0)
        self.fault = FAULTS[fault]

    def accept(self):
        super().accept()
        connection = self.connections[-1]
        tell = connection.send

        def lie(kind, payload):
            for kind, payload in self.fault(kind, payload):
                if kind == MARKER:
                    connection.sendBytes(payload)
                else:
                    tell(kind, payload)

        connection.send = lie

    def controlled(self, kind, payload):
        if kind == GOODBYE:
            print(f"{self.name} was told goodbye {payload[0]}: {payload[4:].decode()}", flush=True)
        super().controlled(kind, payload)


honest.Recorder = NoCard
liars = [Liar(fault) for fault in sys.argv[1:] or FAULTS]
for liar in liars:
    print(f"{liar.name} listens on port {liar.port}", flush=True)
    threading.Thread(target=liar.run, daemon=True).start()
print("all listen", flush=True)
threading.Event().wait()
