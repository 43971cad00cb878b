#!/usr/bin/env python3
"""Drives the page against the mock server as a household would: first opening, mistakes, rooms that fail, a library that grows.

    Tests/Page/test_use.py [names of tests …]
"""

import json
import re
import time
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE, TABLET
from test_page import PageTest

LANDSCAPE = (844, 390)
JARGON = re.compile(r"fe80|\d+\.\d+\.\d+\.\d+|peer|refused the connection|hw:\d|input:|host:port|TLS|not connected|protocol|timed? ?out", re.I)


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class UseTest(PageTest):
    def bare(self, size, **more):
        """The address that `tutti serve` prints."""
        page = self.open(size=size, **more)
        page.goto("about:blank")
        page.goto(self.server.address)
        return page

    def room(self, page, name):
        return next(room for room in self.api(page, "GET", "/state")["rooms"] if room["name"] == name)

    def set_room(self, page, name, **state):
        return self.api(page, "POST", f"/mock/room/{self.room(page, name)['id']}", state)

    def set_group(self, page, **state):
        return self.api(page, "POST", f"/mock/group/{self.group(page)['id']}", state)

    def toast(self, page):
        return page.locator("#toasts .toast")

    def open_room(self, page, name):
        page.get_by_role("button", name=f"More for {name}", exact=True).click()
        return page.get_by_role("dialog")


class FirstOpening(UseTest):
    def test_the_bare_address_shows_the_library_or_what_plays_in_every_window(self):
        for size in [PHONE, TABLET, LAPTOP]:
            page = self.bare(size)
            seen = page.locator("#library .tile strong" if size == LAPTOP else "#now h1").first
            expect(seen).to_be_visible()
            expect(seen).not_to_be_empty()
            page.reload()
            expect(seen).not_to_be_empty()


class Setting(UseTest):
    def test_media_servers_of_the_network_fill_in_their_form(self):
        page = self.open("rooms")
        page.get_by_role("button", name="Settings").click()
        page.get_by_role("button", name="Add a server").click()
        form = page.get_by_role("dialog", name="Add a server")
        kind = form.get_by_role("combobox", name="Kind")
        kind.select_option("upnp")
        form.get_by_role("button", name="Loft", exact=True).click()
        expect(form.get_by_label("Name", exact=True)).to_have_value("Loft")
        expect(form.get_by_label("Address", exact=True)).to_have_value("http://192.168.1.5:8200/rootDesc.xml")
        expect(form.get_by_label("Password", exact=True)).to_be_hidden()
        kind.select_option("token")
        expect(form.get_by_role("button", name="Loft", exact=True)).to_be_hidden()
        expect(form.get_by_label("Password", exact=True)).to_be_visible()
        self.assertEqual(form.get_by_label("Password", exact=True).evaluate("(field) => field.type"), "password")
        kind.select_option("upnp")
        form.get_by_role("button", name="Add", exact=True).click()
        expect(form).to_have_count(0)
        self.assertEqual([each["name"] for each in self.api(page, "GET", "/servers")["servers"]], ["Loft"])

    def test_a_search_without_media_servers_says_what_to_do_and_a_failed_one_does_not(self):
        page = self.open("rooms")
        page.route("**/servers/found", lambda route: route.fulfill(json={"servers": []}))
        page.get_by_role("button", name="Settings").click()
        page.get_by_role("button", name="Add a server").click()
        form = page.get_by_role("dialog", name="Add a server")
        kind, found = form.get_by_role("combobox", name="Kind"), form.locator(".choices")
        kind.select_option("upnp")
        expect(found).to_have_text("No server answered. Is it switched on, and in this network? You can also type its address below.")
        kind.select_option("token")
        expect(found).to_be_hidden()
        page.route("**/servers/found", lambda route: route.fulfill(status=503, json={"detail": "Too many searches."}))
        kind.select_option("upnp")
        expect(self.toast(page)).to_have_text("Too many searches.")
        expect(found).to_be_empty()


