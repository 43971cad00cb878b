"""Adding a household: by address, by discovery, with PIN, token or neither; moving it, and pairing anew."""

from asyncio import to_thread
from ipaddress import ip_address

from conftest import DOMAIN, add, address, identity
from homeassistant import config_entries
from homeassistant.data_entry_flow import FlowResultType
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.tutti.api import TuttiAuthError, TuttiClient
from custom_components.tutti.const import CONF_KEY
from house import TOKEN

try:
    from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
except ImportError:  # before 2025.2
    from homeassistant.components.zeroconf import ZeroconfServiceInfo


async def begin(hass, house):
    flow = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": config_entries.SOURCE_USER}
    )
    assert (flow["type"], flow["step_id"]) == (FlowResultType.FORM, "user")
    return await hass.config_entries.flow.async_configure(flow["flow_id"], address(house))


async def test_pairs_by_pin(hass, house):
    flow = await begin(hass, house)
    assert flow["step_id"] == "access"
    wrong = await hass.config_entries.flow.async_configure(flow["flow_id"], {"pin": "00000000"})
    assert wrong["errors"] == {"base": "invalid_auth"}
    mistyped = await hass.config_entries.flow.async_configure(flow["flow_id"], {"pin": "12345678"})
    assert mistyped["errors"] == {"base": "invalid_auth"}
    nothing = await hass.config_entries.flow.async_configure(flow["flow_id"], {})
    assert nothing["errors"] == {"base": "invalid_auth"}
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], {"pin": await to_thread(house.pin)})
    assert done["type"] == FlowResultType.CREATE_ENTRY
    assert done["title"] == "Home" and done["data"][CONF_KEY] and "token" not in done["data"]
    assert len(done["result"].unique_id) == 32
    await hass.async_block_till_done()
    assert "Home Assistant" in await to_thread(house.run, "browsers")
    # The same household is not added twice.
    again = await begin(hass, house)
    again = await hass.config_entries.flow.async_configure(again["flow_id"], {"token": TOKEN})
    assert (again["type"], again["reason"]) == (FlowResultType.ABORT, "already_configured")


async def test_takes_a_token_or_refuses_it(hass, house):
    flow = await begin(hass, house)
    wrong = await hass.config_entries.flow.async_configure(flow["flow_id"], {"token": "x" * 20})
    assert wrong["errors"] == {"base": "invalid_auth"}
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], {"token": TOKEN})
    assert done["type"] == FlowResultType.CREATE_ENTRY and done["data"]["token"] == TOKEN


async def test_nothing_answers(hass, house):
    await to_thread(house.daemon.end)
    flow = await begin(hass, house)
    assert flow["errors"] == {"base": "cannot_connect"}


def discover(hass, house, identity="5a" * 16, port=None):
    """Begin as Home Assistant does when a household is announced."""
    info = ZeroconfServiceInfo(
        ip_address=ip_address("127.0.0.1"),
        ip_addresses=[ip_address("127.0.0.1")],
        hostname="study.local.",
        name=f"{house.name}._tutti-house._tcp.local.",
        port=port or house.port,
        properties={"id": identity, "version": "1"},
        type="_tutti-house._tcp.local.",
    )
    return hass.config_entries.flow.async_init(
        DOMAIN, context={"source": config_entries.SOURCE_ZEROCONF}, data=info
    )


async def test_is_discovered_and_followed(hass, house):
    flow = await discover(hass, house)
    assert flow["step_id"] == "confirm"
    flow = await hass.config_entries.flow.async_configure(flow["flow_id"], {})
    assert flow["step_id"] == "access"
    hass.config_entries.flow.async_abort(flow["flow_id"])
    moved = MockConfigEntry(domain=DOMAIN, data=address(house), unique_id="5a" * 16)
    moved.add_to_hass(hass)
    again = await discover(hass, house, port=9)
    assert again["reason"] == "already_configured" and moved.data["port"] == 9


async def test_discovered_but_gone(hass, house):
    flow = await discover(hass, house)
    await to_thread(house.daemon.end)
    flow = await hass.config_entries.flow.async_configure(flow["flow_id"], {})
    assert (flow["type"], flow["reason"]) == (FlowResultType.ABORT, "cannot_connect")


async def test_is_paired_anew(hass, house):
    entry = MockConfigEntry(domain=DOMAIN, data=address(house, **{CONF_KEY: "old"}))
    entry.add_to_hass(hass)
    assert not await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    (flow,) = hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == config_entries.SOURCE_REAUTH
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], {"pin": await to_thread(house.pin)})
    assert done["reason"] == "reauth_successful" and entry.data[CONF_KEY] != "old"
    await hass.async_block_till_done()
    assert entry.state is config_entries.ConfigEntryState.LOADED


async def test_moves_to_another_address(hass, house):
    entry = MockConfigEntry(domain=DOMAIN, data=address(house, token=TOKEN) | {"port": 1})
    entry.add_to_hass(hass)
    flow = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": "reconfigure", "entry_id": entry.entry_id}
    )
    assert flow["step_id"] == "reconfigure"
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], address(house))
    assert done["reason"] == "reconfigure_successful" and entry.data["port"] == house.port
    other = MockConfigEntry(domain=DOMAIN, data=address(house, token=TOKEN), unique_id="other")
    other.add_to_hass(hass)
    flow = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": "reconfigure", "entry_id": other.entry_id}
    )
    done = await hass.config_entries.flow.async_configure(flow["flow_id"], address(house))
    assert done["reason"] == "another_household"


async def test_a_guess_is_refused(hass, house):
    from custom_components.tutti import make_client

    client: TuttiClient = make_client(hass, address(house))
    with pytest.raises(TuttiAuthError):
        await client.pair("00000000", "somebody")
