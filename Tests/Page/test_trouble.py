#!/usr/bin/env python3
"""What the page says when something cannot be played, what it asks before it deletes, and how it answers while the server is slow:
against the mock server.

    Tests/Page/test_trouble.py [names of tests …]
"""

import re
import sys
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE
from test_use import UseTest

BROKEN = {"uri": "http://broken.example/Harbour"}


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class TroubleTest(UseTest):
    def add(self, page, *items, at="now"):
        self.api(page, "POST", f"/groups/{self.group(page)['id']}/queue", {"items": list(items), "at": at})

    def closed(self, page):
        """Waits until no sheet is open, and the browser has gone back to where it was before."""
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.wait_for_function("() => !history.state?.isOpen")


class Failed(TroubleTest):
    def test_an_item_that_fails_is_named_once_and_stays_in_the_line_of_facts(self):
        page = self.open("now", PHONE)
        expect(page.locator("#now h1")).not_to_be_empty()
        self.add(page, BROKEN, {"albumId": "a7"})
        expect(self.toast(page)).to_have_text("Harbour: no server answered.")
        chip = page.locator(".chip.bad").get_by_text("Problem: Harbour")
        expect(chip).to_be_visible()
        chip.click()
        expect(page.get_by_role("dialog")).to_contain_text("No server answered.")
        page.reload()
        expect(chip).to_be_visible()
        expect(self.toast(page)).to_have_count(0)
        self.api(page, "POST", f"/groups/{self.group(page)['id']}/next")
        expect(chip).to_have_count(0)

    def test_only_the_group_that_the_page_shows_speaks(self):
        page = self.open("now", PHONE)
        expect(page.locator("#now h1")).not_to_be_empty()
        other = next(group for group in self.api(page, "GET", "/state")["groups"] if group["id"] != self.group(page)["id"])
        self.api(page, "POST", f"/groups/{other['id']}/queue", {"items": [BROKEN, {"albumId": "a7"}], "at": "now"})
        page.get_by_role("button", name=re.compile("^Group: ")).click()
        page.get_by_role("button", name=other["name"]).click()
        expect(page.locator(".chip.bad")).to_contain_text(["Problem: Harbour"])
        expect(self.toast(page)).to_have_count(0)

    def test_a_queue_that_ends_with_a_failure_says_why_nothing_plays(self):
        page = self.open("now", PHONE)
        self.add(page, BROKEN)
        expect(page.locator("#now .nothing")).to_contain_text("Harbour: no server answered.")

    def test_a_row_of_the_queue_shows_its_whole_reason(self):
        page = self.open("queue", PHONE)
        self.add(page, {"uri": "http://broken.example/" + "A long title " * 8}, {"albumId": "a7"})
        row = page.locator("#queue .entry.broken")
        reason = row.locator(".dim")
        expect(reason).to_have_text("No server answered.")
        self.assertTrue(reason.evaluate("text => text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight"), "cut")
        main, text = row.locator(".row-main").bounding_box(), row.locator(".two").bounding_box()
        self.assertTrue(main["y"] <= text["y"] and text["y"] + text["height"] <= main["y"] + main["height"], "higher than its row")
        row.get_by_role("button", name=re.compile("^More for")).click()
        expect(page.get_by_role("dialog")).to_contain_text("No server answered.")

    def test_a_slow_source_blames_no_room(self):
        page = self.open("now", PHONE)
        self.set_room(page, "Kitchen", state="buffering")
        expect(page.locator(".chip.bad")).to_have_text(["Kitchen: filling"])
        for state, text in [("buffering", "Filling"), ("starting", "Starting")]:
            self.api(page, "POST", f"/mock/group/{self.room(page, 'Kitchen')['groupId']}", {"state": state})
            chip = page.locator(".chip").get_by_text(text, exact=True)
            expect(chip).to_be_visible()
            expect(page.locator(".chips")).not_to_contain_text("Kitchen")
            chip.click()
            expect(page.get_by_role("dialog")).not_to_contain_text("access point")
            page.keyboard.press("Escape")
            self.closed(page)
        page.goto(f"{self.server.address}#/rooms")
        expect(page.locator(".member").filter(has_text="Kitchen")).not_to_have_class(re.compile("bad"))

    def test_a_complaint_about_the_server_ends_when_it_is_back(self):
        page = self.open("now", PHONE)
        expect(page.locator("#now h1")).not_to_be_empty()
        self.server.stop()
        page.locator("#now .play").click()
        expect(self.toast(page)).to_contain_text("does not answer")
        self.server.start()
        # By itself it would stay for eight seconds.
        expect(self.toast(page)).to_have_count(0, timeout=5000)


