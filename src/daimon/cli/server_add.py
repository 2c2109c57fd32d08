"""`daimon mcp add`: from options to a server whose tools the owner has seen.

The settings come first, since a tool that nobody approved is offered to nobody; then the server is asked what it has, and that is shown.
If it cannot be asked, the settings are as they were before, except where a login is what it lacks.
"""

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from daimon import config, homes, keeper, settings_file
from daimon.abi.errors import BadInput, DaimonError
from daimon.cli import hidden, screen
from daimon.cli.reloading import reloaded
from daimon.cli.server_reach import CHANGED, ask
from daimon.cli.server_shown import agree
from daimon.mcp.known import named_in
from daimon.steward.server_words import check_name, check_secrets, secrets_of

KNOWN_MEANS = "its tools then count as what they do, not as what nobody knows"


def said(**options: Any) -> dict[str, Any]:
    """What the options say, as the settings have it."""
    found = {name: value for name, value in options.items() if value}
    for name, sign in (("environment", "="), ("secrets", "=")):
        if name in found:
            found[name] = dict(_pair(each, sign) for each in found[name])
    return found


def add(given: Path | None, name: str, wish: Mapping[str, Any], is_agreed: bool, as_json: bool) -> None:
    home = homes.home_at(given)
    check_name(name, config.load(home.config, os.environ))
    home.ensure()
    check_kept(home, wish)
    settings_file.edit(home.config, settings_file.put_server(name, wish))
    _, heard = reloaded(home, CHANGED)
    try:
        found = ask(home, lambda by: by.review(name))
    except DaimonError:
        if wish.get("oauth"):
            _tell_login(name, as_json)
            return
        _undo(home, name)
        raise
    except KeyboardInterrupt:
        _undo(home, name)
        raise
    if (public := named_in(wish.get("command", ()))) and not wish.get("known") and not as_json:
        screen.remark(f"it looks like the public server {public}; if it is, add it with `--known {public}`: {KNOWN_MEANS}", "yellow")
    agree(home, found, is_agreed, as_json)
    if not as_json:
        screen.remark(heard)


def check_kept(home: homes.Home, wish: Mapping[str, Any]) -> None:
    """Raises BadInput for a secret that is not there, or that a box of this server could not be given."""
    if secrets_of(wish):
        with closing(keeper.opened(home, os.environ, hidden.passphrase)) as vault:
            check_secrets(vault, wish)


def _undo(home: homes.Home, name: str) -> None:
    settings_file.edit(home.config, settings_file.drop_server(name))
    (home.path / "mcp" / f"{name}.json").unlink(missing_ok=True)
    reloaded(home, CHANGED)


def _tell_login(name: str, as_json: bool) -> None:
    if as_json:
        screen.emit_value({"server": name, "added": True, "needs_login": True})
        return
    screen.say(f"{name} is in the settings")
    screen.remark(f"sign in with `daimon mcp login {name}`; then `daimon mcp review {name}` shows its tools")


def _pair(text: str, sign: str) -> tuple[str, str]:
    name, found, value = text.partition(sign)
    if not (name and found and value):
        raise BadInput(f"{text[:40]!r} is not NAME=VALUE")
    return name, value
