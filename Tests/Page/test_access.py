#!/usr/bin/env python3
"""Pairs a phone in another network namespace with a real `tutti serve`, as it is shipped. Run it as root, in a network
namespace of its own:

    unshare -m -n Tests/Page/test_access.py
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from PIL import Image
from playwright.sync_api import expect, sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "API"))
import far  # noqa: E402
from far import BASE, PROGRAMS  # noqa: E402


class Daemon(far.Daemon):
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
            if (status["state"], status.get("title")) == ("playing", "Sinnerman"):
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
    network = unittest.enterModuleContext(far.Network())


if __name__ == "__main__":
    unittest.main(verbosity=2)