class Addresses(TroubleTest):
    def sent(self, page, where, button, field, address):
        """What the page sends for this address of a station or feed."""
        page.goto(f"{self.server.address}#/library/{where}")
        page.get_by_role("button", name=button).click()
        page.get_by_role("textbox", name=field).fill(address)
        with page.expect_request(lambda request: request.method == "POST" and "/library/" in request.url) as asked:
            page.keyboard.press("Enter")
        self.closed(page)
        return asked.value.post_data_json["uri"]

    def test_an_address_is_sent_as_it_was_typed(self):
        """The daemon completes it."""
        page = self.open("now", PHONE)
        for address in ["example.org:8000/live", "http://example.org/a"]:
            self.assertEqual(self.sent(page, "radio", "Add a station", "Address of the station", address), address)
            self.assertEqual(self.sent(page, "podcasts", "Subscribe", "Address of the feed", address), address)


class Deleting(TroubleTest):
    def delete(self, page, where, name, title):
        """Asks to delete something, refuses it once, and does it."""
        page.goto(f"{self.server.address}#/library/{where}")
        thing = page.locator("#library .scroll").get_by_text(name, exact=True)
        dialog = page.get_by_role("dialog")
        for answer in ["Cancel", "Delete"]:
            page.get_by_role("button", name=f"More for {name}", exact=True).click()
            dialog.get_by_role("button", name="Delete").click()
            expect(dialog.get_by_role("heading")).to_have_text(title)
            expect(thing).to_be_visible()
            dialog.get_by_role("button", name=answer, exact=True).click()
            self.closed(page)
        expect(thing).to_have_count(0)

    def test_playlists_stations_and_podcasts_are_deleted_after_a_question(self):
        page = self.open("now", PHONE)
        self.api(page, "POST", "/library/podcasts", {"uri": "https://example.org/feed.xml"})
        self.delete(page, "playlists", "Sunday breakfast", "Delete the playlist Sunday breakfast?")
        self.delete(page, "radio", "Radio Meridian", "Delete the station Radio Meridian?")
        self.delete(page, "podcasts", "Wind & <b>Weather</b>", "Delete the podcast Wind & <b>Weather</b>?")

    def contents(self, page):
        return [entry["title"] for entry in self.api(page, "GET", "/library/playlists/p1")["entries"]]

    def test_an_entry_of_a_playlist_comes_back_to_its_place(self):
        page = self.open("library/playlist/p1", PHONE)
        self.api(page, "POST", "/library/playlists/p1/entries", {"items": [{"uri": "http://example.org/last.mp3"}]})
        rows = page.locator("#library li.row")
        before = self.contents(page)
        expect(rows).to_have_count(len(before))
        for index in [2, len(before) - 1]:
            rows.nth(index).get_by_role("button", name=re.compile("^More for")).click()
            page.get_by_role("button", name="Remove from this playlist").click()
            expect(self.toast(page)).to_contain_text(f"Removed {before[index]}")
            expect(rows).to_have_count(len(before) - 1)
            self.toast(page).get_by_role("button", name="Undo").click()
            expect(rows).to_have_count(len(before))
            self.assertEqual(self.contents(page), before)


class Taps(TroubleTest):
    def tapped(self, page, row):
        """The number of frames from a tap on a row until it has its colour."""
        frames, ms = row.evaluate("""async (row) => {
            const start = performance.now();
            let frames = 0;
            row.querySelector(".row-main").click();
            for (; !row.classList.contains("current") && frames < 100; frames++) await new Promise(requestAnimationFrame);
            return [frames, performance.now() - start];
        }""")
        print(f"from tap to colour: {ms:.0f} ms", file=sys.stderr)
        return frames

    def test_a_tap_on_a_row_shows_before_the_server_has_answered(self):
        page = self.open("queue", LAPTOP)
        held = []
        page.route("**/queue/*/play", lambda route: held.append(route))
        row = page.locator("#queue .entry").nth(5)
        title = row.locator(".entry-title").inner_text()
        self.assertLess(self.tapped(page, row), 3)
        expect(page.locator("#now h1")).to_have_text(title)
        expect(page.locator("#queue .entry.current")).to_have_count(1)
        self.until(page, lambda: held, "asked")
        held[0].continue_()
        self.until(page, lambda: self.group(page)["item"]["title"] == title, "plays")
        expect(page.locator("#now .scrub input")).to_be_enabled()
        expect(row).to_have_class(re.compile("current"))

    def test_a_tap_that_the_server_refuses_is_taken_back(self):
        page = self.open("queue", PHONE)
        before = page.locator("#queue .entry.current .entry-title").inner_text()
        held = []
        page.route("**/queue/*/play", lambda route: held.append(route))
        self.assertLess(self.tapped(page, page.locator("#queue .entry").nth(5)), 3)
        self.until(page, lambda: held, "asked")
        held[0].fulfill(status=409, json={"detail": "The kitchen is on fire."})
        expect(self.toast(page)).to_have_text("The kitchen is on fire.")
        expect(page.locator("#queue .entry.current .entry-title")).to_have_text([before])


