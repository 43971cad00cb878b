"""Households and rooms that come, go, move, change their names and are forgotten, without a reload."""

import asyncio
from asyncio import to_thread
from datetime import timedelta
import signal

from conftest import (
    DOMAIN, KITCHEN, PLAYERS, STUDY, add, address, call, identity, measure, shows, state, told, until,
)  # fmt: skip
from homeassistant.config_entries import ConfigEntryState
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import entity_registry as er
from homeassistant.util import dt as dt_util
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.tutti import async_remove_config_entry_device
from house import House
from test_flow import discover

ROOM = {"id": "7b" * 32, "name": "Bath", "state": "free", "isPaired": True, "isPresent": True}


def devices(hass, entry):
    found = dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)
    return sorted(device.name for device in found)


def device(hass, entry, name):
    found = dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)
    return next(device for device in found if device.name == name)


async def test_a_daemon_that_was_killed_is_back_without_a_reload(hass, entry, house):
    await until(hass, lambda: state(hass).state == "playing")
    player = hass.data[PLAYERS].get_entity(KITCHEN)
    away = measure("from the kill of the daemon until its rooms are unavailable")
    back = measure("from the kill of the daemon until its rooms play in Home Assistant again")
    await to_thread(house.daemon.end, signal.SIGKILL)
    await until(hass, lambda: state(hass).state == "unavailable")
    away()
    with pytest.raises(HomeAssistantError):
        await entry.runtime_data.order("GET", "state")
    await to_thread(house.start)
    await until(hass, lambda: state(hass).state == "playing")
    assert back() < 10
    assert hass.data[PLAYERS].get_entity(KITCHEN) is player
    assert devices(hass, entry) == ["Home", "Kitchen", "Study"]


async def test_a_key_that_was_removed_is_asked_for(hass, entry, house):
    await to_thread(house.daemon.end)
    await until(hass, lambda: state(hass).state == "unavailable")
    house.token = "another-token-of-the-household"
    await to_thread(house.start)
    await until(hass, lambda: entry.runtime_data.needs_key)
    await hass.async_block_till_done()
    (flow,) = hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == "reauth"
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], {"token": house.token})
    assert done["reason"] == "reauth_successful"
    await hass.async_block_till_done()
    await until(hass, lambda: state(hass).state == "playing")


async def test_a_room_that_is_gone_comes_back(hass, entry, receivers):
    await to_thread(receivers.programs["Study"].end, signal.SIGKILL)
    await until(hass, lambda: state(hass, STUDY).state == "unavailable")
    assert state(hass).state != "unavailable"
    await to_thread(receivers.start, "Study")
    await until(hass, lambda: state(hass, STUDY).state == "playing")


async def test_a_free_room_outlives_a_kill_of_the_daemon(hass, entry, house):
    await call(hass, "unjoin", STUDY)
    await until(hass, lambda: shows(hass, STUDY, group_members=[]))
    registry = dr.async_get(hass)
    study = device(hass, entry, "Study")
    registry.async_update_device(study.id, name_by_user="My study")
    await to_thread(house.daemon.end, signal.SIGKILL)
    await until(hass, lambda: state(hass).state == "unavailable")
    await to_thread(house.start)
    await until(hass, lambda: state(hass, STUDY).state == "idle")
    assert registry.async_get(study.id).name_by_user == "My study"


async def test_rooms_come_and_are_forgotten(hass, entry):
    await told(hass, entry, {"rooms": [ROOM]})
    assert state(hass, "media_player.bath").state == "idle"
    await told(hass, entry, {"removedRooms": [ROOM["id"]]})
    assert state(hass, "media_player.bath") is None
    assert devices(hass, entry) == ["Home", "Kitchen", "Study"]


