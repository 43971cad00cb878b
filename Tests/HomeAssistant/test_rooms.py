"""Rooms as media players, against the real daemon."""

from asyncio import to_thread

from conftest import KITCHEN, PLAYERS, STUDY, call, shows, state, until
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
import pytest

from custom_components.tutti.const import DOMAIN
from custom_components.tutti.diagnostics import async_get_config_entry_diagnostics
from house import TOKEN, tone


async def test_shows_and_steers_a_group(hass, entry):
    await until(hass, lambda: state(hass).state == "playing")
    assert state(hass, STUDY).state == "playing"
    await until(hass, lambda: shows(hass, media_title="Dawn", media_duration=60))
    assert set(state(hass).attributes["group_members"]) == {KITCHEN, STUDY}
    await call(hass, "media_pause")
    await until(hass, lambda: state(hass, STUDY).state == "paused")
    await call(hass, "media_next_track", STUDY)
    await until(hass, lambda: shows(hass, media_title="Noon"))
    await call(hass, "media_seek", seek_position=20)
    await until(hass, lambda: shows(hass, media_position=20))
    await call(hass, "media_previous_track")
    await until(hass, lambda: shows(hass, media_position=0))
    await call(hass, "media_play")
    await until(hass, lambda: state(hass).state == "playing")
    await call(hass, "repeat_set", repeat="all")
    await until(hass, lambda: shows(hass, STUDY, repeat="all"))
    await call(hass, "shuffle_set", shuffle=True)
    await until(hass, lambda: shows(hass, shuffle=True))
    await call(hass, "shuffle_set", shuffle=False)
    await until(hass, lambda: shows(hass, shuffle=False))
    await call(hass, "media_stop")
    await until(hass, lambda: state(hass).state == "idle")
    await call(hass, "clear_playlist")
    await until(hass, lambda: "media_title" not in state(hass).attributes)


async def test_names_what_could_not_be_played(hass, entry, house):
    await until(hass, lambda: state(hass).state == "playing")
    assert "failed" not in state(hass).attributes
    (house.music / "Broken.wav").write_bytes(b"")
    songs = [house.music / "Broken.wav", house.music / "Dawn.wav"]
    await to_thread(house.run_until_done, "play", *songs, "--on", "Kitchen,Study")
    await until(hass, lambda: state(hass, STUDY).attributes.get("failed", "").startswith("Broken.wav: "))
    await call(hass, "clear_playlist")
    await until(hass, lambda: "failed" not in state(hass, STUDY).attributes)


async def test_a_sleep_timer_is_set_and_ended(hass, entry):
    await until(hass, lambda: state(hass).state == "playing")

    def sleeps():
        return any("sleepAtMs" in group for group in entry.runtime_data.groups.values())

    await hass.services.async_call(DOMAIN, "sleep", {"entity_id": KITCHEN, "minutes": 30}, blocking=True)
    await until(hass, sleeps)
    await hass.services.async_call(DOMAIN, "sleep", {"entity_id": KITCHEN, "minutes": 0}, blocking=True)
    await until(hass, lambda: not sleeps())


async def test_volume_is_the_rooms_own(hass, entry):
    await call(hass, "volume_set", volume_level=0.2)
    await call(hass, "volume_set", STUDY, volume_level=0.6)
    await until(hass, lambda: shows(hass, volume_level=0.2) and shows(hass, STUDY, volume_level=0.6))
    await call(hass, "volume_mute", is_volume_muted=True)
    await until(hass, lambda: shows(hass, is_volume_muted=True))
    assert shows(hass, STUDY, is_volume_muted=False)


async def test_rooms_leave_and_join(hass, entry):
    await call(hass, "unjoin", STUDY)
    await until(hass, lambda: shows(hass, STUDY, group_members=[]))
    assert shows(hass, group_members=[KITCHEN])
    with pytest.raises(ServiceValidationError):
        await call(hass, "media_pause", STUDY)
    await call(hass, "join", KITCHEN, group_members=[STUDY])
    await until(hass, lambda: shows(hass, STUDY, group_members=[KITCHEN, STUDY]))
    with pytest.raises(ServiceValidationError):
        await call(hass, "join", KITCHEN, group_members=["media_player.stranger"])
    await call(hass, "unjoin", KITCHEN)
    await until(hass, lambda: shows(hass, KITCHEN, group_members=[]))
    await call(hass, "join", KITCHEN, group_members=[STUDY])
    await until(hass, lambda: shows(hass, STUDY, group_members=[KITCHEN, STUDY]))


async def test_library_is_browsed_and_played(hass, entry, house, hass_ws_client):
    await until(hass, lambda: state(hass).state == "playing")
    assert await async_setup_component(hass, "media_source", {})
    player = hass.data[PLAYERS].get_entity(KITCHEN)
    root = await player.async_browse_media()
    assert [child.title for child in root.children][:3] == ["Favourites", "Albums", "Artists"]
    for child in root.children:
        if child.media_content_id.startswith("view:"):
            view = await player.async_browse_media(None, child.media_content_id)
            assert view.title == child.title
    folders = await player.async_browse_media(None, "view:folders")
    (folder,) = folders.children
    # Each change of the library, whose scan is under way, is told to the player.
    coordinator = entry.runtime_data
    await until(hass, lambda: coordinator.library.get("trackCount") == 2)
    tracks = await player.async_browse_media(None, folder.media_content_id)
    noon = next(child for child in tracks.children if child.title.startswith("Noon"))
    await call(hass, "play_media", STUDY, media_content_type="music", media_content_id=noon.media_content_id, enqueue="add")
    await call(hass, "play_media", STUDY, media_content_type="music", media_content_id=noon.media_content_id, enqueue="next")
    await call(hass, "play_media", STUDY, media_content_type="music", media_content_id=noon.media_content_id, enqueue="play")
    await until(hass, lambda: shows(hass, media_title="Noon"))
    await call(hass, "play_media", media_content_type="music", media_content_id=folder.media_content_id)
    await until(hass, lambda: shows(hass, media_title="Dawn"))
    assert state(hass).attributes["media_content_id"].startswith("track:")
    albums = await player.async_browse_media(None, "view:albums")
    for album in albums.children:
        await player.async_browse_media(None, album.media_content_id)
    with pytest.raises(HomeAssistantError):
        await player.async_browse_media(None, "album:../access")
    assert await player.async_get_browse_image("album", "album:1", "0" * 64) == (None, None)
    assert await player.async_get_media_image() == (None, None)


