"""Whether an alarm of the household rings."""

from __future__ import annotations

from typing import Any

from homeassistant.components.binary_sensor import BinarySensorEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from . import alarms
from .entity import HouseEntity

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add the one."""
    add([AlarmRings(entry.runtime_data, "alarm_rings")])


class AlarmRings(HouseEntity, BinarySensorEntity):
    """On while an alarm rings."""

    @property
    def is_on(self) -> bool:
        """False between the alarms, and during a snooze."""
        return bool(alarms.ringing(self.coordinator.alarms.values()))

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """The alarms that ring."""
        ringing = alarms.ringing(self.coordinator.alarms.values())
        return {"alarms": [alarms.name(alarm) for alarm in ringing]}
