"""Connects Home Assistant with a household: by discovery or address, then by PIN or token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import voluptuous as vol

from homeassistant import config_entries
from homeassistant.const import CONF_HOST, CONF_PIN, CONF_PORT, CONF_TOKEN
import homeassistant.helpers.config_validation as cv

from . import make_client
from .api import JSON, TuttiAuthError, TuttiError, TuttiUnreachable
from .const import CONF_KEY, DEFAULT_PORT, DOMAIN

PORT = vol.All(vol.Coerce(int), vol.Range(min=1, max=65535))


class TuttiConfigFlow(config_entries.ConfigFlow, domain=DOMAIN):
    """The steps by which a household is added, moved, or paired anew."""

    VERSION = 1
    # Entities and devices of rooms begin with the household's identity since 2.
    MINOR_VERSION = 2

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._data: dict[str, Any] = {}
        self._name = "Tutti"
        # The entry that is changed; nil while a new one is made.
        self._entry: config_entries.ConfigEntry | None = None

    async def async_step_user(self, user_input: dict[str, Any] | None = None):
        """Ask for the address."""
        return await self._address("user", user_input, DEFAULT_PORT)

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None):
        """Ask for another address."""
        entry = self.hass.config_entries.async_get_entry(self.context["entry_id"])
        assert entry is not None
        self._entry, self._data = entry, dict(entry.data)
        return await self._address("reconfigure", user_input, entry.data[CONF_PORT])

    async def _address(self, step: str, user_input: dict[str, Any] | None, port: int):
        errors = {}
        if user_input is not None:
            self._data.update(user_input)
            state, error = await self._try()
            if error == "invalid_auth":
                return await self.async_step_access()
            if error is None:
                return await self._finish(state)
            errors["base"] = error
        schema = vol.Schema(
            {
                vol.Required(CONF_HOST, default=self._data.get(CONF_HOST, "")): cv.string,
                vol.Required(CONF_PORT, default=self._data.get(CONF_PORT, port)): PORT,
            }
        )
        return self.async_show_form(step_id=step, data_schema=schema, errors=errors)

    async def async_step_zeroconf(self, discovery_info):
        """Take a household that was found on the network."""
        self._data = {
            CONF_HOST: str(discovery_info.host),
            CONF_PORT: discovery_info.port or DEFAULT_PORT,
        }
        await self.async_set_unique_id(discovery_info.properties.get("id") or discovery_info.name)
        # One that has moved is followed, with the key that it has given.
        self._abort_if_unique_id_configured(updates=dict(self._data))
        self._name = discovery_info.name.split("._")[0]
        self.context["title_placeholders"] = {"name": self._name}
        return await self.async_step_confirm()

    async def async_step_confirm(self, user_input: dict[str, Any] | None = None):
        """Ask whether the household that was found is to be added."""
        if user_input is None:
            return self.async_show_form(
                step_id="confirm", description_placeholders={"name": self._name}
            )
        state, error = await self._try()
        if error == "invalid_auth":
            return await self.async_step_access()
        if error is not None:
            return self.async_abort(reason=error)
        return await self._finish(state)

    async def async_step_reauth(self, entry_data: Mapping[str, Any]):
        """Ask for the PIN again: the household does not know the key any more."""
        self._entry = self.hass.config_entries.async_get_entry(self.context["entry_id"])
        self._data = dict(entry_data)
        return await self.async_step_access()

    async def async_step_access(self, user_input: dict[str, Any] | None = None):
        """Ask for the PIN, or a token."""
        errors = {}
        if user_input is not None:
            pin, token = user_input.get(CONF_PIN), user_input.get(CONF_TOKEN)
            self._data.pop(CONF_KEY, None)
            self._data.pop(CONF_TOKEN, None)
            if token:
                self._data[CONF_TOKEN] = token
            state, error = None, "invalid_auth"
            if pin and not token:
                error = await self._pair(pin)
            if token or error is None:
                state, error = await self._try()
            if error is None:
                return await self._finish(state)
            errors["base"] = error
        schema = vol.Schema({vol.Optional(CONF_PIN): cv.string, vol.Optional(CONF_TOKEN): cv.string})
        return self.async_show_form(step_id="access", data_schema=schema, errors=errors)

    async def _pair(self, pin: str) -> str | None:
        try:
            name = f"Home Assistant ({self.hass.config.location_name})"[:64]
            self._data[CONF_KEY] = await make_client(self.hass, self._data).pair(pin, name)
        except TuttiUnreachable:
            return "cannot_connect"
        except TuttiError:
            # It is wrong, mistyped, or too many were tried.
            return "invalid_auth"
        return None

    async def _try(self) -> tuple[JSON, str | None]:
        """Return the state of the household, or why there is none."""
        try:
            return await make_client(self.hass, self._data).state(), None
        except TuttiAuthError:
            return {}, "invalid_auth"
        except TuttiError:
            return {}, "cannot_connect"

    async def _finish(self, state: JSON):
        server = state["server"]
        identity = server["id"]
        if self._entry is not None:
            known = self._entry.unique_id
            if known is not None and known != identity:
                return self.async_abort(reason="another_household")
            self.hass.config_entries.async_update_entry(self._entry, data=self._data)
            await self.hass.config_entries.async_reload(self._entry.entry_id)
            return self.async_abort(
                reason="reauth_successful"
                if self.source == config_entries.SOURCE_REAUTH
                else "reconfigure_successful"
            )
        await self.async_set_unique_id(identity, raise_on_progress=False)
        # It is asked as was chosen now: a token or key of before may be wrong, and would be sent instead.
        self._abort_if_unique_id_configured(
            updates={CONF_KEY: None, CONF_TOKEN: None, **self._data}
        )
        return self.async_create_entry(title=server.get("name", self._name), data=self._data)