async def test_a_free_room_plays_a_source(hass, entry):
    coordinator = entry.runtime_data
    await coordinator.order("POST", "library/radios", {"name": "One", "uri": "http://192.0.2.1/one"})
    await until(hass, lambda: "One" in (state(hass).attributes.get("source_list") or []))
    await call(hass, "unjoin", STUDY)
    await until(hass, lambda: shows(hass, STUDY, group_members=[]))
    await call(hass, "select_source", STUDY, source="One")
    await until(hass, lambda: shows(hass, STUDY, group_members=[STUDY], media_title="One"))
    with pytest.raises(ServiceValidationError):
        await call(hass, "select_source", source="Two")
    with pytest.raises(HomeAssistantError):
        await call(hass, "play_media", media_content_type="music", media_content_id="ftp://127.0.0.1/x")


async def test_figures_are_off_and_a_room_shows_itself(hass, entry):
    registry = er.async_get(hass)
    sensors = [e for e in registry.entities.values() if e.domain == "sensor" and "alarm" not in e.entity_id]
    assert len(sensors) == 4 and all(e.disabled for e in sensors)
    for sensor in sensors:
        registry.async_update_entity(sensor.entity_id, disabled_by=None)
    assert await hass.config_entries.async_reload(entry.entry_id)
    await hass.async_block_till_done()
    await until(hass, lambda: (s := state(hass, "sensor.kitchen_buffer")) and s.state not in ("unknown", "unavailable"))
    assert abs(float(state(hass, "sensor.kitchen_sync_error").state)) < 1e6
    button = next(e for e in registry.entities.values() if e.unique_id.endswith("_identify"))
    await hass.services.async_call("button", "press", {"entity_id": button.entity_id}, blocking=True)


async def test_diagnostics_tell_no_secret(hass, entry):
    await until(hass, lambda: state(hass).state == "playing")
    facts = str(await async_get_config_entry_diagnostics(hass, entry))
    assert TOKEN not in facts and "127.0.0.1" not in facts and "Dawn" not in facts
    assert "playing" in facts


async def test_announcements_leave_the_queue_alone(hass, entry, house):
    await until(hass, lambda: shows(hass, media_title="Dawn"))
    sound = house.folder / "bell.wav"
    tone(sound, seconds=1)
    # Home Assistant gives addresses of its own files; this one is refused, as it leads to the daemon's machine.
    with pytest.raises(HomeAssistantError):
        await call(hass, "play_media", media_content_type="music", media_content_id="http://127.0.0.1:9/bell.wav", announce=True)
    with pytest.raises(ServiceValidationError):
        await call(hass, "play_media", media_content_type="music", media_content_id="track:1", announce=True)
    coordinator = entry.runtime_data
    done = await coordinator.order("POST", "announce", {"roomIds": [next(iter(coordinator.rooms))]})
    assert "Kitchen" in done["said"] or "Study" in done["said"]
    assert shows(hass, media_title="Dawn")


async def test_a_room_says_a_text(hass, entry, house):
    """The household speaks by espeak-ng, or says what to install."""
    try:
        await hass.services.async_call(
            DOMAIN, "say", {"entity_id": KITCHEN, "message": "Dinner", "chime": False}, blocking=True
        )
    except HomeAssistantError as error:
        assert "espeak-ng" in str(error)


async def test_favourites_of_every_kind_are_sources(hass, entry):
    coordinator = entry.runtime_data
    coordinator.favourites = [
        {"kind": "podcast", "id": "3", "title": "A podcast"},
        {"kind": "episode", "id": "9", "title": "An episode"},
        {"kind": "kind-of-tomorrow", "id": "1", "title": "A surprise"},
    ]
    coordinator.tell()
    assert state(hass).attributes["source_list"] == ["A podcast", "An episode"]
    player = hass.data[PLAYERS].get_entity(KITCHEN)
    podcasts = await player.async_browse_media(None, "view:podcasts")
    assert (podcasts.title, podcasts.children) == ("Podcasts", [])
    # The household has no such podcast, and says so.
    for kind in ("podcast", "episode"):
        with pytest.raises(HomeAssistantError):
            await call(hass, "play_media", media_content_type="music", media_content_id=f"{kind}:99")
    with pytest.raises(HomeAssistantError):
        await player.async_browse_media(None, "podcast:99")


async def test_an_announcement_is_heard_at_an_address(hass, entry, house, bell):
    await until(hass, lambda: shows(hass, media_title="Dawn"))
    await call(hass, "play_media", media_content_type="music", media_content_id=bell, announce=True)
    assert shows(hass, media_title="Dawn")
