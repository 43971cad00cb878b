"""The household's music as Home Assistant names it: `KIND:ID`, such as `album:12`."""

from __future__ import annotations

from homeassistant.components.media_player import BrowseError, BrowseMedia, MediaClass, MediaType
from homeassistant.components.media_player import async_process_play_media_url
from homeassistant.components import media_source
from homeassistant.core import HomeAssistant

from .api import JSON
from .coordinator import TuttiCoordinator

# What is played of each kind, in the words of the household.
PLAYABLE = {
    "album": "albumId",
    "artist": "artistId",
    "track": "trackId",
    "playlist": "playlistId",
    "radio": "radioId",
    "podcast": "podcastId",
    "episode": "episodeId",
    "input": "inputId",
    "folder": "folder",
}
CLASSES = {
    "album": (MediaClass.ALBUM, MediaType.ALBUM),
    "artist": (MediaClass.ARTIST, MediaType.ARTIST),
    "track": (MediaClass.TRACK, MediaType.TRACK),
    "playlist": (MediaClass.PLAYLIST, MediaType.PLAYLIST),
    "radio": (MediaClass.MUSIC, MediaType.MUSIC),
    "podcast": (MediaClass.PODCAST, MediaType.PODCAST),
    "episode": (MediaClass.EPISODE, MediaType.EPISODE),
    "input": (MediaClass.CHANNEL, MediaType.CHANNEL),
    "folder": (MediaClass.DIRECTORY, "folder"),
}
VIEWS = {
    "favourites": "Favourites",
    "albums": "Albums",
    "artists": "Artists",
    "playlists": "Playlists",
    "radios": "Radio",
    "podcasts": "Podcasts",
    "inputs": "Inputs",
    "folders": "Folders",
}
# More than anybody scrolls through.
LIMIT = 1000


def item(content: str) -> JSON | None:
    """Return what the household is told to play; None if it is not the household's."""
    kind, _, identity = content.partition(":")
    if kind in PLAYABLE and identity:
        return {PLAYABLE[kind]: identity}
    return None


async def address(hass: HomeAssistant, content: str, entity: str) -> str:
    """Return the address of what another part of Home Assistant offers."""
    if media_source.is_media_source_id(content):
        content = (await media_source.async_resolve_media(hass, content, entity)).url
    return async_process_play_media_url(hass, content)


async def browse(
    hass: HomeAssistant, coordinator: TuttiCoordinator, content: str | None
) -> BrowseMedia:
    """Return a part of the household's library, or of other media."""
    if content is not None and media_source.is_media_source_id(content):
        return await media_source.async_browse_media(
            hass, content, content_filter=lambda item: item.media_content_type.startswith("audio/")
        )
    if not content:
        return await _root(hass, coordinator)
    kind, _, identity = content.partition(":")
    if kind == "view" and identity in VIEWS:
        return _folder(content, VIEWS[identity], await _view(coordinator, identity))
    return await _thing(coordinator, kind, identity)


async def _root(hass: HomeAssistant, coordinator: TuttiCoordinator) -> BrowseMedia:
    children = [_entry(f"view:{name}", title) for name, title in VIEWS.items()]
    if "media_source" in hass.config.components:
        try:
            other = await media_source.async_browse_media(
                hass,
                None,
                content_filter=lambda item: item.media_content_type.startswith("audio/"),
            )
            children += other.children if other.domain is None else [other]
        except BrowseError:
            pass
    return _folder("", coordinator.server.get("name", "Tutti"), children)


async def _view(coordinator: TuttiCoordinator, name: str) -> list[BrowseMedia]:
    match name:
        case "favourites":
            found = await coordinator.order("GET", "library/favourites")
            return [_known(thing["kind"], thing) for thing in found["favourites"]]
        case "inputs":
            return [_known("input", {"id": i["name"], "title": i["name"]}) for i in coordinator.inputs]
        case "folders":
            return await _folders(coordinator, None)
    found = await coordinator.order(
        "GET", f"library/{name}", query={"limit": LIMIT} if name in ("albums", "artists") else {}
    )
    return [_known(name.removesuffix("s"), thing) for thing in found[name]]


async def _thing(coordinator: TuttiCoordinator, kind: str, identity: str) -> BrowseMedia:
    if kind == "folder":
        return _folder(
            f"folder:{identity}",
            identity.rsplit("/", 1)[-1],
            await _folders(coordinator, identity),
            can_play=True,
        )
    if kind not in ("album", "artist", "playlist", "podcast") or not identity.isalnum():
        raise BrowseError("there is nothing like that")
    found = await coordinator.order("GET", f"library/{kind}s/{identity}")
    match kind:
        case "album":
            children = [_known("track", track) for track in found["tracks"]]
        case "artist":
            children = [_known("album", album) for album in found["albums"]]
        case "podcast":
            children = [_known("episode", episode) for episode in found["episodes"]]
        case _:
            children = [
                _known("track", {**entry, "id": entry["trackId"]})
                for entry in found["entries"]
                if "trackId" in entry
            ]
    thing = found.get(kind, found)
    title = thing.get("title") or thing.get("name") or kind
    return _folder(f"{kind}:{identity}", title, children, kind=kind, can_play=True)


async def _folders(coordinator: TuttiCoordinator, path: str | None) -> list[BrowseMedia]:
    query = {} if path is None else {"path": path}
    found = await coordinator.order("GET", "library/folders", query=query)
    return [_known("folder", {"id": f["path"], "title": f["name"]}) for f in found["folders"]] + [
        _known("track", track) for track in found["tracks"]
    ]


def _known(kind: str, thing: JSON) -> BrowseMedia:
    title = thing.get("title") or thing.get("name") or "?"
    if kind in ("album", "track") and (artist := thing.get("artist") or thing.get("detail")):
        title = f"{title} · {artist}"
    entry = _entry(f"{kind}:{thing['id']}", title, kind)
    entry.thumbnail = None
    if thing.get("artwork"):
        # The player's own picture route asks the household, which asks for the key.
        entry.thumbnail = f"artwork:{thing['artwork']}"
    return entry


def _entry(content: str, title: str, kind: str | None = None) -> BrowseMedia:
    media_class, media_type = CLASSES.get(kind or "", (MediaClass.DIRECTORY, "directory"))
    return BrowseMedia(
        media_class=media_class,
        media_content_id=content,
        media_content_type=media_type,
        title=title,
        can_play=kind in PLAYABLE,
        can_expand=kind in (None, "album", "artist", "playlist", "podcast", "folder"),
    )


def _folder(
    content: str,
    title: str,
    children: list[BrowseMedia],
    kind: str | None = None,
    can_play: bool = False,
) -> BrowseMedia:
    entry = _entry(content, title, kind)
    entry.can_play, entry.can_expand, entry.children = can_play, True, children
    return entry