class FirstRooms(UseTest):
    scene = "first"

    def test_rooms_that_nobody_has_paired_are_paired_from_the_first_view(self):
        page = self.bare(PHONE)
        page.locator("#now").get_by_role("button", name="Pair Office").click()
        page.get_by_role("button", name="Say the PIN in this room").click()
        expect(page.locator("#toasts")).to_contain_text("says its PIN now")
        page.get_by_role("textbox").fill("1234 5678")
        page.get_by_role("button", name="Pair", exact=True).click()
        expect(page.locator("#now")).not_to_contain_text("Pair")
        expect(page.get_by_role("dialog")).to_have_count(0)


class EmptyLibrary(UseTest):
    scene = "empty"

    def test_an_open_page_notices_a_scan_while_it_runs_and_at_its_end(self):
        page = self.open("library", LAPTOP)
        expect(page.locator("#library")).to_contain_text("The library is empty")
        scan = {"done": 40, "total": 400, "folder": "music"}
        self.api(page, "POST", "/mock/library", {"folders": ["music"], "trackCount": 40, "albumCount": 4, "revision": 1, "scan": scan})
        expect(page.locator("#library .tile")).to_have_count(4)
        self.api(page, "POST", "/mock/library", {"trackCount": 120, "albumCount": 12, "revision": 2, "scan": None})
        expect(page.locator("#library .tile")).to_have_count(12)
        page.get_by_role("link", name="Albums", exact=True).click()
        expect(page.locator("#library .sorts")).to_contain_text("12 albums")

    def test_the_empty_library_says_what_is_true(self):
        page = self.bare(PHONE)
        page.goto(f"{self.server.address}#/library")
        page.get_by_role("button", name="Set up").click()
        expect(page.locator("#now")).to_contain_text("Where is your music?")
        page.goto(f"{self.server.address}#/library")
        self.api(page, "POST", "/mock/library", {"folders": ["music"], "revision": 1})
        expect(page.locator("#library")).to_contain_text("appear here by themselves")
        expect(page.locator("#library").get_by_role("button", name="Set up")).to_have_count(0)
        self.api(page, "POST", "/mock/library", {"scan": {"done": 0, "total": 900, "folder": "music"}})
        expect(page.locator("#library .empty")).to_contain_text("is being read")


class Library(UseTest):
    def test_what_a_scan_changes_shows_without_moving_the_list(self):
        page = self.open("library/albums")
        page.locator("#library .scroll").evaluate("element => element.scrollTo(0, 4000)")
        expect(page.locator(".tile").last.locator("strong")).not_to_be_empty()
        self.api(page, "POST", "/mock/library", {"albumCount": 900, "revision": 2})
        expect(page.locator("#library .sorts")).to_contain_text("900 albums")
        self.assertGreater(page.locator("#library .scroll").evaluate("element => element.scrollTop"), 3900)

    def test_a_scan_makes_the_page_ask_at_a_bounded_rate(self):
        page, asked = self.open("library/albums", PHONE), []
        expect(page.locator(".tile").first).to_be_visible()
        page.on("request", lambda request: "/library/" in request.url and asked.append(request.url))
        for revision in range(2, 32):
            self.api(page, "POST", "/mock/library", {"revision": revision})
            page.wait_for_timeout(100)
        self.assertLess(len(asked), 8)
        self.assertGreater(len(asked), 0)

    def test_a_station_that_another_page_adds_appears(self):
        page = self.open("library/radio")
        expect(page.locator("#library .tile").first).to_be_visible()
        self.api(page, "POST", "/library/radios", {"name": "Radio Nowhere", "uri": "http://nowhere.example/"})
        expect(page.locator("#library")).to_contain_text("Radio Nowhere")

    def test_a_playlist_says_what_it_has_lost(self):
        page = self.open("library/playlists")
        row = page.locator("#library .row").filter(has_text="Sunday breakfast")
        total = int(re.search(r"(\d+) tracks", row.inner_text())[1])
        row.get_by_role("link").click()
        expect(page.locator(".page-text")).to_contain_text(f"{total - 1} tracks · 1 is gone")
        expect(page.locator("#library")).to_contain_text(re.compile("Not found any more: .+[.]"))

    def test_one_library_folder_is_not_listed_but_open(self):
        page = self.open("library/folders")
        expect(page.locator("#library .row")).to_have_count(2)
        self.api(page, "POST", "/mock/library", {"folders": ["music"], "revision": 2})
        expect(page.locator("#library .row").first).to_contain_text("Ada")
        page.locator("#library .row a").first.click()
        expect(page.locator(".crumbs")).to_have_text(re.compile("^Music\\s*Ada"))

    def test_covers_are_never_drawn_torn(self):
        page = self.open("sync", PHONE)
        page.route("**/artwork/**", lambda route: route.fulfill(status=503))
        page.goto(f"{self.server.address}#/library")
        expect(page.locator(".tile strong").first).to_be_visible()
        page.wait_for_timeout(1500)
        self.assertEqual(page.locator(".tile img").evaluate_all("images => images.filter((image) => getComputedStyle(image).opacity > 0).length"), 0)
        self.assertGreater(page.locator(".tile img").count(), 0)


