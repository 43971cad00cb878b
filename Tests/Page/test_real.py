#!/usr/bin/env python3
"""Drives the page against a real `tutti serve` with real receivers on virtual sound cards; see household.py.

    Tests/Page/test_real.py [names of tests …]
"""

import re
import shutil
import sys
import time
import unittest

from playwright.sync_api import expect

import catalogue
import test_page
from browser import LAPTOP, PHONE
from household import FILM, Household, make_album
from test_page import PageTest, drag, touch


def setUpModule():
    global house
    test_page.setUpModule()
    unittest.addModuleCleanup(test_page.tearDownModule)
    house = unittest.enterModuleContext(Household())


class RealTest(PageTest):
    """At the start of each test two rooms play one album, which is followed by another."""

    def setUp(self):
        self.server, self.faults = house, []
        self.group_id = house.play("Kitchen", "Bathroom")

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            print("The daemon said:", *[line for line in house.daemon.lines[-20:] if line], sep="\n", file=sys.stderr)

    def now(self):
        return next(group for group in house.state()["groups"] if group["id"] == self.group_id)

    def place(self, group, state):
        """Returns the music's position at the time of the state, in seconds."""
        moves = group["state"] == "playing"
        return group["positionS"] + (state["nowMs"] - group["positionAtMs"]) / 1000 * group["rate"] * moves

    def until_house(self, condition):
        """Waits for the group of the test."""
        return house.wait(lambda state: any(group["id"] == self.group_id and condition(group) for group in state["groups"]))

    def underruns(self, *names):
        return [room["sync"]["underruns"] for room in house.state()["rooms"] if room["name"] in names]


