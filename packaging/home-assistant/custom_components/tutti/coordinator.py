"""Follows a household: one stream of events for all entities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
import logging
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import device_registry as dr
from homeassistant.util import dt as dt_util

from .api import JSON, TuttiAuthError, TuttiClient, TuttiError, TuttiStranger
from .const import DOMAIN, LONGEST_RETRY

_LOGGER = logging.getLogger(__name__)


class TuttiCoordinator:
    """The household as it was told last. For Home Assistant's event loop."""

    def __init__(self, hass: HomeAssistant, entry: ConfigEntry, client: TuttiClient) -> None:
        """Begin with nothing known."""
        self.hass, self.entry, self.client = hass, entry, client
        self.is_connected = False
        # Set once the household knows the key no more; a new one makes a new coordinator.
        self.needs_key = False
        self.server: JSON = {}
        self.rooms: dict[str, JSON] = {}
        self.groups: dict[str, JSON] = {}
        self.inputs: list[JSON] = []
        self.alarms: dict[str, JSON] = {}
        self.scenes: dict[str, JSON] = {}
        self.favourites: list[JSON] = []
        self.radios: list[JSON] = []
        self.library: JSON = {}
        self._last: str | None = None
        # The household's clock counts milliseconds from a moment of its own: this one, here.
        self._epoch = dt_util.utcnow()
        self._listeners: list[Callable[[], None]] = []
        self._sync_listeners: list[Callable[[], None]] = []

    # Listening

    @callback
    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; return what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @callback
    def listen_to_sync(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` each second with new figures; return what ends that."""
        self._sync_listeners.append(listener)
        return lambda: self._sync_listeners.remove(listener)

    # Facts

    @property
    def household(self) -> str:
        """The identity of the household."""
        return self.entry.unique_id or self.entry.entry_id

    def key(self, room: str) -> str:
        """Name a room for Home Assistant: two households may know the same receiver."""
        return f"{self.household}_{room}"

    def room_of(self, key: str) -> str | None:
        """Return the room that `key` names; None if it is none of this household."""
        household, _, room = key.rpartition("_")
        return room if household == self.household and room in self.rooms else None

    def is_ours(self, room: str) -> bool:
        """Tell whether the household may play there: it sees the neighbours' rooms as well."""
        known = self.rooms.get(room, {})
        return bool(known.get("isPaired") or known.get("groupId"))

    def is_shown(self, room: str) -> bool:
        """Tell whether Home Assistant has, or is to have, a device for the room."""
        device = dr.async_get(self.hass).async_get_device(identifiers={(DOMAIN, self.key(room))})
        return room in self.rooms and (device is not None or self.is_ours(room))

    def group_of(self, room: str) -> JSON | None:
        """Return the group in which the room plays."""
        return self.groups.get(self.rooms.get(room, {}).get("groupId", ""))

    def time(self, milliseconds: float) -> datetime:
        """Turn a time of the household's clock into one of Home Assistant's."""
        return self._epoch + timedelta(milliseconds=milliseconds)

    # Following

    async def start(self) -> None:
        """Take the state; raise `TuttiError` where there is none."""
        self._take_state(await self.client.state())
        self.is_connected = True
        await self._read_lists()

    async def follow(self) -> None:
        """Follow the events until the entry is unloaded."""
        wait = 1.0
        while True:
            try:
                async for kind, identity, content in self.client.events(self._last):
                    wait = 1.0
                    await self._take(kind, identity, content)
            except TuttiAuthError:
                self.needs_key = True
                self._lost("it does not know this Home Assistant any more")
                self.entry.async_start_reauth(self.hass)
                self.tell()
                return
            except TuttiError as error:
                self._lost(str(error))
            except Exception:
                # One answer that cannot be understood must not end it for good. All is read anew.
                _LOGGER.exception("The household at %s said what cannot be read", self.client.url)
                self._last = None
                self._lost("it said what cannot be read")
            else:
                self._lost("it has ended")
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_RETRY)

    async def _take(self, kind: str, identity: str | None, content: JSON) -> None:
        if identity is not None:
            self._last = identity
        if kind == "sync":
            self._take_sync(content)
            return
        library = self.library
        if kind == "state":
            self._take_state(content)
        elif kind == "change":
            self._take_change(content)
        else:
            return
        if not self.is_connected:
            self.is_connected = True
            _LOGGER.info("The household at %s is back", self.client.url)
        self.tell()
        if self.library != library:
            await self._read_lists()
            self.tell()

    def _take_state(self, state: JSON) -> None:
        known, identity = self.entry.unique_id, state.get("server", {}).get("id")
        if known is not None and identity != known:
            raise TuttiStranger("another household answers there")
        self._take_time(state)
        self.server = state.get("server", {})
        self.rooms = {room["id"]: room for room in state.get("rooms", [])}
        self.groups = {group["id"]: group for group in state.get("groups", [])}
        self.inputs = state.get("inputs", [])
        self._take_plans(state)
        self.library = state.get("library", {})
        self._forget_devices()
        self._name_devices(self.rooms.values())

    def _take_change(self, change: JSON) -> None:
        self._take_time(change)
        self.rooms.update((room["id"], room) for room in change.get("rooms", []))
        self.groups.update((group["id"], group) for group in change.get("groups", []))
        for room in change.get("removedRooms", []):
            self.rooms.pop(room, None)
        for group in change.get("removedGroups", []):
            self.groups.pop(group, None)
        self.inputs = change.get("inputs", self.inputs)
        self._take_plans(change)
        self.server = change.get("server", self.server)
        self.library = change.get("library", self.library)
        if change.get("removedRooms"):
            self._forget_devices()
        self._name_devices(change.get("rooms", []))

    def _take_plans(self, content: JSON) -> None:
        if "alarms" in content:
            self.alarms = {alarm["id"]: alarm for alarm in content["alarms"]}
        if "scenes" in content:
            self.scenes = {scene["id"]: scene for scene in content["scenes"]}

    def _take_sync(self, sync: JSON) -> None:
        for figures in sync.get("rooms", []):
            if (room := self.rooms.get(figures.get("id", ""))) is not None:
                room["sync"] = figures.get("sync")
        for listener in list(self._sync_listeners):
            listener()

    def _take_time(self, content: JSON) -> None:
        if (now := content.get("nowMs")) is None:
            return
        epoch = dt_util.utcnow() - timedelta(milliseconds=now)
        # A message that was held up on its way would make positions jump.
        if epoch < self._epoch or epoch - self._epoch > timedelta(seconds=1):
            self._epoch = epoch

    async def _read_lists(self) -> None:
        try:
            favourites = await self.client.request("GET", "library/favourites")
            radios = await self.client.request("GET", "library/radios")
        except TuttiError as error:
            _LOGGER.debug("Favourites and stations cannot be read: %s", error)
            return
        self.favourites = favourites["favourites"]
        self.radios = radios["radios"]

    @callback
    def _lost(self, reason: str) -> None:
        if not self.is_connected:
            return
        self.is_connected = False
        _LOGGER.warning("The household at %s is away: %s", self.client.url, reason)
        self.tell()

    @callback
    def tell(self) -> None:
        """Let everybody who listens look at the household again."""
        for listener in list(self._listeners):
            listener()

    def _forget_devices(self) -> None:
        """Remove the devices of rooms that the household has forgotten."""
        registry = dr.async_get(self.hass)
        known = {(DOMAIN, self.key(room)) for room in self.rooms} | {(DOMAIN, self.entry.entry_id)}
        for device in dr.async_entries_for_config_entry(registry, self.entry.entry_id):
            if not device.identifiers & known:
                registry.async_update_device(
                    device.id, remove_config_entry_id=self.entry.entry_id
                )

    def _name_devices(self, rooms: Iterable[JSON]) -> None:
        """Give devices the names that the household has; names that users gave them here stay."""
        registry = dr.async_get(self.hass)
        for room in rooms:
            device = registry.async_get_device(identifiers={(DOMAIN, self.key(room["id"]))})
            facts = (room["name"], room.get("model"))
            if device is not None and (device.name, device.model) != facts:
                registry.async_update_device(device.id, name=facts[0], model=facts[1])
        hub = registry.async_get_device(identifiers={(DOMAIN, self.entry.entry_id)})
        facts = (self.server.get("name"), self.server.get("version"))
        if hub is None or (hub.name, hub.sw_version) == facts:
            return
        if self.entry.title == hub.name:
            self.hass.config_entries.async_update_entry(self.entry, title=facts[0])
        registry.async_update_device(hub.id, name=facts[0], sw_version=facts[1])

    # Orders

    async def order(
        self, method: str, path: str, body: JSON | None = None, query: JSON | None = None
    ) -> Any:
        """Send an order; raise an error that people can read where it is refused."""
        try:
            return await self.client.request(method, path, body, query)
        except TuttiError as error:
            raise HomeAssistantError(
                str(error),
                translation_domain=DOMAIN,
                translation_key="refused",
                translation_placeholders={"reason": str(error)},
            ) from error
