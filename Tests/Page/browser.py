"""Shared by the tests and the screenshots: Debian's Chromium, and the mock server as a process that can be killed."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys

from playwright.sync_api import sync_playwright

HERE = pathlib.Path(__file__).resolve().parent
PHONE, TABLET, LAPTOP = (390, 844), (820, 1180), (1440, 900)


class Server:
    """`mock.py` on a free port, or with `address` a real server that was started elsewhere."""

    def __init__(self, scene="home", media=None, address=None):
        self.scene, self.media, self.address, self.process = scene, media, address, None
        self.isReal = address is not None

    def __enter__(self):
        if not self.isReal:
            self.start()
        return self

    def __exit__(self, *_):
        if self.process:
            self.stop()

    def start(self):
        port = re.search(r":(\d+)", self.address or ":0")[1]
        command = [sys.executable, str(HERE / "mock.py"), "--port", port, "--scene", self.scene]
        albums = {"TUTTI_MOCK_ALBUMS": "10000"} if self.scene == "large" else {}
        self.process = subprocess.Popen(command + (["--media", self.media] if self.media else []), stdout=subprocess.PIPE, text=True,
                                        env=os.environ | albums)
        self.address = self.process.stdout.readline().strip()

    def stop(self):
        """Kills the process, like a power cut."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()
        self.process = None


@contextlib.contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                                             args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"])
        yield browser
        browser.close()


def context(browser, size=LAPTOP, **more):
    options = {"viewport": {"width": size[0], "height": size[1]}, "has_touch": size[0] < 1000, "is_mobile": size[0] < 700}
    return browser.new_context(**{**options, **more})
