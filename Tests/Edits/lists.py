"""The models of what else a household keeps: playlists, favourites, podcasts, a stereo pair, alarms, the night and names."""

import subprocess
import time

from part import Edit, New, Part, Unanswered

NAMES = ("Dinner", "Rain", "Work", "Party")
NOBODY = 69  # the exit code of a command that no daemon answers
LANGUAGES = ("", "de-AT", "en-GB", "fr")


class Playlists(Part):
    def begin(self):
        self.tracks = [track["id"] for track in self.home.tracks()]
        self.state = {}

    def read(self):
        found = {}
        for one in self.get("/library/playlists")["playlists"]:
            contents = self.get(f"/library/playlists/{one['id']}")
            found[one["id"]] = {"name": one["name"], "count": one["trackCount"], "tracks": [entry["trackId"] for entry in contents["entries"]]}
        return found

    def shown(self, state):
        return Lists({id: {"name": one["name"], "count": len(one["tracks"]), "tracks": one["tracks"]} for id, one in state.items()})

    def adopted(self, state, found):
        return {id: {"name": one["name"], "tracks": one["tracks"]} for id, one in found.items()}

    def draw(self):
        if len(self.state) < 2 or self.random.random() < 0.1 and len(self.state) < 8:
            tracks, name = self.random.sample(self.tracks, self.random.randint(0, 5)), self.random.choice(NAMES)

            def make(state, answer):
                state[answer["id"] if answer else New(state)] = {"name": name, "tracks": tracks}
            return Edit("playlist", "POST", "/library/playlists", {"name": name, "items": items(tracks)}, make)
        id = self.random.choice(list(self.state))
        path, tracks = f"/library/playlists/{id}", self.state[id]["tracks"]
        kinds = ["name a playlist", "add to a playlist", "add to a playlist"] + ["remove from a playlist", "order a playlist"] * (len(tracks) > 1)
        kind = self.random.choice(kinds + ["delete a playlist"] * (self.random.random() < 0.3))
        if kind == "name a playlist":
            name = self.random.choice(NAMES)
            return Edit(kind, "PATCH", path, {"name": name}, lambda state, _: state[id].update(name=name))
        if kind == "delete a playlist":
            return Edit(kind, "DELETE", path, None, lambda state, _: state.pop(id))
        entries = [entry["id"] for entry in self.get(path)["entries"]]
        place = self.random.randrange(len(entries) + 1)
        before = entries[place] if place < len(entries) else None
        if kind == "add to a playlist":
            new = self.random.sample(self.tracks, self.random.randint(1, 3))
            body = {"items": items(new), **({} if before is None else {"before": before})}

            def add(state, _):
                state[id]["tracks"][place:place] = new
            return Edit(kind, "POST", f"{path}/entries", body, add)
        number = self.random.randrange(len(entries))
        if kind == "remove from a playlist":
            return Edit(kind, "DELETE", f"{path}/entries/{entries[number]}", None, lambda state, _: state[id]["tracks"].pop(number))

        def order(state, _):
            track = state[id]["tracks"].pop(number)
            state[id]["tracks"].insert(place - (place > number), track)
        return Edit(kind, "PATCH", f"{path}/entries/{entries[number]}", {"before": before}, order)


class Lists(dict):
    """Playlists by their ids, of which one may be new."""

    def __eq__(self, other):
        new = [id for id in self if isinstance(id, New)]
        extra = [id for id in other if id not in self]
        if len(new) != len(extra) or any(self[id] != other[id] for id in self if id not in new and id in other) or len(self) != len(other):
            return False
        return all(self[mine] == other[theirs] for mine, theirs in zip(new, extra))

    __hash__ = None


