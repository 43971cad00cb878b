#!/usr/bin/env python3
"""Edits and dialogs on the page while the server is slow, refuses, or hears others: against the mock server.

    Tests/Page/test_edits.py [names of tests …]
"""

import re
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP
from test_page import PageTest


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


if __name__ == "__main__":
    unittest.main(verbosity=2)