class Undo(UseTest):
    def after(self, page, act, offers=True):
        before = self.queue(page)
        act()
        self.until(page, lambda: self.queue(page) != before, "edited")
        if not offers:
            return expect(self.toast(page).get_by_role("button", name="Undo")).to_have_count(0)
        self.toast(page).get_by_role("button", name="Undo").click()
        self.until(page, lambda: self.queue(page) == before, "as before")
        expect(self.toast(page)).to_have_text("Undone")

    def menu(self, page, *names):
        for name in names:
            page.get_by_role("button", name=name, exact=True).first.click()

    def test_undo_after_each_verb_that_offers_it(self):
        page = self.open("queue", PHONE)
        first = self.queue(page)[5]
        self.after(page, lambda: (page.locator("#queue .entry").nth(5).get_by_role("button", name=re.compile("^More for")).click(), self.menu(page, "Remove")))
        expect(page.locator("#queue .entry-title").nth(5)).to_have_text(first)
        self.after(page, lambda: self.menu(page, "Save, shuffle, clear", "Shuffle"))
        self.after(page, lambda: self.menu(page, "Save, shuffle, clear", "Clear"))
        page.goto(f"{self.server.address}#/library/album/a40")
        self.after(page, lambda: page.locator(".verbs").get_by_role("button", name="Play", exact=True).click())
        self.after(page, lambda: page.locator(".verbs").get_by_role("button", name="Play next").click(), offers=False)

    def test_the_shuffle_button_can_be_undone_too(self):
        page = self.open("now", PHONE)
        self.after(page, lambda: page.get_by_role("button", name="Shuffle the queue").click())


class Toasts(UseTest):
    def test_a_toast_never_covers_what_steers_the_music(self):
        for size in [PHONE, TABLET, LAPTOP, LANDSCAPE]:
            for view in ["now", "library"]:
                page = self.open(view, size)
                expect(page.locator("#now .play" if view == "now" else "#player .play")).to_be_visible()
                page.evaluate("""async () => (await import("/assets/overlay.js")).toast(
                    "Plays The Extraordinarily Long Title of a Concert in Four Parts, Recorded in the Winter Garden, Volume Two, in Kitchen", { undo() {} })""")
                self.toast(page).evaluate("toast => Promise.all(toast.getAnimations().map((animation) => animation.finished))")
                box = self.toast(page).bounding_box()
                covered = page.evaluate("""box => [...document.querySelectorAll(".transport button, .volume-row, .scrub, #player, #nav a")]
                    .filter((element) => element.checkVisibility()).map((element) => [element.getBoundingClientRect(), element.outerHTML.slice(0, 60)])
                    .filter(([other]) => other.width && box.x < other.right && other.left < box.x + box.width && box.y < other.bottom && other.top < box.y + box.height)
                    .map(([, html]) => html)""", box)
                self.assertEqual(covered, [], f"{view} {size}")
                self.assertTrue(box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= size[0], f"{view} {size}")
                page.context.close()

    def test_one_toast_at_a_time(self):
        page = self.open("now", PHONE)
        page.get_by_role("button", name="Shuffle the queue").click()
        page.get_by_role("button", name="Repeat: off").click()
        expect(self.toast(page)).to_have_count(1)

    def test_a_toast_is_seen_above_a_sheet(self):
        page = self.open("rooms")
        self.open_room(page, "Kitchen").get_by_role("button", name="Make a sound here").click()
        box = self.toast(page).bounding_box()
        self.assertTrue(page.evaluate("([x, y]) => !!document.elementFromPoint(x, y).closest('#toasts') || document.querySelector('#toasts').matches(':popover-open')",
                                      [box["x"] + 9, box["y"] + 9]))

    def test_it_says_where_the_music_plays(self):
        page = self.open("library/album/a40", PHONE)
        page.locator(".verbs").get_by_role("button", name="Play", exact=True).click()
        expect(self.toast(page)).to_contain_text("in Kitchen + Bathroom")
        page.goto(f"{self.server.address}#/queue")
        expect(page.locator("#queue .view-head")).to_contain_text("Kitchen + Bathroom")


