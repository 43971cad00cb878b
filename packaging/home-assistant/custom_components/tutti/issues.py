"""Faults that `tutti doctor` would find, as repairs: those that only people can mend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .coordinator import TuttiCoordinator

# Reasons for which a room does not play, as the household names them. All others pass, or are somebody's wish.
ROOM_FAULTS = {
    "misbehaving": "misbehaving",
    "noDevice": "no_device",
    "notPaired": "not_paired",
    "otherVersion": "other_version",
    "refused": "refused",
}
# Sentences of the household about itself, by the keys of their texts.
SERVER_FAULTS = {"disk": "diskProblem", "second": "secondProblem"}
# The fault that people mend in Home Assistant, by a PIN.
NOT_PAIRED = "not_paired"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that is wrong: the key of its text, and the names in it."""

    key: str
    names: tuple[tuple[str, str], ...]
    room: str | None = None


def faults(coordinator: TuttiCoordinator) -> Iterator[tuple[str, Fault]]:
    """Yield all that is wrong, with an identity for each."""
    household = coordinator.server.get("name", "Tutti")
    for identity, room in coordinator.rooms.items():
        key = ROOM_FAULTS.get((room.get("reason") or {}).get("code", ""))
        if key is None or not coordinator.is_shown(identity):
            continue
        names = (("household", household), ("room", room["name"]))
        yield f"{coordinator.key(identity)}_{key}", Fault(key=key, names=names, room=identity)
    for key, field in SERVER_FAULTS.items():
        if problem := coordinator.server.get(field):
            names = (("household", household), ("problem", problem))
            yield f"{coordinator.household}_{key}", Fault(key=key, names=names)
    for folder in coordinator.library.get("awayFolders", []):
        names = (("folder", folder), ("household", household))
        yield f"{coordinator.household}_folder_{folder}", Fault(key="folder_away", names=names)


@callback
def follow_issues(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Show what is wrong now, and whenever that changes, until the entry is unloaded."""
    coordinator: TuttiCoordinator = entry.runtime_data
    shown: dict[str, Fault] = {}

    @callback
    def show(now: dict[str, Fault]) -> None:
        for identity in shown.keys() - now.keys():
            ir.async_delete_issue(hass, DOMAIN, identity)
        for identity, fault in now.items():
            if shown.get(identity) == fault:
                continue
            ir.async_create_issue(
                hass,
                DOMAIN,
                identity,
                data={"entry_id": entry.entry_id, "room": fault.room} if fault.room else None,
                is_fixable=fault.key == NOT_PAIRED,
                severity=ir.IssueSeverity.WARNING,
                translation_key=fault.key,
                translation_placeholders=dict(fault.names),
            )
        shown.clear()
        shown.update(now)

    @callback
    def look() -> None:
        # Nothing is known of a household that is away: its faults stay as they were.
        if coordinator.is_connected:
            show(dict(faults(coordinator)))

    entry.async_on_unload(coordinator.listen(look))
    entry.async_on_unload(lambda: show({}))
    look()