async def test_a_neighbours_room_is_shown_once_it_is_paired(hass, entry):
    theirs = {**ROOM, "isPaired": False, "state": "notPaired", "reason": {"code": "notPaired"}}
    await told(hass, entry, {"rooms": [theirs]})
    assert state(hass, "media_player.bath") is None
    await told(hass, entry, {"rooms": [ROOM]})
    assert state(hass, "media_player.bath").state == "idle"
    # It stays when it is unpaired, until its device is removed; and may come again.
    await told(hass, entry, {"rooms": [theirs]})
    bath = device(hass, entry, "Bath")
    assert shows(hass, "media_player.bath", trouble="notPaired")
    assert await async_remove_config_entry_device(hass, entry, bath)
    dr.async_get(hass).async_update_device(bath.id, remove_config_entry_id=entry.entry_id)
    await hass.async_block_till_done()
    await told(hass, entry, {"rooms": [theirs]})
    assert state(hass, "media_player.bath") is None
    await told(hass, entry, {"rooms": [ROOM]})
    assert state(hass, "media_player.bath").state == "idle"


async def test_a_device_of_no_room_may_be_removed(hass, entry):
    registry = dr.async_get(hass)
    stale = registry.async_get_or_create(
        config_entry_id=entry.entry_id, identifiers={(DOMAIN, "gone")}
    )
    assert await async_remove_config_entry_device(hass, entry, stale)
    assert not await async_remove_config_entry_device(hass, entry, device(hass, entry, "Kitchen"))


async def test_new_names_are_followed(hass, entry, house):
    registry = dr.async_get(hass)
    study = device(hass, entry, "Study")
    registry.async_update_device(study.id, name_by_user="My study")
    await to_thread(house.run, "rename", "Kitchen", "Galley")
    await to_thread(house.run, "rename", "Study", "Den")
    await until(hass, lambda: devices(hass, entry) == ["Den", "Galley", "Home"])
    await until(hass, lambda: shows(hass, friendly_name="Galley"))
    assert shows(hass, STUDY, friendly_name="My study")
    # The household itself gets another name, and another version.
    registry.async_update_device(device(hass, entry, "Home").id, sw_version="0.0.1")
    await to_thread(house.daemon.end)
    house.name = "Cabin"
    await to_thread(house.start)
    await until(hass, lambda: devices(hass, entry) == ["Cabin", "Den", "Galley"])
    hub = device(hass, entry, "Cabin")
    assert entry.title == "Cabin" and hub.sw_version == entry.runtime_data.server["version"]


async def test_two_rooms_become_a_stereo_pair_and_part(hass, entry, house):
    await to_thread(house.run, "stereo", "Kitchen", "Study", "--name", "Pair")
    await until(hass, lambda: devices(hass, entry) == ["Home", "Pair"])
    # The pair has the identity of its left room.
    await until(hass, lambda: shows(hass, friendly_name="Pair", group_members=[KITCHEN]))
    await until(hass, lambda: state(hass, STUDY) is None)
    await to_thread(house.run, "stereo", "--separate", "Pair")
    await until(hass, lambda: devices(hass, entry) == ["Home", "Kitchen", "Study"])
    await until(hass, lambda: shows(hass, STUDY, group_members=[KITCHEN, STUDY]))


async def test_rooms_of_different_groups_join(hass, entry, house):
    await call(hass, "unjoin", STUDY)
    await until(hass, lambda: shows(hass, STUDY, group_members=[]))
    noon = str(house.music / "Noon.wav")
    await to_thread(house.run, "play", noon, "--on", "Study")
    await until(hass, lambda: shows(hass, STUDY, media_title="Noon", group_members=[STUDY]))
    await call(hass, "join", KITCHEN, group_members=[STUDY])
    await until(hass, lambda: shows(hass, STUDY, group_members=[KITCHEN, STUDY]))
    await until(hass, lambda: shows(hass, STUDY, media_title="Dawn"))


async def test_home_assistant_starts_before_the_daemon(hass, house):
    await to_thread(house.meet)
    known = await identity(hass, house)
    await to_thread(house.daemon.end)
    entry = MockConfigEntry(
        domain=DOMAIN, data=address(house, token=house.token), unique_id=known, minor_version=2
    )
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    await to_thread(house.start)
    async_fire_time_changed(hass, dt_util.utcnow() + timedelta(minutes=2))
    await hass.async_block_till_done()
    await until(hass, lambda: state(hass) and entry.state is ConfigEntryState.LOADED)


