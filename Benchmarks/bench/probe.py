"""Run by `bench.py check` in a host, or on a machine clock of its own; prints JSON.

    probe.py clock              the C library's clocks less true time, and how long waits take
    probe.py echo PORT
    probe.py ping ADDRESS PORT COUNT
"""
import ctypes
import json
import platform
import socket
import sys
import threading
import time

SO_TIMESTAMPNS = 35
CALL = {"x86_64": 228, "aarch64": 113}[platform.machine()]  # clock_gettime


class Timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


_libc = ctypes.CDLL(None)


def true(clock):
    t = Timespec()
    _libc.syscall(CALL, clock, ctypes.byref(t))
    return t.s * 10 ** 9 + t.ns


def ahead(clock):
    """Returns the best of many readings, because others may have been interrupted."""
    readings = []
    for _ in range(200):
        before, read, after = true(clock), time.clock_gettime_ns(clock), true(clock)
        readings.append((after - before, read - (before + after) // 2))
    return min(readings)[1]


def lasted(wait):
    def once():
        before = true(1)
        wait()
        return (true(1) - before) * 1e-9
    return min(once() for _ in range(3))


def stamp_ahead():
    """The kernel's stamp on a packet minus the program's time before sending it, in ns."""
    receiver, sender = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    receiver.bind(("127.0.0.1", 0))
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    sender.sendto(b"x", receiver.getsockname())
    _, extra, _, _ = receiver.recvmsg(10, 200)
    stamp = Timespec.from_buffer_copy(extra[0][2])
    return stamp.s * 10 ** 9 + stamp.ns - before


def ping(address, port, count):
    """Sends a packet every 2 ms or more. Returns the answers in order of arrival: number, and round trip in µs."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sent, answers = [], []
    for i in range(count):
        sent.append(true(1))
        link.sendto(b"%06d" % i, (address, port))
        until = sent[-1] + (2_000_000 if i < count - 1 else 200_000_000)
        while (left := until - true(1)) > 0:
            link.settimeout(left * 1e-9)
            try:
                number = int(link.recv(100))
            except socket.timeout:
                break
            answers.append((number, (true(1) - sent[number]) * 1e-3))
    return answers


if __name__ == "__main__":
    if sys.argv[1] == "clock":
        print(json.dumps({"true_ns": true(1), "monotonic": ahead(1), "raw": ahead(4), "realtime": ahead(0), "stamp": stamp_ahead(),
                          "sleep": lasted(lambda: time.sleep(0.05)), "event": lasted(lambda: threading.Event().wait(0.05))}))
    elif sys.argv[1] == "echo":
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("", int(sys.argv[2])))
        print("ready", flush=True)
        while True:
            server.sendto(*server.recvfrom(100))
    else:
        print(json.dumps(ping(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