class Favourites(Part):
    """The latest first."""

    def begin(self):
        albums = [("album", album["id"]) for album in self.home.albums_by_title()]
        self.things = albums + [("track", track["id"]) for track in self.home.tracks()]
        self.state = []

    def read(self):
        return [(thing["kind"], thing["id"]) for thing in self.get("/library/favourites")["favourites"]]

    def shown(self, state):
        return state

    def draw(self):
        thing = self.random.choice(self.things)
        path = "/library/favourites/%s/%s" % thing
        if thing in self.state:
            return Edit("no favourite", "DELETE", path, None, lambda state, _: state.remove(thing))
        return Edit("favourite", "PUT", path, None, lambda state, _: state.insert(0, thing))


class Podcasts(Part):
    def begin(self, address):
        self.addresses = [f"{address}/{number}" for number in range(3)]
        self.ids, self.state = {}, {}

    def read(self):
        found = {}
        for podcast in self.get("/library/podcasts")["podcasts"]:
            contents = self.get(f"/library/podcasts/{podcast['id']}")
            self.ids[podcast["uri"]] = podcast["id"], {episode["title"]: episode["id"] for episode in contents["episodes"]}
            found[podcast["uri"]] = {episode["title"]: episode["isPlayed"] for episode in contents["episodes"]}
        return found

    def shown(self, state):
        return {uri: {title: title in played for title in self.titles(uri)} for uri, played in state.items()}

    @staticmethod
    def titles(uri):
        number = uri.rpartition("/")[2]
        return [f"Episode {number}.{i}" for i in range(6)]

    def api(self, method, path, body=None):
        """Only a terminal may subscribe to an address of this machine."""
        if method != "tutti":
            return super().api(method, path, body)
        try:
            self.home.tutti("podcasts", "--subscribe", path)
        except subprocess.CalledProcessError as error:
            if error.returncode == NOBODY:
                raise Unanswered from error
            return 400, error.stderr
        return 200, None

    def draw(self):
        uri = self.random.choice(self.addresses)
        if uri not in self.state:
            return Edit("subscribe", "tutti", uri, None, lambda state, _: state.update({uri: set()}))
        # The ids of episodes stand in the podcast.
        self.read()
        id, episodes = self.ids[uri]
        if self.random.random() < 0.1:
            return Edit("unsubscribe", "DELETE", f"/library/podcasts/{id}", None, lambda state, _: state.pop(uri))
        title = self.random.choice(self.titles(uri))
        isPlayed = title not in self.state[uri]
        return Edit("mark an episode", "PATCH", f"/library/episodes/{episodes[title]}", {"isPlayed": isPlayed},
                    lambda state, _: (state[uri].add if isPlayed else state[uri].discard)(title))


class Pair(Part):
    """Two rooms that are a stereo pair, or are not."""

    refusals = {"pair": (409, 503), "volume of a pair": (409, 503)}

    def begin(self, names):
        state = self.home.state()
        self.rooms = [next(room["id"] for room in state["rooms"] if room["name"] == name) for name in names]
        self.names = dict(zip(self.rooms, names))
        self.id, self.state = None, {"pair": None}

    def read(self):
        pair = None
        for room in self.get("/state")["rooms"]:
            if "stereo" in room:
                self.id = room["id"]
                pair = (room["stereo"]["leftId"], room["stereo"]["rightId"], room["name"])
        return {"pair": pair}

    def shown(self, state):
        if state["pair"] is None:
            return {"pair": None}
        left, right, name = state["pair"]
        return {"pair": (left, right, name or f"{self.names[left]} + {self.names[right]}")}

    def draw(self):
        if self.state["pair"] is None:
            left, right = self.random.sample(self.rooms, 2)
            name = self.random.choice(["", "Hall", "Gallery"])
            return Edit("pair", "POST", "/stereo", {"leftId": left, "rightId": right, "name": name}, lambda state, _: state.update(pair=(left, right, name)))
        self.read()
        left, right, name = self.state["pair"]
        kind = self.random.choice(["swap a pair", "swap a pair", "name a pair", "separate a pair"])
        if kind == "swap a pair":
            return Edit(kind, "POST", f"/stereo/{self.id}/swap", None, lambda state, _: state.update(pair=(right, left, name)))
        if kind == "separate a pair":
            return Edit(kind, "DELETE", f"/stereo/{self.id}", None, lambda state, _: state.update(pair=None))
        new = self.random.choice(["Hall", "Gallery", "Stage"])
        return Edit(kind, "PATCH", f"/rooms/{self.id}", {"name": new}, lambda state, _: state.update(pair=(left, right, new)))