async def test_a_restart_of_home_assistant_keeps_everything(hass, entry):
    registry = er.async_get(hass)
    before = {e.entity_id: e.unique_id for e in registry.entities.values()}
    ids = {d.id for d in dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)}
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert state(hass).state == "unavailable"
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    assert {e.entity_id: e.unique_id for e in registry.entities.values()} == before
    after = dr.async_entries_for_config_entry(dr.async_get(hass), entry.entry_id)
    assert {d.id for d in after} == ids
    await until(hass, lambda: state(hass).state == "playing")


async def test_a_household_that_moves_is_followed(hass, entry, house):
    await to_thread(house.daemon.end)
    await until(hass, lambda: state(hass).state == "unavailable")
    house.port = 0
    await to_thread(house.start)
    found = await discover(hass, house, entry.unique_id)
    assert found["reason"] == "already_configured"
    await hass.async_block_till_done()
    await until(hass, lambda: state(hass).state == "playing")
    assert entry.data["port"] == house.port


async def test_another_household_at_the_address_is_left_alone(hass, house):
    await to_thread(house.meet)
    entry = MockConfigEntry(
        domain=DOMAIN, data=address(house, token=house.token), unique_id="5a" * 16, minor_version=2
    )
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY and "another" in entry.reason
    assert state(hass) is None


async def test_two_households_have_the_same_receivers(hass, entry, folder, receivers):
    other = House(folder / "away", receivers, "Away")
    try:
        theirs = await add(hass, other)
        both = ("media_player.kitchen_2", "media_player.study_2")
        await until(hass, lambda: all(state(hass, player) for player in both))
        registry = er.async_get(hass)
        players = [e for e in registry.entities.values() if e.domain == PLAYERS]
        assert len({e.unique_id for e in players}) == len(players) == 4
        assert devices(hass, theirs) == ["Away", "Kitchen", "Study"]
        await until(hass, lambda: shows(hass, "media_player.kitchen_2", trouble="busy"))
        with pytest.raises(ServiceValidationError):
            await call(hass, "join", KITCHEN, group_members=["media_player.study_2"])
        with pytest.raises(HomeAssistantError):
            await call(hass, "media_pause", "media_player.kitchen_2")
        assert await hass.config_entries.async_remove(theirs.entry_id)
        assert devices(hass, entry) == ["Home", "Kitchen", "Study"]
    finally:
        await to_thread(other.end)


async def test_names_of_before_are_migrated(hass, house):
    await to_thread(house.meet)
    known = await identity(hass, house)
    old = MockConfigEntry(
        domain=DOMAIN, data=address(house, token=house.token), unique_id=known, minor_version=1
    )
    old.add_to_hass(hass)
    from custom_components.tutti import make_client

    rooms = (await make_client(hass, dict(old.data)).state())["rooms"]
    room = next(room["id"] for room in rooms if room["name"] == "Kitchen")
    devices_, entities = dr.async_get(hass), er.async_get(hass)
    was = devices_.async_get_or_create(
        config_entry_id=old.entry_id, identifiers={(DOMAIN, room)}, name="Kitchen"
    )
    entities.async_get_or_create(
        PLAYERS, DOMAIN, room, config_entry=old, device_id=was.id, suggested_object_id="my_kitchen"
    )
    assert await hass.config_entries.async_setup(old.entry_id)
    await hass.async_block_till_done()
    await until(hass, lambda: state(hass, "media_player.my_kitchen").state == "playing")
    assert devices_.async_get(was.id).identifiers == {(DOMAIN, f"{known}_{room}")}
    assert old.minor_version == 2 and state(hass) is None


async def test_an_answer_that_cannot_be_read_does_not_end_it(hass, entry, caplog):
    coordinator = entry.runtime_data

    def fail(_):
        del coordinator._take_sync
        raise KeyError("rooms")

    await until(hass, lambda: state(hass).state == "playing")
    coordinator._take_sync = fail
    await until(hass, lambda: state(hass).state == "unavailable")
    assert "what cannot be read" in caplog.text
    await until(hass, lambda: state(hass).state == "playing")
    caplog.clear()