class Deck(UseTest):
    def test_nothing_moves_under_the_finger(self):
        for size in [PHONE, LAPTOP, LANDSCAPE]:
            page = self.open("now", size)
            expect(page.locator("#now h1")).not_to_be_empty()
            places = lambda: [page.locator(f"#now {part}").bounding_box() for part in [".play", ".scrub", ".volume", ".art"]]
            before = places()
            group = self.group(page)["id"]
            self.api(page, "PATCH", f"/groups/{group}", {"effects": {"rate": 1.25, "pitch": 2, "loudness": -16, "filter": None}, "sleepInS": 900})
            self.set_room(page, "Kitchen", state="away", reason={"code": "unreachable"}, isPresent=False)
            self.set_group(page, state="buffering")
            expect(page.locator(".chips")).to_contain_text("Filling")
            self.assertEqual(places(), before, size)
            self.set_group(page, state="playing")
            self.set_room(page, "Kitchen", state="playing", reason=None, isPresent=True)
            self.api(page, "PATCH", f"/groups/{group}", {"effects": {"rate": 1, "pitch": 0, "loudness": None, "filter": None}, "sleepInS": 0})
            page.context.close()


class Sleep(UseTest):
    def test_the_timer_takes_a_time_of_day_in_the_house_and_shows_when_it_ends(self):
        page = self.open("now", PHONE, timezone_id="UTC")
        zone = 5 * 3600 + 1800
        self.api(page, "POST", "/mock/server", {"zoneOffsetS": zone})
        page.get_by_role("button", name="Sound and sleep timer").first.click()
        sheet = page.get_by_role("dialog")
        until, off = sheet.get_by_label("Play until"), sheet.get_by_role("button", name="Off").last
        expect(until).to_have_value("")
        # In two hours, there.
        at = time.strftime("%H:%M", time.gmtime(time.time() + zone + 7200))
        with page.expect_request(lambda request: request.method == "PATCH" and "sleepAt" in request.post_data_json) as asked:
            until.fill(at)
        self.assertEqual(asked.value.post_data_json, {"sleepAt": at})
        expect(sheet).to_contain_text(re.compile("pauses in (2 h|1 h 59 min)"))
        self.assertAlmostEqual((self.group(page)["sleepAtMs"] - self.api(page, "GET", "/state")["nowMs"]) / 60000, 119.5, delta=1)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Sound and sleep timer").first.click()
        expect(until).to_have_value(at)
        off.click()
        expect(until).to_have_value("")
        self.assertIsNone(self.group(page)["sleepAtMs"])


