"""Alarms of the household, which are switched on and off, changed and removed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from homeassistant.components.switch import SwitchEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback, async_get_current_platform
from homeassistant.util import dt as dt_util

from . import alarms
from .api import JSON
from .coordinator import TuttiCoordinator
from .entity import HouseEntity, add_listed

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add each alarm, and what is done with one."""
    platform = async_get_current_platform()
    platform.async_register_entity_service(
        "change_alarm", alarms.CHANGE_SCHEMA, "async_change_alarm"
    )
    platform.async_register_entity_service("skip_alarm", {}, "async_skip_alarm")
    platform.async_register_entity_service("remove_alarm", {}, "async_remove_alarm")
    add_listed(hass, entry, add, "alarm", lambda coordinator: coordinator.alarms, AlarmSwitch)


class AlarmSwitch(HouseEntity, SwitchEntity):
    """One alarm; on while it is to ring."""

    def __init__(self, coordinator: TuttiCoordinator, alarm: str) -> None:
        """Take the alarm's identity."""
        super().__init__(coordinator, f"alarm:{alarm}")
        self.alarm_id = alarm
        self._attr_translation_key = "alarm"

    @property
    def alarm(self) -> JSON:
        """The alarm as it was told last; empty if it is removed."""
        return self.coordinator.alarms.get(self.alarm_id, {})

    @property
    def name(self) -> str | None:
        """What it is called in the household, or its time."""
        return f"Alarm {alarms.name(self.alarm)}" if self.alarm else None

    @property
    def is_on(self) -> bool | None:
        """False if it does not ring until it is switched on."""
        return self.alarm.get("isOn")

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """Its time and days, the rooms, and whether it rings."""
        if not self.alarm:
            return {}
        rooms = self.coordinator.rooms
        return {
            "time": self.alarm["time"],
            "days": self.alarm["days"],
            "rooms": [rooms[room]["name"] for room in self.alarm["roomIds"] if room in rooms],
            "volume": self.alarm["volume"],
            "alarm_state": self.alarm["state"],
            "next": self._next,
        }

    @property
    def _next(self) -> datetime | None:
        seconds = self.alarm.get("nextAtS")
        return None if seconds is None else dt_util.utc_from_timestamp(seconds)

    async def async_turn_on(self, **kwargs: Any) -> None:
        """Let it ring again."""
        await self._change({"isOn": True})

    async def async_turn_off(self, **kwargs: Any) -> None:
        """Keep it without a ring."""
        await self._change({"isOn": False})

    async def async_change_alarm(self, **change: Any) -> None:
        """Change what is said, and leave the rest."""
        await self._change(alarms.order(self.hass, change, self.coordinator)[1])

    async def async_skip_alarm(self) -> None:
        """Leave out the next ring."""
        await self._change({"skipsNext": True})

    async def async_remove_alarm(self) -> None:
        """Delete it."""
        await self.coordinator.order("DELETE", f"alarms/{self.alarm_id}")

    async def _change(self, change: JSON) -> None:
        await self.coordinator.order("PATCH", f"alarms/{self.alarm_id}", change)
