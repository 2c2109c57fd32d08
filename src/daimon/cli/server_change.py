"""`daimon mcp on`, `off` and `remove`."""

import asyncio
import os
import sys
from contextlib import closing, suppress
from pathlib import Path

from daimon import config, homes, keeper, settings_file
from daimon.abi.errors import NotFound
from daimon.cli import hidden, remembered, screen
from daimon.cli.reloading import News, reloaded
from daimon.cli.server_reach import CHANGED

_GONE = News("the running gateway does without it", "the next start does without it")


def switch(given: Path | None, name: str, is_on: bool, as_json: bool) -> None:
    home = homes.home_at(given)
    _require(home, name)
    settings_file.edit(home.config, settings_file.put_server(name, {"is_on": is_on}))
    is_heard, heard = reloaded(home, CHANGED)
    if as_json:
        screen.emit_value({"server": name, "is_on": is_on, "reloaded": is_heard})
        return
    screen.say(f"{name} is {'on' if is_on else 'off'}")
    screen.remark(heard)


def remove(given: Path | None, name: str, forgets: bool | None, as_json: bool) -> None:
    home = homes.home_at(given)
    server = _require(home, name)
    settings_file.edit(home.config, settings_file.drop_server(name))
    is_heard, heard = reloaded(home, _GONE)
    _sign_out(home, name, server)
    (home.path / "mcp" / f"{name}.json").unlink(missing_ok=True)
    if as_json:
        screen.emit_value({"server": name, "removed": True, "reloaded": is_heard})
    else:
        screen.say(f"{name} is removed, with what you agreed to and its tokens")
        screen.remark(heard)
    if forgets if forgets is not None else not as_json and _is_wanted(name):
        with suppress(NotFound):  # it never said anything
            remembered.forget_source(given, f"mcp:{name}", True, as_json)
    elif not as_json:
        screen.remark(f"what came from it is still there; `daimon memory forget --source mcp:{name}` deletes it for good")


def _require(home: homes.Home, name: str) -> config.Server:
    servers = config.load(home.config, os.environ).mcp
    if name not in servers:
        raise NotFound(f"there is no server {name[:40]!r}; there is {', '.join(servers) or 'none'}")
    return servers[name]


def _sign_out(home: homes.Home, name: str, server: config.Server) -> None:
    from daimon.mcp.hooking import login_of

    if not server.url:
        return
    with closing(keeper.opened(home, os.environ, hidden.passphrase)) as vault:
        asyncio.run(login_of(home, config.settings_of(home), vault).out(name))


def _is_wanted(name: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    screen.remarks().out(f"Delete for good all that came from {name}, in memory and journal? [y/N] ", end="", highlight=False)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
