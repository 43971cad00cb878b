"""A page of orders.py: what it knows and shows, and the orders that are given there by its buttons, menus and sliders."""

import re
import time

from part import difference

ANSWER_MS, BUTTON_MS = 15_000, 2_000

# All views are drawn, also those that are hidden.
READ = """async () => {
    const { store, currentGroup } = { ...await import("/assets/api.js"), ...await import("/assets/actions.js") }
    const all = (selector, where = document) => [...where.querySelectorAll(selector)]
    const text = (selector, where = document) => where.querySelector(selector)?.textContent
    const volume = (where) => { const input = where.querySelector(".volume-row input, .volume input"); return input ? Number(input.value) : null }
    const now = document.querySelector("#now")
    const group = currentGroup()
    return {
        current: group?.id ?? null,
        groups: Object.fromEntries([...store.groups.keys()].map((id) => store.group(id)).map((group) => [group.id, { name: group.name,
            rooms: group.roomIds.map((id) => store.room(id)?.name), state: group.state, title: group.item?.title ?? null, volume: group.volume, muted: group.muted,
            repeat: group.repeat, isShuffled: group.queue.isShuffled, canUndo: group.queue.canUndo ?? null, current: group.queue.index ?? null,
            count: group.queue.count }])),
        rooms: Object.fromEntries(store.allRooms().map((room) => [room.name,
            { group: room.groupId ?? null, state: room.state, volume: room.volume ?? null, muted: room.muted ?? null }])),
        side: all("#groups .side-group").map((button) => [text("strong", button), text(".dim", button), button.classList.contains("moves")]),
        now: { name: text(".group-name span", now), title: text("h1", now), play: now.querySelector(".play").getAttribute("aria-label"),
            repeat: all(".transport button", now).map((button) => button.getAttribute("aria-label")).find((label) => label?.startsWith("Repeat")),
            isShuffled: all(".transport button", now).some((button) => button.getAttribute("aria-label")?.startsWith("Shuffled")),
            volume: volume(now), muted: now.querySelector(".volume").classList.contains("muted") },
        bar: text("#player .bar-item strong"),
        queue: all("#queue .entry").sort((a, b) => a.dataset.index - b.dataset.index).map((row) => text(".entry-title", row)),
        currentRow: all("#queue .entry").find((row) => row.classList.contains("current"))?.dataset.index ?? null,
        undo: document.querySelector("#queue .view-head button[aria-label^=Undo]")?.hidden === false,
        cards: all("#rooms .card.group").map((card) => ({ name: card.getAttribute("aria-label"), play: card.querySelector(".filled").getAttribute("aria-label"), volume: volume(card),
            members: Object.fromEntries(all(".member", card).map((row) => [text(".two > span:not(.dim)", row),
                [Number(row.querySelector(".volume input").value), row.querySelector(".volume").classList.contains("muted")]])) })),
        loose: all("#rooms li.loose").map((row) => text("strong", row)),
    }
}"""


