"""A media player for each room."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any
from urllib.parse import quote

from homeassistant.components.media_player import (
    BrowseMedia,
    MediaPlayerDeviceClass,
    MediaPlayerEnqueue,
    MediaPlayerEntity,
    MediaPlayerEntityFeature as Feature,
    MediaPlayerState,
    MediaType,
    RepeatMode,
)
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import entity_registry as er
import homeassistant.helpers.config_validation as cv
from homeassistant.helpers.entity_platform import AddEntitiesCallback, async_get_current_platform
import voluptuous as vol

from . import content
from .api import JSON, TuttiError
from .const import DOMAIN
from .entity import RoomEntity, add_rooms

PARALLEL_UPDATES = 0

STATES = {
    "starting": MediaPlayerState.BUFFERING,
    "buffering": MediaPlayerState.BUFFERING,
    "playing": MediaPlayerState.PLAYING,
    "paused": MediaPlayerState.PAUSED,
}
FEATURES = (
    Feature.BROWSE_MEDIA
    | Feature.CLEAR_PLAYLIST
    | Feature.GROUPING
    | Feature.MEDIA_ANNOUNCE
    | Feature.MEDIA_ENQUEUE
    | Feature.NEXT_TRACK
    | Feature.PAUSE
    | Feature.PLAY
    | Feature.PLAY_MEDIA
    | Feature.PREVIOUS_TRACK
    | Feature.REPEAT_SET
    | Feature.SEEK
    | Feature.SELECT_SOURCE
    | Feature.SHUFFLE_SET
    | Feature.STOP
    | Feature.VOLUME_MUTE
    | Feature.VOLUME_SET
    | Feature.VOLUME_STEP
)


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, add: AddEntitiesCallback
) -> None:
    """Add a player for each room, and the actions that only these players have."""
    async_get_current_platform().async_register_entity_service(
        "say",
        {
            vol.Required("message"): vol.All(cv.string, vol.Length(min=1, max=1000)),
            vol.Optional("volume"): vol.All(vol.Coerce(float), vol.Range(min=0, max=100)),
            vol.Optional("chime", default=True): cv.boolean,
        },
        "async_say",
    )
    async_get_current_platform().async_register_entity_service(
        "sleep",
        {vol.Required("minutes"): vol.All(vol.Coerce(float), vol.Range(min=0, max=1560))},
        "async_sleep",
    )
    add_rooms(hass, entry, add, lambda coordinator, room: [RoomPlayer(coordinator, room)])


class RoomPlayer(RoomEntity, MediaPlayerEntity):
    """A room. It shows and steers the group in which it plays; its volume is its own."""

    _attr_name = None
    _attr_device_class = MediaPlayerDeviceClass.SPEAKER
    _attr_media_content_type = MediaType.MUSIC
    _attr_supported_features = FEATURES
    _attr_media_image_remotely_accessible = False

    async def async_added_to_hass(self) -> None:
        """Follow the household, and let the others of the group know this one."""
        await super().async_added_to_hass()
        self.coordinator.tell()

    # State

    @property
    def group(self) -> JSON:
        """The group of the room; empty if it has none."""
        return self.coordinator.group_of(self.room_id) or {}

    @property
    def _item(self) -> JSON:
        return self.group.get("item") or {}

    @property
    def state(self) -> MediaPlayerState:
        """What the group does."""
        return STATES.get(self.group.get("state", ""), MediaPlayerState.IDLE)

    @property
    def volume_level(self) -> float | None:
        """From 0 to 1."""
        volume = self.room.get("volume")
        return None if volume is None else volume / 100

    @property
    def is_volume_muted(self) -> bool | None:
        """Whether it is silent whatever its volume."""
        return self.room.get("muted")

    @property
    def media_content_id(self) -> str | None:
        """The track, as it can be played again."""
        track = self._item.get("trackId")
        return None if track is None else f"track:{track}"

    @property
    def media_title(self) -> str | None:
        """As people call it."""
        return self._item.get("title")

    @property
    def media_artist(self) -> str | None:
        """As the file or the station says it."""
        return self._item.get("artist")

    @property
    def media_album_name(self) -> str | None:
        """As the file says it."""
        return self._item.get("album")

    @property
    def media_duration(self) -> int | None:
        """In seconds."""
        duration = self._item.get("durationS")
        return None if duration is None else round(duration)

    @property
    def media_position(self) -> int | None:
        """In seconds, at `media_position_updated_at`."""
        return round(self.group["positionS"]) if self._item else None

    @property
    def media_position_updated_at(self) -> datetime | None:
        """When the position sounds."""
        return self.coordinator.time(self.group["positionAtMs"]) if self._item else None

    @property
    def media_image_hash(self) -> str | None:
        """Another one is another picture."""
        return self._item.get("artwork")

    async def async_get_media_image(self) -> tuple[bytes | None, str | None]:
        """Fetch the picture, for which the household asks for the key."""
        return await self._picture(self._item.get("artwork"))

    async def async_get_browse_image(
        self, media_content_type: str, media_content_id: str, media_image_id: str | None = None
    ) -> tuple[bytes | None, str | None]:
        """Fetch the picture of something in the library."""
        return await self._picture(media_image_id)

    async def _picture(self, name: str | None) -> tuple[bytes | None, str | None]:
        if not name:
            return None, None
        try:
            return await self.coordinator.client.picture(name)
        except TuttiError:
            return None, None

    @property
    def repeat(self) -> RepeatMode:
        """Whether the item, or the whole list, begins again at its end."""
        return RepeatMode(self.group.get("repeat", "off"))

    @property
    def shuffle(self) -> bool | None:
        """True if the queue is in a random order that can be left; unknown without a queue."""
        return self.group.get("queue", {}).get("isShuffled")

    @property
    def source_list(self) -> list[str]:
        """Inputs, favourites and stations."""
        return list(self._sources())

    @property
    def source(self) -> str | None:
        """The input or station that plays."""
        return self._item.get("title") if self._item.get("isLive") else None

    def _sources(self) -> dict[str, JSON]:
        known = self.coordinator
        sources = {entry["name"]: {"inputId": entry["name"]} for entry in known.inputs}
        for thing in known.favourites:
            # A household may know kinds that are newer than this integration.
            if thing["kind"] not in content.PLAYABLE:
                continue
            sources.setdefault(thing["title"], {content.PLAYABLE[thing["kind"]]: thing["id"]})
        for radio in known.radios:
            sources.setdefault(radio["name"], {"radioId": radio["id"]})
        return sources

    @property
    def group_members(self) -> list[str]:
        """The players of the rooms that play the same, that of the first room first."""
        registry = er.async_get(self.hass)
        members = [
            registry.async_get_entity_id("media_player", DOMAIN, self.coordinator.key(room))
            for room in self.group.get("roomIds", [])
        ]
        return [member for member in members if member is not None]

    @property
    def extra_state_attributes(self) -> dict[str, Any]:
        """Why the room does not play, where it does not, and which entry failed last."""
        attributes = {}
        if reason := self.room.get("reason"):
            attributes["trouble"] = reason["code"]
        if failed := self.group.get("failed"):
            attributes["failed"] = f"{failed['title']}: {failed['problem']}"
        return attributes

    # Transport

    async def async_media_play(self) -> None:
        """Play, or go on."""
        await self._transport("play")

    async def async_media_pause(self) -> None:
        """Stand still."""
        await self._transport("pause")

    async def async_media_stop(self) -> None:
        """End the music; the queue stays."""
        await self._transport("stop")

    async def async_media_next_track(self) -> None:
        """Go to the next entry."""
        await self._transport("next")

    async def async_media_previous_track(self) -> None:
        """Go to the beginning, or to the entry before."""
        await self._transport("previous")

    async def _transport(self, order: str) -> None:
        await self.coordinator.order("POST", f"groups/{self._group_id()}/{order}")

    async def async_media_seek(self, position: float) -> None:
        """Go to a place, in seconds."""
        body = {"positionS": max(0, position)}
        await self.coordinator.order("POST", f"groups/{self._group_id()}/seek", body)

    async def async_set_repeat(self, repeat: RepeatMode) -> None:
        """Begin again at the end, or not."""
        await self._change_group({"repeat": repeat.value})

    async def async_set_shuffle(self, shuffle: bool) -> None:
        """Bring what follows into a random order, or all into the order as before."""
        if shuffle or self.shuffle:
            order = "shuffle" if shuffle else "unshuffle"
            await self.coordinator.order("POST", f"groups/{self._group_id()}/queue/{order}")

    async def async_clear_playlist(self) -> None:
        """Empty the queue, which can be undone on the page."""
        await self.coordinator.order("DELETE", f"groups/{self._group_id()}/queue")

    async def _change_group(self, change: JSON) -> None:
        await self.coordinator.order("PATCH", f"groups/{self._group_id()}", change)

    def _group_id(self) -> str:
        if not self.group:
            raise ServiceValidationError(
                f"{self.room.get('name')} plays nothing that could be steered",
                translation_domain=DOMAIN,
                translation_key="no_group",
                translation_placeholders={"room": self.room.get("name", "")},
            )
        return self.group["id"]

    # Volume

    async def async_set_volume_level(self, volume: float) -> None:
        """Set the volume, from 0 to 1."""
        await self._change_room({"volume": round(100 * volume, 1)})

    async def async_mute_volume(self, mute: bool) -> None:
        """Silence the room, or let it sound again."""
        await self._change_room({"muted": mute})

    async def _change_room(self, change: JSON) -> None:
        await self.coordinator.order("PATCH", f"rooms/{self.room_id}", change)

    # Media

    async def async_play_media(
        self,
        media_type: str,
        media_id: str,
        enqueue: MediaPlayerEnqueue | None = None,
        announce: bool | None = None,
        **kwargs: Any,
    ) -> None:
        """Play something of the household's library, an address, or what Home Assistant offers."""
        found = content.item(media_id)
        if found is None:
            found = {"uri": await content.address(self.hass, media_id, self.entity_id)}
        if announce:
            if "uri" not in found:
                raise ServiceValidationError(
                    f"{media_id} is no address of a sound",
                    translation_domain=DOMAIN,
                    translation_key="no_announcement",
                    translation_placeholders={"media": media_id},
                )
            # The music goes on below it, and the queue stays as it is.
            body = {**found, "roomIds": [self.room_id], "chime": False}
            await self.coordinator.order("POST", "announce", body)
            return
        await self._play(found, enqueue or MediaPlayerEnqueue.REPLACE)

    async def async_say(self, message: str, chime: bool, volume: float | None = None) -> None:
        """Let the household's own voice speak in the room, over what plays there."""
        body = {"text": message, "roomIds": [self.room_id], "chime": chime}
        if volume is not None:
            body["volume"] = volume
        await self.coordinator.order("POST", "announce", body)

    async def async_sleep(self, minutes: float) -> None:
        """Let the group fade out and pause after some minutes; 0 ends the timer."""
        await self._change_group({"sleepInS": 60 * minutes})

    async def async_select_source(self, source: str) -> None:
        """Play an input, a favourite or a station."""
        found = self._sources().get(source)
        if found is None:
            raise ServiceValidationError(
                f"{source} is not known",
                translation_domain=DOMAIN,
                translation_key="no_source",
                translation_placeholders={"source": source},
            )
        await self._play(found, MediaPlayerEnqueue.REPLACE)

    async def _play(self, found: JSON, enqueue: MediaPlayerEnqueue) -> None:
        group = self.group.get("id")
        if group is None:
            group = (await self._make_group([self.room_id]))["id"]
        match enqueue:
            case MediaPlayerEnqueue.ADD:
                place = "end"
            case MediaPlayerEnqueue.REPLACE:
                place = "now"
            case MediaPlayerEnqueue.PLAY:
                place = "nowAndKeep"
            case _:
                place = "next"
        queue = f"groups/{group}/queue"
        await self.coordinator.order("POST", queue, {"items": [found], "at": place})

    async def async_browse_media(
        self, media_content_type: str | None = None, media_content_id: str | None = None
    ) -> BrowseMedia:
        """Show the household's library, and other media of Home Assistant."""
        found = await content.browse(self.hass, self.coordinator, media_content_id)
        for child in found.children or []:
            picture = (child.thumbnail or "").partition("artwork:")
            if picture[1] and not picture[0]:
                child.thumbnail = self.get_browse_image_url(
                    child.media_content_type, child.media_content_id, picture[2]
                )
        return found

    # Groups

    async def async_join_players(self, group_members: list[str]) -> None:
        """Let other rooms play what this one plays."""
        rooms = [self._room_of(entity) for entity in group_members]
        others = [room for room in rooms if room != self.room_id]
        if not self.group:
            await self._make_group([self.room_id, *others])
            return
        group = self._group_id()
        missing = [room for room in others if room not in self.group["roomIds"]]
        await asyncio.gather(
            *(
                self.coordinator.order("POST", f"groups/{group}/rooms", {"roomId": room})
                for room in missing
            )
        )

    async def async_unjoin_player(self) -> None:
        """Leave the group; the others play on."""
        if len(self.group.get("roomIds", [])) > 1:
            path = f"groups/{self._group_id()}/rooms/{quote(self.room_id, safe='')}"
            await self.coordinator.order("DELETE", path)

    async def _make_group(self, rooms: list[str]) -> JSON:
        return await self.coordinator.order("POST", "groups", {"roomIds": rooms})

    def _room_of(self, entity: str) -> str:
        entry = er.async_get(self.hass).async_get(entity)
        room = None
        if entry is not None and entry.platform == DOMAIN:
            room = self.coordinator.room_of(entry.unique_id)
        if room is None:
            raise ServiceValidationError(
                f"{entity} is no room of this household",
                translation_domain=DOMAIN,
                translation_key="not_a_room",
                translation_placeholders={"entity": entity},
            )
        return room
