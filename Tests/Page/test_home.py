#!/usr/bin/env python3
"""Drives the home of the library, favourites, and the ways into a large library, against the mock server.

    Tests/Page/test_home.py [names of tests …]
"""

import re
import time
import unittest

from playwright.sync_api import expect

import test_page
from browser import LAPTOP, PHONE
from test_page import touch
from test_use import UseTest

HOSTILE = "<img src=x onerror=document.title='broken'><script>1</script>"


def setUpModule():
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)


class HomeTest(UseTest):
    def strip(self, page, title, view="#library"):
        """The row of tiles below a heading."""
        return page.locator(f"{view} .part").filter(has_text=title).locator("xpath=following-sibling::ul[1]").locator(".tile")

    def kept(self, page):
        return [(thing["kind"], thing["id"]) for thing in self.api(page, "GET", "/library/favourites")["favourites"]]

    def heart(self, page, within):
        return page.locator(within).get_by_role("button", name=re.compile("^Favourite: "))


class Favourites(HomeTest):
    def test_one_tap_plays_a_favourite_from_the_bare_address(self):
        page = self.bare(LAPTOP)
        tile = self.strip(page, "Favourites").first
        title = tile.locator("strong").inner_text()
        tile.get_by_role("button", name=f"Play {title}").click()
        self.until(page, lambda: self.group(page)["item"]["album"] == title, "plays")

    def test_a_favourite_station_and_an_input_play_by_their_tiles(self):
        page = self.bare(LAPTOP)
        for title in ["Night Jazz FM", "Turntable"]:
            self.strip(page, "Favourites").filter(has_text=title).get_by_role("button").first.click()
            self.until(page, lambda: self.group(page)["item"]["title"] == title, "plays")

    def test_a_heart_on_an_album_shows_on_the_home_of_every_page(self):
        first, second = self.bare(LAPTOP), self.bare(LAPTOP)
        self.strip(first, "New in the library").nth(3).get_by_role("link").click()
        title = first.locator(".page-head h1").inner_text()
        heart = self.heart(first, ".page-head")
        expect(heart).to_have_attribute("aria-pressed", "false")
        heart.click()
        expect(heart).to_have_attribute("aria-pressed", "true")
        expect(self.strip(second, "Favourites").first).to_contain_text(title)
        heart.click()
        expect(heart).to_have_attribute("aria-pressed", "false")
        expect(self.strip(second, "Favourites").first).not_to_contain_text(title)
        first.locator("#toasts").get_by_role("button", name="Undo").click()
        expect(self.strip(second, "Favourites").first).to_contain_text(title)

    def test_hearts_are_wherever_something_has_a_name(self):
        page = self.bare(LAPTOP)
        for place, thing in [("artist/r7", ("artist", "r7")), ("playlist/p1", ("playlist", "p1")), ("album/a50", ("album", "a50"))]:
            page.goto(f"{self.server.address}#/library/{place}")
            # The heart of the place before is filled.
            expect(self.heart(page, ".page-head")).to_have_attribute("aria-pressed", "false")
            self.heart(page, ".page-head").click()
            self.until(page, lambda: thing in self.kept(page), thing)
        for place, row, thing in [("album/a50", ".row", ("track", "t50-0")), ("radio", ".tile:has-text('Radio Meridian')", ("radio", "s0")),
                                  ("radio", ".tile:has-text('Television')", ("input", "Television"))]:
            page.goto(f"{self.server.address}#/library/{place}")
            page.locator(f"#library {row}").first.get_by_role("button", name=re.compile("^More for")).click()
            page.get_by_role("button", name="Add to the favourites").click()
            self.until(page, lambda: thing in self.kept(page), thing)
        page.goto(f"{self.server.address}#/now")
        self.api(page, "POST", f"/groups/{self.group(page)['id']}/next")
        expect(self.heart(page, "#now")).to_have_attribute("aria-pressed", "false")
        self.heart(page, "#now").click()
        track = self.group(page)["item"]["trackId"]
        self.until(page, lambda: ("track", track) in self.kept(page), "what plays")
        expect(self.heart(page, "#now")).to_have_attribute("aria-pressed", "true")
        page.locator("#queue .entry").nth(5).get_by_role("button", name=re.compile("^More for")).click()
        page.get_by_role("button", name="Add to the favourites").click()
        self.until(page, lambda: self.kept(page)[0][0] == "track" and self.kept(page)[0][1] != track, "an entry of the queue")

    def test_all_stations_of_a_list_are_added(self):
        page = self.open("library/radio", PHONE)
        page.get_by_role("button", name="Add a station").click()
        lines = "#EXTM3U\r\n#EXTINF:-1 tvg-logo=\"http://a.example/1.png\",Harbour, at night\r\nhttp://a.example/1\r\n# none\r\nhttp://a.example/2\r\nmusic/b.flac\r\n"
        page.get_by_label("Or a list in a file").set_input_files({"name": "a.m3u", "mimeType": "audio/x-mpegurl", "buffer": lines.encode()})
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.locator("#library")).to_contain_text("Harbour, at night")
        found = {radio["uri"]: radio for radio in self.api(page, "GET", "/library/radios")["radios"]}
        one, two = (found[f"http://a.example/{number}"] for number in (1, 2))
        self.assertEqual([one["name"], two["name"]], ["Harbour, at night", "Radio Somewhere"])
        self.assertEqual([bool(one["artwork"]), bool(two["artwork"])], [True, False])

    def test_a_heart_answers_at_once_and_takes_itself_back_when_refused(self):
        page = self.open("library/album/a50", PHONE)
        heart = self.heart(page, ".page-head")
        page.route("**/favourites/**", lambda route: (time.sleep(0.5), route.fulfill(
            status=507, content_type="application/problem+json", body='{"status": 507, "detail": "The disk is full."}')))
        waited = heart.evaluate("""async (button) => {
            const start = performance.now();
            button.click();
            while (button.getAttribute("aria-pressed") === "false" && performance.now() - start < 2000) await new Promise(requestAnimationFrame);
            return performance.now() - start;
        }""")
        self.assertLess(waited, 100)
        expect(self.toast(page)).to_have_text("The disk is full.")
        expect(heart).to_have_attribute("aria-pressed", "false")

    def test_names_are_shown_and_never_run(self):
        page = self.open("library", PHONE)
        group = self.group(page)["id"]
        made = self.api(page, "POST", f"/groups/{group}/queue/save", {"name": HOSTILE})
        self.api(page, "PUT", f"/library/favourites/playlist/{made['id']}")
        expect(self.strip(page, "Favourites").first.locator("strong")).to_have_text(HOSTILE)
        page.goto(f"{self.server.address}#/library/named/{HOSTILE.replace('/', '%2F')}")
        expect(page.locator("#library")).to_contain_text("onerror")
        page.goto(f"{self.server.address}#/library/tag/g1/{HOSTILE.replace('/', '%2F')}")
        expect(page.locator("#library h1")).to_contain_text("onerror")
        self.assertEqual(page.locator("#library img[src=x], #library script").count(), 0)
        self.assertNotIn("broken", page.title())

    def test_guests_see_favourites_without_hearts_and_no_history(self):
        page = self.open("sync", PHONE)
        page.route(self.server.address, lambda route: route.fulfill(response=(answer := route.fetch()), body=answer.text().replace('data-asker="machine"', 'data-asker="guest"')))
        page.goto("about:blank")
        page.goto(f"{self.server.address}#/library")
        expect(self.strip(page, "Favourites").first).to_be_visible()
        expect(page.locator("#library")).not_to_contain_text("Played lately")
        page.goto(f"{self.server.address}#/library/album/a50")
        expect(page.locator(".verbs")).to_be_visible()
        expect(self.heart(page, "#library")).to_have_count(0)