class Moving(TroubleTest):
    def test_moves_of_rooms_are_named_alike_in_every_place(self):
        page = self.open("rooms", PHONE)
        page.get_by_role("button", name="Terrace joins Kitchen + Bathroom", exact=True).click()
        name = "Kitchen + Bathroom + Terrace"
        expect(page.get_by_role("button", name="Terrace leaves the group", exact=True)).to_be_visible()
        sheet = self.open_room(page, "Terrace")
        for text in ["Terrace plays alone", "Terrace joins Living room + Bedroom", "Terrace leaves the group"]:
            expect(sheet.get_by_role("button", name=text, exact=True)).to_be_visible()
        sheet.get_by_role("button", name="Terrace plays alone", exact=True).click()
        expect(page.locator(".card.group")).to_have_count(3)
        sheet = self.open_room(page, "Terrace")
        expect(sheet.get_by_role("button", name="Terrace joins another group", exact=True)).to_be_visible()
        page.keyboard.press("Escape")
        self.closed(page)
        page.get_by_role("button", name=re.compile("^Kitchen [+] Bathroom")).click()
        self.open_room(page, "Terrace").get_by_role("button", name="Music moves to Terrace", exact=True).click()
        self.until(page, lambda: self.group(page)["roomIds"] == [self.room(page, "Terrace")["id"]], "moved")

    def test_a_group_of_one_has_the_menu_of_its_room(self):
        page = self.open("rooms", PHONE)
        self.api(page, "POST", "/groups", {"roomIds": [self.room(page, "Terrace")["id"]]})
        card = page.locator(".card.group").filter(has_text="Terrace")
        expect(page.locator(".card.group").filter(has_text="Kitchen").get_by_role("button", name="More for Kitchen")).to_have_count(1)
        card.get_by_role("button", name="More for Terrace", exact=True).click()
        sheet = page.get_by_role("dialog")
        for text in ["Rename", "Sound", "Terrace leaves the group"]:
            expect(sheet.get_by_role("button", name=text, exact=True)).to_be_visible()
        expect(sheet.get_by_role("slider", name="Loudest")).to_be_visible()

    def test_a_room_without_a_sound_card_is_no_half_of_a_stereo_pair(self):
        page = self.open("rooms", PHONE)
        self.open_room(page, "Kitchen").get_by_role("button", name="Make a stereo pair").click()
        sheet = page.get_by_role("dialog", name="A stereo pair with")
        expect(sheet.get_by_role("button", name="Terrace", exact=True)).to_be_visible()
        expect(sheet.get_by_role("button", name="Workshop", exact=True)).to_have_count(0)
        page.keyboard.press("Escape")
        self.closed(page)
        expect(self.open_room(page, "Workshop").get_by_role("button", name="Rename")).to_be_visible()
        expect(page.get_by_role("button", name="Make a stereo pair")).to_have_count(0)


class Asking(TroubleTest):
    def asker(self, page, name):
        """From now on, the server takes the page for a guest's or a stranger's."""
        page.route(self.server.address, lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text().replace('data-asker="machine"', f'data-asker="{name}"')))
        page.reload()

    def test_a_guest_is_not_offered_what_it_may_not_do(self):
        page = self.open("library/radio", PHONE)
        page.route("**/library/radios", lambda route: route.fulfill(json={"radios": []}))
        self.asker(page, "guest")
        expect(page.locator("#library")).to_contain_text("No station yet")
        expect(page.get_by_role("button", name="Add a station")).to_have_count(0)

    def test_a_pin_is_sent_once_though_enter_follows_its_last_digit(self):
        page, sent = self.open("now", PHONE), []
        page.route("**/api/v1/access", lambda route: route.fulfill(status=401, json={"detail": "Pair first."}))
        page.route("**/api/v1/browsers", lambda route: (sent.append(route), route.fulfill(status=201, json={})))
        self.asker(page, "stranger")
        field = page.get_by_role("textbox", name="PIN of this household")
        # The page is slow to come again. Its form is sent again and again until then.
        page.route(self.server.address, lambda route: None)
        with page.expect_request("**/asked"):
            field.evaluate("""(field) => {
                let times = 0;
                field.value = "12345678";
                field.dispatchEvent(new Event("input"));
                setInterval(() => (++times < 50 ? field.form.querySelector("button").click() : fetch("asked")), 10);
            }""")
        self.assertEqual(len(sent), 1)

    def test_a_search_that_came_by_a_link_is_cleared(self):
        page = self.open("library/search/amber", PHONE)
        page.get_by_role("button", name="Clear the search").click()
        expect(page.get_by_role("searchbox")).to_have_value("")
        page.wait_for_url("**/#/library")


