#!/usr/bin/env python3
"""Edits and dialogs on the page while the server is slow, refuses, or hears others: against the mock server.

    Tests/Page/test_edits.py [names of tests …]
"""

import json
import re
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE
from test_page import PageTest

CHANGED = "Someone else changed this playlist just now. Here it is; try again."


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class EditTest(PageTest):
    def hold(self, page, pattern, method):
        """Keeps what the server answers from the page. Returns the answers, to be given to it by `release`."""
        held = []
        page.route(pattern, lambda route: held.append((route, route.fetch())) if route.request.method == method else route.continue_())
        return held

    def release(self, page, held, index=0):
        self.until(page, lambda: len(held) > index, "the server has answered")
        route, answer = held[index]
        route.fulfill(response=answer)

    def twice(self, button):
        """Two taps, so fast that nothing happens between them."""
        button.evaluate("button => { button.click(); button.click() }")

    def sent(self, page, method, end):
        """The requests from now on whose address ends so."""
        found = []
        page.on("request", lambda request: request.method == method and request.url.endswith(end) and found.append(request))
        return found

    def toast(self, page):
        return page.locator("#toasts .toast")


class NewGroup(EditTest):
    def test_an_answer_that_comes_late_does_not_take_back_what_events_have_told(self):
        page = self.open("rooms")
        room = next(room["id"] for room in self.api(page, "GET", "/state")["rooms"] if room["state"] == "free")
        held = self.hold(page, "**/api/v1/groups", "POST")
        page.evaluate("(room) => { import('/assets/actions.js').then(({ newGroup }) => newGroup([room])) }", room)
        self.until(page, lambda: held, "the server has answered")
        made = held[0][1].json()["id"]
        self.api(page, "PATCH", f"/groups/{made}", {"name": "Orchard"})
        card = page.locator(".card.group[aria-label=Orchard]")
        expect(card).to_have_count(1)
        self.release(page, held)
        expect(page.locator(".card.current[aria-label=Orchard]")).to_have_count(1)


class LongQueue(EditTest):
    scene = "long"

    def entries(self, page, offset, count=3):
        return self.api(page, "GET", f"/groups/{self.group(page)['id']}/queue?offset={offset}&limit={count}")["entries"]

    def show(self, page, index):
        """Scrolls to a row, and returns it."""
        page.locator("#queue .scroll").evaluate("(element, top) => element.scrollTo(0, top)", index * 60 - 200)
        row = page.locator(f"#queue .entry[aria-posinset='{index + 1}']")
        expect(row).to_be_visible()
        return row

    def remove(self, page, index):
        """Removes a row; the page hears of it before the answer comes."""
        held = self.hold(page, "**/queue/*", "DELETE")
        count = self.group(page)["queue"]["count"]
        self.show(page, index).get_by_role("button", name=re.compile("^More for")).click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(page.locator("#queue .view-head")).to_contain_text(f"{count - 1:,} tracks".replace(",", page.evaluate("(1234).toLocaleString('en')[1]")))
        self.release(page, held)
        expect(self.toast(page)).to_contain_text("Removed")

    def test_no_row_stays_empty_after_a_removal(self):
        page = self.open("queue", LAPTOP)
        self.remove(page, 5)
        # The last row of the first page came from the second one.
        expect(self.show(page, 199).locator(".entry-title")).to_have_text(self.entries(page, 199)[0]["title"])

    def test_a_row_moves_by_one_place_where_the_rows_below_it_are_not_there_yet(self):
        page = self.open("queue", LAPTOP)
        expect(self.show(page, 5).locator(".entry-title")).not_to_be_empty()
        held = self.hold(page, "**/queue?offset=200&*", "GET")
        entry = self.entries(page, 198)[0]
        self.show(page, 198).locator(".handle").focus()
        page.keyboard.press("ArrowDown")
        self.until(page, lambda: self.entries(page, 198)[0]["id"] != entry["id"], "moved")
        self.assertEqual(self.entries(page, 199)[0]["id"], entry["id"])
        self.release(page, held)

    def far(self, size=LAPTOP):
        """A page that has seen what plays far below, and shows the first rows again."""
        page = self.open("queue", size)
        playing = self.entries(page, 300)[0]
        self.api(page, "POST", f"/groups/{self.group(page)['id']}/queue/{playing['id']}/play")
        page.get_by_role("button", name="Jump to what plays").click()
        expect(page.locator("#queue .entry.current .entry-title")).to_have_text(playing["title"])
        expect(self.show(page, 5).locator(".entry-title")).not_to_be_empty()
        return page, playing

    def test_play_next_follows_what_plays_after_others_have_edited(self):
        page, playing = self.far()
        group = self.group(page)["id"]
        self.api(page, "DELETE", f"/groups/{group}/queue/{self.entries(page, 301)[0]['id']}")
        self.api(page, "DELETE", f"/groups/{group}/queue/{self.entries(page, 0)[0]['id']}")
        row = self.show(page, 5)
        chosen = self.entries(page, 5)[0]
        expect(row.locator(".entry-title")).to_have_text(chosen["title"])
        row.get_by_role("button", name=re.compile("^More for")).click()
        page.get_by_role("button", name="Play next", exact=True).click()
        self.until(page, lambda: self.entries(page, 5)[0]["id"] != chosen["id"], "moved")
        self.assertEqual([entry["id"] for entry in self.entries(page, 298, 2)], [playing["id"], chosen["id"]])

    def test_keys_move_the_row_that_is_seen_after_others_have_moved_it(self):
        page = self.open("queue", LAPTOP)
        expect(self.show(page, 5).locator(".entry-title")).not_to_be_empty()
        entry = self.entries(page, 5)[0]
        expect(self.show(page, 299).locator(".entry-title")).not_to_be_empty()
        self.api(page, "PATCH", f"/groups/{self.group(page)['id']}/queue/{entry['id']}", {"at": 300})
        row = self.show(page, 299)
        expect(row.locator(".entry-title")).to_have_text(entry["title"])
        row.locator(".handle").focus()
        page.keyboard.press("ArrowDown")
        self.until(page, lambda: self.entries(page, 299)[0]["id"] != entry["id"], "moved")
        self.assertEqual(self.entries(page, 300)[0]["id"], entry["id"])


