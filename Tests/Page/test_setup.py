#!/usr/bin/env python3
"""Sets a household up in a browser, from nothing: against a real `tutti serve` whose configuration names nothing. See household.py.

    Tests/Page/test_setup.py [names of tests …]
"""

import http.server
import json
import re
import shutil
import subprocess
import threading
import unittest
import urllib.parse

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE
from household import Household, make_album
from test_page import PageTest


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class SetUp(PageTest):
    def setUp(self):
        self.faults = []
        self.server = self.house = self.enterContext(Household(albums=(12, 7), rooms=(), stranger="Kitchen", isBare=True))
        self.music = str(self.house.folder / "music")

    def bare(self, size=PHONE):
        page = self.open("", size)
        page.goto("about:blank")
        page.add_init_script("addEventListener('click', (event) => event.isTrusted && event.detail && (window.taps = (window.taps ?? 0) + 1), true)")
        page.goto(self.house.address)
        return page

    def pair(self, page):
        page.get_by_role("button", name="Pair Kitchen").tap()
        page.get_by_role("textbox").fill(re.search(r"\d{4} \d{4}", self.house.rooms["Kitchen"].run("pin"))[0])
        page.get_by_role("button", name="Pair", exact=True).tap()
        self.house.wait(lambda state: state["rooms"][0]["isPaired"])

    def folders(self):
        return [folder["path"] for folder in self.house.api("GET", "/folders")["folders"]]

    def test_from_nothing_to_sound_in_at_most_six_taps(self):
        page = self.bare()
        expect(page.locator("#now")).to_contain_text("Where is your music?")
        self.pair(page)
        page.get_by_role("button", name=f"Use {self.music}", exact=True).tap()
        before = self.house.rooms["Kitchen"].heard()
        page.get_by_role("button", name="Play", exact=True).filter(visible=True).first.tap()
        self.house.wait(lambda state: state["groups"] and state["groups"][0]["state"] == "playing")
        self.house.wait(lambda state: self.house.rooms["Kitchen"].loudest(since=before) > 100)
        expect(page.locator("#now .deck h1")).not_to_be_empty()
        taps = page.evaluate("taps")
        print(f"from nothing to sound: {taps} taps")
        self.assertLessEqual(taps, 6)

    def test_a_wide_window_begins_with_the_same(self):
        page = self.bare(LAPTOP)
        expect(page.locator("#now")).to_contain_text("Where is your music?")
        expect(page.locator("#library")).to_be_hidden()

    def test_a_room_is_heard_and_named(self):
        page = self.bare()
        self.pair(page)
        before = self.house.rooms["Kitchen"].heard()
        page.get_by_role("button", name="Make a sound").tap()
        self.house.wait(lambda state: self.house.rooms["Kitchen"].loudest(since=before) > 100)
        page.get_by_role("button", name="More for Kitchen").tap()
        page.get_by_role("button", name="Rename").tap()
        page.get_by_role("textbox").fill("Küche")
        page.get_by_role("button", name="Save").tap()
        expect(page.locator("#now")).to_contain_text("Küche")
        self.house.stop()
        self.house.start()
        self.house.wait(lambda state: [room["name"] for room in state["rooms"]] == ["Küche"])

    def test_folders_are_browsed_added_and_removed_and_outlive_a_kill(self):
        page = self.bare()
        page.locator("#now .row-main").get_by_text(self.music, exact=True).tap()
        inner = sorted(path.name for path in (self.house.folder / "music").iterdir())[0]
        page.get_by_role("button", name=f"Use {inner}", exact=True).tap()
        expect(page.locator("#now")).to_contain_text(f"{self.music}/{inner}")
        self.assertEqual(self.folders(), [f"{self.music}/{inner}"])
        self.house.stop()
        self.house.start()
        self.assertEqual(self.folders(), [f"{self.music}/{inner}"])
        self.house.wait(lambda state: state["library"]["trackCount"] and not state["library"].get("scan"))
        page.goto(f"{self.house.address}#/rooms")
        page.get_by_role("button", name="Settings").tap()
        page.get_by_role("button", name="Add a folder").tap()
        page.get_by_role("button", name=f"Use {self.music}", exact=True).tap()
        expect(page.get_by_role("dialog").locator(".devices li")).to_have_count(1)
        expect(page.get_by_role("dialog").locator(".devices")).not_to_contain_text(inner)
        page.get_by_role("button", name="Take music out of the library").tap()
        expect(page.get_by_role("dialog").locator(".devices li")).to_have_count(0)
        self.house.wait(lambda state: state["library"]["trackCount"] == 0 and not state["library"]["folders"])

    def test_a_folder_that_goes_away_stays_and_says_so(self):
        self.house.api("POST", "/folders", {"path": self.music})
        self.house.wait(lambda state: state["library"]["trackCount"] and not state["library"].get("scan"))
        page = self.bare()
        page.goto(f"{self.house.address}#/rooms")
        page.get_by_role("button", name="Settings").tap()
        row = page.get_by_role("dialog").locator(".devices li")
        expect(row).to_contain_text("tracks")
        shutil.move(self.music, self.music + ".away")
        self.house.api("POST", "/library/scan")
        expect(row).to_contain_text("not there now")
        self.assertTrue(self.house.state()["library"]["trackCount"])
        shutil.move(self.music + ".away", self.music)
        self.house.api("POST", "/library/scan")
        expect(row).not_to_contain_text("not there now")

    def test_servers_are_added_refused_and_removed(self):
        class Server(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                song = {"id": "1", "title": "Sinnerman", "artist": "Nina", "album": "Pastel", "suffix": "flac", "duration": 32, "size": 9}
                query = urllib.parse.parse_qs(self.path.partition("?")[2])
                songs = [song] if query.get("songOffset") == ["0"] else []
                is_right = query.get("p") == ["enc:" + b"sesame".hex().upper()]
                answer = {"status": "ok", "searchResult3": {"song": songs}} if is_right else {"status": "failed", "error": {"code": 40, "message": "No"}}
                content = json.dumps({"subsonic-response": answer}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        page = self.bare()
        page.goto(f"{self.house.address}#/rooms")
        page.get_by_role("button", name="Settings").tap()
        page.get_by_role("button", name="Add a server").tap()
        form = page.get_by_role("dialog", name="Add a server")
        # A media server of UPnP has no users.
        form.get_by_role("combobox", name="Kind").select_option("upnp")
        expect(form.get_by_label("User", exact=True)).to_be_hidden()
        form.get_by_role("combobox", name="Kind").select_option("password")
        for name, value in ("Name", "Home"), ("Address", address), ("User", "anna"), ("Password", "sesame"):
            form.get_by_label(name, exact=True).fill(value)
        form.get_by_role("button", name="Add", exact=True).tap()
        # Whoever comes by the page leads no connection to the daemon's own machine.
        expect(page.get_by_text("it leads to this machine itself")).to_be_visible()
        expect(form).to_be_visible()
        self.assertEqual(self.house.api("GET", "/servers"), {"servers": []})
        page.goto("about:blank")
        # Its user at a terminal may.
        words = ("servers", "--add", "Home", "--subsonic", address, "--user", "anna", "--login", "password")
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            self.house.tutti(*words, typed="wrong\n")
        self.assertIn("127.0.0.1 gives no library: the server refuses the user or the password (No)", refused.exception.stderr)
        self.house.tutti(*words, typed="sesame\n")
        self.house.wait(lambda state: state["library"]["trackCount"] == 1)
        self.assertEqual([(each["name"], each["trackCount"], each["isFixed"]) for each in self.house.api("GET", "/servers")["servers"]], [("Home", 1, False)])
        self.house.stop()
        self.house.start()
        page.goto(f"{self.house.address}#/rooms")
        page.get_by_role("button", name="Settings").tap()
        row = page.get_by_role("dialog").locator(".devices li")
        expect(row).to_contain_text(f"127.0.0.1:{server.server_port}")
        expect(row).to_contain_text("1 track")
        page.get_by_role("button", name="Take Home out of the library").tap()
        expect(row).to_have_count(0)
        self.house.wait(lambda state: state["library"]["trackCount"] == 0)
        self.assertEqual(self.house.api("GET", "/servers"), {"servers": []})

    def test_the_configuration_is_followed_and_what_it_names_is_not_offered(self):
        page = self.bare(LAPTOP)
        other = self.house.folder / "more"
        make_album(other, 22)
        (self.house.folder / "empty.conf").write_text(f"library = {other}\n")
        self.house.wait(lambda state: state["library"]["folders"] == ["more"] and state["library"]["trackCount"] and not state["library"].get("scan"))
        page.goto(f"{self.house.address}#/rooms")
        page.get_by_role("button", name="Settings").click()
        row = page.get_by_role("dialog").locator(".devices li")
        expect(row).to_contain_text("named by the configuration")
        expect(row.get_by_role("button")).to_have_count(0)
        expect(page.get_by_role("dialog")).to_contain_text("library, listen, name")
        # What is wrong is said, and changes nothing.
        (self.house.folder / "empty.conf").write_text("libary = /srv\n")
        self.house.daemon.line("there is no key libary.*all stays as it was")
        self.assertEqual(self.folders(), [str(other)])
        # The music goes on while the daemon begins anew.
        self.house.api("POST", f"/rooms/{self.house.room('Kitchen')['id']}/pair",
                       {"pin": re.search(r"\d{4} \d{4}", self.house.rooms["Kitchen"].run("pin"))[0]})
        group = self.house.play("Kitchen")
        number = self.house.daemon.process.pid
        (self.house.folder / "empty.conf").write_text("resume = yes\nvoice = espeak-ng\n")
        self.house.daemon.line("the daemon begins anew")
        page.goto("about:blank")
        self.house.again()
        state = self.house.wait(lambda state: state["groups"] and state["groups"][0]["state"] == "playing")
        self.assertEqual((state["groups"][0]["id"], self.house.daemon.process.pid), (group, number))
        self.assertIn("voice", state["server"]["fixed"])

    def test_dates_have_the_language_of_the_household(self):
        page = self.bare(LAPTOP)
        page.goto(f"{self.house.address}#/rooms")
        page.get_by_role("button", name="Settings").click()
        page.get_by_role("combobox", name="Language of dates").select_option("de")
        self.house.wait(lambda state: state["server"].get("dates") == "de")


if __name__ == "__main__":
    unittest.main(verbosity=2)
