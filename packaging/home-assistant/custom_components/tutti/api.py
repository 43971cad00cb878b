"""A client of a household's HTTP interface. Knows nothing of Home Assistant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
import json
from typing import Any
from urllib.parse import quote

import aiohttp

from .const import BODY_LIMIT, REQUEST_TIMEOUT, SILENCE_LIMIT

JSON = dict[str, Any]


class TuttiError(Exception):
    """The household has refused something; the text says why, for people."""


class TuttiUnreachable(TuttiError):
    """Nothing answers, or not as a household does."""


class TuttiStranger(TuttiUnreachable):
    """Something answers, though it is not the household that is meant."""


class TuttiAuthError(TuttiError):
    """The household does not know the key or token, or the PIN was wrong."""


class TuttiClient:
    """Requests to one household.

    `key` comes from `pair`; `token` stands in the household's configuration. An open household needs neither.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        host: str,
        port: int,
        *,
        key: str | None = None,
        token: str | None = None,
    ) -> None:
        """Take a session without cookies of its own."""
        self._session = session
        address = f"[{host}]" if ":" in host else host
        self.url = f"http://{address}:{port}"
        self._headers: dict[str, str] = {}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        elif key:
            self._headers["Cookie"] = f"tutti-browser={key}"

    async def pair(self, pin: str, name: str) -> str:
        """Pair with the household by its PIN; return the key."""
        response = await self._send("POST", "browsers", {"pin": pin, "name": name})
        async with response:
            await self._check(response)
            cookie = response.cookies.get("tutti-browser")
            if cookie is None:
                raise TuttiUnreachable("the household has given no key")
            return cookie.value

    async def request(
        self,
        method: str,
        path: str,
        body: JSON | None = None,
        query: dict[str, Any] | None = None,
    ) -> Any:
        """Send a request to a path below /api/v1; return what the answer holds, or None."""
        response = await self._send(method, path, body, query)
        async with response:
            await self._check(response)
            if response.status == 204:
                return None
            try:
                return json.loads(await _read(response))
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise TuttiUnreachable(f"the answer broke off: {error}") from error
            except ValueError as error:
                raise TuttiUnreachable("the answer is no JSON") from error

    async def state(self) -> JSON:
        """Return everything at one instant."""
        state = _object(await self.request("GET", "state"))
        if not _object(state.get("server")).get("id"):
            raise TuttiUnreachable("the answer is not a household's")
        return state

    async def picture(self, name: str) -> tuple[bytes, str]:
        """Return a picture and its type."""
        path = f"artwork/{quote(name, safe='')}"
        response = await self._send("GET", path, query={"size": 1200})
        async with response:
            await self._check(response)
            return await _read(response), response.content_type

    async def events(self, last: str | None) -> AsyncIterator[tuple[str, str | None, JSON]]:
        """Yield the kind, identity and content of each event; end where the household ends.

        `last` is the identity of the last event that was seen: only what has changed since is told, where that is
        still known.
        """
        headers = {**self._headers, "Accept": "text/event-stream"}
        if last is not None:
            headers["Last-Event-ID"] = last
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=REQUEST_TIMEOUT, sock_read=SILENCE_LIMIT
        )
        try:
            async with self._session.get(
                f"{self.url}/api/v1/events",
                headers=headers,
                timeout=timeout,
                read_bufsize=1 << 20,
                allow_redirects=False,
            ) as response:
                await self._check(response)
                kind, identity, data, size = "message", None, [], 0
                # A line is as long as the state of the household; longer ones than the limit end the connection.
                async for line in _lines(response):
                    if not line:
                        if data:
                            yield kind, identity, _object(json.loads("\n".join(data)))
                        kind, identity, data, size = "message", None, [], 0
                        continue
                    field, _, value = line.partition(":")
                    value = value.removeprefix(" ")
                    if field == "event":
                        kind = value
                    elif field == "id":
                        identity = value
                    elif field == "data":
                        size += len(value)
                        if size > BODY_LIMIT:
                            raise TuttiUnreachable("an event is too long")
                        data.append(value)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise TuttiUnreachable(f"the household is gone: {error}") from error

    async def _send(
        self,
        method: str,
        path: str,
        body: JSON | None = None,
        query: dict[str, Any] | None = None,
    ) -> aiohttp.ClientResponse:
        try:
            return await self._session.request(
                method,
                f"{self.url}/api/v1/{path}",
                json=body,
                params=query,
                headers=self._headers,
                # Where there is no body, it has no type either.
                skip_auto_headers=[] if body is not None else ["Content-Type"],
                timeout=aiohttp.ClientTimeout(total=REQUEST_TIMEOUT),
                allow_redirects=False,
            )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise TuttiUnreachable(f"the household does not answer: {error}") from error

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        if response.status < 300:
            return
        try:
            problem = _object(json.loads(await _read(response)))
            text = str(problem.get("detail") or response.reason)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, TuttiError):
            text = f"it answered {response.status}"
        if response.status in (401, 403):
            raise TuttiAuthError(text)
        raise TuttiError(text)


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[str]:
    rest = b""
    async for part in response.content.iter_any():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r").decode()
        if len(rest) > BODY_LIMIT:
            raise TuttiUnreachable("an event is too long")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async with asyncio.timeout(REQUEST_TIMEOUT):
        async for part in response.content.iter_any():
            size += len(part)
            if size > BODY_LIMIT:
                raise TuttiUnreachable("the answer is too long")
            parts.append(part)
    return b"".join(parts)


def _object(value: Any) -> JSON:
    if not isinstance(value, dict):
        raise TuttiUnreachable("the answer is not a household's")
    return value
