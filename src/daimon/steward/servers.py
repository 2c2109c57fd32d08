"""Servers of the Model Context Protocol, for the page: all that `daimon mcp add`, `on`, `off` and `remove` do, in a gateway that runs.

The settings come first, since a tool that nobody approved is offered to nobody; then the server is asked what it has, and that waits for
the owner. If it cannot be asked, the settings are as they were before, except where a login is what it lacks. Nobody agrees to a tool here.
"""

import asyncio
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from daimon import config, settings_file
from daimon.abi.errors import BadInput, DaimonError, NotFound
from daimon.abi.server import Connectors, ServerAccount
from daimon.gateway.room.settings_changed import Changed
from daimon.gateway.servers import ServerWish
from daimon.mcp.oauth.login import Login
from daimon.mcp.servers import pins_path
from daimon.steward.estate import Estate
from daimon.steward.server_words import check_name, check_plain, check_secrets


class HomeServers:
    def __init__(self, estate: Estate, connectors: Connectors, login: Login) -> None:
        self._estate, self._connectors, self._login = estate, connectors, login

    async def add(self, wish: ServerWish) -> ServerAccount:
        given = {key: value for key, value in asdict(wish).items() if key != "name" and value}
        said = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
        async with self._estate.turn:
            await asyncio.to_thread(self._check, wish.name, said)
            await asyncio.to_thread(settings_file.edit, self._estate.home.config, settings_file.put_server(wish.name, said))
            try:
                await self._estate.changed()
                return await self._connectors.review(wish.name)
            except DaimonError as failed:
                if wish.oauth:
                    return await self._connectors.account(wish.name)
                await self._undo(wish.name)
                raise BadInput(f"it is not added: {failed}") from None
            except BaseException:  # whoever asked has gone, or all of it ends
                await asyncio.shield(self._undo(wish.name))
                raise

    async def switch(self, name: str, is_on: bool) -> Changed:
        async with self._estate.turn:
            await asyncio.to_thread(self._require, name)
            await asyncio.to_thread(settings_file.edit, self._estate.home.config, settings_file.put_server(name, {"is_on": is_on}))
            return await self._estate.changed()

    async def remove(self, name: str) -> Changed:
        async with self._estate.turn:
            server = await asyncio.to_thread(self._require, name)
            await asyncio.to_thread(settings_file.edit, self._estate.home.config, settings_file.drop_server(name))
            changed = await self._estate.changed()
            if server.url:
                await self._login.out(name)
            await asyncio.to_thread(pins_path(self._estate.home.path, name).unlink, missing_ok=True)
            return changed

    def _check(self, name: str, said: dict[str, Any]) -> None:
        check_name(name, self._estate.settings())
        try:
            config.Server.model_validate(said)
        except ValidationError as bad:
            first = bad.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise BadInput(f"mcp.{name}{f'.{place}' if place else ''}: {first['msg'].removeprefix('Value error, ')}") from None
        check_plain(said)
        check_secrets(self._estate.vault, said)

    def _require(self, name: str) -> config.Server:
        servers = self._estate.settings().mcp
        if name not in servers:
            raise NotFound(f"there is no server {name[:40]!r} in the settings; there is {', '.join(servers) or 'none'}")
        return servers[name]

    async def _undo(self, name: str) -> None:
        await asyncio.to_thread(settings_file.edit, self._estate.home.config, settings_file.drop_server(name))
        await self._estate.changed()
        await asyncio.to_thread(pins_path(self._estate.home.path, name).unlink, missing_ok=True)
