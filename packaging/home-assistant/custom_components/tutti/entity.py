"""Entities of a household and of its rooms."""

from __future__ import annotations

from collections.abc import Callable

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .api import JSON
from .const import DOMAIN
from .coordinator import TuttiCoordinator


class TuttiEntity(Entity):
    """An entity that is told of each change."""

    _attr_has_entity_name = True
    _attr_should_poll = False

    def __init__(self, coordinator: TuttiCoordinator) -> None:
        """Take the household."""
        self.coordinator = coordinator

    @property
    def available(self) -> bool:
        """False while the household is away."""
        return self.coordinator.is_connected

    async def async_added_to_hass(self) -> None:
        """Follow the household."""
        self.async_on_remove(self.coordinator.listen(self.async_write_ha_state))


class HouseEntity(TuttiEntity):
    """An entity of the household itself."""

    def __init__(self, coordinator: TuttiCoordinator, key: str) -> None:
        """Take a key, which is that of its name as well, unless the household names it."""
        super().__init__(coordinator)
        self._attr_unique_id = f"{coordinator.household}_{key}"
        self._attr_translation_key = key
        self._attr_device_info = DeviceInfo(identifiers={(DOMAIN, coordinator.entry.entry_id)})


class RoomEntity(TuttiEntity):
    """An entity of a room."""

    def __init__(self, coordinator: TuttiCoordinator, room: str, key: str | None = None) -> None:
        """Take the room's identity, and a key for all but its player."""
        super().__init__(coordinator)
        self.room_id = room
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
        return super().available and self.room.get("state", "away") != "away"


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


@callback
def add_listed(
    hass: HomeAssistant,
    entry: ConfigEntry,
    add: AddEntitiesCallback,
    kind: str,
    listed: Callable[[TuttiCoordinator], dict[str, JSON]],
    make: Callable[[TuttiCoordinator, str], Entity],
) -> None:
    """Add an entity for each thing that the household lists, now and whenever one comes; remove it with the thing.

    `kind` is what the keys of these entities begin with, before a colon.
    """
    coordinator: TuttiCoordinator = entry.runtime_data
    known: set[str] | None = None

    @callback
    def look() -> None:
        nonlocal known
        present = set(listed(coordinator))
        if present == known:
            return
        registry = er.async_get(hass)
        beginning = f"{coordinator.household}_{kind}:"
        for entity in er.async_entries_for_config_entry(registry, entry.entry_id):
            identity = entity.unique_id.removeprefix(beginning)
            if identity != entity.unique_id and identity not in present:
                registry.async_remove(entity.entity_id)
        add([make(coordinator, identity) for identity in sorted(present - (known or set()))])
        known = present

    entry.async_on_unload(coordinator.listen(look))
    look()
