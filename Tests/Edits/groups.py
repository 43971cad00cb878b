"""The model of groups, their queues, rooms' volumes, and scenes."""

import http.client

from part import Edit, New, Part, Unanswered, Wrong
from plan import Shuffled, clear, clear_others, delete, end_abandoned, entries, group, insert, join, keep, leave, make, merge, move, of_room, play_and_keep, remove, replace, \
    restored, set_rooms, standing, undo

SCENES = ("Dinner", "Morning", "Party")
CONNECTED_S = 5  # seconds
NAMES = ("Downstairs", "Guests", "Work")


class Groups(Part):
    # A room that has just joined is not connected yet, and one in no group may be busy with the change before.
    refusals = {"volume": (409, 503), "limit": (409, 503), "volume of a free room": (409, 503), "limit of a free room": (409, 503)}

    def begin(self, names):
        state = self.home.state()
        self.rooms = {name: next(room["id"] for room in state["rooms"] if room["name"] == name) for name in names}
        self.tracks = [track["id"] for track in self.home.tracks()]
        ids = list(self.rooms.values())
        first = self.get("/state")["groups"]
        assert not first
        _, made = self.api("POST", "/groups", {"roomIds": ids})
        self.home.wait(lambda state: all(room.get("volume") is not None for room in state["rooms"] if room["id"] in ids))
        for room in ids:
            self.api("PATCH", f"/rooms/{room}", {"volume": 50})
        self.home.wait(lambda state: all(room["volume"] == 50 for room in state["rooms"] if room["id"] in ids))
        self.state = {"lastGroup": 0, "groups": [], "lastScene": 0, "scenes": [], "rooms": {room: [50, 100] for room in ids}, "used": {}}
        make(self.state, ids)
        assert made["id"] == self.state["groups"][0]["id"]

    # What there is

    def read(self):
        state = self.get("/state")
        groups = {}
        for shown in state["groups"]:
            queue = self.get(f"/groups/{shown['id']}/queue?limit=1000")
            current = [entry["id"] for entry in queue["entries"] if entry["isCurrent"]]
            groups[shown["id"]] = {
                "rooms": shown["roomIds"], "name": shown["name"] if shown["isNamed"] else None, "repeat": shown["repeat"],
                "crossfade": shown["effects"].get("crossfadeS", 0), "queue": [(entry["id"], entry.get("trackId")) for entry in queue["entries"]],
                "current": current[0] if current else None, "isShuffled": shown["queue"]["isShuffled"],
                "canUndo": bool(shown["queue"].get("canUndo"))}
        scenes = [(scene["id"], scene["name"], [(room["id"], room.get("volume")) for room in scene["rooms"]]) for scene in state["scenes"]]
        return {"groups": groups, "scenes": scenes, "rooms": self.volumes(state)}

    def volumes(self, state):
        return {room["id"]: [room.get("volume"), room.get("volumeLimit")] for room in state["rooms"] if room["id"] in self.rooms.values()}

    def shown(self, state):
        groups = {}
        for g in state["groups"]:
            if g["rooms"] or g["name"]:
                groups[g["id"]] = {
                    "rooms": g["rooms"], "name": g["name"], "repeat": g["repeat"], "crossfade": g["crossfade"], "queue": g["queue"], "current": g["current"],
                    "isShuffled": g["order"] is not None and bool(g["queue"]), "canUndo": bool(g["undo"] or standing(state, g))}
        return {"groups": groups, "scenes": state["scenes"], "rooms": state["rooms"]}

    def wait(self, condition, what):
        try:
            self.home.wait(condition, seconds=15)
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered from error
        except RuntimeError as error:
            if self.home.daemon.process.poll() is not None or "ended" in str(error):
                raise Unanswered from error
            raise Wrong(f"after {self.done[-1]} it never came true that {what}") from error

    def compare(self):
        """Rooms have to be connected again before the household knows how loud they are."""
        candidates = [self.state] + ([self.after] if self.after is not None else [])
        wanted = [candidate["rooms"] for candidate in candidates]
        try:
            self.home.wait(lambda state: self.volumes(state) in wanted, seconds=CONNECTED_S)
        except RuntimeError:
            pass  # The comparison says it.
        super().compare()

    def adopted(self, state, found):
        for g in state["groups"]:
            if g["id"] not in found["groups"]:
                continue
            queue = found["groups"][g["id"]]["queue"]
            known = {wanted[0]: real[0] for wanted, real in zip(g["queue"], queue) if isinstance(wanted[0], New)}
            g["queue"] = [tuple(entry) for entry in queue]
            g["current"] = known.get(g["current"], g["current"])
            g["order"] = g["order"] and [known.get(entry, entry) for entry in g["order"]]
            state["used"].setdefault(g["id"], set()).update(entry[0] for entry in queue)
        return state

    def settle(self):
        """What depends on the current entry is drawn once it is current: before, what was chosen does not sound yet."""
        wanted = {g["id"]: g["current"] for g in self.state["groups"] if g["rooms"] and not isinstance(g["current"], New)}

        def current(state):
            return {g["id"]: g.get("item", {}).get("entryId") for g in state["groups"] if g["id"] in wanted}
        self.wait(lambda state: current(state) == wanted, f"the entries {wanted} are current")
        for g in self.state["groups"]:
            if isinstance(g["queue"], Shuffled) or any(isinstance(entry[0], New) for entry in g["queue"]):
                queue = [(entry["id"], entry["trackId"]) for entry in self.get(f"/groups/{g['id']}/queue?limit=1000")["entries"]]
                if g["queue"] != queue:
                    raise Wrong(f"after {self.done[-1]} the queue of {g['id']} is {queue}, and not {g['queue']}")
                self.state = self.adopted(self.state, {"groups": {g["id"]: {"queue": queue}}})

    # What is done

    def draw(self):
        heard = [g for g in self.state["groups"] if g["rooms"]]
        kinds = [self.queue_edit] * 12 + [self.household_edit] * 5 + [self.room_edit] * 3 + [self.scene_edit] * 2
        return self.random.choice(kinds)(heard)

    def queue_edit(self, heard):
        if not heard:
            return None
        g = self.random.choice(heard)
        path = f"/groups/{g['id']}/queue"
        ids = [entry[0] for entry in g["queue"]]
        # An entry whose end nobody knows: with the last one the music ends.
        spare = [entry for entry in ids if entry != g["current"] or entry != ids[-1]]
        kinds = ["replace", "play and keep", "add", "add", "setting"]
        if ids:
            kinds += ["move", "move", "shuffle", "play", "clear"]
        if spare:
            kinds += ["remove", "remove"]
        if ids and g["order"] is not None:
            kinds += ["shuffle off"] * 3
        if g["undo"] or standing(self.state, g):
            kinds += ["undo"] * 3
        if g["current"] is not None and len(ids) > 6:
            kinds += ["clear others"]
        kind = self.random.choice(kinds)
        if kind == "setting":
            return self.setting(g)
        return getattr(self, kind.replace(" ", "_"))(kind, g["id"], path, ids, spare)

    def some_tracks(self, most=3):
        return self.random.sample(self.tracks, self.random.randint(1, most))

    def adding(self, kind, g, path, body, then):
        """The new entries have the ids of the answer, or ones that nobody knows."""
        tracks = [item["trackId"] for item in body["items"]]

        def apply(state, answer):
            used = state["used"].setdefault(g, set())
            ids = answer["added"] if answer else [New(used | {entry[0] for entry in group(state, g)["queue"]}) for _ in tracks]
            if answer and (used & set(ids) or len(ids) != len(tracks)):
                raise Wrong(f"{kind}: {len(tracks)} new entries have the ids {ids}; {sorted(used & set(ids))} were used before")
            if answer:
                used.update(ids)
            then(group(state, g), list(zip(ids, tracks)))
        return Edit(kind, "POST", path, body, apply)

    def replace(self, kind, g, path, ids, spare):
        return self.adding(kind, g, path, {"items": items(self.some_tracks(5)), "at": "now"}, replace)

    def play_and_keep(self, kind, g, path, ids, spare):
        return self.adding(kind, g, path, {"items": items(self.some_tracks()), "at": "nowAndKeep"}, play_and_keep)

    def add(self, kind, g, path, ids, spare):
        body = {"items": items(self.some_tracks())}
        current = group(self.state, g)["current"]
        kinds = ["end", "number", "last"] + (["before"] if ids else []) + (["next"] if current in ids or not ids else [])
        where = self.random.choice(kinds)
        place = len(ids)
        if where == "before":
            body["before"] = self.random.choice(ids)
            place = ids.index(body["before"])
        elif where == "last":
            body["before"] = None
        elif where == "number":
            body["at"] = self.random.randint(1, len(ids) + 1)
            place = body["at"] - 1
        else:
            body["at"] = where
            place = ids.index(current) + 1 if where == "next" and ids else len(ids)

        def then(g, new):
            begins = not g["queue"]
            insert(g, new, place)
            if begins:
                g["current"] = new[0][0]
            g["undo"] = g["merge"] = None
        return self.adding(kind, g, path, body, then)

    def remove(self, kind, g, path, ids, spare):
        entry = self.random.choice(spare)
        return Edit(kind, "DELETE", f"{path}/{entry}", None, lambda state, _: remove(group(state, g), [entry]))

    def move(self, kind, g, path, ids, spare):
        entry = self.random.choice(ids)
        rest = [one for one in ids if one != entry]
        current = group(self.state, g)["current"]
        where = self.random.choice(["number", "end"] + (["before"] if rest else []) + (["next"] if current in rest else []))
        body = {"at": where}
        place = len(rest)
        if where == "number":
            body = {"at": self.random.randint(1, len(ids))}
            place = body["at"] - 1
        elif where == "before":
            body = {"before": self.random.choice(rest)}
            place = rest.index(body["before"])
        elif where == "next":
            place = rest.index(current) + 1
        return Edit(kind, "PATCH", f"{path}/{entry}", body, lambda state, _: move(group(state, g), entry, place))

    def shuffle(self, kind, g, path, ids, spare):
        # A group at rest shuffles all its entries.
        shown = next(one for one in self.get("/state")["groups"] if one["id"] == g)
        plays = shown["state"] in ("starting", "playing", "buffering")

        def apply(state, _):
            changed = group(state, g)
            keep(changed, False)
            changed["order"] = changed["order"] or ids
            changed["queue"] = Shuffled(changed["queue"], changed["current"] if plays else None)
        return Edit(kind, "POST", f"{path}/shuffle", None, apply)

    def shuffle_off(self, kind, g, path, ids, spare):
        def apply(state, _):
            changed = group(state, g)
            keep(changed, False)
            tracks = dict(changed["queue"])
            changed["queue"] = [(entry, tracks[entry]) for entry in restored(entries(changed), changed["order"])]
            changed["order"] = None
        return Edit(kind, "POST", f"{path}/unshuffle", None, apply)

    def play(self, kind, g, path, ids, spare):
        entry = self.random.choice(ids)
        return Edit(kind, "POST", f"{path}/{entry}/play", None, lambda state, _: group(state, g).update(current=entry))

    def clear(self, kind, g, path, ids, spare):
        return Edit(kind, "DELETE", path, None, lambda state, _: clear(group(state, g)))

    def clear_others(self, kind, g, path, ids, spare):
        return Edit(kind, "POST", f"{path}/clear-others", None, lambda state, _: clear_others(group(state, g)))

    def undo(self, kind, g, path, ids, spare):
        kind = "undo a merge" if standing(self.state, group(self.state, g)) else kind
        return Edit(kind, "POST", f"{path}/undo", None, lambda state, _: undo(state, group(state, g)))

    def setting(self, g):
        if self.random.random() < 0.5:
            wanted = self.random.choice(["off", "one", "all"])
            return Edit("repeat", "PATCH", f"/groups/{g['id']}", {"repeat": wanted}, lambda state, _: group(state, g["id"]).update(repeat=wanted))
        seconds = self.random.randint(1, 12)
        return Edit("crossfade", "PATCH", f"/groups/{g['id']}", {"effects": {"crossfadeS": seconds}},
                    lambda state, _: group(state, g["id"]).update(crossfade=seconds))

    def household_edit(self, heard):
        rooms = list(self.rooms.values())
        some = self.random.sample(rooms, self.random.randint(1, len(rooms)))
        free = [room for room in rooms if not of_room(self.state, room)]
        kinds = ["make group"] * (3 if free or not heard else 1)
        kinds += ["leave", "join", "rooms", "name"] * bool(heard) + ["merge"] * 4 * (len(heard) > 1) + ["delete group"] * (self.random.random() < 0.3)
        kind = self.random.choice(kinds)
        g = self.random.choice(heard)["id"] if heard else None
        if kind == "make group":
            some = [self.random.choice(rooms)] if self.random.random() < 0.7 else some
            return Edit(kind, "POST", "/groups", {"roomIds": some}, lambda state, _: make(state, some))
        if kind == "leave":
            room = self.random.choice(group(self.state, g)["rooms"])
            return Edit(kind, "DELETE", f"/groups/{g}/rooms/{room}", None, lambda state, _: (leave(state, room), end_abandoned(state)))
        if kind == "join":
            room = some[0]
            return Edit(kind, "POST", f"/groups/{g}/rooms", {"roomId": room}, lambda state, _: join(state, room, group(state, g)) and end_abandoned(state))
        if kind == "rooms":
            return Edit(kind, "PATCH", f"/groups/{g}", {"roomIds": some}, lambda state, _: (set_rooms(state, group(state, g), some), end_abandoned(state)))
        if kind == "name":
            name = self.random.choice(NAMES)
            return Edit(kind, "PATCH", f"/groups/{g}", {"name": name}, lambda state, _: group(state, g).update(name=name))
        if kind == "merge":
            other = self.random.choice([one["id"] for one in heard if one["id"] != g])
            return Edit(kind, "POST", f"/groups/{g}/merge", {"groupId": other}, lambda state, _: merge(state, group(state, g), group(state, other)))
        shown = [one["id"] for one in self.state["groups"] if one["rooms"] or one["name"]]
        if not shown:
            return None
        g = self.random.choice(shown)
        return Edit(kind, "DELETE", f"/groups/{g}", None, lambda state, _: delete(state, group(state, g)))

    def room_edit(self, heard):
        room = self.random.choice(list(self.rooms.values()))
        free = "" if of_room(self.state, room) else " of a free room"
        if self.random.random() < 0.7:
            volume = self.random.randint(1, 100)
            return Edit(f"volume{free}", "PATCH", f"/rooms/{room}", {"volume": volume}, lambda state, _: set_volume(state, room, volume))
        limit = self.random.choice([100, 100, 80, 60])

        def apply(state, _):
            state["rooms"][room] = [min(state["rooms"][room][0], limit), limit]
        return Edit(f"limit{free}", "PATCH", f"/rooms/{room}", {"volumeLimit": limit}, apply)

    def scene_edit(self, heard):
        scenes = self.state["scenes"]
        kind = self.random.choice(["scene"] * bool(heard) + ["recall", "recall"] * bool(scenes and heard) + ["forget scene"] * bool(scenes) or [None])
        if kind is None:
            return None
        if kind == "forget scene":
            gone = self.random.choice(scenes)[0]
            return Edit(kind, "DELETE", f"/scenes/{gone}", None, lambda state, _: state.update(scenes=[scene for scene in state["scenes"] if scene[0] != gone]))
        g = self.random.choice(heard)["id"]
        if kind == "scene":
            # It keeps the volumes that rooms have told.
            wanted = self.state["rooms"]
            if self.volumes(self.get("/state")) != wanted:
                return None
            name = self.random.choice(SCENES)
            return Edit(kind, "POST", "/scenes", {"groupId": g, "name": name}, lambda state, _: save_scene(state, group(state, g), name))
        scene = self.random.choice(scenes)
        return Edit(kind, "POST", f"/scenes/{scene[0]}/recall", {"groupId": g}, lambda state, _: recall(state, group(state, g), scene))


def items(tracks):
    return [{"trackId": track} for track in tracks]


def set_volume(state, room, volume):
    state["rooms"][room] = [min(volume, state["rooms"][room][1]), state["rooms"][room][1]]


def save_scene(state, g, name):
    rooms = [(room, state["rooms"][room][0]) for room in g["rooms"]]
    for index, scene in enumerate(state["scenes"]):
        if scene[1] == name:
            state["scenes"][index] = (scene[0], name, rooms)
            return
    state["lastScene"] += 1
    state["scenes"].append((f"s{state['lastScene']}", name, rooms))


def recall(state, g, scene):
    set_rooms(state, g, [room for room, _ in scene[2]])
    end_abandoned(state)
    for room, volume in scene[2]:
        set_volume(state, room, volume)
