"""How well rooms keep time, and how much they hold. Off until a user switches them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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

from .api import JSON
from .coordinator import TuttiCoordinator
from .entity import TuttiEntity, add_rooms

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
    """Add the figures of each room."""
    add_rooms(
        hass,
        entry,
        add,
        lambda coordinator, room: [FigureSensor(coordinator, room, figure) for figure in SENSORS],
    )


class FigureSensor(TuttiEntity, SensorEntity):
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