class Truth(UseTest):
    def chips(self, page):
        expect(page.locator(".chips")).not_to_be_empty()
        return page.locator(".chips button").all_inner_texts()

    def test_what_is_sent_unchanged_is_said_once_and_explained(self):
        page = self.open("now", PHONE)
        self.set_group(page, item={"codec": "FLAC", "codecReason": "as it is", "isUnchanged": True})
        expect(page.locator(".chips")).to_contain_text("FLAC · as it is")
        page.locator(".chips").get_by_text("FLAC").click()
        expect(page.get_by_role("dialog")).to_contain_text("sent unchanged: nothing is lost on the way")
        page.keyboard.press("Escape")
        self.set_group(page, item={"codec": "FLAC", "codecReason": "effects change the sound", "isUnchanged": False})
        page.locator(".chips").get_by_text("FLAC · effects change the sound").click()
        expect(page.get_by_role("dialog")).not_to_contain_text("unchanged")

    def test_a_room_that_gets_less_for_its_network_is_named(self):
        page = self.open("now", PHONE)
        self.set_group(page, item={"codec": "FLAC", "codecReason": "as it is", "isUnchanged": True})
        self.set_room(page, "Kitchen", smallEncoding="opus")
        page.locator(".chips").get_by_text("Opus for Kitchen").click()
        expect(page.get_by_role("dialog")).to_contain_text("The network of Kitchen is too slow for FLAC")
        expect(page.get_by_role("dialog")).to_contain_text("The other rooms decode FLAC")
        page.keyboard.press("Escape")
        self.set_room(page, "Kitchen", smallEncoding=None)
        expect(page.locator(".chips")).not_to_contain_text("Opus")

    def test_what_is_ahead_is_what_the_rooms_hold_also_at_the_end_of_a_track(self):
        page = self.open("now", PHONE)
        group = self.group(page)
        self.api(page, "POST", f"/groups/{group['id']}/seek", {"positionS": group["item"]["durationS"] - 20})
        expect(page.locator(".chips")).to_contain_text("3 min ahead")

    def test_a_borrowed_room_says_who_has_it_and_is_taken_over_from_its_row(self):
        page = self.open("rooms", PHONE)
        group, guest = self.group(page), self.room(page, "Guest room")
        row = page.locator(".loose").filter(has_text="Guest room")
        expect(row).to_contain_text("study-pi plays here for a while")
        self.api(page, "POST", f"/groups/{group['id']}/rooms", {"roomId": guest["id"], "take": True})
        self.set_room(page, "Guest room", state="taken", reason={"code": "lent", "holder": "study-pi"}, detail="study-pi at 10.92.0.7 plays here for a while", awaySinceMs=1000)
        member = page.locator(".card.current .member").filter(has_text="Guest room")
        expect(member).to_contain_text("study-pi plays here for a while")
        name = member.get_by_text("Guest room", exact=True)
        self.assertFalse(name.evaluate("name => name.scrollWidth > name.clientWidth"), "the name is cut")
        with page.expect_request(lambda request: request.url.endswith("/rooms") and request.post_data_json.get("take") is True):
            member.get_by_role("button", name="Take over").click()
        expect(member).not_to_contain_text("plays here")

    def test_one_chip_for_one_fact(self):
        page = self.open("now", PHONE)
        detail = "the peer closed the connection"
        self.set_room(page, "Kitchen", state="away", isPresent=False, reason={"code": "unreachable"}, detail=detail, awaySinceMs=2000)
        self.set_group(page, detail=f"Kitchen: {detail}")
        expect(page.locator(".chip.bad")).to_have_count(1)
        expect(page.locator(".chip.bad")).to_contain_text("Kitchen: off since")

    def test_no_view_speaks_of_the_network(self):
        page = self.open("rooms", PHONE)
        self.set_room(page, "Kitchen", state="away", isPresent=False, reason={"code": "unreachable"}, detail="[fe80::1%eth0]:9201 refused the connection")
        for view in ["now", "rooms", "sync", "queue", "library/radio"]:
            page.goto(f"{self.server.address}#/{view}")
            page.wait_for_timeout(200)
            self.assertIsNone(JARGON.search(page.locator("body").inner_text()), view)

    def test_a_room_that_is_off_says_so_and_what_to_do(self):
        page = self.open("rooms", PHONE)
        self.set_room(page, "Kitchen", state="away", isPresent=False, reason={"code": "unreachable"}, awaySinceMs=2000, detail="[fe80::1%eth0]:9201 timed out")
        page.get_by_role("button", name="More for Kitchen").click()
        sheet = page.get_by_role("dialog")
        self.assertEqual(set(sheet.inner_text().split()) & {"0", "false", "undefined"}, set())
        expect(sheet).to_contain_text("Kitchen is switched off, or its network is. Switch it on")
        self.assertIsNone(JARGON.search(sheet.inner_text()))

    def test_a_live_input_keeps_its_sound_and_says_why(self):
        page = self.open("now", PHONE)
        self.api(page, "POST", f"/groups/{self.group(page)['id']}/queue", {"items": [{"inputId": "Turntable"}], "at": "now"})
        expect(page.locator("#now h1")).to_have_text("Turntable")
        page.locator("#now").get_by_role("button", name="Sound and sleep timer").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Turntable is heard as it happens")
        for name in ["More bass", "Even −16"]:
            expect(dialog.get_by_role("button", name=name)).to_be_disabled()
        expect(dialog.get_by_role("slider", name="Speed")).to_be_disabled()
        expect(dialog.get_by_role("button", name="30 min")).to_be_enabled()


