#!/usr/bin/env python3
"""Alarms on the page, against the mock server: setting them, and what shows while one rings.

    Tests/Page/test_alarms.py [names of tests …]
"""

import re
import time
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE, TABLET
from test_home import HOSTILE
from test_use import LANDSCAPE, UseTest

VIEWS = ["now", "queue", "library", "rooms", "alarms", "sync"]
SIZES = [PHONE, LANDSCAPE, TABLET, LAPTOP]


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class AlarmTest(UseTest):
    """The house has two: a1 at 06:45 on working days in Bedroom, which is off, and Bathroom; a2, which is off."""

    def alarms(self, page):
        return self.api(page, "GET", "/state")["alarms"]

    def turn(self, page, key="a1", **state):
        self.api(page, "POST", f"/mock/alarm/{key}", state)

    def card(self, page, time):
        return page.locator(".alarm").filter(has_text=time)

    def rings(self, page):
        return page.get_by_role("alert").filter(has=page.get_by_role("button", name="Stop"))


class Setting(AlarmTest):
    def test_a_new_alarm_is_set_with_all_that_it_can_do(self):
        page = self.open("now", PHONE, locale="en-GB")
        page.get_by_role("link", name="Alarms").click()
        page.get_by_role("button", name="New alarm").click()
        sheet = page.get_by_role("dialog")
        sheet.get_by_label("Time", exact=True).fill("21:05")
        for day in ["Saturday", "Sunday"]:
            sheet.get_by_role("checkbox", name=day).locator("..").click()
        for name in ["Kitchen", "Bathroom", "Terrace"]:
            sheet.locator(".pick").get_by_text(name, exact=True).click()
        music = sheet.get_by_label("Music")
        music.select_option(label="Dinner with friends")
        self.assertEqual(music.locator("optgroup").evaluate_all("groups => groups.map((group) => group.label)"), ["Favourites", "Stations", "Playlists"])
        self.assertNotIn("Turntable", music.inner_text())
        sheet.get_by_role("button", name="Volume: one more").click()
        sheet.get_by_label("Rise").select_option(label="5 min")
        sheet.get_by_label("Length").select_option(label="1 h")
        sheet.get_by_label("Snooze").select_option(label="5 min")
        sheet.get_by_label("Name").fill("Lie in")
        with page.expect_request("**/alarms") as asked:
            sheet.get_by_role("button", name="Save").click()
        rooms = [self.room(page, name)["id"] for name in ["Terrace"]]
        self.assertEqual(asked.value.post_data_json, {"time": "21:05", "name": "Lie in", "days": ["sat", "sun"], "roomIds": rooms, "volume": 31, "riseS": 300,
                                                      "lengthS": 3600, "snoozeS": 300, "isOn": True, "items": [{"playlistId": "p2"}]})
        expect(sheet).to_have_count(0)
        expect(self.toast(page)).to_contain_text(re.compile(r"^Rings .+ at 21:05, in \d+ (h|min)"))
        card = self.card(page, "21:05")
        expect(card).to_contain_text("Lie in · Sat, Sun")
        expect(card).to_contain_text("Terrace")

    def test_a_change_leaves_the_music_as_it_is(self):
        page = self.open("alarms", locale="en-GB")
        self.card(page, "06:45").get_by_role("button", name="06:45").click()
        sheet = page.get_by_role("dialog")
        expect(sheet.get_by_label("Time", exact=True)).to_have_value("06:45")
        sheet.get_by_label("Time", exact=True).fill("07:10")
        with page.expect_request("**/alarms/a1") as asked:
            sheet.get_by_role("button", name="Save").click()
        self.assertEqual((asked.value.method, asked.value.post_data_json["time"]), ("PATCH", "07:10"))
        self.assertFalse({"music", "items"} & set(asked.value.post_data_json))
        expect(self.card(page, "07:10")).to_contain_text("School · Mon–Fri")

    def test_a_refusal_leaves_the_sheet_with_what_was_typed(self):
        page = self.open("alarms", PHONE)
        page.route("**/alarms", lambda route: route.fulfill(status=507, json={"detail": "The disk is full."}))
        page.get_by_role("button", name="New alarm").click()
        page.get_by_role("dialog").get_by_label("Name").fill("Tea")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(self.toast(page)).to_have_text("The disk is full.")
        expect(page.get_by_role("dialog").get_by_label("Name")).to_have_value("Tea")

    def test_an_alarm_needs_a_room(self):
        page = self.open("alarms", PHONE)
        page.get_by_role("button", name="New alarm").click()
        while (checked := page.locator(".pick :checked")).count():
            checked.first.locator("..").click()
        expect(page.get_by_role("button", name="Save")).to_be_disabled()

    def test_the_switch_answers_at_once_and_takes_itself_back_when_refused(self):
        page = self.open("alarms", PHONE)
        switch = self.card(page, "6:45").get_by_role("switch")
        page.route("**/alarms/a1", lambda route: (time.sleep(1), route.fulfill(status=507, json={"detail": "The disk is full."})))
        waited = page.evaluate("""async () => {
            const [power, next] = [document.querySelector(".alarm input"), document.querySelector(".alarm .next")];
            const start = performance.now();
            power.click();
            while (next.textContent !== "Off" && performance.now() - start < 2000) await new Promise(requestAnimationFrame);
            return performance.now() - start;
        }""")
        self.assertLess(waited, 100)
        expect(self.toast(page)).to_have_text("The disk is full.")
        expect(switch).to_be_checked()
        page.unroute("**/alarms/a1")
        self.card(page, "6:45").locator(".switch").click()
        self.until(page, lambda: not self.alarms(page)[0]["isOn"], "off")

    def test_one_ring_is_skipped_and_not_skipped_after_all(self):
        page = self.open("alarms", PHONE)
        first = self.alarms(page)[0]["nextAtS"]
        self.card(page, "6:45").get_by_role("button", name="Skip once").click()
        self.until(page, lambda: self.alarms(page)[0]["nextAtS"] > first, "skipped")
        expect(self.card(page, "6:45")).to_contain_text("the one before is left out")
        self.card(page, "6:45").get_by_role("button", name="Do not skip").click()
        self.until(page, lambda: self.alarms(page)[0]["nextAtS"] == first, "not skipped")

    def test_deleting_is_asked_first(self):
        page = self.open("alarms", PHONE)
        self.card(page, "6:45").locator(".alarm-main").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        self.assertEqual(len(self.alarms(page)), 2)
        expect(page.get_by_role("dialog")).to_contain_text("Delete the alarm at 6:45")
        page.get_by_role("button", name="Delete it").click()
        expect(self.card(page, "6:45")).to_have_count(0)
        self.assertEqual(len(self.alarms(page)), 1)

    def test_another_pages_change_shows_and_names_are_never_run(self):
        page = self.open("alarms", PHONE)
        self.api(page, "PATCH", "/alarms/a1", {"name": HOSTILE})
        expect(self.card(page, "6:45")).to_contain_text(HOSTILE)
        self.card(page, "6:45").locator(".alarm-main").click()
        expect(page.get_by_role("dialog").get_by_label("Name")).to_have_value(HOSTILE)
        page.keyboard.press("Escape")
        self.turn(page, state="ringing")
        expect(self.rings(page)).to_contain_text(HOSTILE)
        self.assertEqual(page.locator("img[src=x]").count(), 0)

    def test_a_room_that_could_not_ring_is_said(self):
        page = self.open("alarms", PHONE)
        expect(self.card(page, "6:45").locator(".bad")).to_have_text(re.compile("^Bedroom: off since"))
        self.set_room(page, "Bedroom", state="free", isPresent=True)
        expect(self.card(page, "6:45").locator(".bad")).to_be_empty()

    def test_guests_see_alarms_and_stop_them_and_change_none(self):
        page = self.open("sync", PHONE)
        page.route(self.server.address, lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text().replace('data-asker="machine"', 'data-asker="guest"')))
        page.goto("about:blank")
        page.goto(f"{self.server.address}#/alarms")
        expect(self.card(page, "6:45")).to_be_visible()
        expect(page.locator("#alarms").get_by_role("switch")).to_have_count(0)
        expect(page.locator("#alarms").get_by_role("button")).to_have_count(0)
        self.turn(page, state="ringing")
        self.rings(page).get_by_role("button", name="Stop").click()
        self.until(page, lambda: self.alarms(page)[0]["state"] == "waiting", "stopped")

    def test_without_alarms_it_says_what_they_are_for(self):
        page = self.open("alarms", PHONE)
        for key in ["a1", "a2"]:
            self.api(page, "DELETE", f"/alarms/{key}")
        page.locator("#alarms .empty").get_by_role("button", name="New alarm").click()
        expect(page.get_by_role("dialog")).to_be_visible()


