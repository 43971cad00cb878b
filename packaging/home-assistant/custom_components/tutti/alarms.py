"""Alarms: what the actions take, in the words of `tutti alarms`, and what the household is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from homeassistant.core import HomeAssistant, ServiceCall
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
import homeassistant.helpers.config_validation as cv
import voluptuous as vol

from . import content
from .api import JSON
from .const import DOMAIN
from .coordinator import TuttiCoordinator

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
# Figures by their words: the household's names of them, what it counts in one of them, and the largest.
FIGURES = {
    "volume": ("volume", 1, 100),
    "rise": ("riseS", 60, 30),
    "length": ("lengthS", 60, 180),
    "snooze": ("snoozeS", 60, 60),
}
# What may be said of an alarm, besides its time and rooms.
CHANGE = {
    vol.Optional("days"): vol.All(cv.ensure_list, [vol.In(DAYS)]),
    vol.Optional("play"): vol.All(cv.ensure_list, [cv.string], vol.Length(min=1)),
    vol.Optional("name"): cv.string,
    **{
        vol.Optional(word): vol.All(vol.Coerce(float), vol.Range(min=0, max=largest))
        for word, (_, _, largest) in FIGURES.items()
    },
}
ROOMS = vol.All(cv.entity_ids, vol.Length(min=1))
ADD_SCHEMA = vol.Schema({vol.Required("rooms"): ROOMS, vol.Required("time"): cv.time, **CHANGE})
CHANGE_SCHEMA = {vol.Optional("rooms"): ROOMS, vol.Optional("time"): cv.time, **CHANGE}


def name(alarm: JSON) -> str:
    """Return what an alarm is called, or its time."""
    return alarm.get("name") or alarm["time"]


def ringing(alarms: Iterable[JSON], *states: str) -> list[JSON]:
    """Return those that ring, or are in one of the states."""
    return [alarm for alarm in alarms if alarm["state"] in (states or ("ringing",))]


async def add(hass: HomeAssistant, call: ServiceCall) -> None:
    """Set an alarm in some rooms of one household."""
    coordinator, body = order(hass, call.data)
    await coordinator.order("POST", "alarms", body)


def order(
    hass: HomeAssistant, data: dict[str, Any], coordinator: TuttiCoordinator | None = None
) -> tuple[TuttiCoordinator, JSON]:
    """Return what the household is told, and the household: that of the first room, if none is given."""
    body: JSON = {
        field: data[word] * unit for word, (field, unit, _) in FIGURES.items() if word in data
    }
    if "time" in data:
        body["time"] = data["time"].strftime("%H:%M")
    if "days" in data:
        body["days"] = data["days"]
    if "name" in data:
        body["name"] = data["name"] or None
    if "play" in data:
        body["items"] = [content.item(thing) or {"uri": thing} for thing in data["play"]]
    for entity in data.get("rooms", []):
        coordinator, room = _room(hass, entity, coordinator)
        body.setdefault("roomIds", []).append(room)
    assert coordinator is not None
    return coordinator, body


def _room(
    hass: HomeAssistant, entity: str, household: TuttiCoordinator | None
) -> tuple[TuttiCoordinator, str]:
    entry = er.async_get(hass).async_get(entity)
    if entry is not None and entry.platform == DOMAIN:
        owner = hass.config_entries.async_get_entry(entry.config_entry_id or "")
        coordinator: TuttiCoordinator | None = getattr(owner, "runtime_data", None)
        if coordinator is not None and household in (None, coordinator):
            room = coordinator.room_of(entry.unique_id)
            if room is not None:
                return coordinator, room
    raise ServiceValidationError(
        f"{entity} is no room of this household",
        translation_domain=DOMAIN,
        translation_key="not_a_room",
        translation_placeholders={"entity": entity},
    )
