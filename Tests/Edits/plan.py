"""The model of groups and queues, in the simplest way that there is. A group is a dict; `order` is its order before a shuffle, `last` the room that
left it last, `undo` the queue before an edit, and `merge` the group and the rooms that a merge has brought."""

import copy


class Shuffled:
    """Any order of these entries that begins with the current one."""

    def __init__(self, queue, current):
        self.queue, self.current = sorted(queue), current

    def __eq__(self, other):
        if isinstance(other, Shuffled):
            return self.queue == other.queue
        return sorted(other) == self.queue and (self.current is None or other[0][0] == self.current)

    def __iter__(self):
        return iter(self.queue)

    def __len__(self):
        return len(self.queue)

    def __repr__(self):
        return f"any order of {self.queue} that begins with {self.current}"


# Rooms

def group(state, id):
    return next((g for g in state["groups"] if g["id"] == id), None)


def of_room(state, room):
    return next((g for g in state["groups"] if room in g["rooms"]), None)


def leave(state, room):
    g = of_room(state, room)
    if g:
        g["rooms"].remove(room)
        g["last"] = None if g["rooms"] else room


def join(state, room, g):
    if of_room(state, room) is g:
        return False
    leave(state, room)
    g["rooms"].append(room)
    return True


def set_rooms(state, g, rooms):
    for room in [room for room in g["rooms"] if room not in rooms]:
        leave(state, room)
    for room in rooms:
        join(state, room, g)
    g["rooms"] = list(rooms)


def is_abandoned(g):
    return not g["rooms"] and g["name"] is None


def standing(state, g):
    """The merge that an undo in this group takes back."""
    other = g["merge"] and group(state, g["merge"][0])
    return g["merge"] if other and not other["rooms"] and all(of_room(state, room) is g for room in g["merge"][1]) else None


def end_abandoned(state):
    """A queue waits for the room that has left it last, and for an undo of a merge."""
    abandoned = [g for g in state["groups"] if is_abandoned(g)]
    merged = [merge[0] for merge in (standing(state, g) for g in state["groups"]) if merge]
    kept = [g["id"] for g in abandoned if g["id"] in merged or g["last"] and (g["queue"] or g["undo"])][-8:]
    state["groups"] = [g for g in state["groups"] if not is_abandoned(g) or g["id"] in kept]


def make(state, rooms):
    waiting = [g for g in state["groups"] if is_abandoned(g) and g["last"] in rooms]
    if waiting:
        g = waiting[-1]
    else:
        state["lastGroup"] += 1
        g = {"id": f"g{state['lastGroup']}", "name": None, "rooms": [], "last": None, "repeat": "off", "crossfade": 0, "queue": [], "current": None,
             "order": None, "undo": None, "merge": None}
        state["groups"].append(g)
    set_rooms(state, g, rooms)
    end_abandoned(state)


def delete(state, g):
    set_rooms(state, g, [])
    state["groups"].remove(g)


def merge(state, g, other):
    rooms = list(other["rooms"])
    for room in rooms:
        join(state, room, g)
    if rooms:
        g["merge"] = (other["id"], rooms)
    end_abandoned(state)


# Queues

def entries(g):
    return [entry[0] for entry in g["queue"]]


def keep(g, movesPlace):
    """For an undo. An empty queue is not kept."""
    if g["queue"]:
        g["undo"] = {"queue": list(g["queue"]), "order": copy.copy(g["order"]), "place": (g["current"],) if movesPlace else None}
        g["merge"] = None


def forget(g):
    g["undo"] = g["merge"] = None


def restored(ids, order):
    """The ids in the order; one that the order does not have follows the one that it follows in `ids`, and those at the end stay there."""
    found = [entry for entry in order if entry in ids]
    new = [entry for entry in ids if entry not in order]
    tail = []
    while ids and ids[-1] in new:
        tail.insert(0, ids[-1])
        ids = ids[:-1]
    for entry in [entry for entry in new if entry not in tail]:
        index = ids.index(entry)
        found.insert(found.index(ids[index - 1]) + 1 if index else 0, entry)
    return found + tail


def insert(g, new, place):
    if not g["queue"]:
        g["order"] = None
    g["queue"][place:place] = new
    if g["order"] is not None:
        g["order"] = restored(entries(g), g["order"])


def replace(g, new):
    forget(g)
    keep(g, True)
    g["order"], g["queue"] = None, []
    insert(g, new, 0)
    g["current"] = new[0][0]


def play_and_keep(g, new):
    forget(g)
    keep(g, True)
    insert(g, new, entries(g).index(g["current"]) + 1 if g["current"] in entries(g) else 0)
    g["current"] = new[0][0]


def remove(g, gone):
    keep(g, g["current"] in gone)
    ids = entries(g)
    if g["current"] in gone:
        g["current"] = next((entry for entry in ids[ids.index(g["current"]):] if entry not in gone), None)
    g["queue"] = [entry for entry in g["queue"] if entry[0] not in gone]


def clear_others(g):
    others = [entry for entry in entries(g) if entry != g["current"]]
    if others:
        remove(g, others)


def clear(g):
    keep(g, True)
    g["order"], g["queue"], g["current"] = None, [], None


def move(g, entry, place):
    queue = [one for one in g["queue"] if one[0] != entry]
    queue.insert(place, next(one for one in g["queue"] if one[0] == entry))
    if queue != g["queue"]:
        keep(g, False)
        g["queue"] = queue


def undo(state, g):
    if found := standing(state, g):
        g["merge"] = None
        set_rooms(state, group(state, found[0]), found[1])
        end_abandoned(state)
        return
    kept = g["undo"]
    forget(g)
    g["queue"], g["order"] = kept["queue"], kept["order"]
    if kept["place"]:
        g["current"] = kept["place"][0]