class Playing(RealTest):
    def test_from_nothing_to_sound_in_a_room_with_a_few_taps(self):
        for group in house.state()["groups"]:
            house.api("DELETE", f"/groups/{group['id']}")
        house.wait(lambda state: not state["groups"] and all(room["state"] == "free" for room in state["rooms"] if room["name"] in house.names))
        page = self.open("now", PHONE)
        page.get_by_role("button", name="Choose rooms", exact=True).click()
        for name in ["Bathroom", "Terrace"]:
            page.locator(".pick").get_by_text(name, exact=True).click()
            expect(page.locator(".pick").filter(has_text=name).locator("input")).to_be_checked()
        before = house.rooms["Terrace"].heard()
        page.get_by_role("button", name="Use these rooms").click()
        page.locator("#library .tile a").first.click()
        page.locator(".verbs").get_by_role("button", name="Play", exact=True).click()
        house.wait(lambda state: [room["state"] for room in state["rooms"] if room["name"] in ("Bathroom", "Terrace")] == ["playing"] * 2)
        house.wait(lambda state: house.rooms["Terrace"].loudest(since=before) > 1000)
        page.goto(f"{house.address}#/now")
        expect(page.locator("#now h1")).to_have_text(house.state()["groups"][0]["item"]["title"])

    def test_pause_and_play_on_from_there(self):
        page = self.open()
        page.locator("#now .play").click()
        state = self.until_house(lambda group: group["state"] == "paused")
        stopped = self.now()["positionS"]
        expect(page.locator("#now .play")).to_have_accessible_name(re.compile("^Play"))
        page.locator("#now .play").click()
        state = self.until_house(lambda group: group["state"] == "playing")
        self.assertLess(abs(self.place(self.now(), state) - stopped), 3)

    def test_next_and_previous(self):
        page = self.open()
        entries = house.api("GET", f"/groups/{self.group_id}/queue")["entries"]
        page.get_by_role("button", name="Next (N)").first.click()
        expect(page.locator("#now h1")).to_have_text(entries[1]["title"])
        self.until_house(lambda group: group["state"] == "playing" and group["queue"]["index"] == 1)
        page.get_by_role("button", name="Previous (P)").first.click()
        expect(page.locator("#now h1")).to_have_text(entries[0]["title"])

    def test_the_sound_follows_the_finger(self):
        page = self.open(size=PHONE)
        duration = self.now()["item"]["durationS"]
        box = page.locator("#now .scrub").bounding_box()
        places = [(box["x"] + box["width"] * share, box["y"] + 22) for share in (0.1, 0.2, 0.3, 0.35, 0.4, 0.5)]
        touch(page, places, pause=120)
        state = self.until_house(lambda group: group["state"] == "playing" and abs(group["positionS"] / duration - 0.5) < 0.05)
        self.assertLess(abs(self.place(self.now(), state) / duration - 0.5), 0.05)
        expect(page.locator("#now time.past")).to_have_text(re.compile(r"[12]:\d\d"))

    def test_a_file_that_is_sent_as_it_is_is_said_to_be_so_once(self):
        page = self.open("now", PHONE)
        item = self.now()["item"]
        self.assertEqual((item["isUnchanged"], item["codecReason"]), (True, "as it is"))
        page.locator(".chips").get_by_text(f"{item['codec']} · as it is", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("nothing is lost on the way")

    def test_an_open_page_notices_files_that_come(self):
        page = self.open("library/albums")
        count = house.state()["library"]["albumCount"]
        expect(page.locator("#library .sorts")).to_contain_text(f"{count} albums")
        artist = house.folder / "music" / catalogue.ALBUM["a41"]["artist"]
        self.addCleanup(lambda: (shutil.rmtree(artist), house.wait(lambda state: state["library"]["albumCount"] == count, seconds=60)))
        make_album(house.folder / "music", 41)
        house.wait(lambda state: state["library"]["albumCount"] == count + 1, seconds=60)
        expect(page.locator("#library .sorts")).to_contain_text(f"{count + 1} albums")

    def test_the_cover_and_the_album_of_what_plays_are_shown(self):
        page = self.open()
        self.until(page, lambda: page.locator("#now .art img").evaluate("image => image.naturalWidth") > 500, "a large cover")
        page.locator("#now .byline a").last.click()
        expect(page.locator("#library .page-head h1")).to_have_text(self.now()["item"]["album"])

    def test_sync_shows_a_line_for_each_room(self):
        page = self.open("sync")
        # A room that played until recently has a line, too.
        expect(page.locator("#sync tbody tr").filter(has_text=re.compile("Kitchen|Bathroom"))).to_have_count(2)
        expect(page.locator(".plot path.line").first).to_have_attribute("d", re.compile("L"), timeout=20000)
        expect(page.locator(".headline")).to_contain_text("apart")

    def test_the_plot_begins_with_what_was_before_the_page_was_opened(self):
        def kept():
            return sum(len(room["points"]) for room in house.api("GET", "/sync")["rooms"])
        house.wait(lambda state: kept() >= 10)
        before = kept()
        page = self.open("sync")
        # Wait briefly: the page itself gets only one point for each room a second. A line may have several pieces.
        page.wait_for_function("""(least) => [...document.querySelectorAll(".plot path.line")].map((line) => line.getAttribute("d")).join("")
            .match(/[ML]/g)?.length >= least""", arg=before - 3, timeout=1500)


class Rooms(RealTest):
    def test_the_volume_of_a_free_room_is_set_before_it_plays(self):
        page = self.open("rooms", PHONE)
        volume = house.room("Terrace").get("volume")
        page.get_by_role("button", name="More for Terrace").click()
        slider = page.get_by_role("dialog").get_by_role("slider", name="Volume")
        slider.focus()
        for _ in range(3):
            page.keyboard.press("ArrowDown")
        wanted = float(slider.input_value())
        self.assertNotEqual(wanted, volume)
        page.keyboard.press("Escape")
        house.wait(lambda state: house.room("Terrace").get("volume") == wanted)
        page.get_by_role("button", name=re.compile("^Terrace joins ")).click()
        house.wait(lambda state: house.room("Terrace")["state"] == "playing")
        self.assertEqual(house.room("Terrace")["volume"], wanted)

    def test_a_room_that_leaves_alone_leaves_no_group_behind_and_finds_its_queue_again(self):
        page = self.open("rooms")
        count = self.now()["queue"]["count"]
        for name in ["Kitchen", "Bathroom"]:
            house.api("DELETE", f"/groups/{self.group_id}/rooms/{house.room(name)['id']}")
        expect(page.locator(".card.group")).to_have_count(0)
        self.assertEqual(house.state()["groups"], [])
        page.get_by_role("button", name="Play here: Bathroom").click()
        expect(page.locator(".card.group")).to_have_count(1)
        self.assertEqual(self.now()["queue"]["count"], count)

    def test_a_room_joins_and_leaves_while_the_others_play_on(self):
        page = self.open("rooms", PHONE)
        before = self.underruns("Kitchen", "Bathroom")
        page.get_by_role("button", name=re.compile("^Terrace joins ")).click()
        house.wait(lambda state: all(room["state"] == "playing" for room in state["rooms"] if room["name"] in house.names))
        expect(page.locator(".card.current .member")).to_have_count(3)
        page.get_by_role("button", name="Terrace leaves the group").click()
        expect(page.get_by_role("button", name=re.compile("^Terrace joins "))).to_be_visible()
        house.wait(lambda state: any(room["name"] == "Terrace" and room["state"] == "free" for room in state["rooms"]))
        self.assertEqual(self.now()["state"], "playing")
        self.assertEqual(self.underruns("Kitchen", "Bathroom"), before)

    def test_a_group_is_split_and_merged_while_music_plays(self):
        page = self.open("rooms")
        before = self.underruns("Kitchen")
        page.locator(".card.current").get_by_role("button", name="More for this group").click()
        page.get_by_role("button", name="Each room plays alone").click()
        expect(page.locator(".card.group")).to_have_count(2)
        house.wait(lambda state: sorted(len(group["roomIds"]) for group in state["groups"]) == [1, 1])
        self.assertEqual(self.now()["state"], "playing")
        page.locator(".card.current").get_by_role("button", name="More for this group").click()
        page.get_by_role("dialog").get_by_role("button", name=re.compile(" joins ")).click()
        expect(page.locator(".card.group")).to_have_count(1)
        house.wait(lambda state: all(room["state"] == "playing" for room in state["rooms"] if room["name"] in ("Kitchen", "Bathroom")))
        self.assertEqual(self.underruns("Kitchen"), before)

    def test_music_moves_to_a_room_a_scene_brings_it_back_and_it_plays_everywhere(self):
        page = self.open("rooms", PHONE)
        before = {room["name"]: room.get("groupId") for room in house.state()["rooms"]}
        card = page.locator(".card.group.current")
        card.get_by_role("button", name="More for this group").click()
        page.get_by_role("button", name="Save as a scene").click()
        page.get_by_role("dialog").get_by_role("textbox").fill("Dinner")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        expect(page.locator(".scenes").get_by_role("button", name="Dinner")).to_be_visible()
        free = next(room for room in house.state()["rooms"] if room["state"] == "free" and room["name"] in house.names)
        page.locator("li.loose").filter(has_text=free["name"]).get_by_role("button", name=f"More for {free['name']}").click()
        page.get_by_role("button", name=f"Music moves to {free['name']}").click()
        self.until_house(lambda group: group["roomIds"] == [free["id"]] and group["state"] == "playing")
        house.wait(lambda state: all(room["state"] == "free" for room in state["rooms"] if before.get(room["name"]) == self.group_id))
        page.locator(".scenes").get_by_role("button", name="Dinner").click()
        self.until_house(lambda group: sorted(group["roomIds"]) == sorted(room["id"] for room in house.state()["rooms"] if before.get(room["name"]) == self.group_id))
        page.locator(".scenes").get_by_role("button", name="Everywhere").click()
        house.wait(lambda state: all(room["state"] == "playing" for room in state["rooms"] if room["name"] in house.names))
        expect(page.locator(".scenes").get_by_role("button", name="Everywhere")).to_be_hidden()
        house.api("DELETE", f"/scenes/{house.state()['scenes'][0]['id']}")
        expect(page.locator(".scenes").get_by_role("button", name="Dinner")).to_have_count(0)

    def test_two_groups_play_different_music(self):
        page = self.open("rooms")
        page.get_by_role("button", name="New group").click()
        page.locator(".pick").get_by_text("Terrace", exact=True).click()
        page.get_by_role("button", name="Make the group").click()
        expect(page.locator(".card.group")).to_have_count(2)
        # The home shows what was played lately first, which may be what the first group plays.
        albums = house.api("GET", "/library/albums?limit=20")["albums"]
        other = next(album for album in albums if album["title"] != self.now()["item"].get("album"))
        page.goto(f"{house.address}#/library/album/{other['id']}")
        page.locator(".verbs").get_by_role("button", name="Play", exact=True).click()
        state = house.wait(lambda state: [group["state"] for group in state["groups"]] == ["playing"] * 2)
        self.assertEqual(len({group["item"]["title"] for group in state["groups"]}), 2)

    def test_group_volume_moves_all_rooms_and_keeps_their_balance(self):
        page = self.open("rooms")
        for name, volume in [("Kitchen", 60), ("Bathroom", 30)]:
            house.api("PATCH", f"/rooms/{house.room(name)['id']}", {"volume": volume})
        slider = page.locator(".card.current .volume-row .slider")
        expect(slider.locator("input")).to_have_value("45")
        box = slider.bounding_box()
        drag(page, [(box["x"] + box["width"] * share, box["y"] + box["height"] / 2) for share in (0.45, 0.6, 0.8, 0.999)], pause=60)
        house.wait(lambda state: all(room["volume"] > 95 for room in state["rooms"] if room.get("groupId") == self.group_id))
        drag(page, [(box["x"] + box["width"] * share, box["y"] + box["height"] / 2) for share in (0.99, 0.7, 0.5, 0.45)], pause=60)
        house.wait(lambda state: {room["name"]: round(room["volume"] / 10) for room in state["rooms"] if room.get("groupId") == self.group_id}
                   == {"Kitchen": 6, "Bathroom": 3})

    def test_a_room_that_is_cut_off_is_shown_as_away_and_comes_back_by_itself(self):
        page = self.open("rooms")
        room = house.rooms["Bathroom"]
        room.program.kill()
        member = page.locator(".card.current .member").filter(has_text="Bathroom")
        expect(member).to_have_class(re.compile("bad"), timeout=30000)
        self.assertEqual(self.now()["state"], "playing")
        room.start()
        expect(member).not_to_have_class(re.compile("bad"), timeout=30000)
        house.wait(lambda state: any(room["name"] == "Bathroom" and room["state"] == "playing" for room in state["rooms"]))

    def test_a_room_shows_itself_by_a_sound_of_its_own_and_by_silence_while_it_plays(self):
        page = self.open("rooms")
        before = house.rooms["Terrace"].heard()
        page.get_by_role("button", name="More for Terrace").click()
        page.get_by_role("button", name="Make a sound here").click()
        house.wait(lambda state: house.rooms["Terrace"].loudest(since=before) > 1000)
        house.wait(lambda state: house.room("Terrace")["state"] == "free")
        page.keyboard.press("Escape")
        muted = []
        page.expose_function("tellMuted", lambda isMuted: muted.append(isMuted))
        page.evaluate("""() => new EventSource("api/v1/events").addEventListener("change", (event) =>
            JSON.parse(event.data).rooms.filter((room) => room.name === "Kitchen").forEach((room) => tellMuted(room.muted)))""")
        page.get_by_role("button", name="More for Kitchen").click()
        page.get_by_role("button", name="Make a sound here").click()
        self.until(page, lambda: True in muted, "silent for a moment")
        house.wait(lambda state: any(room["name"] == "Kitchen" and not room["muted"] for room in state["rooms"]))
        self.assertEqual(self.now()["state"], "playing")

    def test_delay_channels_and_mute_reach_the_room(self):
        page = self.open("rooms")
        page.get_by_role("button", name="More for Kitchen").click()
        page.get_by_role("button", name="Delay: one more").click()
        page.get_by_role("button", name="Left", exact=True).click()
        page.get_by_role("button", name="Mute", exact=True).click()
        house.wait(lambda state: any((room.get("delayMs"), room.get("channels"), room.get("muted")) == (1, "left", True) for room in state["rooms"]))


class Alarms(RealTest):
    def test_an_alarm_that_is_set_on_the_page_rings_is_snoozed_and_stopped_and_the_music_goes_on(self):
        page = self.open("alarms", PHONE, locale="en-GB")
        page.get_by_role("button", name="New alarm").first.click()
        sheet = page.get_by_role("dialog")
        # The next minute that is at least five seconds ahead.
        at = (int(time.time() + 5) // 60 + 1) * 60
        sheet.get_by_label("Time", exact=True).fill(time.strftime("%H:%M", time.localtime(at)))
        for name in ["Bathroom", "Terrace"]:
            sheet.locator(".pick").get_by_text(name, exact=True).click()
        sheet.get_by_role("button", name="Save").click()
        expect(page.locator("#toasts")).to_contain_text(re.compile("^Rings .*, in "))
        alarm = house.state()["alarms"][0]
        self.addCleanup(house.api, "DELETE", f"/alarms/{alarm['id']}")
        self.assertEqual({next(room["name"] for room in house.state()["rooms"] if room["id"] == id) for id in alarm["roomIds"]}, {"Kitchen", "Terrace"})
        house.api("PATCH", f"/alarms/{alarm['id']}", {"snoozeS": 60, "volume": 80})
        ring = page.get_by_role("alert").filter(has=page.get_by_role("button", name="Stop"))
        before = house.rooms["Terrace"].heard()
        expect(ring).to_be_visible(timeout=75000)
        self.assertLess(abs(time.time() - at), 1.5)
        house.wait(lambda state: house.rooms["Terrace"].loudest(since=before) > 1000)
        page.goto(f"{house.address}#/now")
        ring.get_by_role("button", name="Snooze 1 min").tap()
        snoozed = time.time()
        expect(ring).to_have_count(0)
        house.wait(lambda state: state["alarms"][0]["state"] == "snoozed" and all(room["state"] == "free" for room in state["rooms"] if room["name"] == "Terrace"))
        quiet = house.rooms["Terrace"].heard()
        expect(ring).to_be_visible(timeout=75000)
        self.assertLess(abs(time.time() - snoozed - 60), 2)
        house.wait(lambda state: house.rooms["Terrace"].loudest(since=quiet) > 1000)
        ring.get_by_role("button", name="Stop").tap()
        house.wait(lambda state: not state["alarms"][0]["isOn"] and {room["name"]: room["state"] for room in state["rooms"] if room["name"] in house.names}
                   == {"Kitchen": "playing", "Bathroom": "playing", "Terrace": "free"})
        # As loud as before: 100 is the volume with which a room starts.
        self.assertEqual({name: house.room(name)["volume"] for name in house.names}, {"Kitchen": 50, "Bathroom": 50, "Terrace": 100})


class Pairing(RealTest):
    def setUp(self):
        super().setUp()
        self.office = house.rooms["Office"]
        room = house.room("Office")
        if room["canUnpair"]:
            house.api("DELETE", f"/rooms/{room['id']}/pairing")
        self.pin = self.office.run("pin", "--new")

    def ask(self, page):
        page.get_by_role("button", name="Pair: Office").click()
        return page.get_by_role("textbox"), page.get_by_role("button", name="Pair", exact=True)

    def test_a_room_of_somebody_else_is_paired_with_its_pin_plays_and_is_forgotten(self):
        page = self.open("rooms", PHONE)
        field, button = self.ask(page)
        field.fill(self.pin[:-1] + str((int(self.pin[-1]) + 1) % 10))
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("One of the digits is wrong")
        field.fill("0000 0000")
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("That is not the PIN of Office")
        field.fill(self.pin)
        button.click()
        page.get_by_role("button", name=re.compile("^Office joins ")).click()
        house.wait(lambda state: any(room["name"] == "Office" and room["state"] == "playing" for room in state["rooms"]))
        self.assertIn("study", self.office.run("pairings"))
        page.get_by_role("button", name="More for Office").click()
        page.get_by_role("button", name="Forget the pairing").click()
        page.get_by_role("button", name="Forget it").click()
        expect(page.locator(".member").filter(has_text="Office")).to_contain_text("not paired yet")
        self.assertNotIn("study", self.office.run("pairings"))
        self.assertEqual(self.now()["state"], "playing")

    def test_after_three_wrong_pins_the_page_counts_down_how_long_the_room_takes_none(self):
        page = self.open("rooms")
        field, button = self.ask(page)
        for wrong in ["0000 0000"] * 3:
            field.fill(wrong)
            with page.expect_response("**/pair"):
                button.click()
            expect(page.get_by_role("alert")).to_contain_text("That is not the PIN of Office")
        field.fill(self.pin)
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("too many wrong PINs")
        waits = page.get_by_role("button", name=re.compile(r"Wait 2\d s"))
        expect(waits).to_be_disabled()

    def test_a_room_that_is_paired_in_a_terminal_is_usable_at_once(self):
        page = self.open("rooms")
        expect(page.get_by_role("button", name="Pair: Office")).to_be_visible()
        house.tutti("pair", "--at", f"127.0.0.1:{self.office.port}", "--pin", self.pin)
        expect(page.get_by_role("button", name=re.compile("^Office joins "))).to_be_visible()


class Queue(RealTest):
    def test_a_row_is_moved_by_touch_while_the_music_goes_on(self):
        page = self.open("queue", PHONE)
        before = self.queue(page)
        handle = page.locator("#queue .handle").nth(1).bounding_box()
        x, y = handle["x"] + 22, handle["y"] + 22
        touch(page, [(x, y + step * 10) for step in range(13)])
        moved = [before[0], *before[2:4], before[1], *before[4:]]
        self.until(page, lambda: self.queue(page) == moved, "the second row is the fourth")
        self.assertEqual(self.titles(page), moved)
        self.assertEqual(self.now()["state"], "playing")

    def test_clearing_is_undone_and_the_music_plays_on(self):
        page = self.open("queue")
        title, count = self.now()["item"]["title"], self.now()["queue"]["count"]
        page.get_by_role("button", name="Save, shuffle, clear").click()
        page.get_by_role("button", name="Clear", exact=True).click()
        expect(page.locator("#queue")).to_contain_text("The queue is empty")
        page.locator("#toasts").get_by_role("button", name="Undo").click()
        self.until_house(lambda group: group["state"] == "playing" and group["queue"]["count"] == count and group["item"]["title"] == title)
        expect(page.locator("#queue .entry").first).to_be_visible()

    def test_undo_after_each_verb_that_offers_it_and_the_music_plays_on(self):
        page = self.open("queue")
        undo = page.locator("#toasts").get_by_role("button", name="Undo")
        before = [entry["id"] for entry in house.api("GET", f"/groups/{self.group_id}/queue")["entries"]]

        def order():
            return [entry["id"] for entry in house.api("GET", f"/groups/{self.group_id}/queue")["entries"]]

        for names in [("Remove",), ("Shuffle",), ("Clear",)]:
            # A row has its own menu.
            page.locator("#queue .entry").nth(3).get_by_role("button", name=re.compile("^More for")).click() if names == ("Remove",) else page.get_by_role("button", name="Save, shuffle, clear").click()
            page.get_by_role("button", name=names[0], exact=True).click()
            self.until(page, lambda: order() != before, names)
            state = self.until_house(lambda group: group["state"] == "playing" or names == ("Clear",))
            place = self.place(self.now(), state)
            undo.click()
            self.until(page, lambda: order() == before, f"undone: {names}")
            state = self.until_house(lambda group: group["state"] == "playing")
            if names != ("Clear",):
                self.assertGreaterEqual(self.place(self.now(), state), place - 0.2, "the music began again")

    def test_a_shuffle_is_left_and_an_edit_is_undone_after_a_kill(self):
        page = self.open("now", PHONE)

        def order():
            return [entry["id"] for entry in house.api("GET", f"/groups/{self.group_id}/queue")["entries"]]

        def restart():
            house.stop()
            house.start()
            expect(page.locator("#link")).to_be_hidden(timeout=15000)

        before = order()
        with page.expect_response(re.compile("/queue/shuffle$")):
            page.locator("#now").get_by_role("button", name="Shuffle the queue").click()
        shuffled = order()
        self.assertNotEqual(shuffled, before)
        restart()
        self.assertEqual(order(), shuffled)
        # The answer says that it is on the disk; the order shows it before.
        with page.expect_response(re.compile("/queue/unshuffle$")) as answer:
            page.locator("#now").get_by_role("button", name="Shuffled: bring back the order").click()
        self.assertTrue(answer.value.ok)
        self.assertEqual(order(), before)
        restart()
        page.goto(f"{house.address}#/queue")
        page.locator("#queue").get_by_role("button", name=re.compile("^Undo: unshuffled")).click()
        self.until(page, lambda: order() == shuffled, "undone")
        self.until_house(lambda group: group["state"] == "playing" and group["queue"]["isShuffled"])

    def test_a_song_plays_at_once_and_the_queue_goes_on_behind_it(self):
        page = self.open("library/albums")
        entries = house.api("GET", f"/groups/{self.group_id}/queue")["entries"]
        index = self.now()["queue"]["index"]
        page.locator("#library .tile a").nth(3).click()
        row = page.locator("#library .row").last
        title = row.locator(".entry-title").text_content()
        row.get_by_role("button").first.click()
        self.until_house(lambda group: group["state"] == "playing" and group["item"]["title"] == title)
        after = house.api("GET", f"/groups/{self.group_id}/queue")["entries"]
        known = {entry["id"] for entry in entries}
        self.assertEqual([entry["id"] for entry in after if entry["id"] in known], [entry["id"] for entry in entries])
        self.assertEqual(after[index + 1]["title"], title)
        page.locator("#toasts").get_by_role("button", name="Undo").click()
        self.until(page, lambda: house.api("GET", f"/groups/{self.group_id}/queue")["entries"] == entries, "as before")
        self.until_house(lambda group: group["state"] == "playing" and group["item"]["entryId"] == entries[index]["id"])

    def test_an_album_that_is_added_can_be_saved_as_a_playlist(self):
        page = self.open("queue")
        page.get_by_role("button", name="Save, shuffle, clear").click()
        page.get_by_role("button", name="Save as a playlist").click()
        page.get_by_role("textbox", name="Save as a playlist").fill("Dinner")
        page.get_by_role("button", name="Save", exact=True).click()
        page.goto(f"{house.address}#/library/playlists")
        expect(page.locator("#library .row").first).to_contain_text("Dinner")
        playlists = house.api("GET", "/library/playlists")["playlists"]
        self.assertEqual([playlist["trackCount"] for playlist in playlists], [self.now()["queue"]["count"]])
        kept = lambda: [entry["title"] for entry in house.api("GET", f"/library/playlists/{playlists[0]['id']}")["entries"]]
        first, second, *rest = kept()
        page.get_by_role("link", name=re.compile("Dinner")).click()
        page.locator("#library .handle").first.press("ArrowDown")
        self.until(page, lambda: kept() == [second, first, *rest], "moved")
        expect(page.locator("#library .row").first).to_contain_text(second)
        page.locator("#library .row").first.get_by_role("button", name=re.compile("^More for")).click()
        page.get_by_role("button", name="Remove from this playlist").click()
        self.until(page, lambda: kept() == [first, *rest], "removed")
        house.api("DELETE", f"/library/playlists/{playlists[0]['id']}")


class Home(RealTest):
    def test_a_favourite_outlives_a_kill_and_what_played_is_remembered(self):
        page = self.open("now", PHONE)
        album = self.now()["item"]["album"]
        page.locator("#now .byline a").last.click()
        heart = page.locator(".page-head").get_by_role("button", name="Favourite: ")
        heart.click()
        expect(heart).to_have_attribute("aria-pressed", "true")
        self.addCleanup(lambda: [house.api("DELETE", f"/library/favourites/{thing['kind']}/{thing['id']}") for thing in house.api("GET", "/library/favourites")["favourites"]])
        self.until(page, lambda: house.api("GET", "/library/favourites")["favourites"], "kept")
        house.wait(lambda state: any(thing["title"] == album for thing in house.api("GET", "/library/recent")["recent"]), seconds=60)
        house.stop()
        house.start()
        page.goto(f"{house.address}#/library/home")
        page.reload()
        for title in ["Favourites", "Played lately"]:
            strip = page.locator(".part").filter(has_text=title).locator("xpath=following-sibling::ul[1]")
            expect(strip.locator(".tile").first).to_contain_text(album)
        page.locator("#library .tile").first.get_by_role("button", name="Play ").tap()
        self.until_house(lambda group: group["state"] == "playing" and group["item"]["album"] == album)


class Together(RealTest):
    def test_two_pages_agree(self):
        first, second = self.open("rooms"), self.open("now", PHONE)
        second.locator("#now .play").click()
        expect(first.locator(".card.current .filled")).to_have_accessible_name(re.compile("^Play"))
        first.locator(".card.current .filled").click()
        expect(second.locator("#now .play")).to_have_accessible_name(re.compile("^Pause"))
        first.locator(".card.current .member .volume input").first.focus()
        for _ in range(5):
            first.keyboard.press("ArrowUp")
        self.until(first, lambda: self.now()["volume"] > 52, "louder")
        sliders = [first.locator(".card.current .volume-row input"), second.locator("#now .volume input")]
        self.until(first, lambda: all(abs(float(slider.input_value()) - self.now()["volume"]) <= 0.5 for slider in sliders), "same volume")
        second.goto(f"{house.address}#/queue")
        first.goto(f"{house.address}#/library")
        second.locator("#queue .handle").nth(2).focus()
        second.keyboard.press("ArrowUp")
        self.until(first, lambda: self.titles(first) == self.titles(second) == self.queue(first), "same order")

    def test_reload_shows_the_same_at_once(self):
        page = self.open()
        expect(page.locator("#now h1")).to_have_text(self.now()["item"]["title"])
        page.route("**/api/v1/events", lambda route: route.abort())
        page.reload()
        expect(page.locator("#now h1")).to_have_text(self.now()["item"]["title"])
        expect(page.locator("#now .play")).to_have_accessible_name(re.compile("^Pause"))

    def test_a_daemon_that_is_killed_and_started_again_under_an_open_page(self):
        page, phone = self.open("rooms"), self.open("now", PHONE)
        house.api("POST", f"/groups/{self.group_id}/seek", {"positionS": 40})
        self.until_house(lambda group: group["state"] == "playing" and group["positionS"] > 39)
        queue, title = self.queue(page), self.now()["item"]["title"]
        volumes = {room["id"]: room.get("volume") for room in house.state()["rooms"]}
        house.stop()
        try:
            expect(page.locator("#link")).to_contain_text("does not answer")
            phone.locator("#now .play").click()
            expect(phone.locator("#toasts")).to_contain_text("does not answer")
            expect(phone.locator("#now .play")).to_have_accessible_name(re.compile("Pause"))
        finally:
            house.start()
        expect(page.locator("#link")).to_be_hidden(timeout=15000)
        expect(phone.locator("#link")).to_be_hidden(timeout=15000)
        state = self.until_house(lambda group: group["state"] == "playing" and group["item"]["title"] == title)
        self.assertGreaterEqual(self.place(self.now(), state), 39)
        self.assertLess(self.place(self.now(), state), 75)
        self.assertEqual(self.queue(page), queue)
        self.assertEqual({room["id"]: room.get("volume") for room in house.state()["rooms"]}, volumes)
        expect(phone.locator("#now h1")).to_have_text(title)
        phone.locator("#now .play").click()
        self.until_house(lambda group: group["state"] == "paused")
        expect(page.locator(".card.current .filled")).to_have_accessible_name(re.compile("^Play"))


class Video(RealTest):
    def test_the_picture_of_a_film_runs_in_step_with_its_sound_in_the_rooms(self):
        page = self.open("library")
        page.keyboard.press("/")
        page.keyboard.type("lighthouse", delay=20)
        page.locator("#library .row-main").filter(has_text=FILM).click()
        self.until_house(lambda group: group["state"] == "playing" and group["item"].get("hasVideo") and group["item"]["title"] == FILM)
        page.goto(f"{house.address}#/now")
        page.get_by_role("button", name="Watch the video").click()
        video = page.locator("video")
        self.until(page, lambda: abs(float(video.get_attribute("data-error-ms") or 999)) < 20, "in step")
        self.assertEqual(video.evaluate("video => video.muted && video.videoWidth"), 160)


if __name__ == "__main__":
    unittest.main(verbosity=2)
