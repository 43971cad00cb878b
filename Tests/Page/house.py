"""The state of the mock server: rooms, groups, queues, and changes that happen by themselves."""

import copy
import hashlib
import math
import queue
import random
import threading
import time

import alarms
import catalogue


class Refusal(Exception):
    """An answer that is not a success: status, and a sentence for people."""

    def __init__(self, status, detail, headers=None):
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers or {}


def room_id(name):
    return hashlib.md5(name.encode()).hexdigest()


def now_ms():
    return time.monotonic() * 1000


# Details as the daemon reports them, in technical words, which the page must turn into plain ones.
OFF = dict(detail="[fe80::b8a1:5ff:fe36:b06a%wlan0]:9201 refused the connection: nothing listens there", reason={"code": "unreachable"})
LENT = dict(detail="study-pi at 10.92.0.7 plays here for a while", reason={"code": "lent", "holder": "study-pi"}, awaySinceMs=1000)
ROOMS = [  # name, state, other fields, volume, offset and spread of the sync error in µs, round trip in µs
    ("Kitchen", "free", {}, 55, -2.0, 3.0, 380), ("Bathroom", "free", {}, 70, 4.0, 6.0, 2100),
    ("Living room", "free", {}, 48, 0.5, 1.6, 210), ("Bedroom", "away", {**OFF, "awaySinceMs": 1000}, 30, 0, 2, 300),
    ("Office", "notPaired", dict(detail="the receiver asks for a PIN"), 50, 0, 2, 300), ("Terrace", "free", {}, 62, -6.0, 8.0, 5200),
    ("Workshop", "noDevice", dict(detail="cannot open hw:1: No such device"), 80, 0, 2, 300), ("Guest room", "taken", LENT, 40, 0, 2, 300),
]
# Edits that the daemon can undo; any other edit drops the undo.
UNDONE = ("cleared", "replaced", "removed", "shuffled", "added", "moved", "unshuffled")
IDLE_ITEM = dict(entryId=None, trackId=None, albumId=None, title="", artist=None, album=None, artwork=None, durationS=None,
                 isSeekable=True, isLive=False, hasVideo=False, codec="MP3", codecReason="as it is", isUnchanged=True)


SETTINGS = {"volume": {"min": 0, "max": 100}, "volumeLimit": {"min": 1, "max": 100}, "tone": {"min": -10, "max": 10}, "balance": {"min": -100, "max": 100}, "bandFrequency": {"min": 20, "max": 20000},
            "bandGain": {"min": -12, "max": 12}, "bandQ": {"min": 0.1, "max": 10}, "delayMs": {"min": -2000, "max": 2000}, "rate": {"min": 0.25, "max": 4},
            "pitch": {"min": -12, "max": 12}, "loudness": {"min": -40, "max": -5}, "crossfadeS": {"min": 0, "max": 12}, "sleepInS": {"min": 0, "max": 93600},
            "repeat": ["off", "one", "all"], "channels": ["stereo", "left", "right", "mono"]}


