"""Faults that `tutti doctor` would find, as repairs."""

from asyncio import to_thread
from http import HTTPStatus
import signal

from conftest import DOMAIN, STUDY, shows, state, told, until
from homeassistant.helpers import issue_registry as ir
from homeassistant.setup import async_setup_component
import pytest

from custom_components.tutti.repairs import async_create_fix_flow
from test_household import ROOM


def issues(hass):
    found = ir.async_get(hass).issues.values()
    return {i.translation_key: i for i in found if i.domain == DOMAIN and i.active}


async def fix(client, path, **body):
    answer = await client.post(f"/api/repairs/issues/fix{path}", json=body)
    assert answer.status == HTTPStatus.OK, await answer.text()
    return await answer.json()


async def test_a_room_is_paired_by_its_repair(hass, entry, house, receivers, hass_client):
    assert await async_setup_component(hass, "repairs", {})
    # Its owner has made it ask for its PIN.
    await to_thread(receivers.programs["Study"].end)
    await to_thread(receivers.start, "Study", "paired")
    await until(hass, lambda: "not_paired" in issues(hass))
    issue = issues(hass)["not_paired"]
    assert issue.is_fixable and issue.translation_placeholders["room"] == "Study"
    assert shows(hass, STUDY, trouble="notPaired")
    client = await hass_client()
    flow = await fix(client, "", handler=DOMAIN, issue_id=issue.issue_id)
    assert (flow["step_id"], flow["description_placeholders"]) == ("pin", {"room": "Study"})
    wrong = await fix(client, f"/{flow['flow_id']}", pin="12345678")
    assert wrong["errors"] == {"base": "invalid_pin"}
    done = await fix(client, f"/{flow['flow_id']}", pin=await to_thread(receivers.pin, "Study"))
    assert done["type"] == "create_entry"
    await until(hass, lambda: state(hass, STUDY).state == "playing")
    assert issues(hass) == {}


async def test_a_room_is_not_paired_while_the_household_is_away(hass, entry, house):
    flow = await async_create_fix_flow(hass, "", {"entry_id": entry.entry_id, "room": "7b" * 32})
    flow.hass, flow.flow_id, flow.handler = hass, "1", DOMAIN
    assert (await flow.async_step_init())["step_id"] == "pin"
    await to_thread(house.daemon.end, signal.SIGKILL)
    assert (await flow.async_step_pin({"pin": "1"}))["errors"] == {"base": "cannot_connect"}
    gone = await async_create_fix_flow(hass, "", None)
    gone.hass, gone.flow_id, gone.handler, gone.issue_id = hass, "2", DOMAIN, "gone"
    assert (await gone.async_step_init())["step_id"] == "confirm"


async def test_a_folder_that_is_gone_is_told(hass, entry):
    coordinator = entry.runtime_data
    # Without waiting in between: the household itself tells of its scan.
    library = {**coordinator.library, "awayFolders": ["music"]}
    coordinator._take_change({"library": library})
    coordinator.tell()
    assert issues(hass)["folder_away"].translation_placeholders["folder"] == "music"
    coordinator._take_change({"library": {**library, "awayFolders": []}})
    coordinator.tell()
    assert issues(hass) == {}


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("misbehaving", "misbehaving"), ("noDevice", "no_device"), ("notPaired", "not_paired"),
        ("otherVersion", "other_version"), ("refused", "refused"),
        ("gone", None), ("slowNetwork", None), ("taken", None),
    ],
)  # fmt: skip
async def test_faults_of_rooms_come_and_go(hass, entry, code, key):
    faulty = {**ROOM, "reason": {"code": code}}
    await told(hass, entry, {"rooms": [faulty]})
    assert list(issues(hass)) == ([key] if key else [])
    await told(hass, entry, {"rooms": [{**faulty, "name": "Bathroom"}]})
    assert key is None or issues(hass)[key].translation_placeholders["room"] == "Bathroom"
    await told(hass, entry, {"rooms": [ROOM]})
    assert issues(hass) == {}


async def test_faults_end_with_the_entry(hass, entry):
    server = {
        **entry.runtime_data.server, "diskProblem": "the disk is full", "secondProblem": "it does not answer",
    }  # fmt: skip
    await told(hass, entry, {"server": server})
    assert issues(hass)["disk"].translation_placeholders["problem"] == "the disk is full"
    assert issues(hass)["second"].translation_placeholders["problem"] == "it does not answer"
    # What was wrong is still wrong while the household is away.
    entry.runtime_data._lost("for a test")
    assert "disk" in issues(hass)
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert issues(hass) == {}


async def test_neighbours_have_faults_of_their_own(hass, entry):
    theirs = {**ROOM, "isPaired": False, "reason": {"code": "notPaired"}}
    await told(hass, entry, {"rooms": [theirs]})
    assert issues(hass) == {}