class Played(HomeTest):
    def test_the_home_shows_what_was_played_and_the_history_forgets_it(self):
        page = self.bare(LAPTOP)
        expect(self.strip(page, "Played lately")).to_have_count(4)
        page.get_by_role("link", name="History: Played lately").click()
        expect(page.locator("#library .row")).to_have_count(5)
        expect(page.locator("#library .day").first).to_be_visible()
        page.get_by_role("button", name="Forget", exact=True).click()
        page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
        expect(page.locator("#library")).to_contain_text("New in the library")
        expect(page.locator("#library")).not_to_contain_text("Played lately")


class AtRest(HomeTest):
    scene = "silent"

    def test_the_first_view_of_a_phone_plays_a_favourite_with_one_tap(self):
        page = self.bare(PHONE)
        for room in self.api(page, "GET", "/state")["rooms"]:
            if room["name"] != "Terrace":
                self.api(page, "POST", f"/mock/room/{room['id']}", {"state": "away", "isPresent": False})
        self.strip(page, "Favourites", "#now").first.get_by_role("button").tap()
        self.until(page, lambda: any(group["state"] == "playing" for group in self.api(page, "GET", "/state")["groups"]), "plays")


class Browsing(HomeTest):
    def test_letters_lead_to_their_names_by_finger_and_by_key(self):
        page = self.bare(LAPTOP)
        page.get_by_role("link", name="Artists", exact=True).click()
        letters = page.locator(".letters")
        expect(letters).to_be_visible()

        def top():
            """The first letters of the row at the top of the view."""
            names = page.locator("#library .scroll").evaluate("""(scroller) => {
                const tiles = [...scroller.querySelectorAll(".tile")].map((tile) => [Math.round(tile.getBoundingClientRect().top - scroller.getBoundingClientRect().top), tile.innerText])
                    .filter(([top]) => top > -4)
                const first = Math.min(...tiles.map(([top]) => top))
                return tiles.filter(([top]) => top === first).map(([, name]) => name)
            }""")
            return {name.strip().removeprefix("The ")[:1] for name in names}
        letters.locator("span").filter(has_text=re.compile("^M$")).click()
        self.until(page, lambda: "M" in top(), "M")
        expect(letters).to_have_attribute("aria-valuetext", "M")
        letters.focus()
        page.keyboard.press("ArrowDown")
        self.until(page, lambda: "N" in top(), "N")
        page.keyboard.press("End")
        expect(letters).to_have_attribute("aria-valuetext", re.compile("^[W-Z]$"))
        page.goto(f"{self.server.address}#/library/albums/year")
        expect(letters.locator("span").first).to_have_text("20s")
        page.goto(f"{self.server.address}#/library/albums/added")
        expect(letters).to_be_hidden()

    def test_thirty_thousand_tracks_scroll_with_few_elements_and_play(self):
        page = self.open("library/tracks", PHONE)
        expect(page.locator("#library .sorts")).to_contain_text(re.compile("3\\d,\\d+ tracks"))
        page.locator("#library .scroll").evaluate("element => element.scrollTo(0, 600000)")
        row = page.locator("#library .row[aria-posinset='10005'] .row-main")
        expect(row.locator(".entry-title")).not_to_be_empty()
        self.assertLess(page.locator("#library .row").count(), 80)
        title = row.locator(".entry-title").inner_text()
        row.click()
        self.until(page, lambda: self.group(page)["item"]["title"] == title, "plays")

    def test_genres_composers_and_years_lead_to_albums_that_play(self):
        page = self.bare(LAPTOP)
        page.get_by_role("link", name="Genres", exact=True).click()
        page.locator("#library .tile").filter(has_text="Jazz").get_by_role("link").click()
        expect(page.locator(".page-head h1")).to_have_text("Jazz")
        expect(page.locator("#library .tile").first).to_be_visible()
        page.locator(".verbs").get_by_role("button", name="Play", exact=True).click()
        self.until(page, lambda: self.group(page)["queue"]["count"] > 500, "plays the genre")
        page.goto(f"{self.server.address}#/library/genres")
        page.get_by_role("link", name="Composers").click()
        expect(page.locator("#library .tile").filter(has_text="Abrams, Ravi").first).to_be_visible()
        page.get_by_role("link", name="Years").click()
        expect(page.locator("#library h2").first).to_have_text("2020s")
        page.get_by_role("link", name="1999").click()
        expect(page.locator("#library .tile").first).to_contain_text("1999")

    def test_an_artist_is_one_tap_from_what_plays(self):
        page = self.open("now", PHONE)
        artist = self.group(page)["item"]["artist"]
        page.locator("#now .byline a").first.click()
        expect(page.locator(".page-head h1")).to_have_text(artist)
        years = [int(text[:4]) for text in page.locator("#library .grid").first.locator(".tile .dim").all_inner_texts()]
        self.assertEqual(years, sorted(years))
        expect(page.locator("#library")).to_contain_text("Also on")
        page.get_by_role("link", name="All tracks: Albums").click()
        expect(page.locator("#library .sorts")).to_contain_text(f"All by {artist}")
        expect(page.locator("#library .row").first).to_contain_text(artist)

    def test_a_search_shows_all_of_a_kind(self):
        page = self.bare(LAPTOP)
        page.get_by_role("searchbox").fill("the")
        page.get_by_role("link", name="All albums").click()
        expect(page.locator("#library .part")).to_have_count(1)
        self.assertGreater(page.locator("#library .tile").count(), 24)
        expect(page.get_by_role("searchbox")).to_have_value("the")

    def test_albums_without_a_picture_are_told_apart_by_colour_and_letter(self):
        page = self.open("library/album/a40")
        looks = []
        for album in ["a40", "a81", "a122"]:
            page.goto(f"{self.server.address}#/library/album/{album}")
            title = self.api(page, "GET", f"/library/albums/{album}")["album"]["title"]
            expect(page.locator(".page-head h1")).to_have_text(title)
            box = page.locator(".page-head .cover")
            looks.append((box.get_attribute("data-letter"), box.evaluate("box => getComputedStyle(box).backgroundImage")))
        self.assertEqual(len({colour for _, colour in looks}), len(looks))
        self.assertTrue(all(letter and letter.isalnum() for letter, _ in looks))


