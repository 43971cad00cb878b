#!/usr/bin/env python3
"""Asks a real `tutti serve`, as it is shipped, from another network namespace, to see what strangers learn, and how a phone
is paired. Run it as root, in a network namespace of its own:

    unshare -m -n Tests/Page/test_access.py
"""

import json
import os
import pathlib
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import unittest

from PIL import Image
from playwright.sync_api import expect, sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = pathlib.Path(os.environ.get("TUTTI_PROGRAMS", HERE.parents[1] / ".build/release"))
TUTTI = str(PROGRAMS / "tutti")
BASE = "http://10.99.0.1:8770"
OWN = {"get /", "get /assets/{name}", "get /api/v1/openapi.json"}
ASK = """
import json, sys, urllib.request, urllib.error
answers = []
for method, address, body in json.load(sys.stdin):
    request = urllib.request.Request(address, method=method, data=body.encode() if body else None,
                                     headers={"Content-Type": "application/json"} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer: answers.append([answer.status, ""])
    except urllib.error.HTTPError as error: answers.append([error.code, error.read().decode()])
print(json.dumps(answers))
"""


class Network:
    """Another machine for the network: a namespace at the other end of a cable."""

    def __enter__(self):
        self.holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        self.enter = ["nsenter", "-t", str(self.holder.pid), "-n"]
        for line in ("link set lo up", "link add cable type veth peer name far", "addr add 10.99.0.1/24 dev cable", "link set cable up",
                     f"link set far netns {self.holder.pid}"):
            subprocess.run(["ip", *line.split()], check=True)
        for line in ("link set lo up", "addr add 10.99.0.2/24 dev far", "link set far up"):
            subprocess.run([*self.enter, "ip", *line.split()], check=True)
        return self

    def __exit__(self, *_):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def ask(self, requests):
        run = subprocess.run([*self.enter, sys.executable, "-c", ASK], input=json.dumps(requests), capture_output=True, text=True, check=True)
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

    def scan(self):
        """Returns the text that a camera reads from the terminal."""
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line.rstrip("\r")) for line in self.screen.split("\n") if line.startswith("\x1b[97;40m")]
        image = Image.new("L", (len(lines[0]), 2 * len(lines)))
        for y, line in enumerate(lines):
            for x, sign in enumerate(line):
                image.putpixel((x, 2 * y), 255 if sign in "█▀" else 0)
                image.putpixel((x, 2 * y + 1), 255 if sign in "█▄" else 0)
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            image.resize((image.width * 8, image.height * 8)).save(file.name)
            return subprocess.run(["zbarimg", "--quiet", "--raw", file.name], capture_output=True, text=True, check=True).stdout.strip()


class Access(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.network = network
        self.daemon = None

    def tearDown(self):
        self.daemon.stop()

    def serve(self, *options):
        self.daemon = Daemon(self.folder + "/state", *options)

    def walk(self):
        """Returns each route of the document, with its permission and its answer."""
        paths = json.loads((HERE.parents[1] / "docs/openapi.json").read_text())["paths"]
        routes = [(method, path, operation["x-tutti-permission"]) for path, operations in paths.items() for method, operation in operations.items()]
        bodies = {"post /api/v1/login": '{"token":"guess-guess"}', "post /api/v1/browsers": '{"secret":"guess"}'}
        filled = [path.replace("{name}", "app.js").replace("{hash}", "abc123").replace("{entryId}", "1") for _, path, _ in routes]
        filled = [re.sub(r"{\w+}", "none", path) + {"/api/v1/events": "?limit=1", "/api/v1/library/search": "?q=a"}.get(path, "") for path in filled]
        answers = self.network.ask([[method.upper(), BASE + path, bodies.get(f"{method} {old}")] for (method, old, _), path in zip(routes, filled)])
        return [(f"{method} {path}", permission, *answer) for (method, path, permission), answer in zip(routes, answers)]

    def test_closed_every_route_answers_401_or_a_file_of_the_page(self):
        self.serve()
        for route, _, status, text in self.walk():
            self.assertEqual(status, 200 if route in OWN else 401, f"{route}: {text}")

    def test_open_exactly_the_documented_routes_answer(self):
        self.serve("--open", "yes")
        for route, permission, status, text in self.walk():
            if permission == "household":
                self.assertEqual((status, json.loads(text)["code"]), (403, "guests-may-not"), route)
            elif route not in ("post /api/v1/login", "post /api/v1/browsers"):
                self.assertNotIn(status, (401, 403, 405, 500), f"{route}: {text}")

    def room(self):
        """Starts a receiver on this machine without sound output. Returns its address."""
        program = subprocess.Popen(
            [PROGRAMS / "tutti-receiver", "--name", "Kitchen", "--port", "0", "--no-mdns", "--output", "null", "--state-dir", self.folder + "/room"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(program.wait)
        self.addCleanup(program.terminate)
        self.addCleanup(program.stderr.close)
        line = next(line for line in program.stderr if "listening: Kitchen on port" in line)
        return "127.0.0.1:" + re.search(r"port (\d+)", line)[1]

    def music(self):
        """Makes a library of one album."""
        folder = self.folder + "/music"
        os.mkdir(folder)
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=300", "-metadata", "title=Sinnerman", "-metadata", "artist=Nina Simone",
                        "-metadata", "album=Pastel Blues", folder + "/1.flac"], check=True)
        return folder

    def until_it_plays(self):
        """Waits until the daemon says so, not the page."""
        for _ in range(600):
            status = json.loads(self.daemon.tutti("status", "--json"))
            if (status["state"], status["title"]) == ("playing", "Sinnerman"):
                return
            time.sleep(0.1)
        self.fail(f"it does not play: {status}")

    def test_from_the_terminals_code_to_music_is_one_tap_and_a_phone_stays_paired_until_it_is_removed(self):
        library = self.music()
        self.serve("--library", library)
        self.daemon.tutti("play", "--stay", "--at", self.room())
        address = self.daemon.scan()
        self.assertRegex(address, rf"^{BASE}/#pair=[0-9a-f]{{32}}$")
        chromium = pathlib.Path(self.folder, "chromium")
        chromium.write_text(f"#!/bin/sh\nexec {' '.join(self.network.enter)} /usr/bin/chromium \"$@\"\n")
        chromium.chmod(0o755)
        with sync_playwright() as playwright:
            def phone():
                return playwright.chromium.launch_persistent_context(
                    self.folder + "/phone", executable_path=str(chromium), args=["--no-sandbox"], viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
            with phone() as browser:
                page = browser.pages[0]
                page.goto(address)
                expect(page.locator('#nav a[href="#/rooms"]')).to_be_visible()
                self.assertNotIn("pair=", page.url)
                page.locator("#now .tile button").first.tap()
                self.until_it_plays()
                expect(page.locator("#now .titles h1")).to_have_text("Sinnerman")
            self.daemon.stop()
            self.serve("--library", library)
            with phone() as browser:
                page = browser.pages[0]
                page.goto(BASE)
                self.until_it_plays()
                expect(page.locator("#now .titles h1")).to_have_text("Sinnerman")
                expect(page.locator('#nav a[href="#/rooms"]')).to_be_visible()
                self.daemon.tutti("browsers", "--remove", self.daemon.tutti("browsers").split()[0])
                expect(page.locator(".pin")).to_be_visible(timeout=20000)
                page.locator(".pin").fill(self.daemon.tutti("pin"))
                expect(page.locator('#nav a[href="#/rooms"]')).to_be_visible()


def setUpModule():
    global network
    network = unittest.enterModuleContext(Network())


if __name__ == "__main__":
    unittest.main(verbosity=2)
