"""A household of the real programs for each test, and what all tests do with Home Assistant."""

import asyncio
from asyncio import to_thread
from pathlib import Path
import sys
import tempfile
import time

from homeassistant.config_entries import SIGNAL_CONFIG_ENTRY_CHANGED
from homeassistant.core import callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from house import PATIENCE, House, Receivers, Stream

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packaging" / "home-assistant"))
# Before the test harness has custom components of its own.
from custom_components.tutti import make_client  # noqa: E402

PLAYERS, DOMAIN = "media_player", "tutti"
KITCHEN, STUDY = "media_player.kitchen", "media_player.study"
MEASURED = []


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def receivers(folder, socket_enabled):
    receivers = Receivers(folder)
    try:
        yield receivers
    finally:
        receivers.end()


@pytest.fixture
def house(folder, receivers):
    house = House(folder / "home", receivers)
    try:
        yield house
    finally:
        house.end()


@pytest.fixture
def stream(folder, socket_enabled):
    """Serve songs as Music Assistant and Home Assistant do."""
    stream = Stream(folder / "streams")
    yield stream
    stream.end()


@pytest.fixture
def bell(stream):
    return stream.address("bell")


@pytest.fixture(autouse=True)
def _custom(enable_custom_integrations):
    """Let Home Assistant load the integration."""


async def identity(hass, house):
    """Return the identity of a household, as it says it."""
    state = await make_client(hass, address(house, token=house.token)).state()
    return state["server"]["id"]


def address(house, **more):
    return {"host": "127.0.0.1", "port": house.port, **more}


async def add(hass, house, **more):
    """Add a household to Home Assistant, and set it up."""
    entry = MockConfigEntry(
        domain=DOMAIN,
        title=house.name,
        data=address(house, token=house.token),
        **{"unique_id": await identity(hass, house), "minor_version": 2, **more},
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


@pytest.fixture
async def entry(hass, house):
    await to_thread(house.meet)
    entry = await add(hass, house)
    yield entry
    if entry.state.value == "loaded":
        assert await hass.config_entries.async_unload(entry.entry_id)


async def told(hass, entry, change):
    """Tell an invented change. What the household itself tells is not taken any more: it would contradict."""
    coordinator = entry.runtime_data

    async def ignore(*_):
        pass

    coordinator._take = ignore
    await type(coordinator)._take(coordinator, "change", None, change)
    await hass.async_block_till_done()


async def until(hass, condition, seconds=PATIENCE):
    """Wait until the condition holds, looking at each change of a state, an entry, a registry or a household."""
    changed = asyncio.Event()

    @callback
    def note(*_):
        changed.set()

    kinds = (
        "state_changed", "device_registry_updated", "entity_registry_updated",
        "repairs_issue_registry_updated", "component_loaded",
    )  # fmt: skip
    ends = [hass.bus.async_listen(kind, note) for kind in kinds]
    ends.append(async_dispatcher_connect(hass, SIGNAL_CONFIG_ENTRY_CHANGED, note))
    for entry in hass.config_entries.async_entries(DOMAIN):
        if (coordinator := getattr(entry, "runtime_data", None)) is not None:
            ends.append(coordinator.listen(changed.set))
    try:
        async with asyncio.timeout(seconds):
            while not condition():
                await changed.wait()
                changed.clear()
    finally:
        for end in ends:
            end()


def state(hass, entity=KITCHEN):
    return hass.states.get(entity)


def shows(hass, entity=KITCHEN, **attributes):
    now = state(hass, entity)
    return now is not None and all(now.attributes.get(k) == v for k, v in attributes.items())


async def call(hass, service, entity=KITCHEN, **data):
    await hass.services.async_call(
        PLAYERS, service, {"entity_id": entity, **data}, blocking=True
    )


def measure(name):
    """Return what ends the measurement of a time, which is shown after the tests."""
    begin = time.monotonic()

    def end():
        seconds = time.monotonic() - begin
        MEASURED.append(f"{name}: {seconds:.1f} s")
        return seconds

    return end


def pytest_terminal_summary(terminalreporter):
    for line in MEASURED:
        terminalreporter.write_line(line)