class Rooms(UseTest):
    def test_the_volume_of_a_free_room_is_set_before_it_plays(self):
        page = self.open("rooms", PHONE)
        dialog = self.open_room(page, "Terrace")
        dialog.get_by_role("slider", name="Volume").focus()
        page.keyboard.press("ArrowDown")
        self.until(page, lambda: self.room(page, "Terrace")["volume"] == 61, "quieter")

    def test_a_group_that_its_last_room_has_left_is_gone(self):
        page = self.open("rooms")
        group = self.group(page)
        for room in group["roomIds"]:
            self.api(page, "DELETE", f"/groups/{group['id']}/rooms/{room}")
        expect(page.locator(".card.group")).to_have_count(1)
        for view in ["rooms", "now", "sync", "queue"]:
            page.goto(f"{self.server.address}#/{view}")
            expect(page.locator("body")).not_to_contain_text("No rooms")

    def test_a_named_queue_without_rooms_asks_for_rooms_instead_of_playing(self):
        page = self.open("rooms")
        group = self.group(page)
        self.api(page, "PATCH", f"/groups/{group['id']}", {"name": "Party"})
        for room in group["roomIds"]:
            self.api(page, "DELETE", f"/groups/{group['id']}/rooms/{room}")
        card = page.locator(".card.group").filter(has_text="Party")
        expect(card.get_by_role("button", name=re.compile("^(Play|Pause)"))).to_have_count(0)
        card.get_by_role("button", name="Add rooms").click()
        page.locator(".pick").get_by_text("Terrace", exact=True).click()
        self.until(page, lambda: self.room(page, "Terrace")["groupId"] == group["id"], "joined")

    def test_a_full_disk_is_one_line_on_every_view_until_there_is_room(self):
        page = self.open("now", PHONE)
        line = page.get_by_role("alert").filter(visible=True)
        expect(line).to_have_count(0)
        self.api(page, "POST", "/mock/server", {"diskProblem": "the disk is full: make room on it (/var/lib/tutti/house.db)"})
        for view in ["now", "queue", "library", "rooms", "sync"]:
            page.goto(f"{self.server.address}#/{view}")
            expect(line).to_have_text("The disk is full: make room on it (/var/lib/tutti/house.db). Music plays on.")
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), PHONE[0])
        page.reload()
        expect(line).to_have_count(1)
        self.api(page, "POST", "/mock/server", {"diskProblem": None, "secondProblem": "it does not answer"})
        expect(line).to_have_text("It does not answer.")
        self.api(page, "POST", "/mock/server", {"secondProblem": None})
        expect(line).to_have_count(0)

    def test_a_room_by_itself_has_one_slider_and_its_name_once(self):
        page = self.open("rooms", PHONE)
        self.api(page, "POST", "/groups", {"roomIds": [self.room(page, "Terrace")["id"]]})
        card = page.locator(".card.group").filter(has_text="Terrace")
        expect(card.get_by_role("slider")).to_have_count(1)
        self.assertEqual(card.inner_text().count("Terrace"), 1)

    def test_the_volume_of_rooms_that_are_all_away_is_not_zero(self):
        page = self.open("now")
        group = self.group(page)
        for name in ["Kitchen", "Bathroom"]:
            self.set_room(page, name, state="away", isPresent=False)
        expect(page.locator("#now .volume-row input")).to_be_disabled()
        expect(page.locator("#now .volume-row .number")).to_have_text(str(int(group["volume"] + 0.5)))

    def test_forgetting_a_pairing_is_asked_first(self):
        page = self.open("rooms")
        self.set_room(page, "Kitchen", canUnpair=True)
        self.open_room(page, "Kitchen").get_by_role("button", name="Forget the pairing").click()
        self.assertTrue(self.room(page, "Kitchen")["isPaired"])
        page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
        self.until(page, lambda: not self.room(page, "Kitchen")["isPaired"], "forgotten")


