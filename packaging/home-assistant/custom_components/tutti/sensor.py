"""When the next alarm rings; and how well rooms keep time, and how much they hold: off until a user switches them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
    SensorStateClass,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EntityCategory, UnitOfTime
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback
from homeassistant.util import dt as dt_util

from .api import JSON
from .coordinator import TuttiCoordinator
from .entity import HouseEntity, RoomEntity, add_rooms

PARALLEL_UPDATES = 0


@dataclass(frozen=True, kw_only=True)
class TuttiSensorDescription(SensorEntityDescription):
    """A figure of a room."""

    value: Callable[[JSON], float | None]


SENSORS = (
    TuttiSensorDescription(
        key="sync_error",
        native_unit_of_measurement=UnitOfTime.MICROSECONDS,
        value=lambda sync: sync.get("errorUs"),
        suggested_display_precision=0,
    ),
    TuttiSensorDescription(
        key="buffer",
        device_class=SensorDeviceClass.DURATION,
        native_unit_of_measurement=UnitOfTime.SECONDS,
        value=lambda sync: sync.get("bufferedS"),
        suggested_display_precision=0,
    ),
)


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add the next alarm, and the figures of each room."""
    add([NextAlarm(entry.runtime_data, "next_alarm")])
    add_rooms(
        hass,
        entry,
        add,
        lambda coordinator, room: [FigureSensor(coordinator, room, figure) for figure in SENSORS],
    )


class FigureSensor(RoomEntity, SensorEntity):
    """One figure; unknown while the room plays nothing."""

    entity_description: TuttiSensorDescription
    _attr_entity_category = EntityCategory.DIAGNOSTIC
    _attr_entity_registry_enabled_default = False
    _attr_state_class = SensorStateClass.MEASUREMENT

    def __init__(
        self, coordinator: TuttiCoordinator, room: str, description: TuttiSensorDescription
    ) -> None:
        """Take the figure that is shown."""
        super().__init__(coordinator, room, description.key)
        self.entity_description = description

    @property
    def native_value(self) -> float | None:
        """The figure as it was told last."""
        return self.entity_description.value(self.room.get("sync") or {})

    async def async_added_to_hass(self) -> None:
        """Follow the figures as well."""
        await super().async_added_to_hass()
        self.async_on_remove(self.coordinator.listen_to_sync(self.async_write_ha_state))


class NextAlarm(HouseEntity, SensorEntity):
    """When an alarm rings next, or again after a snooze; unknown if none does."""

    _attr_device_class = SensorDeviceClass.TIMESTAMP

    @property
    def native_value(self) -> datetime | None:
        """The first of all alarms that are on."""
        times = [
            time
            for alarm in self.coordinator.alarms.values()
            for time in (alarm.get("snoozedUntilS"), alarm.get("nextAtS") if alarm["isOn"] else None)
            if time is not None
        ]
        return dt_util.utc_from_timestamp(min(times)) if times else None
