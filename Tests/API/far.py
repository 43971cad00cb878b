#!/usr/bin/env python3
"""Asks a real `tutti serve`, as it is shipped, from another network namespace, as a stranger's machine on the same network would:
every path of docs/openapi.json, with every method. Prints how many requests each kind of asker sent, and what answered. `make
test-far` runs it as root, in a network namespace of its own:

    unshare -m -n Tests/API/far.py
"""

import collections
import json
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS", ROOT / ".build/release"))
TUTTI = str(PROGRAMS / "tutti")
BASE = "http://10.99.0.1:8770"
BASE6 = "http://[fd99::1]:8770"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
# The page's own files: nothing of the household is in them.
OWN = {"GET /", "GET /assets/{name}", "GET /api/v1/openapi.json"}
# Who calls these wants to be paired, and is no stranger afterwards.
KEYS = {"POST /api/v1/login", "POST /api/v1/browsers"}
TOKEN = "correct-horse-battery-staple"

# Runs in the other namespace: answers with statuses, headers and texts.
ASK = """
import http.client, json, sys, urllib.parse
answers = []
for method, address, body, headers in json.load(sys.stdin):
    url = urllib.parse.urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    if body: headers = {"Content-Type": "application/json", **headers}
    connection.request(method, urllib.parse.urlunsplit(("", "", *url[2:])), body=body.encode() if body else None, headers=headers)
    answer = connection.getresponse()
    answers.append([answer.status, answer.read().decode(errors="replace"), dict(answer.getheaders())])
    connection.close()
print(json.dumps(answers))
"""


