"""A button by which one hears which room is which."""

from __future__ import annotations

from homeassistant.components.button import ButtonDeviceClass, ButtonEntity
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EntityCategory
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .entity import TuttiEntity, add_rooms

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add a button for each room."""
    add_rooms(hass, entry, add, lambda coordinator, room: [IdentifyButton(coordinator, room, "identify")])


class IdentifyButton(TuttiEntity, ButtonEntity):
    """Plays a short sound in the room."""

    _attr_device_class = ButtonDeviceClass.IDENTIFY
    _attr_entity_category = EntityCategory.DIAGNOSTIC

    async def async_press(self) -> None:
        """Play the sound."""
        await self.coordinator.order("POST", f"rooms/{self.room_id}/identify")
