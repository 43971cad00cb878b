"""Buttons: which room is which, an alarm that rings, and quiet everywhere."""

from __future__ import annotations

from homeassistant.components.button import ButtonDeviceClass, ButtonEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from . import alarms
from .api import JSON
from .coordinator import TuttiCoordinator
from .entity import HouseEntity, RoomEntity, add_rooms

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add a button for each room, and those of the household."""
    household = entry.runtime_data
    add([
        AlarmButton(household, "stop_alarm", "stop", "ringing", "snoozed"),
        AlarmButton(household, "snooze_alarm", "snooze", "ringing"),
        StopButton(household, "stop_everywhere"),
    ])
    add_rooms(hass, entry, add, lambda coordinator, room: [IdentifyButton(coordinator, room, "identify")])


class IdentifyButton(RoomEntity, ButtonEntity):
    """Plays a short sound in the room."""

    _attr_device_class = ButtonDeviceClass.IDENTIFY
    _attr_entity_category = EntityCategory.DIAGNOSTIC

    async def async_press(self) -> None:
        """Play the sound."""
        await self.coordinator.order("POST", f"rooms/{self.room_id}/identify")


class AlarmButton(HouseEntity, ButtonEntity):
    """Does something with all alarms that ring."""

    def __init__(
        self, coordinator: TuttiCoordinator, key: str, order: str, *states: str
    ) -> None:
        """Take what is done, and in which states of an alarm it can be done."""
        super().__init__(coordinator, key)
        self._order, self._states = order, states

    @property
    def _alarms(self) -> list[JSON]:
        return alarms.ringing(self.coordinator.alarms.values(), *self._states)

    @property
    def available(self) -> bool:
        """False while there is no such alarm."""
        return super().available and bool(self._alarms)

    async def async_press(self) -> None:
        """Do it."""
        for alarm in self._alarms:
            await self.coordinator.order("POST", f"alarms/{alarm['id']}/{self._order}")


class StopButton(HouseEntity, ButtonEntity):
    """Ends the music in all rooms, and alarms that ring."""

    async def async_press(self) -> None:
        """Stop all."""
        await self.coordinator.order("POST", "stop")
