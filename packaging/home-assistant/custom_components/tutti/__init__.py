"""Rooms of a Tutti household."""

from __future__ import annotations

import aiohttp

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import CONF_HOST, CONF_PORT, CONF_TOKEN, Platform
from homeassistant.core import HomeAssistant, ServiceCall, callback
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.helpers.aiohttp_client import async_create_clientsession
import homeassistant.helpers.config_validation as cv
from homeassistant.helpers.typing import ConfigType

from . import alarms
from .api import TuttiAuthError, TuttiClient, TuttiError
from .const import CONF_KEY, DOMAIN
from .coordinator import TuttiCoordinator
from .issues import follow_issues

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)
PLATFORMS = [
    Platform.BINARY_SENSOR,
    Platform.BUTTON,
    Platform.MEDIA_PLAYER,
    Platform.SCENE,
    Platform.SENSOR,
    Platform.SWITCH,
]


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register the action that belongs to no entity."""

    async def add_alarm(call: ServiceCall) -> None:
        await alarms.add(hass, call)

    hass.services.async_register(DOMAIN, "add_alarm", add_alarm, alarms.ADD_SCHEMA)
    return True


def make_client(hass: HomeAssistant, data: dict) -> TuttiClient:
    """Make a client of the household that `data` of an entry names."""
    # The key is sent to this household alone, and no cookie of it is kept for others.
    session = async_create_clientsession(hass, cookie_jar=aiohttp.DummyCookieJar())
    return TuttiClient(
        session,
        data[CONF_HOST],
        data[CONF_PORT],
        key=data.get(CONF_KEY),
        token=data.get(CONF_TOKEN),
    )


async def async_setup_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Set up a household."""
    coordinator = TuttiCoordinator(hass, entry, make_client(hass, dict(entry.data)))
    try:
        await coordinator.start()
    except TuttiAuthError as error:
        raise ConfigEntryAuthFailed(str(error)) from error
    except TuttiError as error:
        raise ConfigEntryNotReady(str(error)) from error
    entry.runtime_data = coordinator
    dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id,
        identifiers={(DOMAIN, entry.entry_id)},
        name=coordinator.server.get("name", "Tutti"),
        manufacturer="Tutti",
        sw_version=coordinator.server.get("version"),
        configuration_url=coordinator.client.url,
        entry_type=dr.DeviceEntryType.SERVICE,
    )
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    follow_issues(hass, entry)
    entry.async_create_background_task(hass, coordinator.follow(), f"tutti {entry.entry_id}")
    return True


async def async_unload_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Let a household go."""
    return await hass.config_entries.async_unload_platforms(entry, PLATFORMS)


async def async_migrate_entry(hass: HomeAssistant, entry: ConfigEntry) -> bool:
    """Name rooms by household and receiver; before, two households could not have the same receiver."""
    if entry.version == 1 and entry.minor_version < 2:
        household = entry.unique_id or entry.entry_id

        @callback
        def rename(entity: er.RegistryEntry) -> dict[str, str]:
            return {"new_unique_id": f"{household}_{entity.unique_id}"}

        await er.async_migrate_entries(hass, entry.entry_id, rename)
        registry = dr.async_get(hass)
        for device in dr.async_entries_for_config_entry(registry, entry.entry_id):
            identities = {identity for _, identity in device.identifiers} - {entry.entry_id}
            if identities:
                names = {(DOMAIN, f"{household}_{identity}") for identity in identities}
                registry.async_update_device(device.id, new_identifiers=names)
        hass.config_entries.async_update_entry(entry, minor_version=2)
    return entry.version == 1


async def async_remove_config_entry_device(
    hass: HomeAssistant, entry: ConfigEntry, device: dr.DeviceEntry
) -> bool:
    """Let users remove a room in which the household may not play any more."""
    coordinator: TuttiCoordinator = entry.runtime_data
    rooms = {coordinator.key(room) for room in coordinator.rooms if coordinator.is_ours(room)}
    known = {(DOMAIN, identity) for identity in rooms | {entry.entry_id}}
    return not device.identifiers & known