class House:
    def __init__(self, scene="home"):
        self.lock = threading.RLock()
        self.revision, self.next_id, self.chance = 800, 100, random.Random(7)
        self.listeners, self.ring = [], []
        self.rooms, self.groups, self.queues, self.undos, self.snapshots, self.orders = {}, {}, {}, {}, {}, {}
        self.halves = {}
        self.inputs = [{"name": "Turntable", "kind": "card", "onSound": "Living room", "isHeard": False}, {"name": "Television", "kind": "pipe"}]
        self.radios, self.playlists = list(catalogue.RADIOS), {}
        self.favourites, self.plays = [], []
        # By their ids: what the API tells, and the episodes.
        self.podcasts = {}
        self.servers = []
        self.library = {"trackCount": 31480, "albumCount": catalogue.ALBUMS, "scan": None, "revision": 1, "folders": ["music", "more"], "awayFolders": ["more"]}
        self.server = {"id": "5a" * 16, "name": "study", "version": "1.0.0", "zoneOffsetS": -time.timezone, "fixed": ["library", "name"], "settings": SETTINGS}
        self.fixed = {"music"}
        self.points, self.marks, self.noise, self.merges, self.edits = {}, [], {}, {}, {}
        self.alarms = alarms.Alarms(self)
        self._furnish(scene)
        threading.Thread(target=self._live, daemon=True).start()

    def _furnish(self, scene):
        if scene == "empty":
            self.library = {"trackCount": 0, "albumCount": 0, "scan": None, "revision": 0, "folders": [], "awayFolders": []}
            self.fixed = set()
            self.inputs = []
            return
        large = [(f"Room {n}", "free", {}, 40, 0.5, 1.6, 210) for n in range(9, 51)] if scene == "large" else []
        for name, state, more, volume, *noise in ROOMS + large:
            if scene == "first" and state != "notPaired":
                continue
            key = room_id(name)
            self.noise[key] = noise
            self.rooms[key] = dict(id=key, name=name, groupId=None, state=state, **more, isPaired=state != "notPaired", canUnpair=False,
                                   isPresent=state not in ("away",), volume=volume, muted=False, delayMs=0, channels="stereo", volumeLimit=100, isVolumeLimitFixed=False,
                                   sound=dict(isOn=True, changesSound=False, bands=[], bass=0, treble=0, balance=0, hasLoudness=False, hasCrossfeed=False, distanceM=0,
                                              usesFIR=False, hasFIR=name == "Kitchen"),
                                   model="Raspberry Pi 4", sync=None)
        self.playlists["p2"] = ("Dinner with friends", [self._entry(t) for t in catalogue.tracks("a9") + catalogue.tracks("a4")])
        if scene != "first":
            self.favourites = [("album", "a31"), ("radio", "s1"), ("artist", "r40"), ("playlist", "p2"), ("track", "t12-3"), ("input", "Turntable"), ("album", "a40")]
            self.plays = [("track", "t12-3", 600), ("radio", "s0", 4000), ("track", "t30-1", 90000), ("track", "t30-0", 90300), ("input", "Turntable", 180000)]
        if scene in ("silent", "first"):
            return
        self.alarms.add({"time": "06:45", "name": "School", "days": alarms.DAYS[:5], "roomIds": [room_id("Bedroom"), room_id("Bathroom")],
                         "items": [{"radioId": "s1"}], "riseS": 300})
        self.alarms.add({"time": "09:30", "days": ["sat", "sun"], "roomIds": [room_id("Kitchen")], "items": [{"albumId": "a12"}], "isOn": False})
        first = self.add_group([room_id("Kitchen"), room_id("Bathroom")], None)
        second = self.add_group([room_id("Living room"), room_id("Bedroom")], None)
        items = [{"albumId": "a12"}, {"albumId": "a30"}, {"albumId": "a7"}]
        for names in zip(*[iter(row[0] for row in large)] * 3):
            group = self.add_group([room_id(name) for name in names], None)
            self.enqueue(group, [{"albumId": "a5"}], "now")
        if scene in ("long", "large"):
            items = [{"albumId": f"a{n}"} for n in range(952)]
        self.enqueue(first, items, "now")
        self.play_entry(first, self.queues[first][3]["id"])
        self.groups[first]["positionS"] = 70.2
        self.enqueue(second, [{"albumId": "a22"}], "now")
        self.pause(second)
        self.playlists["p1"] = ("Sunday breakfast", [self._entry(t) for t in catalogue.tracks("a3")])
        self.playlists["p1"][1][1]["isGone"] = True
        self._remember()

    def _remember(self):
        """Five minutes of sync points before the page was opened."""
        now = now_ms()
        for room in self.rooms.values():
            if room["groupId"] and room["isPresent"]:
                self.points[room["id"]] = [self._point(room, now - s * 1000) for s in range(300, 0, -1)]
        self.marks = [{"atMs": now - 171000, "roomId": room_id("Bathroom"), "text": "underrun"},
                      {"atMs": now - 64000, "roomId": room_id("Living room"), "text": "joined"}]

    def _point(self, room, at):
        centre, spread, trip = self.noise[room["id"]]
        slow = math.sin(at / 47000 + trip) * spread * 0.6 + math.sin(at / 9100) * spread * 0.3
        return [at, round(centre + slow + self.chance.gauss(0, spread / 4), 1), round(6 + trip / 420 + 2 * math.sin(at / 61000 + trip), 1)]

    # Changes

    def announce(self, groups=(), rooms=(), removed_groups=(), removed_rooms=(), library=False, server=False, alarms=False):
        self.revision += 1
        change = {"revision": self.revision, "nowMs": now_ms(), "groups": [self.group(g) for g in groups if g in self.groups],
                  "rooms": [self.rooms[r] for r in rooms], "removedGroups": list(removed_groups), "removedRooms": list(removed_rooms)}
        if library:
            change["library"] = self.library
        if server:
            change["server"] = self.server
        if alarms:
            change["alarms"] = self.alarms.all()
        self.ring = (self.ring + [copy.deepcopy(change)])[-1000:]
        self._send("change", change, self.revision)

    def renew_library(self):
        """Marks stations and playlists as changed."""
        self.library["revision"] += 1
        self.announce(library=True)

    def thing(self, kind, key):
        """A favourite as the API tells it; None if there is no such thing."""
        try:
            if kind == "album":
                album = catalogue.ALBUM[key]
                return {"kind": kind, "id": key, "title": album["title"], "detail": album["artist"], "artwork": album["artwork"]}
            if kind == "artist":
                artist = catalogue.artist(int(key[1:]))
                return {"kind": kind, "id": key, "title": artist["name"], "artwork": artist["artwork"]}
            if kind == "track":
                track = catalogue.track(key)
                return {"kind": kind, "id": key, "title": track["title"], "detail": track["artist"], "artwork": track["artwork"]}
            if kind == "radio":
                radio = next(r for r in self.radios if r["id"] == key)
                return {"kind": kind, "id": key, "title": radio["name"], "artwork": radio["artwork"]}
            if kind == "playlist":
                name, entries = self.playlists[key]
                return {"kind": kind, "id": key, "title": name, "detail": f"{len(entries)} tracks"}
            if kind == "podcast":
                return {"kind": kind, "id": key, "title": self.podcasts[key][0]["title"]}
            if kind == "episode":
                podcast, episode = self.episode(key)
                return {"kind": kind, "id": key, "title": episode["title"], "detail": podcast["title"]}
            return {"kind": kind, "id": key, "title": key} if any(each["name"] == key for each in self.inputs) else None
        except (KeyError, IndexError, ValueError, StopIteration):
            return None

    def _send(self, event, body, identity=None):
        for listener in list(self.listeners):
            try:
                listener.put_nowait((event, copy.deepcopy(body), identity))
            except queue.Full:
                pass

    def state(self):
        return {"revision": self.revision, "nowMs": now_ms(), "server": self.server,
                "groups": [self.group(g) for g in self.groups], "rooms": list(self.rooms.values()), "inputs": self.inputs, "alarms": self.alarms.all(), "library": self.library}

    def group(self, key):
        group = copy.deepcopy(self.groups[key])
        rooms = [self.rooms[r] for r in group["roomIds"]]
        names = [r["name"] for r in rooms]
        if not group["isNamed"]:
            group["name"] = " + ".join(names) if len(names) < 4 else f"{names[0]} + {len(names) - 1} rooms"
        if rooms and key not in self.snapshots:
            group["volume"] = round(sum(r["volume"] for r in rooms) / len(rooms), 1)
        entries = self.queues[key]
        index = next((i for i, e in enumerate(entries) if e["isCurrent"]), None)
        group["queue"] = {"revision": group.pop("queueRevision"), "count": len(entries), "index": index,
                          "canUndo": self.merges[key][0] if key in self.merges else self.undos[key][-1][0] if self.undos[key] else None,
                          "isShuffled": bool(entries) and self.orders[key] is not None}
        group.update(self.kept(group))
        del group["tunedMs"]
        if not group["failed"]:
            del group["failed"]
        return group

    def kept(self, group):
        """The part of a station that can be heard again."""
        return {"keptFromS": 0, "liveS": (now_ms() - group["tunedMs"]) / 1000} if group["item"] and group["tunedMs"] else {}

    def position(self, group):
        if group["state"] != "playing":
            return group["positionS"]
        return group["positionS"] + max(0, now_ms() - group["positionAtMs"]) / 1000 * group["rate"]

    def settle(self, group, position=None):
        group["positionS"] = self.position(group) if position is None else position
        group["positionAtMs"] = now_ms()
        item = group["item"]
        group["bufferedUntilS"] = min(group["positionS"] + 152, (item or {}).get("durationS") or 1e9)

    # Groups

    def add_group(self, rooms, name):
        self.next_id += 1
        key = f"g{self.next_id}"
        self.groups[key] = dict(id=key, name=name or "", isNamed=bool(name), roomIds=[], state="stopped", detail=None, item=None, positionS=0,
                                positionAtMs=now_ms(), rate=1.0, targetS=None, bufferedUntilS=0, volume=50, muted=False, repeat="off",
                                effects=dict(rate=1, pitch=0, loudness=None, filters=[]), queueRevision=1, sleepAtMs=None, tunedMs=None, failed=None)
        self.queues[key], self.undos[key], self.orders[key] = [], [], None
        for room in rooms:
            self.move(room, key)
        return key

    def move(self, room, key):
        self.leave(room)
        self.rooms[room]["groupId"] = key
        self.groups[key]["roomIds"].append(room)
        self.snapshots.pop(key, None)
        if self.rooms[room]["state"] != "away":
            self.rooms[room].update(state="free")
            for name in OFF.keys() | LENT.keys():
                self.rooms[room].pop(name, None)

    def leave(self, room):
        old = self.rooms[room]["groupId"]
        if old in self.groups:
            self.groups[old]["roomIds"].remove(room)
            self.snapshots.pop(old, None)
        self.rooms[room]["groupId"] = None
        return old

    def set_volume(self, key, volume):
        rooms = [self.rooms[r] for r in self.groups[key]["roomIds"]]
        if not rooms:
            return
        if key not in self.snapshots:
            self.snapshots[key] = (self.group(key)["volume"], {r["id"]: r["volume"] for r in rooms})
        start, members = self.snapshots[key]
        for room in rooms:
            own = members[room["id"]]
            share = (volume - start) / (100 - start) if volume > start else (start - volume) / start if start else 0
            room["volume"] = round(own + (100 - own) * share if volume > start else own * (1 - share), 1)
        self.groups[key]["volume"] = volume

    def room_states(self, key):
        for room in self.groups[key]["roomIds"]:
            if self.rooms[room]["isPresent"]:
                self.rooms[room]["state"] = "free" if self.groups[key]["state"] == "stopped" else self.groups[key]["state"]

    # Playing

    def play_entry(self, key, entry_id, failed=None):
        group = self.groups[key]
        group["failed"] = failed
        for entry in self.queues[key]:
            entry["isCurrent"] = entry["id"] == entry_id
        entry = next((e for e in self.queues[key] if e["isCurrent"]), None)
        if entry is None:
            raise Refusal(404, "This entry is no longer in the queue.")
        if not group["roomIds"]:
            raise Refusal(409, "This group has no rooms. Add one, then play.")
        if "broken" in entry["uri"]:
            return self.fail(key, entry)
        track = entry["track"]
        codec = catalogue.CODECS[int(track["albumId"][1:]) % 4] if track.get("albumId") else ("MP3", "as it is")
        isInput = entry["uri"].startswith("input:")
        group["item"] = dict(IDLE_ITEM, entryId=entry["id"], trackId=track.get("id"), albumId=track.get("albumId"), title=entry["title"],
                             artist=entry["artist"], album=entry["album"], artwork=entry["artwork"], durationS=entry["durationS"],
                             isSeekable=not isInput, isLive=entry["durationS"] is None,
                             hasVideo=track.get("hasVideo", False), codec=codec[0], codecReason=codec[1],
                             isUnchanged=codec[1] == "as it is" and not isInput)
        group["state"] = "playing"
        isStation = group["item"]["isLive"] and not isInput
        group["tunedMs"] = now_ms() - 600_000 if isStation else None
        self.settle(group, 600 if isStation else 0)
        self.room_states(key)

    def fail(self, key, entry):
        """The next item plays in place of one that cannot be played."""
        entry["problem"] = "no server answered"
        failed = {"entryId": entry["id"], "title": entry["title"], "problem": entry["problem"]}
        index = self.queues[key].index(entry) + 1
        if index < len(self.queues[key]):
            return self.play_entry(key, self.queues[key][index]["id"], failed)
        self.stop(key)
        self.groups[key]["failed"] = failed

    def step(self, key, by):
        entries = self.queues[key]
        index = next((i for i, e in enumerate(entries) if e["isCurrent"]), None)
        if by < 0 and self.position(self.groups[key]) > 3:
            by = 0
        target = (index or 0) + by
        if self.groups[key]["repeat"] == "all" and entries:
            target %= len(entries)
        if index is None or not 0 <= target < len(entries):
            self.stop(key)
        else:
            self.play_entry(key, entries[target]["id"])

    def play(self, key):
        group = self.groups[key]
        if not group["roomIds"]:
            raise Refusal(409, "This group has no rooms. Add one, then play.")
        if group["item"]:
            group["state"], group["positionAtMs"] = "playing", now_ms()
            self.room_states(key)
        elif self.queues[key]:
            self.play_entry(key, self.queues[key][0]["id"])
        else:
            raise Refusal(409, "The queue is empty. Choose something in the library first.")

    def pause(self, key):
        group = self.groups[key]
        if group["item"]:
            self.settle(group)
            group["state"] = "paused"
            self.room_states(key)

    def stop(self, key):
        self.groups[key].update(state="stopped", item=None, positionS=0)
        for entry in self.queues[key]:
            entry["isCurrent"] = False
        self.room_states(key)

    # Queue

    def _entry(self, track):
        self.next_id += 1
        return {"id": self.next_id, "title": track["title"], "artist": track.get("artist"), "album": track.get("album"),
                "durationS": track.get("durationS"), "artwork": track.get("artwork"), "trackId": track.get("id"),
                "uri": track.get("uri", track["title"] + ".mp3"), "isCurrent": False, "problem": None, "track": track}

    def entries(self, items):
        return [self._entry(track) for item in items for track in self.resolve(item)]

    def playlist(self, key):
        name, entries = self.playlists[key]
        return {"id": key, "name": name, "trackCount": len(entries), "revision": self.edits.get(key, 0), "isFile": key == "p2"}

    def add_playlist(self, name, entries):
        key = f"p{len(self.playlists) + 10}"
        self.playlists[key] = (name, list(entries))
        self.renew_library()
        return key

    def edit_playlist(self, key):
        self.edits[key] = self.edits.get(key, 0) + 1
        self.renew_library()
        return self.playlist(key)

    def picture(self, uri):
        """The name of the picture at an address."""
        return "cover7" if uri else None

    def subscribe(self, uri):
        key = f"f{len(self.podcasts) + 1}"
        episodes = [{"id": f"e{len(self.podcasts)}{n}", "title": f"Episode {n} <img src=x>", "publishedAtS": 1700000000 + n * 86400, "durationS": 1800,
                     "isNew": n == 3, "isPlayed": n == 1} for n in (3, 2, 1)]
        episodes[1]["positionS"] = 600
        self.podcasts[key] = {"id": key, "title": "Wind & <b>Weather</b>", "uri": uri, "artwork": self.picture(uri)}, episodes
        self.renew_library()
        return self.podcast(key)

    def podcast(self, key):
        podcast, episodes = self.podcasts[key]
        return {**podcast, "episodeCount": len(episodes), "newCount": sum(e["isNew"] and not e["isPlayed"] for e in episodes)}

    def episode(self, key):
        return next((podcast, each) for podcast, episodes in self.podcasts.values() for each in episodes if each["id"] == key)

    def resolve(self, item):
        (kind, value), *_ = item.items()
        if kind == "trackId":
            return [catalogue.track(value)]
        if kind == "albumId":
            return catalogue.tracks(value)
        if kind == "artistId":
            return [t for a in catalogue.SORTED["artist"] if a["artistId"] == value for t in catalogue.tracks(a["id"])]
        if kind == "folder":
            root, _, below = value.partition("/")
            found = catalogue.folder(below)
            return found["tracks"] + [t for f in found["folders"] for t in self.resolve({"folder": f"{root}/{f['path']}"})]
        if kind == "playlistId":
            return [e["track"] for e in self.playlists[value][1]]
        if kind == "radioId":
            radio = next(r for r in self.radios if r["id"] == value)
            return [{"title": radio["name"], "artist": "Radio", "artwork": radio["artwork"], "uri": radio["uri"]}]
        if kind == "podcastId":
            episodes = self.podcasts[value][1]
            return self.resolve({"episodeId": next((e for e in episodes if not e["isPlayed"]), episodes[0])["id"]})
        if kind == "episodeId":
            podcast, episode = self.episode(value)
            return [{"title": episode["title"], "artist": podcast["title"], "durationS": episode["durationS"], "uri": f"http://example.org/{value}.mp3"}]
        if kind == "inputId" and any(each["name"] == value for each in self.inputs):
            return [{"title": value, "uri": f"input:{value}"}]
        if kind == "uri" and value.startswith(("http://", "https://")):
            return [{"title": value.rsplit("/", 1)[-1] or value, "uri": value}]
        raise Refusal(422, "Only library items and http addresses can be added.")

    def merge(self, other, key):
        name, rooms = self.group(other)["name"], list(self.groups[other]["roomIds"])
        self.settle(self.groups[other])
        for room in rooms:
            self.move(room, key)
        self.room_states(key)
        self.merges[key] = f"merged {name}", self.groups.pop(other), rooms

    def part(self, key):
        _, group, rooms = self.merges.pop(key)
        self.groups[group["id"]] = group
        for room in rooms:
            self.move(room, group["id"])
        self.room_states(group["id"])
        return group

    def edit(self, key, what):
        self.merges.pop(key, None)
        place = (self.groups[key]["item"] or {}).get("entryId")
        self.undos[key] = [(what, list(self.queues[key]), self.orders[key], place)] if what.startswith(UNDONE) else []
        self.groups[key]["queueRevision"] += 1

    def enqueue(self, key, items, at):
        entries = [self._entry(t) for item in items for t in self.resolve(item)]
        old = self.queues[key]
        if at == "now":
            if old:
                self.edit(key, f"replaced {len(old)} items")
            self.orders[key] = None
            self.queues[key] = entries
            if entries:
                self.play_entry(key, entries[0]["id"])
        elif at == "nowAndKeep":
            index = next((i + 1 for i, e in enumerate(old) if e["isCurrent"]), 0)
            if old:
                self.edit(key, f"added {len(entries)} items")
            self.queues[key] = old[:index] + entries + old[index:]
            if entries:
                self.play_entry(key, entries[0]["id"])
        else:
            index = next((i + 1 for i, e in enumerate(old) if e["isCurrent"]), 0) if at == "next" else len(old)
            self.undos[key] = []
            self.queues[key] = old[:index] + entries + old[index:]
            if not old and entries:
                self.play_entry(key, entries[0]["id"])
        self.groups[key]["queueRevision"] += 1
        return [e["id"] for e in entries]

    def undo(self, key):
        if not self.undos[key]:
            raise Refusal(409, "There is nothing to undo.")
        _, self.queues[key], self.orders[key], place = self.undos[key].pop()
        self.groups[key]["queueRevision"] += 1
        current = (self.groups[key]["item"] or {}).get("entryId")
        if place and place != current:
            return self.play_entry(key, place)
        for entry in self.queues[key]:
            entry["isCurrent"] = entry["id"] == current

    # Time passes

    def _live(self):
        while True:
            time.sleep(1)
            with self.lock:
                self._second()

    def _second(self):
        now = now_ms()
        for key, group in list(self.groups.items()):
            item = group["item"]
            if group["sleepAtMs"] and now > group["sleepAtMs"]:
                group["sleepAtMs"] = None
                self.pause(key)
                self.announce([key])
            if group["state"] == "playing" and item and item["durationS"] and self.position(group) >= item["durationS"]:
                self.step(key, 0 if group["repeat"] == "one" else 1)
                self.announce([key], group["roomIds"])
            elif group["state"] == "playing":
                self.settle(group)
        told = []
        for room in self.rooms.values():
            if room["state"] != "playing":
                room["sync"] = None
                continue
            at, error, bound = point = self._point(room, now)
            self.points[room["id"]] = (self.points.get(room["id"], []) + [point])[-300:]
            centre, spread, trip = self.noise[room["id"]]
            room["sync"] = dict(errorUs=error, p50Us=round(spread * 0.5, 1), p99Us=round(abs(centre) + spread * 1.8, 1),
                                maxUs=round(abs(centre) + spread * 3, 1), boundUs=bound, roundTripUs=trip + round(self.chance.gauss(0, 20)),
                                clockDriftPpm=round(-12.3 + centre, 2), deviceDriftPpm=round(48 - spread * 3, 2), bufferedS=182.2 - trip / 100,
                                bufferedBytes=7340032, underruns=int(trip > 2000), late=0, lost=trip // 900, corrupt=0)
            told.append({"id": room["id"], "sync": room["sync"]})
        self._send("sync", {"nowMs": now, "rooms": told, "groups": [
            {k: g[k] for k in ("id", "positionS", "positionAtMs", "bufferedUntilS")} | self.kept(g) for g in self.groups.values()]})
