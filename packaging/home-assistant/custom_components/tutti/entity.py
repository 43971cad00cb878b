"""Entities of rooms."""

from __future__ import annotations

from collections.abc import Callable

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .api import JSON
from .const import DOMAIN
from .coordinator import TuttiCoordinator


class TuttiEntity(Entity):
    """An entity of a room, told of each change."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, coordinator: TuttiCoordinator, room: str, key: str | None = None) -> None:
        """Take the room's identity, and a key for all but its player."""
        self.coordinator, self.room_id = coordinator, room
        identity = coordinator.key(room)
        self._attr_unique_id = identity if key is None else f"{identity}_{key}"
        if key is not None:
            self._attr_translation_key = key
        facts = coordinator.rooms[room]
        self._attr_device_info = DeviceInfo(
            identifiers={(DOMAIN, identity)},
            name=facts["name"],
            model=facts.get("model"),
            manufacturer="Tutti",
            via_device=(DOMAIN, coordinator.entry.entry_id),
        )

    @property
    def room(self) -> JSON:
        """The room as it was told last; empty if the household has forgotten it."""
        return self.coordinator.rooms.get(self.room_id, {})

    @property
    def available(self) -> bool:
        """False while the household or the room is away."""
        return self.coordinator.is_connected and self.room.get("state", "away") != "away"

    async def async_added_to_hass(self) -> None:
        """Follow the household."""
        self.async_on_remove(self.coordinator.listen(self.async_write_ha_state))


@callback
def add_rooms(
    hass: HomeAssistant,
    entry: ConfigEntry,
    add: AddEntitiesCallback,
    make: Callable[[TuttiCoordinator, str], list[Entity]],
) -> None:
    """Add the entities of the household's rooms, now and whenever one comes or is paired."""
    coordinator: TuttiCoordinator = entry.runtime_data
    known: set[str] = set()

    @callback
    def add_new() -> None:
        # A room that is not paired any more keeps its entities until its device is removed.
        known.intersection_update(room for room in coordinator.rooms if coordinator.is_shown(room))
        new = [
            room for room in coordinator.rooms if room not in known and coordinator.is_ours(room)
        ]
        known.update(new)
        if new:
            add([entity for room in new for entity in make(coordinator, room)])

    entry.async_on_unload(coordinator.listen(add_new))
    add_new()
