"""Alarms, scenes and what belongs to the whole household, against the real daemon."""

from asyncio import to_thread
from datetime import datetime, timedelta, timezone
import time

from conftest import KITCHEN, STUDY, shows, state, until
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import entity_registry as er
import pytest
import voluptuous as vol

from custom_components.tutti.const import DOMAIN

ALARM, NEXT, RINGS = "switch.home_alarm_wake", "sensor.home_next_alarm", "binary_sensor.home_alarm_rings"
# An alarm rings at a whole minute.
MINUTE = 90


async def act(hass, service, entity=None, domain=DOMAIN, **data):
    target = {} if entity is None else {"entity_id": entity}
    await hass.services.async_call(domain, service, {**target, **data}, blocking=True)


def on(hass, entity, value="on"):
    return state(hass, entity) is not None and state(hass, entity).state == value


async def test_an_alarm_is_set_changed_skipped_and_removed(hass, entry):
    assert on(hass, NEXT, "unknown") and on(hass, RINGS, "off")
    rooms = [KITCHEN, STUDY]
    await act(hass, "add_alarm", rooms=rooms, time="07:05", name="Wake", days=["mon", "sat"], volume=25, rise=5)
    await until(hass, lambda: on(hass, ALARM))
    assert shows(hass, ALARM, time="07:05", days=["mon", "sat"], rooms=["Kitchen", "Study"], volume=25)
    (known,) = entry.runtime_data.alarms.values()
    assert known["riseS"] == 300 and known["music"]["kind"] == "tone"
    await until(hass, lambda: not on(hass, NEXT, "unknown"))
    first = datetime.fromisoformat(state(hass, NEXT).state)
    assert first == state(hass, ALARM).attributes["next"]
    await act(hass, "skip_alarm", ALARM)
    await until(hass, lambda: datetime.fromisoformat(state(hass, NEXT).state) > first)
    await act(hass, "change_alarm", ALARM, time="08:30", days=[], rooms=STUDY, play="http://192.0.2.1/radio", length=20)
    await until(hass, lambda: shows(hass, ALARM, time="08:30", days=[], rooms=["Study"], volume=25))
    (known,) = entry.runtime_data.alarms.values()
    assert known["lengthS"] == 1200 and known["music"]["kind"] == "items" and known["name"] == "Wake"
    await act(hass, "turn_off", ALARM, "switch")
    await until(hass, lambda: on(hass, ALARM, "off") and on(hass, NEXT, "unknown"))
    await act(hass, "turn_on", ALARM, "switch")
    await until(hass, lambda: on(hass, ALARM))
    with pytest.raises(HomeAssistantError):
        await act(hass, "change_alarm", ALARM, play="ftp://192.0.2.1/x")
    with pytest.raises(vol.Invalid):
        await act(hass, "change_alarm", ALARM, volume=101)
    with pytest.raises(ServiceValidationError):
        await act(hass, "add_alarm", rooms=["media_player.stranger"], time="07:05")
    await act(hass, "remove_alarm", ALARM)
    await until(hass, lambda: er.async_get(hass).async_get(ALARM) is None)
    assert state(hass, ALARM) is None


async def test_an_alarm_rings_and_is_snoozed_and_stopped(hass, entry):
    stop, snooze = "button.home_stop_the_alarm", "button.home_snooze"
    assert on(hass, stop, "unavailable") and on(hass, snooze, "unavailable")
    zone = timezone(timedelta(seconds=entry.runtime_data.server["zoneOffsetS"]))
    ring = datetime.now(zone) + timedelta(seconds=61)
    await act(hass, "add_alarm", rooms=[STUDY], time=ring.strftime("%H:%M"), name="Wake")
    await until(hass, lambda: on(hass, RINGS), MINUTE)
    assert shows(hass, RINGS, alarms=["Wake"]) and shows(hass, ALARM, alarm_state="ringing")
    await act(hass, "press", snooze, "button")
    await until(hass, lambda: on(hass, RINGS, "off"))
    assert on(hass, snooze, "unavailable")
    again = datetime.fromisoformat(state(hass, NEXT).state).timestamp()
    assert 500 < again - time.time() < 600
    await act(hass, "press", stop, "button")
    await until(hass, lambda: on(hass, stop, "unavailable") and on(hass, NEXT, "unknown"))


async def test_scenes_bring_rooms_together(hass, entry, house):
    scene = "scene.home_dinner"
    await to_thread(house.run, "scenes", "save", "Dinner", "--group", "Kitchen")
    await until(hass, lambda: state(hass, scene) is not None)
    await act(hass, "unjoin", STUDY, "media_player")
    await until(hass, lambda: shows(hass, STUDY, group_members=[]))
    await act(hass, "turn_on", scene, "scene")
    await until(hass, lambda: set(state(hass, STUDY).attributes["group_members"]) == {KITCHEN, STUDY})
    # One that was removed while Home Assistant was off goes as well.
    assert await hass.config_entries.async_unload(entry.entry_id)
    await to_thread(house.run, "scenes", "remove", "Dinner")
    assert await hass.config_entries.async_setup(entry.entry_id)
    await until(hass, lambda: er.async_get(hass).async_get(scene) is None)


async def test_everything_stops_at_once(hass, entry):
    await until(hass, lambda: state(hass).state == "playing")
    await act(hass, "press", "button.home_stop_everywhere", "button")
    await until(hass, lambda: state(hass).state == "idle")