class Covers(TroubleTest):
    def test_a_track_without_a_picture_looks_alike_in_every_view(self):
        page = self.open("now", LAPTOP)
        tracks = self.api(page, "GET", "/library/albums/a40")["tracks"]
        self.add(page, {"trackId": tracks[1]["id"]})
        title = tracks[1]["title"]
        expect(page.locator("#now h1")).to_have_text(title)
        looks = {}
        for view, row in [("now", "#now .art"), ("rooms", "#rooms .current"), ("now", "#queue .entry.current"), ("library", ".side-group[aria-pressed=true]"),
                          ("library", "#player"), (f"library/search/{title}", f"#library .row:has-text('{tracks[1]['album']}')")]:
            page.goto(f"{self.server.address}#/{view}")
            cover = page.locator(f"{row} .cover").first
            expect(cover).to_have_attribute("data-letter", re.compile("."))
            looks[row] = cover.evaluate("cover => [cover.dataset.letter, cover.style.getPropertyValue('--hue')]")
        self.assertEqual(len({str(look) for look in looks.values()}), 1, looks)


class EmptyHouse(TroubleTest):
    scene = "empty"

    def test_a_folder_is_called_empty_only_after_it_was_read(self):
        page = self.bare(PHONE)
        page.get_by_role("button", name="Use /srv", exact=True).click()
        expect(page.locator("#now")).to_contain_text("Your music is being read.")
        expect(page.locator("#now")).not_to_contain_text("No music was found")
        self.api(page, "POST", "/mock/library", {"scan": {"done": 0, "total": 900, "folder": "srv"}})
        expect(page.locator("#now")).to_contain_text("Reading srv")
        page.evaluate("{ const now = Date.now; Date.now = () => now() + 6000 }")
        self.api(page, "POST", "/mock/library", {"scan": None})
        expect(page.locator("#now")).to_contain_text("No music was found there yet.")


class Layout(TroubleTest):
    def test_the_lyrics_button_covers_no_line(self):
        page = self.open("now", PHONE)
        button = page.get_by_role("button", name="Lyrics")
        button.click()
        # The lines scroll with the music.
        covered = button.evaluate("""async (button) => {
            const [lyrics, box] = [document.querySelector(".lyrics"), button.getBoundingClientRect()];
            const middle = [box.x + box.width / 2, box.y + box.height / 2];
            const found = [];
            for (const top of [0, 100, 150, 200]) {
                lyrics.scrollTo({ top, behavior: "instant" });
                found.push(...document.elementsFromPoint(...middle).filter((element) => element.matches(".lyrics p")).map((line) => line.textContent));
            }
            return found;
        }""")
        self.assertEqual(covered, [])

    def test_the_menu_of_groups_opens_at_its_button(self):
        page = self.open("now", LAPTOP)
        button = page.get_by_role("button", name=re.compile("^Group: "))
        button.click()
        text, menu = button.locator("span").bounding_box(), page.get_by_role("dialog").bounding_box()
        self.assertTrue(menu["x"] <= text["x"] + text["width"] and text["x"] <= menu["x"] + menu["width"], f"{text} {menu}")

    def test_a_view_without_a_queue_has_no_button_for_it(self):
        page = self.open("sync", LAPTOP)
        button = page.get_by_role("button", name="Show or hide the queue")
        expect(button).to_be_hidden()
        page.goto(f"{self.server.address}#/rooms")
        button.click()
        expect(page.locator("#queue")).to_be_hidden()

    def test_the_trouble_of_an_alarm_is_one_line_on_a_phone(self):
        page = self.open("alarms", PHONE)
        trouble = page.locator(".alarm .bad").first
        expect(trouble).to_contain_text("Bedroom: off since")
        self.assertLess(trouble.bounding_box()["height"], 30)

    def test_the_name_of_a_track_has_two_lines(self):
        page = self.open("library/tracks", PHONE)
        name = page.locator("#library .row .entry-title").filter(has_text="A Room with No Clock").first
        expect(name).to_be_visible()
        self.assertTrue(name.evaluate("name => name.scrollWidth <= name.clientWidth && name.scrollHeight <= name.clientHeight"), "cut")
        row, text = [box.bounding_box() for box in [page.locator("#library .row").first, page.locator("#library .row .two").first]]
        self.assertTrue(row["y"] <= text["y"] and text["y"] + text["height"] <= row["y"] + row["height"], "higher than its row")


if __name__ == "__main__":
    unittest.main(verbosity=2)