class Lyrics(HomeTest):
    def test_the_line_that_is_sung_is_marked_and_follows_a_seek(self):
        page = self.open("now", PHONE)
        page.get_by_role("button", name="Lyrics").click()
        line = page.locator(".lyrics [aria-current]")
        for position in [60, 20]:
            self.api(page, "POST", f"/groups/{self.group(page)['id']}/seek", {"positionS": position})
            self.until(page, lambda: line.count() == 1 and abs(3 + 4 * line.evaluate("line => [...line.parentElement.children].indexOf(line)") - position) <= 6, position)
            box = page.locator(".lyrics").bounding_box()
            self.until(page, lambda: box["y"] <= line.bounding_box()["y"] <= box["y"] + box["height"], "in view")

    def test_a_track_without_lyrics_has_no_button_for_them(self):
        page = self.open("now", PHONE)
        expect(page.get_by_role("button", name="Lyrics")).to_be_visible()
        self.api(page, "POST", f"/groups/{self.group(page)['id']}/queue", {"items": [{"albumId": "a7"}], "at": "now"})
        expect(page.get_by_role("button", name="Lyrics")).to_be_hidden()


class Queue(HomeTest):
    def test_a_swipe_removes_and_can_be_undone_and_a_short_one_does_nothing(self):
        page = self.open("queue", PHONE)
        before = self.queue(page)
        box = page.locator("#queue .entry .row-main").nth(1).bounding_box()
        x, y = box["x"] + box["width"] - 30, box["y"] + 28
        touch(page, [(x - step * 6, y) for step in range(11)])
        touch(page, [(x, y + step * 12) for step in range(8)])
        self.assertEqual(self.queue(page), before)
        page.locator("#queue .scroll").evaluate("element => element.scrollTo(0, 0)")
        touch(page, [(x - step * 14, y) for step in range(12)])
        self.until(page, lambda: self.queue(page) == [before[0], *before[2:], *self.queue(page)[5:]], "removed")
        self.toast(page).get_by_role("button", name="Undo").click()
        self.until(page, lambda: self.queue(page) == before, "as before")

    def test_what_was_played_and_what_comes_are_told_apart(self):
        page = self.open("queue", PHONE)
        index = self.group(page)["queue"]["index"]
        rows = page.locator("#queue .entry")
        expect(rows.nth(index)).to_have_class(re.compile("current"))
        self.assertEqual(rows.evaluate_all("rows => rows.filter((row) => row.classList.contains('past')).length"), index)
        expect(page.locator("#queue .view-head")).to_contain_text(re.compile(r"tracks · .*min to come · in Kitchen"))


class Sync(HomeTest):
    def test_a_phone_shows_every_figure_and_names_the_lines(self):
        page = self.open("sync", PHONE)
        expect(page.locator(".legend li").first).to_be_visible()
        # The page draws both anew each second: each is measured at once.
        cells = page.locator("#sync tbody tr").first.locator("td").evaluate_all("cells => cells.map((cell) => cell.getBoundingClientRect().toJSON())")
        for index, box in enumerate(cells):
            self.assertTrue(box["x"] >= 0 and box["right"] <= PHONE[0], index)
        lines, bounds = page.locator("#sync").evaluate("view => ['line', 'bound'].map((name) => view.querySelector(`.plot path.${name}`).getBoundingClientRect().toJSON())")
        self.assertLess(lines["bottom"], bounds["y"], "the bounds lie below the lines")


if __name__ == "__main__":
    unittest.main(verbosity=2)
