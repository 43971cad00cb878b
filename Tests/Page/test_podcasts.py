#!/usr/bin/env python3
"""Subscribes to podcasts on the page, and plays and marks their episodes, against the mock server.

    Tests/Page/test_podcasts.py [names of tests …]
"""

import re
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE
from test_use import UseTest

TITLE = "Wind & <b>Weather</b>"


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class Podcasts(UseTest):
    def subscribed(self, size):
        """The list of podcasts with one in it, from the bare address on."""
        page = self.bare(size)
        if size == PHONE:
            page.get_by_role("link", name="Library", exact=True).click()
        page.get_by_role("link", name="Podcasts", exact=True).click()
        expect(page.locator("#library")).to_contain_text("No podcast yet")
        page.get_by_role("button", name="Subscribe").click()
        field = page.get_by_role("textbox", name="Address of the feed")
        field.fill("https://example.org/broken")
        page.get_by_role("button", name="Subscribe", exact=True).last.click()
        expect(page.get_by_role("dialog")).to_contain_text("it is no feed: line 1")
        field.fill("https://example.org/feed.xml")
        page.get_by_role("button", name="Subscribe", exact=True).last.click()
        expect(self.row(page, 0)).to_contain_text(TITLE)
        return page

    def row(self, page, index):
        return page.locator("#library li.row").nth(index)

    def menu(self, page, index, name):
        self.row(page, index).get_by_role("button", name=re.compile("^More for")).click()
        page.get_by_role("button", name=name, exact=True).click()

    def hear(self, size):
        page = self.subscribed(size)
        expect(self.row(page, 0)).to_contain_text("1 new")
        self.row(page, 0).get_by_role("link").click()
        expect(page.locator("#library h1")).to_have_text(TITLE)
        for index, text in enumerate(["New · ", "at 10:00", "Played"]):
            expect(self.row(page, index)).to_contain_text(text)
            expect(self.row(page, index)).to_contain_text("30:00")
        self.row(page, 1).locator(".row-main").click()
        self.until(page, lambda: self.group(page)["item"]["title"] == "Episode 2 <img src=x>", "plays")
        self.menu(page, 0, "Mark as played")
        expect(self.row(page, 0)).to_contain_text("Played")
        self.menu(page, 0, "Mark as not played")
        expect(self.row(page, 0)).not_to_contain_text("Played")
        self.assertEqual(self.faults, [])
        return page

    def test_an_episode_is_played_and_marked(self):
        self.hear(LAPTOP)

    def test_an_episode_is_played_and_marked_on_a_phone(self):
        page = self.hear(PHONE)
        self.assertEqual(page.evaluate("document.documentElement.scrollWidth > innerWidth"), False)

    def test_a_podcast_has_its_picture_and_is_found_by_a_search(self):
        page = self.subscribed(PHONE)
        expect(self.row(page, 0).locator("img.whole")).to_have_count(1)
        page.get_by_role("searchbox").fill("weather")
        found = page.locator("#library .part").filter(has_text="Podcasts").locator("xpath=following-sibling::ol[1]")
        expect(found.locator("li.row")).to_have_count(1)
        found.get_by_role("link").click()
        expect(page.locator("#library .page-head img.whole")).to_have_count(1)

    def test_new_episodes_are_looked_for_and_the_newest_plays(self):
        page = self.subscribed(LAPTOP)
        page.get_by_role("button", name="Refresh").click()
        expect(self.row(page, 0)).to_contain_text("2 new")
        self.menu(page, 0, "Play now, replace the queue")
        self.until(page, lambda: self.group(page)["item"]["title"] == "Episode 4", "plays")
        self.menu(page, 0, "Delete")
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page.locator("#library")).to_contain_text("No podcast yet")

    def test_what_was_begun_goes_on_from_the_home(self):
        page = self.subscribed(LAPTOP)
        page.goto("about:blank")
        page.goto(self.server.address)
        strip = page.locator("#library .part").filter(has_text="Continue listening").locator("xpath=following-sibling::ul[1]")
        expect(strip.locator(".tile")).to_have_count(1)
        expect(strip).to_contain_text("20 min left")
        strip.get_by_role("button").first.click()
        self.until(page, lambda: self.group(page)["item"]["title"] == "Episode 2 <img src=x>", "plays")

    def test_guests_hear_podcasts_and_change_none(self):
        page = self.subscribed(PHONE)
        page.route(self.server.address, lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text().replace('data-asker="machine"', 'data-asker="guest"')))
        page.reload()
        expect(self.row(page, 0)).to_contain_text(TITLE)
        for name in ["Subscribe", "Refresh"]:
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        self.row(page, 0).get_by_role("button", name=re.compile("^More for")).click()
        expect(page.get_by_role("button", name="Add to the end", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Delete")).to_have_count(0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
