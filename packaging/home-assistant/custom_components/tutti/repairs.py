"""Mends what people can mend in Home Assistant: a room that is not paired."""

from __future__ import annotations

from typing import Any

from homeassistant.components.repairs import ConfirmRepairFlow, RepairsFlow
from homeassistant.const import CONF_PIN
from homeassistant.core import HomeAssistant
from homeassistant.helpers import config_validation as cv
import voluptuous as vol

from .api import TuttiError, TuttiUnreachable
from .coordinator import TuttiCoordinator


class PairFlow(RepairsFlow):
    """Asks for the PIN of a room, and pairs the household with it."""

    def __init__(self, coordinator: TuttiCoordinator, room: str) -> None:
        """Take the room that is to be paired."""
        self._coordinator, self._room = coordinator, room

    async def async_step_init(self, user_input: dict[str, Any] | None = None):
        """Begin."""
        return await self.async_step_pin()

    async def async_step_pin(self, user_input: dict[str, Any] | None = None):
        """Ask for the PIN."""
        errors = {}
        if user_input is not None:
            path = f"rooms/{self._room}/pair"
            try:
                await self._coordinator.client.request("POST", path, {CONF_PIN: user_input[CONF_PIN]})
            except TuttiUnreachable:
                errors["base"] = "cannot_connect"
            except TuttiError:
                errors["base"] = "invalid_pin"
            else:
                return self.async_create_entry(title="", data={})
        name = self._coordinator.rooms.get(self._room, {}).get("name", "")
        return self.async_show_form(
            step_id="pin",
            data_schema=vol.Schema({vol.Required(CONF_PIN): cv.string}),
            description_placeholders={"room": name},
            errors=errors,
        )


async def async_create_fix_flow(
    hass: HomeAssistant, issue_id: str, data: dict[str, Any] | None
) -> RepairsFlow:
    """Return what mends the issue."""
    entry = hass.config_entries.async_get_entry((data or {}).get("entry_id", ""))
    coordinator = getattr(entry, "runtime_data", None)
    # The household may have been removed while its issue was on the screen.
    if coordinator is None:
        return ConfirmRepairFlow()
    return PairFlow(coordinator, data["room"])