class Page:
    def __init__(self, name, house, context, draw):
        self.name, self.house, self.random = name, house, draw
        self.page = context.new_page()
        self.page.set_default_timeout(BUTTON_MS)
        self.faults, self.open = [], set()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: request.method != "GET" and self.open.add(request))
        self.page.on("requestfinished", lambda request: self.open.discard(request))
        self.page.on("requestfailed", lambda request: self.open.discard(request))
        self.page.goto(house.address)

    def until_answered(self):
        """Waits until the page has an answer to each request, also to those that follow from others."""
        deadline = time.monotonic() + ANSWER_MS / 1000
        while self.open and time.monotonic() < deadline:
            # Playwright tells of requests while the browser is asked something.
            self.page.evaluate("() => new Promise(requestAnimationFrame)")

    def problem(self, shown, truth):
        wanted = {id: {key: value for key, value in group.items() if key != "queue"} | {"count": len(group["queue"])} for id, group in truth["groups"].items()}
        if shown["groups"] != wanted:
            return f"knows {difference(wanted, shown['groups'])}"
        if shown["rooms"] != truth["rooms"]:
            return f"knows {difference(truth['rooms'], shown['rooms'])}"
        listed = [group for group in truth["groups"].values() if group["rooms"] or group["queue"]]
        return self.now(shown, truth["groups"].get(shown["current"])) or self.cards(shown, truth, listed)

    def now(self, shown, group):
        """The view of what plays, and the queue, of the group that the page shows."""
        now = shown["now"]
        if group is None:
            return None
        wanted = {"name": group["name"], "title": group["title"] or "", "play": "Pause (space)" if runs(group) else "Play (space)",
                  "repeat": "Repeat: " + {"off": "off", "all": "the queue", "one": "this track"}[group["repeat"]], "isShuffled": group["isShuffled"]}
        found = {key: now[key] for key in wanted}
        if shown["bar"] != (group["title"] or "Nothing plays"):
            return f"its bar shows {shown['bar']}, and not {group['title']}"
        if found != wanted:
            return f"shows now {difference(wanted, found)}"
        if group["rooms"] and (abs(now["volume"] - group["volume"]) > 0.51 or now["muted"] != group["muted"]):
            return f"shows volume {now['volume']}, {now['muted']}, and not {group['volume']}, {group['muted']}"
        if shown["queue"] != group["queue"]:
            return f"shows the queue {shown['queue']}, and not {group['queue']}"
        current = None if shown["currentRow"] is None else int(shown["currentRow"])
        if current != group["current"]:
            return f"marks row {current}, and not {group['current']}"
        if shown["undo"] != bool(group["canUndo"]):
            return f"offers an undo: {shown['undo']}"
        return None

    @staticmethod
    def cards(shown, truth, listed):
        """The groups beside the views, and the view of rooms."""
        side = sorted([group["name"], group["title"] or "Nothing plays", runs(group)] for group in listed)
        if sorted(shown["side"]) != side:
            return f"lists the groups {shown['side']}, and not {side}"
        cards = {card["name"]: card for card in shown["cards"]}
        if sorted(cards) != sorted(group["name"] for group in listed):
            return f"has cards of {sorted(cards)}"
        for group in listed:
            card, rooms = cards[group["name"]], {name: truth["rooms"][name] for name in group["rooms"]}
            if card["play"] != f"{'Pause' if runs(group) else 'Play'} in {group['name']}":
                return f"its card says {card['play']}, and the group is {group['state']}"
            if rooms and abs(card["volume"] - group["volume"]) > 0.51:
                return f"the card of {group['name']} has volume {card['volume']}, and not {group['volume']}"
            if sorted(card["members"]) != sorted(rooms):
                return f"the card of {group['name']} has {card['members']}"
            for name, room in rooms.items():
                volume, muted = card["members"][name]
                if room["volume"] is not None and (abs(volume - room["volume"]) > 0.51 or muted != room["muted"]):
                    return f"shows {name} with {volume}, {muted}, and not {room}"
        free = [name for name, room in truth["rooms"].items() if not room["group"]]
        if sorted(shown["loose"]) != sorted(free):
            return f"shows {shown['loose']} outside of groups, and not {free}"
        return None

    # Orders

    def draw(self, truth):
        """Returns the kind of an order, and what gives it; the household may have changed meanwhile, so a button may be gone."""
        shown = self.page.evaluate(READ)
        group = truth["groups"].get(shown["current"])
        free = [name for name, room in truth["rooms"].items() if not room["group"]]
        heard = [one for one in truth["groups"].values() if one["rooms"]]
        if group is None or not group["rooms"]:
            if heard:
                return "choose group", lambda: self.click(".side-group", heard[0]["name"])
            return "play here", lambda: self.rooms(lambda: self.named(f"Play here: {self.random.choice(free)}"))
        count = len(group["queue"])
        kinds = ["album", "album", "song", "volume", "room volume", "repeat", "mute"] + ["join"] * 2 * bool(free) + ["leave"] * (len(group["rooms"]) > 1)
        kinds += ["split"] * (len(group["rooms"]) > 1) + ["merge"] * 2 * (len(heard) > 1) + ["choose group"] * (len(heard) > 1)
        if count:
            kinds += ["toggle", "toggle", "next", "previous", "shuffle", "row", "row", "key", "key", "remove", "end", "top"]
        kinds += ["undo"] * 3 * bool(group["canUndo"]) + ["clear"] * (count > 8)
        kind = self.random.choice(kinds)
        if kind in ("album", "song") and count > 9:
            kind = "clear"
        return kind, lambda: getattr(self, kind.replace(" ", "_"))(group, free, heard)

    def show(self, view):
        self.page.evaluate("(hash) => { location.hash = hash }", f"#/{view}")

    def rooms(self, then):
        self.show("rooms")
        then()

    def click(self, selector, text=None):
        """A tap, also where another order has just moved what is tapped."""
        found = self.page.locator(selector)
        found = (found.filter(has_text=text) if text else found).first
        found.dispatch_event("click")

    def named(self, name):
        self.page.get_by_role("button", name=name, exact=True).first.dispatch_event("click")

    def menu(self, opener, entry):
        opener.dispatch_event("click")
        self.page.locator("dialog[open], [popover]").get_by_role("button", name=entry).first.dispatch_event("click")

    def toggle(self, *_):
        self.click("#now .play")

    def next(self, *_):
        self.click("#now .skip:not(.previous)")

    def previous(self, *_):
        self.click("#now .skip.previous")

    def shuffle(self, *_):
        self.click("#now .transport button >> nth=0")

    def repeat(self, *_):
        self.click("#now .transport button >> nth=4")

    def mute(self, *_):
        self.click("#now .volume-row button")

    def volume(self, *_):
        self.turn(self.page.locator("#now .volume-row input"))

    def turn(self, slider):
        """As a screen reader does it."""
        slider.evaluate("(input, value) => { input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })) }", self.random.randint(5, 95))

    def room_volume(self, group, *_):
        name = self.random.choice(group["rooms"])
        self.turn(self.page.locator(".card.group .member").filter(has_text=name).locator(".volume input"))

    def album(self, *_):
        album = self.random.choice(self.house.albums_by_title())
        self.show(f"library/album/{album['id']}")
        self.page.locator("#library .page-head").get_by_text(album["title"], exact=True).first.wait_for(state="attached")
        self.page.locator("#library .verbs").get_by_role("button", name=self.random.choice(["Play", "Play next", "Add"]), exact=True).dispatch_event("click")

    def song(self, *_):
        album = self.random.choice(self.house.albums_by_title())
        self.show(f"library/album/{album['id']}")
        self.page.locator("#library .page-head").get_by_text(album["title"], exact=True).first.wait_for(state="attached")
        self.page.locator("#library .row").nth(self.random.randrange(4)).get_by_role("button").nth(self.random.choice([0, 1])).dispatch_event("click")

    def entry(self, group):
        return self.page.locator(f"#queue .entry[data-index='{self.random.randrange(len(group['queue']))}']")

    def row(self, group, *_):
        self.entry(group).locator(".row-main").dispatch_event("click")

    def key(self, group, *_):
        way = self.random.choice(["ArrowUp", "ArrowDown"])
        self.entry(group).locator(".handle").dispatch_event("keydown", {"key": way, "bubbles": True})

    def remove(self, group, *_):
        self.menu(self.entry(group).get_by_role("button", name=re.compile("^More for")), "Remove")

    def end(self, group, *_):
        if len(group["queue"]) > 1:
            self.menu(self.page.locator("#queue .entry[data-index='0']").get_by_role("button", name=re.compile("^More for")), "Move to the end")

    def top(self, group, *_):
        if len(group["queue"]) > 1:
            self.menu(self.page.locator("#queue .entry[data-index='1']").get_by_role("button", name=re.compile("^More for")), "Move to the top")

    def undo(self, *_):
        self.page.locator("#queue .view-head").get_by_role("button", name=re.compile("^Undo")).dispatch_event("click")

    def clear(self, *_):
        self.menu(self.page.locator("#queue").get_by_role("button", name="Save, shuffle, clear"), re.compile("^Clear$"))

    def choose_group(self, group, free, heard):
        self.click(".side-group", self.random.choice(heard)["name"])

    def join(self, group, free, heard):
        self.rooms(lambda: self.page.get_by_role("button", name=re.compile(f"^{self.random.choice(free)} joins ")).first.dispatch_event("click"))

    def leave(self, group, free, heard):
        self.rooms(lambda: self.named(f"{self.random.choice(group['rooms'])} leaves the group"))

    def split(self, *_):
        self.rooms(lambda: self.menu(self.page.locator(".card.current").get_by_role("button", name="More for this group"), "Each room plays alone"))

    def merge(self, *_):
        self.rooms(lambda: self.menu(self.page.locator(".card.current").get_by_role("button", name="More for this group"), re.compile(" joins ")))


def runs(group):
    return group["state"] in ("starting", "playing", "buffering")
