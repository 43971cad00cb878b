#!/usr/bin/env python3
"""A server with the HTTP API of `tutti serve` and an invented house behind it: for work on the page, and for its tests.

    Tests/Page/mock.py [--port 8080] [--scene home|silent|first|empty|long|large] [--media FILE]
"""

import argparse
import json
import mimetypes
import pathlib
import queue
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import catalogue
import covers
from alarms import next_at
from house import House, Refusal, now_ms

FILES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Page/web"
API = "/api/v1"
ROUTES = []


def route(method, pattern):
    def register(handler):
        ROUTES.append((method, re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", pattern) + "$"), handler))
        return handler
    return register


def known(table, key, what):
    if key not in table:
        raise Refusal(404, f"This {what} no longer exists.")
    return key


def expect(query, revision):
    """Refuses an edit that was made for another revision."""
    if query["expected"] not in (None, f'"{revision}"'):
        raise Refusal(412, "It has changed since then.")


def page_of(items, query, name):
    offset, limit = int(query.get("offset", 0)), min(int(query.get("limit", 200)), 1000)
    return {"count": len(items), name: items[offset:offset + limit]}


@route("GET", "/state")
def _(house, query, body):
    return 200, house.state()


@route("GET", "/sync")
def _(house, query, body):
    return 200, {"nowMs": now_ms(), "rooms": [{"id": k, "points": p} for k, p in house.points.items()], "marks": house.marks}


@route("POST", "/groups")
def _(house, query, body):
    old = {house.rooms[known(house.rooms, r, "room")]["groupId"] for r in body["roomIds"]} - {None}
    key = house.add_group(body["roomIds"], body.get("name"))
    house.announce([key, *old], body["roomIds"])
    return 201, house.group(key)


@route("PATCH", "/groups/{key}")
def _(house, query, body, key):
    group, rooms = house.groups[known(house.groups, key, "group")], []
    if "volume" in body:
        house.set_volume(key, body["volume"])
        rooms = group["roomIds"]
    if "name" in body:
        group.update(name=body["name"] or "", isNamed=bool(body["name"]))
    if "roomIds" in body:
        for room in [r for r in group["roomIds"] if r not in body["roomIds"]]:
            house.leave(room)
        for room in body["roomIds"]:
            house.move(room, key)
        rooms = body["roomIds"]
    if "effects" in body:
        if group["item"] and not group["item"]["isSeekable"]:
            raise Refusal(409, "Its sound cannot be changed while it plays.")
        house.settle(group)
        group["effects"].update(body["effects"])
        group["rate"] = group["effects"]["rate"]
    if "sleepInS" in body:
        group["sleepAtMs"] = now_ms() + body["sleepInS"] * 1000 if body["sleepInS"] else None
    if "sleepAt" in body:
        now = time.time()
        group["sleepAtMs"] = now_ms() + (next_at({"time": body["sleepAt"], "days": [], "skipsNext": False}, house.server["zoneOffsetS"], now) - now) * 1000
    group.update({k: body[k] for k in ("muted", "repeat") if k in body})
    house.announce([key], rooms)
    return 200, house.group(key)


@route("DELETE", "/groups/{key}")
def _(house, query, body, key):
    rooms = list(house.groups[known(house.groups, key, "group")]["roomIds"])
    for room in rooms:
        house.leave(room)
        house.rooms[room]["state"] = "free" if house.rooms[room]["isPresent"] else "away"
    del house.groups[key]
    house.announce([], rooms, [key])
    return 204, None


@route("POST", "/groups/{key}/(?P<verb>play|pause|stop|next|previous|live|seek|rooms|merge)")
def _(house, query, body, key, verb):
    group = house.groups[known(house.groups, key, "group")]
    touched, gone = [key], []
    if verb in ("play", "pause", "stop"):
        getattr(house, verb)(key)
    elif verb in ("next", "previous"):
        house.step(key, 1 if verb == "next" else -1)
    elif verb == "live":
        house.settle(group, house.kept(group)["liveS"])
    elif verb == "seek":
        target = body["positionS"] if "positionS" in body else house.position(group) + body["byS"]
        if not group["item"] or not group["item"]["isSeekable"]:
            raise Refusal(409, "This station is live: there is nothing to seek in.")
        house.settle(group, max(0, min(target, group["item"]["durationS"] or house.kept(group)["liveS"])))
    elif verb == "rooms":
        room = house.rooms[known(house.rooms, body["roomId"], "room")]
        if room["state"] == "taken" and not body.get("take"):
            raise Refusal(409, f'{room["name"]} plays for another sender. Take it over to use it here.')
        touched += [room["groupId"]] if room["groupId"] else []
        house.move(room["id"], key)
        house.room_states(key)
    else:
        gone = [known(house.groups, body["groupId"], "group")]
        house.merge(gone[0], key)
    house.announce(touched, group["roomIds"], gone)
    return 200, house.group(key)


@route("DELETE", "/groups/{key}/rooms/{room}")
def _(house, query, body, key, room):
    house.leave(room)
    house.rooms[room]["state"] = "free" if house.rooms[room]["isPresent"] else "away"
    house.announce([key], [room])
    return 200, house.group(key)


@route("GET", "/groups/{key}/presentation")
def _(house, query, body, key):
    group = house.groups[known(house.groups, key, "group")]
    return 200, {"nowMs": now_ms(), **{k: group[k] for k in ("positionS", "positionAtMs", "rate", "state")},
                 "entryId": (group["item"] or {}).get("entryId")}


@route("GET", "/groups/{key}/queue")
def _(house, query, body, key):
    listing = page_of(house.queues[known(house.groups, key, "group")], query, "entries")
    listing["entries"] = [{k: v for k, v in e.items() if k != "track"} for e in listing["entries"]]
    return 200, {**listing, **{k: house.group(key)["queue"][k] for k in ("revision", "index")}}


def edited(house, key, **more):
    house.announce([key], house.groups[key]["roomIds"])
    return 200, {"revision": house.groups[key]["queueRevision"], **more}


@route("POST", "/groups/{key}/queue")
def _(house, query, body, key):
    return edited(house, known(house.groups, key, "group"), added=house.enqueue(key, body["items"], body["at"]))


@route("DELETE", "/groups/{key}/queue")
def _(house, query, body, key):
    house.edit(key, f"cleared {len(house.queues[key])} items")
    house.queues[key] = []
    house.stop(key)
    return edited(house, key)


@route("POST", "/groups/{key}/queue/undo")
def _(house, query, body, key):
    if key in house.merges:
        parted = house.part(key)
        house.announce([key, parted["id"]], parted["roomIds"])
    else:
        house.undo(key)
    return edited(house, key)


@route("POST", "/groups/{key}/queue/shuffle")
def _(house, query, body, key):
    house.edit(key, "shuffled")
    entries = house.queues[key]
    house.orders[key] = house.orders[key] or [e["id"] for e in entries]
    current = [e for e in entries if e["isCurrent"]]
    rest = [e for e in entries if not e["isCurrent"]]
    house.chance.shuffle(rest)
    house.queues[key] = current + rest
    return edited(house, key)


@route("POST", "/groups/{key}/queue/unshuffle")
def _(house, query, body, key):
    if house.orders[key] is None:
        raise Refusal(409, "The list is not shuffled.")
    house.edit(key, "unshuffled")
    order, house.orders[key] = house.orders[key], None
    house.queues[key] = sorted(house.queues[key], key=lambda e: order.index(e["id"]) if e["id"] in order else len(order))
    return edited(house, key)


@route("POST", "/groups/{key}/queue/save")
def _(house, query, body, key):
    identity = house.add_playlist(body["name"], house.queues[key])
    house.renew_library()
    return 201, {"id": identity, "name": body["name"], "trackCount": len(house.queues[key])}


@route("DELETE", "/groups/{key}/queue/{entry}")
def _(house, query, body, key, entry):
    expect(query, house.groups[key]["queueRevision"])
    house.edit(key, "removed 1 item")
    house.queues[key] = [e for e in house.queues[key] if e["id"] != int(entry)]
    return edited(house, key)


@route("PATCH", "/groups/{key}/queue/{entry}")
def _(house, query, body, key, entry):
    entries = house.queues[key]
    moved = next((e for e in entries if e["id"] == int(entry)), None)
    expect(query, house.groups[key]["queueRevision"])
    rest = [e for e in entries if e is not moved]
    place = body["at"] if "at" in body else body["before"]
    if place == "next":
        at = next((i + 1 for i, e in enumerate(rest) if e["isCurrent"]), 0)
    elif "at" in body:
        at = len(rest) if place == "end" else place - 1
    else:
        at = len(rest) if place is None else next((i for i, e in enumerate(rest) if e["id"] == place), -1)
    if moved is None or not 0 <= at <= len(rest):
        raise Refusal(404, "This entry is no longer in the queue.")
    house.edit(key, "moved 1 item")
    house.queues[key] = rest[:at] + [moved] + rest[at:]
    return edited(house, key)


@route("POST", "/groups/{key}/queue/{entry}/play")
def _(house, query, body, key, entry):
    house.play_entry(key, int(entry))
    house.announce([key], house.groups[key]["roomIds"])
    return 200, house.group(key)


@route("PATCH", "/rooms/{key}")
def _(house, query, body, key):
    room = house.rooms[known(house.rooms, key, "room")]
    room.update({k: body[k] for k in ("volume", "volumeLimit", "muted", "delayMs", "channels", "name") if k in body})
    if "sound" in body:
        room["sound"] = {**room["sound"], **body["sound"], "changesSound": True}
    if room["volume"] is not None:
        room["volume"] = min(room["volume"], room["volumeLimit"])
    house.snapshots.pop(room["groupId"], None)
    house.announce([room["groupId"]] if room["groupId"] else [], [key])
    return 200, room


@route("POST", "/rooms/{key}/pair")
def _(house, query, body, key):
    if re.sub(r"\D", "", body["pin"]) != "12345678":
        raise Refusal(422, "This PIN is not the one that the receiver shows. Check it and try again.")
    house.rooms[key].update(isPaired=True, canUnpair=True, state="free", detail=None)
    house.announce([], [key])
    return 200, house.rooms[key]


@route("POST", "/rooms/{key}/say-pin")
def _(house, query, body, key):
    return 200, house.rooms[key]


@route("DELETE", "/rooms/{key}/pairing")
def _(house, query, body, key):
    house.leave(key)
    house.rooms[key].update(isPaired=False, canUnpair=False, state="notPaired", detail="the receiver asks for a PIN")
    house.announce(list(house.groups), [key])
    return 200, house.rooms[key]


@route("POST", "/rooms/{key}/identify")
def _(house, query, body, key):
    return 204, None


@route("POST", "/stereo")
def _(house, query, body):
    left, right = (house.rooms[known(house.rooms, body[key], "room")] for key in ("leftId", "rightId"))
    house.leave(right["id"])
    house.halves[left["id"]] = (left["name"], house.rooms.pop(right["id"]))
    left.update(name=body.get("name") or f'{left["name"]} + {right["name"]}',
                stereo={"leftId": left["id"], "leftName": left["name"], "rightId": right["id"], "rightName": right["name"]})
    house.announce(list(house.groups), [left["id"]], removed_rooms=[right["id"]])
    return 201, left


@route("POST", "/stereo/{key}/swap")
def _(house, query, body, key):
    stereo = house.rooms[known(house.halves, key, "pair")]["stereo"]
    house.rooms[key]["stereo"] = {**stereo, **{f"{side}{what}": stereo[f"{other}{what}"] for side, other in (("left", "right"), ("right", "left"))
                                               for what in ("Id", "Name")}}
    house.announce([], [key])
    return 200, house.rooms[key]


@route("DELETE", "/stereo/{key}")
def _(house, query, body, key):
    name, other = house.halves.pop(known(house.halves, key, "pair"))
    house.rooms[key].pop("stereo")
    house.rooms[key]["name"], house.rooms[other["id"]] = name, other
    house.announce(list(house.groups), [key, other["id"]])
    return 204, None


@route("POST", "/announce")
def _(house, query, body):
    names = [house.rooms[key]["name"] for key in body["roomIds"]]
    return 200, {"said": f"{', '.join(names)}: announced {body.get('text', 'the chime')}"}


def told(house, status, answer):
    house.announce(alarms=True)
    return status, answer


@route("POST", "/alarms")
def _(house, query, body):
    return told(house, 201, house.alarms.add(body))


@route("PATCH", "/alarms/{key}")
def _(house, query, body, key):
    if not house.alarms.find(key):
        raise Refusal(404, "There is no such alarm any more; see the list of alarms.")
    return told(house, 200, house.alarms.change(key, body))


@route("DELETE", "/alarms/{key}")
def _(house, query, body, key):
    house.alarms.list.remove(house.alarms.find(key))
    return told(house, 204, None)


@route("POST", "/alarms/{key}/(?P<verb>stop|snooze)")
def _(house, query, body, key, verb):
    return told(house, 200, house.alarms.end(house.alarms.find(key), verb == "snooze"))


@route("PUT", "/night")
def _(house, query, body):
    house.server["night"] = {**body, "isNow": False}
    house.announce(server=True)
    return 204, None


@route("DELETE", "/night")
def _(house, query, body):
    house.server.pop("night", None)
    house.announce(server=True)
    return 204, None


@route("GET", "/library/albums")
def _(house, query, body):
    albums = catalogue.SORTED[query.get("sort", "artist")][:house.library["albumCount"]]
    if query.get("artistId"):
        albums = [a for a in albums if a["artistId"] == query["artistId"]]
    if query.get("tagId"):
        albums = catalogue.tagged(query["tagId"])
    if query.get("year"):
        albums = [a for a in albums if a["year"] == int(query["year"])]
    return 200, page_of(albums, query, "albums")


@route("GET", "/library/albums/{key}")
def _(house, query, body, key):
    return 200, {"album": catalogue.ALBUM[known(catalogue.ALBUM, key, "album")], "tracks": catalogue.tracks(key)}


@route("GET", "/library/artists")
def _(house, query, body):
    count = len(catalogue.ARTISTS) if house.library["albumCount"] else 0
    return 200, page_of([catalogue.artist(n) for n in range(count)], query, "artists")


@route("GET", "/library/artists/{key}")
def _(house, query, body, key):
    own = sorted((a for a in catalogue.ALBUM_LIST if a["artistId"] == key), key=lambda a: a["year"])
    if not own:
        raise Refusal(404, "This artist no longer exists.")
    others = [catalogue.ALBUM[f"a{int(own[0]['id'][1:]) + n}"] for n in (1, 2)] if int(own[0]["id"][1:]) < 2900 else []
    return 200, {"artist": catalogue.artist(int(key[1:])), "albums": own, "appearsOn": others, "trackCount": sum(a["trackCount"] for a in own)}


@route("GET", "/library/tracks/{key}/lyrics")
def _(house, query, body, key):
    """Every second album has lyrics with times, every third has some without."""
    track, album = catalogue.track(key), int(key[1:].split("-")[0])
    lines = [phrase for _ in range(6) for phrase in catalogue.PHRASES[:7] + [""]]
    if album % 2 == 0:
        return 200, {"lines": [{"text": text, "atS": 3 + n * 4} for n, text in enumerate(lines) if n * 4 < track["durationS"]]}
    return 200, {"lines": [{"text": text} for text in lines] if album % 3 == 0 else []}


@route("GET", "/library/tracks")
def _(house, query, body):
    found = catalogue.all_tracks() if house.library["albumCount"] else []
    if query.get("artistId"):
        found = [t for t in found if t["artistId"] == query["artistId"]]
    return 200, page_of(found, query, "tracks")


@route("GET", "/library/(?P<kind>genres|composers)")
def _(house, query, body, kind):
    return 200, page_of(catalogue.tags(kind) if house.library["albumCount"] else [], query, "tags")


@route("GET", "/library/years")
def _(house, query, body):
    years = [a["year"] for a in catalogue.ALBUM_LIST]
    return 200, {"years": [{"year": y, "albumCount": years.count(y)} for y in sorted(set(years), reverse=True)]}


@route("GET", "/library/letters")
def _(house, query, body):
    if query["of"] == "tracks":
        return 200, {"letters": catalogue.letters([t["title"] for t in catalogue.all_tracks()])}
    if query["of"] == "artists":
        return 200, {"letters": catalogue.letters(catalogue.ARTISTS)}
    albums = catalogue.SORTED[query.get("sort", "artist")][:house.library["albumCount"]]
    if query["sort"] == "year":
        decades = [f"{a['year'] // 10}0s" for a in albums]
        return 200, {"letters": [{"letter": d, "offset": decades.index(d)} for d in sorted(set(decades), reverse=True)]}
    return 200, {"letters": [] if query["sort"] == "added" else catalogue.letters([a[query["sort"]] for a in albums])}


@route("GET", "/library/favourites")
def _(house, query, body):
    return 200, {"favourites": [t for t in (house.thing(*f) for f in house.favourites) if t]}


@route("PUT", "/library/favourites/{kind}/{key}")
def _(house, query, body, kind, key):
    if not house.thing(kind, key):
        raise Refusal(404, "There is no such thing in the library any more; look for it again.")
    if (kind, key) not in house.favourites:
        house.favourites.insert(0, (kind, key))
    house.renew_library()
    return 204, None


@route("DELETE", "/library/favourites/{kind}/{key}")
def _(house, query, body, kind, key):
    house.favourites = [f for f in house.favourites if f != (kind, key)]
    house.renew_library()
    return 204, None


@route("GET", "/library/recent")
def _(house, query, body):
    found = []
    for kind, key, ago in house.plays:
        thing = house.thing("album", catalogue.track(key)["albumId"]) if kind == "track" else house.thing(kind, key)
        if thing and not any(t["id"] == thing["id"] for t in found):
            found.append({**thing, "atS": time.time() - ago})
    return 200, {"recent": found[:int(query.get("limit", 20))]}


@route("GET", "/library/history")
def _(house, query, body):
    plays = []
    for kind, key, ago in house.plays:
        thing = house.thing(kind, key)
        album = catalogue.track(key)["albumId"] if kind == "track" else None
        plays.append({"kind": kind, "id": key, "title": thing["title"], "artist": thing.get("detail"), "artwork": thing.get("artwork"),
                      "albumId": album, "atS": time.time() - ago})
    return 200, page_of(plays, query, "plays")


@route("DELETE", "/library/history")
def _(house, query, body):
    house.plays = []
    return 204, None


@route("GET", "/library/folders")
def _(house, query, body):
    path, roots = query.get("path", ""), house.library["folders"]
    if not path:
        return 200, {"path": "", "folders": [{"path": name, "name": name} for name in roots], "tracks": []}
    root, _, below = path.partition("/")
    found = catalogue.folder(below) if root == roots[0] else {"folders": [], "tracks": []}
    folders = [{"path": f"{root}/{each['path']}", "name": each["name"]} for each in found["folders"]]
    return 200, {"path": path, "folders": folders, "tracks": found["tracks"]}


@route("GET", "/folders")
def _(house, query, body):
    away = house.library.get("awayFolders", [])
    return 200, {"folders": [{"name": name, "path": f"library:{name}" if name in house.servers else f"/srv/{name}", "isFixed": name in house.fixed, "isAway": name in away,
                              "trackCount": house.library["trackCount"]} for name in house.library["folders"]]}


@route("POST", "/folders")
def _(house, query, body):
    name = body["path"].rsplit("/", 1)[1]
    house.library.update(folders=[*house.library["folders"], name])
    house.renew_library()
    return 204, None


@route("DELETE", "/folders")
def _(house, query, body):
    name = query["path"].rsplit("/", 1)[1]
    house.library.update(folders=[each for each in house.library["folders"] if each != name])
    house.renew_library()
    return 204, None


@route("GET", "/folders/choices")
def _(house, query, body):
    path = query.get("path")
    if not path:
        return 200, {"folders": [{"name": path, "path": path} for path in ("/home/ann/Music", "/media", "/srv")], "isCut": False}
    names = {"/srv": ["backup", "music", "pictures"], "/media": ["usb-disk with a very long name that goes on and on"]}.get(path, [])
    parent = path.rsplit("/", 1)[0]
    return 200, {"path": path, **({"parent": parent} if parent else {}), "isCut": path == "/srv",
                 "folders": [{"name": name, "path": f"{path}/{name}"} for name in names]}


@route("GET", "/servers")
def _(house, query, body):
    return 200, {"servers": [{"name": name, "kind": "subsonic", "address": "https://music.example:443/", "isFixed": False, "trackCount": 7}
                             for name in house.servers]}


@route("GET", "/servers/found")
def _(house, query, body):
    return 200, {"servers": [{"name": "Loft", "address": "http://192.168.1.5:8200/rootDesc.xml"}, {"name": "Attic", "address": "http://192.168.1.6:1234/"}]}


@route("POST", "/servers")
def _(house, query, body):
    house.servers.append(body["name"])
    house.library.update(folders=[body["name"], *house.library["folders"]])
    house.renew_library()
    return 204, None


@route("DELETE", "/servers")
def _(house, query, body):
    house.servers.remove(query["name"])
    house.library.update(folders=[each for each in house.library["folders"] if each != query["name"]])
    house.renew_library()
    return 204, None


@route("PATCH", "/settings")
def _(house, query, body):
    house.server.pop("dates", None)
    house.server.update({"dates": body["dates"]} if body["dates"] else {})
    house.announce(server=True)
    return 204, None


@route("GET", "/library/search")
def _(house, query, body):
    found = catalogue.search(query["q"], int(query.get("limit", 20)))
    podcasts = [house.podcast(key) for key in house.podcasts]
    return 200, {**found, "playlists": [p for p in listed(house) if query["q"].lower() in p["name"].lower()],
                 "podcasts": [one for one in podcasts if query["q"].lower() in one["title"].lower()]}


@route("GET", "/library/radios")
def _(house, query, body):
    return 200, {"radios": house.radios if house.library["albumCount"] else []}


@route("POST", "/library/radios")
def _(house, query, body):
    radio = {"id": f"s{len(house.radios) + 10}", "name": body.get("name", "Radio Somewhere"), "uri": body["uri"], "artwork": house.picture(body.get("picture"))}
    house.radios.append(radio)
    house.renew_library()
    return 201, radio


@route("DELETE", "/library/radios/{key}")
def _(house, query, body, key):
    house.radios = [r for r in house.radios if r["id"] != key]
    house.renew_library()
    return 204, None


def listed(house):
    return [house.playlist(key) for key in house.playlists]


@route("GET", "/library/playlists")
def _(house, query, body):
    return 200, {"playlists": listed(house)}


@route("GET", "/library/playlists/{key}")
def _(house, query, body, key):
    name, entries = house.playlists[known(house.playlists, key, "playlist")]
    return 200, {"playlist": house.playlist(key),
                 # An entry is known by its place: edits change it.
                 "entries": [{k: v for k, v in e.items() if k != "track"} | {"id": index} for index, e in enumerate(entries) if not e.get("isGone")],
                 "missing": [e["title"] for e in entries if e.get("isGone")]}


@route("POST", "/library/playlists")
def _(house, query, body):
    return 201, house.playlist(house.add_playlist(body["name"], house.entries(body.get("items", []))))


@route("PATCH", "/library/playlists/{key}")
def _(house, query, body, key):
    house.playlists[key] = (body["name"], house.playlists[known(house.playlists, key, "playlist")][1])
    return 200, house.edit_playlist(key)


@route("POST", "/library/playlists/{key}/entries")
def _(house, query, body, key):
    entries = house.playlists[known(house.playlists, key, "playlist")][1]
    at = body.get("before", len(entries))
    entries[at:at] = house.entries(body["items"])
    return 200, house.edit_playlist(key)


@route("PATCH", "/library/playlists/{key}/entries/{entry}")
def _(house, query, body, key, entry):
    entries, entry = house.playlists[known(house.playlists, key, "playlist")][1], int(entry)
    expect(query, house.playlist(key)["revision"])
    place = len(entries) if body["before"] is None else body["before"]
    entries.insert(place - (entry < place), entries.pop(entry))
    return 200, house.edit_playlist(key)


@route("DELETE", "/library/playlists/{key}/entries/{entry}")
def _(house, query, body, key, entry):
    expect(query, house.playlist(known(house.playlists, key, "playlist"))["revision"])
    house.playlists[key][1].pop(int(entry))
    return 200, house.edit_playlist(key)


@route("DELETE", "/library/playlists/{key}")
def _(house, query, body, key):
    house.playlists.pop(key, None)
    house.renew_library()
    return 204, None


@route("GET", "/library/podcasts")
def _(house, query, body):
    return 200, {"podcasts": [house.podcast(key) for key in house.podcasts]}


@route("POST", "/library/podcasts")
def _(house, query, body):
    if "broken" in body["uri"]:
        raise Refusal(422, "this feed cannot be read: it is no feed: line 1: syntax error")
    return 201, house.subscribe(body["uri"])


@route("POST", "/library/podcasts/refresh")
def _(house, query, body):
    for podcast, episodes in house.podcasts.values():
        number = len(episodes) + 1
        episodes.insert(0, {"id": f"e9{number}", "title": f"Episode {number}", "publishedAtS": 1700000000 + number * 86400, "durationS": 1800, "isNew": True, "isPlayed": False})
    house.renew_library()
    return 202, None


@route("GET", "/library/podcasts/{key}")
def _(house, query, body, key):
    return 200, {"podcast": house.podcast(key), "episodes": house.podcasts[known(house.podcasts, key, "podcast")][1]}


@route("DELETE", "/library/podcasts/{key}")
def _(house, query, body, key):
    del house.podcasts[known(house.podcasts, key, "podcast")]
    house.renew_library()
    return 204, None


@route("PATCH", "/library/episodes/{key}")
def _(house, query, body, key):
    _, episode = house.episode(key)
    episode["isPlayed"] = body["isPlayed"]
    episode.pop("positionS", None)
    house.renew_library()
    return 204, None


@route("GET", "/library/begun")
def _(house, query, body):
    begun = [e for _, episodes in house.podcasts.values() for e in episodes if e.get("positionS")]
    return 200, {"begun": [{**house.thing("episode", e["id"]), "detail": f"{int((e['durationS'] - e['positionS']) / 60)} min left"} for e in begun]}


@route("POST", "/library/scan")
def _(house, query, body):
    return 202, None


@route("POST", "/mock/group/{key}")
def _(house, query, body, key):
    """Changes without a request: a group buffers, or its item changes."""
    group = house.groups[key]
    group.update({k: v for k, v in body.items() if k != "item"})
    if "item" in body:
        group["item"].update(body["item"])
    house.announce([key])
    return 200, house.group(key)


@route("POST", "/mock/alarm/{key}")
def _(house, query, body, key):
    """Time has come: an alarm rings, or its rooms hold its music."""
    house.alarms.find(key).update(body)
    return told(house, 200, None)


@route("POST", "/mock/server")
def _(house, query, body):
    """The disk is full, or has space again."""
    house.server.update(body)
    house.announce(server=True)
    return 200, house.server


@route("POST", "/mock/library")
def _(house, query, body):
    """A scan, or another page, has changed the library."""
    house.library.update(body)
    house.announce(library=True)
    return 200, house.library


@route("POST", "/mock/room/{key}")
def _(house, query, body, key):
    """Changes that no request makes: a room goes away, loses its card, comes back."""
    house.rooms[key].update(body)
    house.announce(list(house.groups), [key])
    return 200, house.rooms[key]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    house = media = None

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        query = {k: v[0] for k, v in parse_qs(url.query).items()}
        if url.path == API + "/events":
            self.events(int(query.get("limit", 0)))
        elif url.path.startswith(API + "/artwork/"):
            self.reply(200, covers.cover(url.path.rsplit("/", 1)[1]), "image/svg+xml", {"Cache-Control": "public, max-age=31536000, immutable"})
        elif url.path.endswith("/media"):
            self.send_media()
        elif url.path.startswith(API):
            self.call("GET", unquote(url.path[len(API):]), query, None)
        else:
            self.send_file(url.path)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if body and self.headers.get_content_type() != "application/json":
            return self.problem(415, "Send the body as application/json.")
        url = urlsplit(self.path)
        query = {k: v[0] for k, v in parse_qs(url.query).items()}
        self.call(self.command, unquote(url.path[len(API):]), {**query, "expected": self.headers.get("If-Match")}, json.loads(body or "{}"))

    do_PATCH = do_PUT = do_DELETE = do_POST

    def call(self, method, path, query, body):
        for verb, pattern, handler in ROUTES:
            found = pattern.match(path)
            if verb == method and found:
                try:
                    with self.house.lock:
                        status, answer = handler(self.house, query, body, **found.groupdict())
                        headers = {} if method == "GET" else {"Tutti-Revision": str(self.house.revision)}
                        text = b"" if answer is None else json.dumps(answer).encode()
                except Refusal as refusal:
                    return self.problem(refusal.status, refusal.detail)
                return self.reply(status, text, "application/json", headers)
        self.problem(404, "There is nothing at this address.")

    def problem(self, status, detail):
        text = json.dumps({"type": "about:blank", "title": "Refused", "status": status, "detail": detail}).encode()
        self.reply(status, text, "application/problem+json")

    def reply(self, status, data, kind, headers=None):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {"Cache-Control": "no-store"}).items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", "default-src 'self'")
        self.end_headers()
        if status != 204:
            self.wfile.write(data)

    def send_file(self, path):
        name = "index.html" if path == "/" else path.removeprefix("/assets/")
        file = FILES / name
        if "/" in name or not file.is_file():
            return self.problem(404, "There is nothing at this address.")
        data = file.read_bytes()
        if name == "index.html":
            with self.house.lock:
                state = json.dumps(self.house.state()).replace("<", "\\u003c").encode()
            data = data.replace(b"<!--asker-->", b"machine").replace(b"<!--state-->", state)
        kind = {".js": "text/javascript", ".webmanifest": "application/manifest+json"}.get(file.suffix) or mimetypes.guess_type(name)[0]
        self.reply(200, data, kind)

    def send_media(self):
        if not self.media:
            return self.problem(404, "This track has no file.")
        data = pathlib.Path(self.media).read_bytes()
        wanted = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        start = int(wanted[1]) if wanted else 0
        end = min(int(wanted[2]) if wanted and wanted[2] else len(data) - 1, len(data) - 1)
        headers = {"Accept-Ranges": "bytes", "Content-Range": f"bytes {start}-{end}/{len(data)}"}
        kind = mimetypes.guess_type(self.media)[0] or "video/mp4"
        self.reply(206 if wanted else 200, data[start:end + 1], kind, headers)

    def events(self, limit):
        inbox = queue.Queue(2000)
        with self.house.lock:
            last = self.headers.get("Last-Event-ID", "")
            missed = [c for c in self.house.ring if last.isdigit() and c["revision"] > int(last)]
            if last.isdigit() and self.house.ring and self.house.ring[0]["revision"] <= int(last) + 1 and int(last) <= self.house.revision:
                for change in missed:
                    inbox.put(("change", change, change["revision"]))
            else:
                inbox.put(("state", json.loads(json.dumps(self.house.state())), self.house.revision))
            self.house.listeners.append(inbox)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        sent = 0
        try:
            while not limit or sent < limit:
                try:
                    event, body, identity = inbox.get(timeout=10)
                    text = f"event: {event}\n" + (f"id: {identity}\n" if identity else "") + f"data: {json.dumps(body)}\n\n"
                    sent += 1
                except queue.Empty:
                    text = ": still here\n\n"
                self.wfile.write(text.encode())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            with self.house.lock:
                self.house.listeners.remove(inbox)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """Ignores browsers that close their connection."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def start(port=0, scene="home", media=None):
    handler = type("Bound", (Handler,), {"house": House(scene), "media": media})
    return Server(("127.0.0.1", port), handler)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--scene", default="home", choices=["home", "silent", "empty", "long", "large", "first"])
    parser.add_argument("--media")
    arguments = parser.parse_args()
    server = start(arguments.port, arguments.scene, arguments.media)
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