class Stereo(UseTest):
    def test_two_rooms_become_a_pair_are_swapped_and_rooms_again(self):
        page = self.open("rooms", PHONE)
        left, right = "Kitchen", "Terrace"
        sheet = self.open_room(page, left)
        expect(sheet.get_by_text("Channels")).to_be_visible()
        sheet.get_by_role("button", name="Make a stereo pair").click()
        expect(sheet).to_contain_text(f"{left} becomes the left speaker.")
        expect(sheet.get_by_role("button", name=left, exact=True)).to_have_count(0)
        sheet.get_by_role("button", name=right, exact=True).click()
        page.get_by_role("textbox").fill("Front")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("button", name="More for Front", exact=True)).to_be_visible()
        for name in (left, right):
            expect(page.get_by_role("button", name=f"More for {name}", exact=True)).to_have_count(0)
        sheet = self.open_room(page, "Front")
        expect(sheet).to_contain_text(f"left: {left}, right: {right}")
        expect(sheet.get_by_text("Channels")).to_have_count(0)
        sheet.get_by_role("button", name="Swap left and right").click()
        expect(sheet).to_contain_text(f"left: {right}, right: {left}")
        sheet.get_by_role("button", name="Separate the stereo pair").click()
        for name in (left, right):
            expect(page.get_by_role("button", name=f"More for {name}", exact=True)).to_be_visible()

    def test_a_pair_whose_one_speaker_is_off_says_so_and_plays(self):
        page = self.open("rooms", PHONE)
        name = next(room["name"] for room in self.api(page, "GET", "/state")["rooms"] if room["state"] == "playing")
        self.set_room(page, name, stereo={"leftId": "1", "leftName": "Shelf", "rightId": "2", "rightName": "Window", "missing": "right"})
        row = page.locator("li.member", has_text=name)
        expect(row).to_contain_text("right speaker off")
        expect(row.get_by_role("slider")).to_be_enabled()
        expect(self.open_room(page, name)).to_contain_text("right speaker off")


class Away(UseTest):
    def test_the_way_back_closes_a_sheet_first(self):
        page = self.open("now", PHONE)
        page.goto(f"{self.server.address}#/rooms")
        dialog = self.open_room(page, "Kitchen")
        expect(dialog).to_be_visible()
        page.go_back()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#rooms")).to_be_visible()
        self.open_room(page, "Kitchen").get_by_role("button", name="Close").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        # The page itself goes back a step, too. The browser takes two steps at a time for one.
        page.wait_for_function("() => !history.state?.isOpen")
        page.go_back()
        expect(page.locator("#now")).to_be_visible()

    def test_a_menu_that_leads_to_a_sheet_is_one_step_back(self):
        page = self.open("rooms", PHONE)
        page.get_by_role("button", name="More for this group").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Rename").click()
        expect(page.get_by_role("textbox")).to_be_visible()
        page.go_back()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#rooms")).to_be_visible()

    def test_the_plot_speaks_of_known_rooms_only(self):
        page = self.open("sync")
        self.set_room(page, "Guest room", state="away")
        page.wait_for_timeout(300)
        self.set_room(page, "Guest room", state="free")
        page.wait_for_timeout(1200)
        self.assertNotIn("A room", page.locator(".plot").inner_html())


class Landscape(UseTest):
    def test_a_phone_on_its_side_shows_the_whole_deck(self):
        page = self.open("now", LANDSCAPE, is_mobile=True, has_touch=True)
        for part in [".play", ".volume", ".scrub", ".chips", "h1", ".art"]:
            box = page.locator(f"#now {part}").bounding_box()
            self.assertTrue(box["y"] >= 0 and box["y"] + box["height"] <= 390 and box["height"] > 20, f"{part}: {box}")
        self.assertEqual(page.evaluate("document.querySelector('#now .stage').scrollHeight <= document.querySelector('#now .stage').clientHeight"), True)
        page.goto(f"{self.server.address}#/rooms")
        self.assertGreater(page.locator("#rooms .scroll").bounding_box()["height"], 240)


if __name__ == "__main__":
    unittest.main(verbosity=2)