class Playlists(EditTest):
    def playlist(self):
        page = self.open("library/playlist/p1", PHONE)
        expect(page.locator("#library .tracks .entry-title").nth(3)).to_be_visible()
        return page

    def contents(self, page):
        return [entry["title"] for entry in self.api(page, "GET", "/library/playlists/p1")["entries"]]

    def moved(self, page, row, *keys):
        """Presses keys on the handle of a row while the first answer is held back. Returns the answers."""
        held = self.hold(page, "**/entries/*", "PATCH")
        page.locator("#library .handle").nth(row).focus()
        for key in keys:
            page.keyboard.press(key)
        self.until(page, lambda: held, "asked")
        return held

    def test_two_quick_moves_are_two_moves(self):
        page = self.playlist()
        before = self.contents(page)
        held = self.moved(page, 0, "ArrowDown", "ArrowDown")
        self.release(page, held)
        self.release(page, held, 1)
        self.until(page, lambda: self.contents(page) == [before[1], before[2], before[0], *before[3:]], "two places below")
        expect(page.locator("#library .handle").nth(2)).to_be_focused()
        expect(page.locator("#library .tracks .entry-title").nth(2)).to_have_text(before[0])
        expect(self.toast(page)).to_have_count(0)

    def test_moves_after_one_that_was_refused_are_left_out(self):
        page = self.playlist()
        before = self.contents(page)
        # The page does not see what another one does.
        page.route("**/library/playlists/p1", lambda route: None)
        self.api(page, "DELETE", "/library/playlists/p1/entries/0")
        held = self.moved(page, 2, "ArrowDown", "ArrowUp")
        page.unroute("**/library/playlists/p1")
        self.release(page, held)
        expect(self.toast(page)).to_have_text(CHANGED)
        expect(page.locator("#library .tracks .entry-title").first).to_have_text(before[1])
        self.assertEqual((self.contents(page), len(held)), (before[1:], 1))

    def test_a_menu_is_still_of_its_entry_after_the_page_has_read_an_edit(self):
        page = self.playlist()
        before = self.contents(page)
        held = self.hold(page, "**/library/playlists/p1", "GET")
        page.locator("#library .handle").first.press("ArrowDown")
        self.until(page, lambda: held, "reads it again")
        row = page.locator("#library li.row").first
        row.get_by_role("button", name=re.compile("^More for")).click()
        row.locator(".row-main").evaluate("main => main.classList.add('old')")
        self.release(page, held)
        page.unroute("**/library/playlists/p1")
        expect(page.locator("#library .old")).to_have_count(0)
        page.get_by_role("button", name="Remove from this playlist").click()
        self.until(page, lambda: self.contents(page) == [before[0], *before[2:]], "removed")
        expect(self.toast(page)).to_contain_text("Removed")


