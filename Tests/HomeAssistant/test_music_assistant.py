"""Music Assistant's MPD players: its calls of python-mpd2, on the port of a group, against the real daemon.

For each `host:port` it keeps two connections, one of them in `idle`, and names its own streams to the daemon.
"""

import asyncio
from asyncio import to_thread

from conftest import STUDY, add, shows, state, until
from mpd import CommandError, FailureResponseCode
from mpd.asyncio import MPDClient
import pytest

from house import PATIENCE, House


@pytest.fixture
def house(folder, receivers, stream):
    """Answer clients of MPD; each group has a port, which the log names."""
    house = House(folder / "home", receivers, more="mpd = 0\n")
    yield house
    house.end()


class Player:
    """The calls of one player of Music Assistant."""

    def __init__(self, port, password):
        self.port, self.password = port, password
        self.client, self.idle_client, self.states = MPDClient(), MPDClient(), []

    async def connect(self):
        for client in (self.client, self.idle_client):
            await client.connect("127.0.0.1", self.port)
            if self.password:
                await client.password(self.password)
        self.states.append(await self.client.status())
        self.changed = asyncio.Event()
        self.task = asyncio.create_task(self.idle())

    async def idle(self):
        async for subsystems in self.idle_client.idle():
            if set(subsystems) & {"player", "mixer", "playlist"}:
                self.states.append(await self.client.status())
                self.changed.set()

    async def play_media(self, address):
        await self.client.clear()
        await self.client.add(address)
        await self.client.play(0)

    async def until(self, **wanted):
        """Wait until a state has these values, as text; each change is told."""
        async with asyncio.timeout(PATIENCE):
            while any(self.states[-1].get(key) != value for key, value in wanted.items()):
                await self.changed.wait()
                self.changed.clear()
        return self.states[-1]

    def disconnect(self):
        if hasattr(self, "task"):
            self.task.cancel()
        for client in (self.client, self.idle_client):
            client.disconnect()


@pytest.fixture
async def players(house):
    """Players of both groups: that of the kitchen and that of the study."""
    dawn = str(house.music / "Dawn.wav")
    players = {}
    # The first group has the household's own port.
    for room, said in (("Kitchen", "clients are answered"), ("Study", "Study answers")):
        await to_thread(house.run_until_done, "play", dawn, "--on", room)
        line = await to_thread(house.daemon.said, f"{said} on port ")
        players[room] = Player(int(line.split("port ")[1]), house.token)
    yield players
    for player in players.values():
        player.disconnect()


async def test_a_player_of_music_assistant(hass, players, house, stream):
    kitchen, study = players["Kitchen"], players["Study"]
    assert kitchen.port != study.port
    await kitchen.connect()
    assert kitchen.client.mpd_version
    await kitchen.play_media(stream.address("flow"))
    await kitchen.until(state="play", song="0", playlistlength="1")
    song = await kitchen.client.currentsong()
    assert song["file"] == stream.address("flow")
    await kitchen.client.pause(1)
    status = await kitchen.until(state="pause")
    assert float(status["elapsed"]) >= 0
    await kitchen.client.pause(0)
    await kitchen.until(state="play")
    await kitchen.client.seekcur(20)
    async with asyncio.timeout(PATIENCE):
        while not 20 <= float(kitchen.states[-1].get("elapsed", 0)) < 40:
            await kitchen.changed.wait()
            kitchen.changed.clear()
    await kitchen.client.setvol(23)
    status = await kitchen.until(volume="23")
    # The next song of Music Assistant replaces the first one.
    await kitchen.play_media(stream.address("next"))
    await kitchen.until(state="play", playlistlength="1")
    assert (await kitchen.client.currentsong())["file"] == stream.address("next")
    await kitchen.client.stop()
    status = await kitchen.until(state="stop")
    assert "elapsed" not in status
    # The other group is another player, and has noticed nothing.
    await study.connect()
    assert study.states[-1]["state"] == "play"
    assert (await study.client.currentsong())["file"].endswith("Dawn.wav")
    assert study.states[-1]["volume"] != "23"


async def test_a_wrong_password_is_refused_as_mpd_does(hass, players):
    """Music Assistant asks its user for the password then."""
    client = MPDClient()
    await client.connect("127.0.0.1", players["Kitchen"].port)
    try:
        with pytest.raises(CommandError) as refusal:
            await client.status()
        assert refusal.value.errno == FailureResponseCode.PERMISSION
        with pytest.raises(CommandError) as refusal:
            await client.password("wrong")
        assert refusal.value.errno == FailureResponseCode.PASSWORD
    finally:
        client.disconnect()


async def test_home_assistant_shows_what_music_assistant_plays(hass, players, house, stream):
    entry = await add(hass, house)
    study = players["Study"]
    await study.connect()
    await study.play_media(stream.address("flow"))
    await study.until(state="play")
    await until(hass, lambda: "flow" in state(hass, STUDY).attributes.get("media_title", ""))
    assert shows(hass, STUDY, group_members=[STUDY])
    await study.client.setvol(31)
    await until(hass, lambda: shows(hass, STUDY, volume_level=0.31))
    assert await hass.config_entries.async_unload(entry.entry_id)
