"""`daimon mcp login` and `logout`: by the person at the terminal. Nothing is opened from here; the address is shown, with its host."""

import asyncio
import os
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from daimon import config, homes, keeper, settings_file
from daimon.abi.errors import BadInput, NotFound
from daimon.cli import hidden, screen
from daimon.cli.reloading import reloaded
from daimon.cli.server_reach import CHANGED
from daimon.mcp.hooking import login_of
from daimon.mcp.oauth import login as oauth
from daimon.mcp.oauth.asking import host_of
from daimon.mcp.oauth.callback import returned
from daimon.mcp.oauth.login import Begun, Login
from daimon.mcp.oauth.places import Places


@dataclass(frozen=True, slots=True)
class Wish:
    name: str
    by_device: bool = False
    pastes: bool = False
    client_id: str = ""
    client_secret: str = ""
    """Its name in the vault."""
    at: tuple[str, ...] = ()
    port: int = 0


def login(given: Path | None, wish: Wish, as_json: bool) -> None:
    home = homes.home_at(given)
    settings = config.settings_of(home)
    server = _server(settings, wish.name)
    with closing(keeper.opened(home, os.environ, hidden.passphrase)) as vault:
        asked = oauth.Wish(name=wish.name, server=server.url, client_id=wish.client_id, at=wish.at, port=wish.port)
        issuer = asyncio.run(_sign_in(vault, login_of(home, settings, vault), asked, wish, as_json))
    if not server.oauth:
        settings_file.edit(home.config, settings_file.put_server(wish.name, {"oauth": True}))
    is_heard, _ = reloaded(home, CHANGED)
    if as_json:
        screen.emit_value({"server": wish.name, "signed_in": True, "issuer": issuer, "reloaded": is_heard})
        return
    screen.say(f"you are signed in at {wish.name}, by {issuer}")
    screen.remark(f"`daimon mcp review {wish.name}` shows its tools")


def logout(given: Path | None, name: str, as_json: bool) -> None:
    home = homes.home_at(given)
    settings = config.settings_of(home)
    _server(settings, name)
    with closing(keeper.opened(home, os.environ, hidden.passphrase)) as vault:
        was_told = asyncio.run(login_of(home, settings, vault).out(name))
    if as_json:
        screen.emit_value({"server": name, "signed_out": True, "revoked_there": was_told})
        return
    there = "" if was_told else "; the service was not told, or did not say yes, so end it there too"
    screen.say(f"the tokens of {name} are gone{there}")


async def _sign_in(vault: keeper.Vault, login: Login, asked: oauth.Wish, wish: Wish, as_json: bool) -> str:
    places = await login.places(asked)
    if wish.client_secret:
        asked = replace(asked, client_secret=vault.reveal(wish.client_secret, "mcp login", host_of(places.token)))
    if not as_json:
        screen.remark(f"who takes part: {', '.join(places.hosts)}; what is asked for: {', '.join(places.scopes) or 'what is usual there'}")
    if wish.by_device:
        way = await login.by_device(asked, places)
        _tell(way.begun, as_json)
        await way.finish()
    else:
        await _by_browser(login, asked, places, wish.pastes, as_json)
    return places.issuer


async def _by_browser(login: Login, asked: oauth.Wish, places: Places, pastes: bool, as_json: bool) -> None:
    async with login.by_browser(asked, places) as way:
        _tell(way.begun, as_json)
        if not pastes:
            await way.finish()
            return
        screen.remark("Sign in there. The browser then says that it cannot open a page of 127.0.0.1: paste that page's address here.")
        line = await asyncio.to_thread(sys.stdin.readline, 16 * 1024)
        back = returned(line, way.begun.state)
        if back is None:
            raise BadInput("that is not the address that this sign-in comes back to; begin again")
        await way.take(back)


def _tell(begun: Begun, as_json: bool) -> None:
    if as_json:
        screen.emit_value({"open": begun.url, "host": begun.host, "code": begun.code})
        return
    screen.remark(f"Open this page of {begun.host} in a browser{' and type the code there' if begun.code else ''}:")
    screen.say(begun.url)
    if begun.code:
        screen.say(begun.code, style="bold")


def _server(settings: config.Settings, name: str) -> config.Server:
    if name not in settings.mcp:
        raise NotFound(f"there is no server {name[:40]!r}; there is {', '.join(settings.mcp) or 'none'}")
    if not settings.mcp[name].url:
        raise BadInput(f"{name} is a command, and nobody signs in there; give it a secret with --secret")
    return settings.mcp[name]
