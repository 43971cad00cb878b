"""Facts for a report of a problem, without keys and titles."""

from __future__ import annotations

from typing import Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_HOST, CONF_TOKEN
from homeassistant.core import HomeAssistant

from .const import CONF_KEY
from .coordinator import TuttiCoordinator

PRIVATE = {CONF_KEY, CONF_TOKEN, CONF_HOST}
# What a family listens to is nobody's business; a room's trouble may name addresses, and so do rooms that were named by one.
PERSONAL = {
    "title", "artist", "album", "artwork", "detail", "holder", "canUndo", "id", "roomIds",
}  # fmt: skip


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: ConfigEntry
) -> dict[str, Any]:
    """Return the household as it was told last."""
    coordinator: TuttiCoordinator = entry.runtime_data
    return {
        "entry": async_redact_data(dict(entry.data), PRIVATE),
        "connected": coordinator.is_connected,
        "server": async_redact_data(coordinator.server, PERSONAL),
        "rooms": async_redact_data(list(coordinator.rooms.values()), PERSONAL),
        "groups": async_redact_data(list(coordinator.groups.values()), PERSONAL),
        "inputs": len(coordinator.inputs),
        "alarms": len(coordinator.alarms),
        "scenes": len(coordinator.scenes),
    }