class Night(AlarmTest):
    def test_the_night_is_set_changed_and_ended(self):
        page = self.open("alarms", PHONE, locale="en-GB")
        row = page.get_by_role("button", name="Quiet")
        expect(row).to_contain_text("Off")
        row.click()
        sheet = page.get_by_role("dialog")
        sheet.get_by_label("From").fill("21:30")
        sheet.get_by_role("button", name="Loudest: one less").click()
        sheet.get_by_role("button", name="Save").click()
        expect(sheet).to_have_count(0)
        expect(row).to_contain_text("Quiet from 21:30 to 07:00")
        expect(row).to_contain_text("Volume 24 at most")
        self.assertEqual(self.api(page, "GET", "/state")["server"]["night"], {"from": "21:30", "to": "07:00", "volumeLimit": 24, "isNow": False})
        row.click()
        sheet.get_by_role("button", name="No quiet nights").click()
        expect(row).to_contain_text("Off")
        self.assertNotIn("night", self.api(page, "GET", "/state")["server"])


class Words(AlarmTest):
    def test_times_and_days_are_in_the_browsers_language(self):
        for locale, clock, days, tomorrow in [("de-DE", "06:45", "Mo–Fr", "morgen|Montag"), ("en-US", "6:45 AM", "Mon–Fri", "tomorrow|today|Monday|Friday")]:
            page = self.open("alarms", PHONE, locale=locale)
            self.api(page, "PATCH", "/alarms/a1", {"days": ["mon", "tue", "wed", "thu", "fri"]})
            card = self.card(page, clock)
            expect(card).to_contain_text(days)
            expect(card.locator(".next")).to_have_text(re.compile(f"^({tomorrow}|heute|Freitag) · in "))

    def test_the_houses_zone_counts_and_is_said_where_the_browser_is_in_another(self):
        page = self.open("alarms", PHONE, locale="en-GB", timezone_id="UTC")
        zone = page.locator("#alarms .scroll > .dim")
        self.api(page, "POST", "/mock/server", {"zoneOffsetS": 0})
        expect(zone).to_be_empty()
        # Where the house is, it is past midnight already if it is not in Greenwich, or still before.
        hour = time.gmtime().tm_hour
        ahead = 14 if hour >= 10 else -11
        self.api(page, "POST", "/mock/server", {"zoneOffsetS": ahead * 3600})
        # In ten minutes, which may be beyond midnight there.
        there = time.time() + ahead * 3600
        day = "today" if there // 86400 == (there + 600) // 86400 else "tomorrow"
        self.api(page, "PATCH", "/alarms/a1", {"time": time.strftime("%H:%M", time.gmtime(there + 600)), "days": []})
        expect(zone).to_have_text(re.compile(rf"^Times are those of the house, where it is {(hour + ahead) % 24:02}:\d\d now\.$"))
        expect(page.locator(".alarm .next").filter(has_text="min")).to_have_text(re.compile(rf"^{day} · in (9|10) min"))
        page.get_by_role("button", name="New alarm").click()
        expect(page.get_by_role("dialog")).to_contain_text("Times are those of the house")

    def test_what_lies_in_the_rooms_and_what_was_missed_are_said(self):
        page = self.open("alarms", PHONE)
        self.turn(page, readyRoomIds=[self.room(page, name)["id"] for name in ["Bedroom", "Bathroom"]])
        expect(self.card(page, "6:45")).to_contain_text("its music is in the room")
        self.turn(page, state="missed")
        expect(self.card(page, "6:45")).to_contain_text("Missed")


