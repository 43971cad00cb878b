"""What tests of clients share: they wait for something, note what is wrong, and listen on the wire."""
import re
import socket
import subprocess
import sys
import threading
import time

from exchanges import WAIT

FAILURES = []


def check(is_right, what):
    if not is_right:
        FAILURES.append(what)
        print(f"clients: {what}", file=sys.stderr)


def reach(what, condition, seconds=WAIT):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return check(False, f"in vain: {what}")
        time.sleep(0.02)


def output(*words, **more):
    """The text of a program that has ended: those that wait for something give up by themselves before this time."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", timeout=10 * WAIT, **more)


def mpc(port, *words):
    return output("mpc", "-h", "127.0.0.1", "-p", port, *words)


class Proxy:
    """Passes bytes on, and keeps what a client says, when it was answered, and what it is refused."""

    def __init__(self, port):
        self.target, self.said, self.refused, self.answered = port, [], [], {}
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client = self.server.accept()[0]
            other, last = socket.create_connection(("127.0.0.1", self.target)), [None]
            threading.Thread(target=self.pass_on, args=(client, other, lambda part, last=last: self.hear(part, last)), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(other, client, lambda part, last=last: self.hear_answer(part, last)), daemon=True).start()

    def hear(self, part, last):
        self.said += [(time.monotonic(), line.decode(errors="replace")) for line in re.findall(rb"[^\n]+", part)]
        last[0] = self.said[-1][1]

    def hear_answer(self, part, last):
        if part.endswith(b"OK\n"):
            self.answered[last[0]] = time.monotonic()
        self.refused += [(time.monotonic(), line.decode(errors="replace")) for line in re.findall(rb"ACK [^\n]+", part)]

    def pass_on(self, one, two, hear):
        try:
            while part := one.recv(65536):
                hear(part)
                two.sendall(part)
            two.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def idles_after(self, *lines):
        """Whether a client has said all of these, and `idle` after each."""
        said = [line for _, line in self.said]
        return all(line in said and any(later.startswith("idle") for later in said[said.index(line):]) for line in lines)

    def check_refusals(self, who, known):
        for _, line in self.refused:
            check(re.search(known, line), f"{who} is refused: {line}")
