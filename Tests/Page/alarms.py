"""The alarms of the invented house. They ring when a test says so."""

import time

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DEFAULTS = dict(name=None, days=[], music={"kind": "tone"}, volume=30, riseS=0, lengthS=1800, snoozeS=540, isOn=True, skipsNext=False, state="waiting",
                readyRoomIds=[], snoozedUntilS=None)


def next_at(alarm, offset, now):
    """When it rings next, in seconds since 1970. One that is to be left out is left out."""
    hours, minutes = map(int, alarm["time"].split(":"))
    today = int(now + offset) // 86400
    found = [day * 86400 + hours * 3600 + minutes * 60 - offset for day in range(today, today + 15)
             if not alarm["days"] or DAYS[(day + 3) % 7] in alarm["days"]]
    coming = [at for at in found if at > now]
    return coming[1 if alarm["skipsNext"] else 0]


class Alarms:
    def __init__(self, house):
        self.house, self.last, self.list = house, 0, []

    def add(self, change):
        self.last += 1
        alarm = {"id": f"a{self.last}", **DEFAULTS}
        self.list.append(alarm)
        return self.change(alarm["id"], change)

    def find(self, key):
        return next((alarm for alarm in self.list if alarm["id"] == key), None)

    def change(self, key, change):
        alarm = self.find(key)
        if "items" in change:
            tracks = [track for item in change.pop("items") for track in self.house.resolve(item)]
            change["music"] = {"kind": "items", "title": tracks[0]["title"], "count": len(tracks)}
        elif isinstance(change.get("music"), str):
            change["music"] = {"kind": change["music"]}
        alarm.update(change)
        alarm["state"] = "waiting" if alarm["isOn"] else "off"
        return self.shown(alarm)

    def end(self, alarm, snoozes):
        alarm["state"] = "snoozed" if snoozes else "waiting"
        alarm["snoozedUntilS"] = time.time() + alarm["snoozeS"] if snoozes else None
        if not snoozes and not alarm["days"]:
            alarm.update(isOn=False, state="off")
        return self.shown(alarm)

    def shown(self, alarm):
        shown = {**alarm, "nextAtS": next_at(alarm, self.house.server["zoneOffsetS"], time.time()) if alarm["isOn"] else None}
        return {key: value for key, value in shown.items() if value is not None}

    def all(self):
        return [self.shown(alarm) for alarm in self.list]