class Ringing(AlarmTest):
    def test_one_tap_stops_it_in_every_view_and_above_a_sheet(self):
        for size in SIZES:
            page = self.open("now", size)
            for view in VIEWS:
                page.goto(f"{self.server.address}#/{view}")
                self.turn(page, state="ringing")
                box = self.rings(page).get_by_role("button", name="Stop").bounding_box()
                self.assertGreaterEqual(min(box["width"], box["height"]), 56, f"{view} {size}")
                page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                expect(self.rings(page)).to_have_count(0)
                self.until(page, lambda: self.alarms(page)[0]["state"] == "waiting", "stopped")
            page.goto(f"{self.server.address}#/alarms")
            page.get_by_role("button", name="New alarm").click()
            name = page.get_by_role("dialog").get_by_label("Name")
            name.fill("Tea")
            self.turn(page, state="ringing")
            box = self.rings(page).bounding_box()
            sheet = page.get_by_role("dialog").bounding_box()
            self.assertLessEqual(box["y"] + box["height"], sheet["y"], f"covers the sheet {size}")
            self.rings(page).get_by_role("button", name="Stop").click()
            expect(self.rings(page)).to_have_count(0)
            expect(name).to_have_value("Tea")
            page.context.close()

    def test_it_snoozes_and_says_until_when(self):
        page = self.open("library", PHONE, locale="en-GB")
        self.turn(page, state="ringing")
        self.rings(page).get_by_role("button", name="Snooze 9 min").click()
        expect(self.rings(page)).to_have_count(0)
        expect(self.toast(page)).to_have_text(re.compile(r"^Rings again at \d\d:\d\d$"))
        page.goto(f"{self.server.address}#/alarms")
        expect(self.card(page, "06:45").locator(".next")).to_have_text(re.compile("^Rings again at"))
        self.card(page, "06:45").get_by_role("button", name="Stop").click()
        self.until(page, lambda: self.alarms(page)[0]["state"] == "waiting", "stopped")

    def test_it_covers_no_control_and_moves_nothing(self):
        controls = """() => [...document.querySelectorAll(".transport button, .volume-row, .scrub, #player, #nav a, .view-head button, .search, .titles h1")]
            .filter((element) => element.checkVisibility()).map((element) => [`${element.tagName} ${element.className} ${element.ariaLabel}`, element.getBoundingClientRect().toJSON()])"""
        for size in SIZES:
            for view in ["now", "library", "rooms", "queue"]:
                page = self.open(view, size, reduced_motion="reduce")
                expect(page.locator("#now .play" if view == "now" else "#player .play")).to_be_visible()
                page.wait_for_timeout(300)
                before = page.evaluate(controls)
                self.turn(page, state="ringing")
                ring = self.rings(page).bounding_box()
                self.assertEqual(page.evaluate(controls), before, f"{view} {size}")
                covered = [html for html, box in before if ring["x"] < box["right"] and box["left"] < ring["x"] + ring["width"]
                           and ring["y"] < box["bottom"] and box["top"] < ring["y"] + ring["height"]]
                self.assertEqual(covered, [], f"{view} {size}")
                self.assertTrue(ring["x"] >= 0 and ring["y"] >= 0 and ring["x"] + ring["width"] <= size[0] and ring["y"] + ring["height"] <= size[1], f"{view} {size}")
                self.turn(page, state="waiting")
                page.context.close()

    def test_the_last_row_of_a_list_scrolls_out_from_below_it(self):
        page = self.open("queue", PHONE)
        self.turn(page, state="ringing")
        expect(self.rings(page)).to_be_visible()
        page.locator("#queue .scroll").evaluate("list => list.scrollTo(0, 1e6)")
        last = page.locator("#queue .entry").last
        self.until(page, lambda: (box := last.bounding_box()) and box["y"] + box["height"] <= self.rings(page).bounding_box()["y"], "free")

    def test_a_message_and_two_alarms_lie_beside_each_other(self):
        page = self.open("library", PHONE)
        for key in ["a1", "a2"]:
            self.turn(page, key, state="ringing", isOn=True)
        page.evaluate("""async () => (await import("/assets/overlay.js")).toast("Added Quiet Signals", { undo() {} })""")
        expect(self.rings(page)).to_have_count(2)
        boxes = [self.toast(page).bounding_box(), *[ring.bounding_box() for ring in self.rings(page).all()]]
        boxes.sort(key=lambda box: box["y"])
        for above, below in zip(boxes, boxes[1:]):
            self.assertLessEqual(above["y"] + above["height"], below["y"])

    def test_undo_of_a_message_works_above_a_sheet(self):
        page = self.open("rooms", PHONE)
        page.get_by_role("button", name="Announce").click()
        page.evaluate("""async () => (await import("/assets/overlay.js")).toast("Cleared", { undo() { window.isUndone = true } })""")
        self.toast(page).get_by_role("button", name="Undo").click()
        self.until(page, lambda: page.evaluate("() => window.isUndone === true"), "undone")

    def test_axe_finds_nothing_serious(self):
        from axe_playwright_python.sync_playwright import Axe
        for scheme in ["dark", "light"]:
            for size in [PHONE, LAPTOP]:
                page = self.open("alarms", size, color_scheme=scheme, reduced_motion="reduce")
                page.locator(".alarm-main").first.click()
                page.wait_for_timeout(300)
                test_page.Quality.judge(self, Axe().run(page), f"sheet {scheme} {size}")
                page.keyboard.press("Escape")
                # A sheet takes its entry out of the browser's history a moment after it has closed.
                page.wait_for_function("!history.state?.isOpen")
                page.goto(f"{self.server.address}#/rooms")
                page.get_by_role("button", name="Announce").click()
                test_page.Quality.judge(self, Axe().run(page), f"announcement {scheme} {size}")
                page.keyboard.press("Escape")
                self.turn(page, state="ringing")
                expect(self.rings(page)).to_be_visible()
                test_page.Quality.judge(self, Axe().run(page), f"rings {scheme} {size}")
                self.turn(page, state="waiting")
                page.context.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
