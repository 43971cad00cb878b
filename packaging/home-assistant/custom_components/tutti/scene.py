"""Scenes of the household: rooms that play together, each as loud as it was."""

from __future__ import annotations

from typing import Any

from homeassistant.components.scene import Scene
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddEntitiesCallback

from .coordinator import TuttiCoordinator
from .entity import HouseEntity, add_listed

PARALLEL_UPDATES = 0


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add each scene."""
    add_listed(hass, entry, add, "scene", lambda coordinator: coordinator.scenes, HouseScene)


class HouseScene(HouseEntity, Scene):
    """One scene."""

    def __init__(self, coordinator: TuttiCoordinator, scene: str) -> None:
        """Take the scene's identity."""
        super().__init__(coordinator, f"scene:{scene}")
        self.scene_id = scene

    @property
    def name(self) -> str | None:
        """The name that it has in the household."""
        return self.coordinator.scenes.get(self.scene_id, {}).get("name")

    async def async_activate(self, **kwargs: Any) -> None:
        """Bring the rooms together: the music that plays moves to them."""
        await self.coordinator.order("POST", f"scenes/{self.scene_id}/recall", {})