class Settings(Part):
    """Alarms, the night, the language of dates and a room's name."""

    def begin(self, name):
        self.room = next(room["id"] for room in self.home.state()["rooms"] if room["name"] == name)
        self.state = {"night": None, "dates": "", "name": name, "alarms": {}, "last": 0}
        self.own = name

    def read(self):
        state = self.get("/state")
        night = state["server"].get("night")
        alarms = {alarm["id"]: {key: alarm.get(key) for key in ("name", "time", "days", "volume", "isOn", "snoozeS")} for alarm in state["alarms"]}
        return {"night": night and [night["from"], night["to"], night["volumeLimit"]], "dates": state["server"].get("dates", ""), "alarms": alarms,
                "name": next(room["name"] for room in state["rooms"] if room["id"] == self.room)}

    def shown(self, state):
        return {key: state[key] for key in ("night", "dates", "alarms", "name")}

    def far(self):
        """A time of day that is hours away: nothing rings, and no night begins."""
        return time.strftime("%H:%M", time.localtime(time.time() + self.random.randint(6, 17) * 3600 + self.random.randint(0, 59) * 60))

    def draw(self):
        kind = self.random.choice(["night", "no night", "language", "name a room", "alarm", "alarm", "change an alarm", "change an alarm", "delete an alarm"])
        if kind == "night":
            night = [self.far(), self.far(), self.random.randint(1, 100)]
            # The hours between these two would contain now.
            night[:2] = sorted(night[:2], key=lambda text: (int(text[:2]) * 60 + int(text[3:]) - now_minute()) % 1440)
            if night[0] == night[1]:
                return None
            return Edit(kind, "PUT", "/night", dict(zip(("from", "to", "volumeLimit"), night)), lambda state, _: state.update(night=night))
        if kind == "no night":
            return Edit(kind, "DELETE", "/night", None, lambda state, _: state.update(night=None))
        if kind == "language":
            dates = self.random.choice(LANGUAGES)
            return Edit(kind, "PATCH", "/settings", {"dates": dates}, lambda state, _: state.update(dates=dates))
        if kind == "name a room":
            name = self.random.choice(["", "Loft", "Attic room", "Nest"])
            return Edit(kind, "PATCH", f"/rooms/{self.room}", {"name": name}, lambda state, _: state.update(name=name or self.own))
        change = {"time": self.far(), "days": self.random.choice([[], ["mon"], ["sat", "sun"]]), "volume": self.random.randint(0, 100),
                  "snoozeS": self.random.randint(60, 600)}
        alarms = self.state["alarms"]
        if kind == "alarm" and len(alarms) < 10:
            def add(state, answer):
                state["last"] += 1
                state["alarms"][answer["id"] if answer else f"a{state['last']}"] = {"name": None, "isOn": True, **change}
            return Edit(kind, "POST", "/alarms", {**change, "roomIds": [self.room]}, add)
        if not alarms:
            return None
        id = self.random.choice(list(alarms))
        if kind == "delete an alarm":
            return Edit(kind, "DELETE", f"/alarms/{id}", None, lambda state, _: state["alarms"].pop(id))
        some = {key: value for key, value in {**change, "name": "Wake up", "isOn": self.random.random() < 0.5}.items() if self.random.random() < 0.5}
        return Edit("change an alarm", "PATCH", f"/alarms/{id}", some, lambda state, _: state["alarms"][id].update(some))


def now_minute():
    now = time.localtime()
    return now.tm_hour * 60 + now.tm_min


def items(tracks):
    return [{"trackId": track} for track in tracks]