class Network:
    """Another machine for the network: a namespace at the other end of a cable."""

    def __enter__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.enter = ["nsenter", "-t", str(self.holder.pid), "-n"]
        for line in ("link set lo up", "link add cable type veth peer name far", "addr add 10.99.0.1/24 dev cable",
                     "addr add fd99::1/64 dev cable nodad", "link set cable up", f"link set far netns {self.holder.pid}"):
            subprocess.run(["ip", *line.split()], check=True)
        for line in ("link set lo up", "addr add 10.99.0.2/24 dev far", "addr add fd99::2/64 dev far nodad", "link set far up"):
            subprocess.run([*self.enter, "ip", *line.split()], check=True)
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def ask(self, requests):
        """Each request is a method, an address, a body or None, and headers; each answer a status, a text and headers."""
        run = subprocess.run([*self.enter, sys.executable, "-c", ASK], input=json.dumps(requests), capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(run.stderr)
        return json.loads(run.stdout)


class Daemon:
    """`tutti serve` on a terminal."""

    def __init__(self, state, *options):
        self.state = state
        self.terminal, inside = pty.openpty()
        self.process = subprocess.Popen([TUTTI, "serve", "--state-dir", state, *options], stdin=inside, stdout=inside, stderr=subprocess.DEVNULL)
        os.close(inside)
        self.screen = ""
        while "add-phone" not in self.screen:
            if not select.select([self.terminal], [], [], 60)[0]:
                raise RuntimeError(f"no code is shown: {self.screen}")
            self.screen += os.read(self.terminal, 1 << 16).decode(errors="ignore")

    def stop(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.terminal)

    def tutti(self, *words):
        return subprocess.run([TUTTI, *words, "--state-dir", self.state], capture_output=True, text=True, check=True).stdout.strip()


class Request:
    """One request of the walk, and its answer."""

    def __init__(self, method, path, permission, body=None):
        self.name, self.method, self.path, self.permission, self.body = f"{method} {path}", method, path, permission, body
        filled = path.replace("{name}", "app.js").replace("{hash}", "abc123").replace("{entryId}", "1")
        query = {"/api/v1/events": "?limit=1", "/api/v1/library/search": "?q=a"}.get(path, "")
        self.target = re.sub(r"{\w+}", "none", filled) + query

    def answered(self, status, text, headers):
        self.status, self.text, self.headers = status, text, headers
        return self

    def __str__(self):
        return f"{self.name} ({self.permission}): {self.status} {self.text[:300]}"


def document():
    """Returns the permission of each method and path."""
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    return {f"{method.upper()} {path}": operation["x-tutti-permission"] for path, operations in paths.items() for method, operation in operations.items()}


def requests():
    """Returns every path with every method; the permission is None where the document has no such operation."""
    permissions = document()
    bodies = {"POST /api/v1/login": '{"token":"guess-guess"}', "POST /api/v1/browsers": '{"secret":"guess"}'}
    for path in dict.fromkeys(name.split(" ", 1)[1] for name in permissions):
        for method in METHODS:
            name = f"{method} {path}"
            # HEAD asks what GET asks.
            permission = permissions.get(name) or (permissions.get(f"GET {path}") if method == "HEAD" else None)
            yield Request(method, path, permission, bodies.get(name))


class Far(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.daemon = None

    def tearDown(self):
        if self.daemon:
            self.daemon.stop()

    def serve(self, *lines):
        """Starts the daemon with a configuration of these lines."""
        file = pathlib.Path(self.folder, "tutti.conf")
        file.write_text("\n".join(lines) + "\n")
        self.daemon = Daemon(self.folder + "/state", "--config", str(file))

    def walk(self, asker, headers=None, base=BASE):
        """Asks for everything, and prints how it was answered."""
        walk = list(requests())
        answers = network.ask([[one.method, base + one.target, one.body, headers or {}] for one in walk])
        walk = [one.answered(*answer) for one, answer in zip(walk, answers)]
        counts = collections.Counter(one.status for one in walk)
        print(f"\n{asker}: {len(walk)} requests: " + ", ".join(f"{number} x {status}" for status, number in sorted(counts.items())), flush=True)
        return walk

    def check_undocumented(self, one):
        """A method that the document does not have does nothing: it is refused, whoever asks."""
        self.assertIn(one.status, (400, 401, 403, 405, 501), one)

    def check_closed(self, walk):
        for one in walk:
            if one.permission is None:
                self.check_undocumented(one)
            elif one.name.replace("HEAD", "GET") in OWN:
                self.assertEqual(one.status, 200, one)
            else:
                # Wrong keys are slowed as well.
                self.assertIn(one.status, (401, 429) if one.name in KEYS or one.headers.get("Retry-After") else (401,), one)

    def test_a_stranger_gets_the_pages_own_files_and_nothing_else(self):
        self.serve()
        self.check_closed(self.walk("a stranger"))
        self.check_closed(self.walk("a stranger by IPv6", base=BASE6))

    def test_a_stranger_who_claims_to_be_somebody_gets_no_more(self):
        self.serve(f"token = {TOKEN}")
        for claim, headers in {
            "who says it is this machine": {"Host": "localhost", "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
            "with a made-up pairing": {"Cookie": "tutti-browser=" + "0" * 64},
            "with a pairing that is none": {"Cookie": "tutti-browser=; tutti-browser=*; tutti-token="},
            "with a wrong token": {"Authorization": "Bearer wrong-horse-battery-staple"},
        }.items():
            self.check_closed(self.walk("a stranger " + claim, headers))

    def check_open(self, guest, paired):
        for one, same in zip(guest, paired):
            if one.permission is None:
                self.check_undocumented(one)
            elif one.permission == "household":
                # HEAD has no text.
                code = json.loads(one.text).get("code") if one.text else "guests-may-not"
                self.assertEqual((one.status, code), (403, "guests-may-not"), one)
            elif one.name not in KEYS:
                self.assertNotIn(one.status, (401, 403, 405, 429, 500), one)
                self.assertEqual(one.status, same.status, f"guests and paired ones differ: {one}; {same}")

    def check_paired(self, walk):
        for one in walk:
            if one.permission is None:
                self.check_undocumented(one)
            elif one.name not in KEYS:
                self.assertNotIn(one.status, (401, 403, 405, 429, 500), one)

    def pair(self):
        """Pairs the other machine by the PIN; returns its cookie."""
        body = json.dumps({"pin": self.daemon.tutti("pin")})
        [[status, text, headers]] = network.ask([["POST", BASE + "/api/v1/browsers", body, {}]])
        self.assertEqual(status, 201, text)
        return {"Cookie": headers["Set-Cookie"].split(";")[0]}

    def test_open_exactly_the_routes_answer_that_the_document_marks_for_guests(self):
        self.serve("open = yes")
        key = self.pair()
        guest, paired = self.walk("a guest"), self.walk("a paired one", key)
        self.check_open(guest, paired)
        self.check_paired(paired)

    def test_paired_ones_get_all_until_they_are_removed(self):
        self.serve()
        key = self.pair()
        self.check_paired(self.walk("a paired one", key))
        self.daemon.tutti("browsers", "--remove", self.daemon.tutti("browsers").split()[0])
        self.check_closed(self.walk("a removed one", key))

    def test_who_knows_the_token_gets_all(self):
        self.serve(f"token = {TOKEN}")
        self.check_paired(self.walk("one with the token", {"Authorization": f"Bearer {TOKEN}"}))
        self.check_paired(self.walk("one with the token in a cookie", {"Cookie": f"tutti-token={TOKEN}"}))


def setUpModule():
    global network
    network = unittest.enterModuleContext(Network())


if __name__ == "__main__":
    unittest.main(verbosity=2)