class Once(EditTest):
    def test_a_name_that_is_sent_twice_makes_one_playlist(self):
        page = self.open("library/playlists", PHONE)
        held, sent = self.hold(page, "**/library/playlists", "POST"), self.sent(page, "POST", "/library/playlists")
        page.get_by_role("button", name="New playlist").click()
        page.get_by_role("textbox", name="New playlist").fill("Sunday")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        self.twice(page.get_by_role("button", name="Save", exact=True))
        self.release(page, held)
        expect(page.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(len(sent), 1)

    def test_a_name_can_be_sent_again_after_the_server_has_refused_it(self):
        page = self.open("library/playlists", PHONE)
        page.get_by_role("button", name="New playlist").click()
        page.get_by_role("textbox", name="New playlist").fill("Sunday")
        page.route("**/library/playlists", lambda route: route.fulfill(status=409, body=json.dumps({"detail": "The disk is full."})), times=1)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("The disk is full.")
        page.keyboard.press("Enter")
        expect(page.locator("#library .entry-title").filter(has_text="Sunday").last).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)

    def test_words_that_are_sent_twice_are_spoken_once(self):
        page = self.open("rooms", PHONE)
        held, sent = self.hold(page, "**/announce", "POST"), self.sent(page, "POST", "/announce")
        page.get_by_role("button", name="Announce").click()
        page.get_by_role("textbox").fill("Dinner is ready")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
        self.twice(page.get_by_role("dialog").get_by_role("button", name="Announce"))
        self.release(page, held)
        expect(self.toast(page)).to_contain_text("announced Dinner is ready")
        self.assertEqual(len(sent), 1)

    def test_an_alarm_that_is_saved_twice_is_one_alarm(self):
        page = self.open("alarms", PHONE)
        held, sent = self.hold(page, "**/alarms", "POST"), self.sent(page, "POST", "/alarms")
        page.get_by_role("button", name="New alarm").click()
        self.twice(page.get_by_role("dialog").get_by_role("button", name="Save"))
        self.release(page, held)
        expect(page.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(len(sent), 1)


class Slow(EditTest):
    """The server answers after a time that `passTime` lets the page believe."""

    def open(self, *arguments, **more):
        page = super().open(*arguments, **more)
        page.add_init_script("""{
            const waits = [];
            AbortSignal.timeout = (ms) => {
                const control = new AbortController();
                waits.push({ ms, control });
                return control.signal;
            };
            window.passTime = (ms) => waits.forEach((wait) => wait.ms <= ms && wait.control.abort());
        }""")
        page.reload()
        return page

    def answered(self, page, pattern, method, seconds):
        """Returns a function that answers after this time."""
        held = self.hold(page, pattern, method)

        def answer():
            self.until(page, lambda: held, "asked")
            page.evaluate("ms => passTime(ms)", seconds * 1000)
            self.release(page, held)
        return answer

    def test_the_page_waits_as_long_as_words_take_to_be_made(self):
        page = self.open("rooms", PHONE)
        answer = self.answered(page, "**/announce", "POST", 13)
        page.get_by_role("button", name="Announce").click()
        page.get_by_role("textbox").fill("Dinner is ready")
        page.keyboard.press("Enter")
        answer()
        expect(self.toast(page)).to_contain_text("announced Dinner is ready")

    def test_the_page_waits_as_long_as_pairing_takes(self):
        page = self.open("rooms", PHONE)
        answer = self.answered(page, "**/say-pin", "POST", 15)
        page.get_by_role("button", name="Pair: Office").click()
        page.get_by_role("button", name="Say the PIN in this room").click()
        answer()
        expect(self.toast(page)).to_have_text("Office says its PIN now")
        answer = self.answered(page, "**/pair", "POST", 15)
        page.get_by_role("textbox").fill("1234 5678")
        page.get_by_role("button", name="Pair", exact=True).click()
        answer()
        expect(self.toast(page)).to_have_text("Office is paired")

    def test_the_page_waits_as_long_as_a_room_takes_to_forget(self):
        page = self.open("rooms", PHONE)
        room = next(room for room in self.api(page, "GET", "/state")["rooms"] if room["name"] == "Terrace")
        self.api(page, "POST", f"/mock/room/{room['id']}", {"canUnpair": True})
        answer = self.answered(page, "**/pairing", "DELETE", 15)
        page.get_by_role("button", name="More for Terrace", exact=True).click()
        page.get_by_role("button", name="Forget the pairing").click()
        page.get_by_role("button", name="Forget it").click()
        answer()
        expect(page.get_by_role("button", name="Pair: Terrace")).to_be_visible()
        expect(self.toast(page)).to_have_count(0)


class Refused(EditTest):
    def test_what_was_played_is_not_forgotten_without_a_word(self):
        page = self.open("library/history", PHONE)
        page.route("**/library/history", lambda route: route.fulfill(status=503, body=json.dumps({"detail": "The disk is full."})))
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_role("button", name="Forget it").click()
        expect(self.toast(page)).to_have_text("The disk is full.")
        self.assertTrue(page.url.endswith("#/library/history"))
        page.unroute("**/library/history")
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_role("button", name="Forget it").click()
        page.wait_for_url("**/#/library")


if __name__ == "__main__":
    unittest.main(verbosity=2)
