#!/usr/bin/env python3
"""Makes, fills, orders and renames playlists on the page, against the mock server.

    Tests/Page/test_playlists.py [names of tests …]
"""

import re
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE
from test_page import PageTest


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class Playlists(PageTest):
    def contents(self, page, name):
        found = next(each for each in self.api(page, "GET", "/library/playlists")["playlists"] if each["name"] == name)
        return [entry["title"] for entry in self.api(page, "GET", f"/library/playlists/{found['id']}")["entries"]]

    def toast(self, page):
        return page.locator("#toasts .toast")

    def titles(self, page):
        return page.locator("#library .tracks .entry-title").all_inner_texts()

    def menu(self, page, row, *names):
        page.locator("#library li.row").nth(row).get_by_role("button", name=re.compile("^More for")).click()
        for name in names:
            page.get_by_role("button", name=name, exact=True).last.click()

    def test_a_playlist_is_made_of_what_the_library_shows(self):
        page = self.open("library/playlists", PHONE)
        page.get_by_role("button", name="New playlist").click()
        page.get_by_role("textbox", name="New playlist").fill("Dinner & <b>wine</b>")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#library .entry-title").filter(has_text="Dinner & <b>wine</b>")).to_be_visible()
        page.goto(f"{self.server.address}#/library/album/a40")
        expect(page.locator("#library h1")).to_have_text("Between Two Trains")
        title = page.locator("#library li.row .entry-title").first.inner_text()
        self.menu(page, 0, "Add to a playlist")
        expect(page.get_by_role("button", name="Dinner with friends")).to_have_count(0)
        page.get_by_role("button", name="Dinner & <b>wine</b>").click()
        expect(self.toast(page)).to_have_text(f"{title} is in Dinner & <b>wine</b>")
        self.assertEqual(self.contents(page, "Dinner & <b>wine</b>"), [title])
        self.menu(page, 1, "Add to a playlist", "New playlist")
        page.get_by_role("textbox", name="New playlist").fill("Sunday")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(self.toast(page)).to_contain_text("is in Sunday")
        self.assertEqual(len(self.contents(page, "Sunday")), 1)

    def order(self, size):
        page = self.open("library/playlist/p1", size)
        expect(page.locator("#library .tracks .entry-title").nth(3)).to_be_visible()
        before = self.contents(page, "Sunday breakfast")
        self.assertEqual(self.titles(page)[:4], before[:4])
        handles = page.locator("#library .handle")
        box, target = handles.nth(0).bounding_box(), handles.nth(2).bounding_box()
        page.mouse.move(box["x"] + 10, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] + 10, box["y"] + 40, steps=4)
        page.mouse.move(target["x"] + 10, target["y"] + 12, steps=8)
        page.mouse.up()
        moved = [before[1], before[2], before[0], *before[3:]]
        self.until(page, lambda: self.contents(page, "Sunday breakfast") == moved, "dragged")
        self.until(page, lambda: self.titles(page)[:4] == moved[:4], "shown")
        handles.nth(2).focus()
        page.keyboard.press("ArrowUp")
        self.until(page, lambda: self.contents(page, "Sunday breakfast") == [before[1], before[0], *before[2:]], "by keys")
        expect(page.locator("#library .handle").nth(1)).to_be_focused()
        page.keyboard.press("ArrowUp")
        self.until(page, lambda: self.contents(page, "Sunday breakfast") == before, "by keys again")
        self.menu(page, 1, "Move to the end")
        self.until(page, lambda: self.contents(page, "Sunday breakfast") == [before[0], *before[2:], before[1]], "to the end")
        self.menu(page, len(before) - 1, "Move to the top")
        self.until(page, lambda: self.contents(page, "Sunday breakfast") == [before[1], before[0], *before[2:]], "to the top")
        self.menu(page, 0, "Remove from this playlist")
        self.until(page, lambda: self.contents(page, "Sunday breakfast") == [before[0], *before[2:]], "removed")
        self.until(page, lambda: self.titles(page) == [before[0], *before[2:]], "shown")

    def test_a_playlist_is_ordered_by_hand_keys_and_menu(self):
        self.order(LAPTOP)

    def test_a_playlist_is_ordered_on_a_phone(self):
        self.order(PHONE)

    def test_a_playlist_is_renamed_and_a_file_is_not(self):
        page = self.open("library/playlists", PHONE)
        page.get_by_role("button", name="More for Sunday breakfast").click()
        page.get_by_role("button", name="Rename").click()
        page.get_by_role("textbox", name="Name of the playlist").fill("Brunch")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#library .entry-title").filter(has_text="Brunch")).to_be_visible()
        page.get_by_role("button", name="More for Dinner with friends").click()
        expect(page.get_by_role("button", name="Rename")).to_have_count(0)
        page.keyboard.press("Escape")
        page.wait_for_function("!history.state?.isOpen")
        page.goto(f"{self.server.address}#/library/playlist/p2")
        expect(page.locator("#library h1")).to_have_text("Dinner with friends")
        expect(page.locator("#library .tracks .entry-title").first).to_be_visible()
        expect(page.locator("#library .handle")).to_have_count(0)

    def test_guests_change_none(self):
        page = self.open("now", PHONE)
        page.route(self.server.address, lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text().replace('data-asker="machine"', 'data-asker="guest"')))
        page.goto(f"{self.server.address}#/library/playlist/p1")
        page.reload()
        expect(page.locator("#library .tracks .entry-title").first).to_be_visible()
        expect(page.locator("#library .handle")).to_have_count(0)
        page.locator("#library li.row").first.get_by_role("button", name=re.compile("^More for")).click()
        expect(page.get_by_role("button", name="Add to the end", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Add to a playlist")).to_have_count(0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
