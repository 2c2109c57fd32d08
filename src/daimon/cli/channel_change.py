"""`daimon channel test`, `poke` and `remove`."""

import asyncio
import os
import sys
from contextlib import closing
from pathlib import Path

from daimon import homes
from daimon.cli import hidden, screen
from daimon.cli.attention import attentive
from daimon.cli.reloading import News, reloaded
from daimon.gateway.client import Client
from daimon.hookup import Hookup

_GONE = News("the running gateway does not listen to it any more", "the next start does without it")


def test(given: Path | None, name: str, as_json: bool) -> None:
    with closing(_opened(given)) as hookup:
        found = asyncio.run(hookup.test(hookup.wanted(name)))
    if as_json:
        told = {"facts": list(found.facts), "warnings": list(found.warnings), "advised": found.advised}
        screen.emit_value({"channel": name, "ok": True, "who": found.who, **told})
        return
    screen.say(f"{name} lets the agent in as {found.who}")
    for fact in found.facts:
        screen.remark(fact)
    for warning in found.warnings:
        screen.remark(warning, style="yellow")
    for setting, value in found.advised.items():
        screen.remark(f"the server suggests {setting} = {value}; `daimon channel add {name} --{setting.replace('_', '-')} …` sets it")


def poke(given: Path | None, name: str, as_json: bool) -> None:
    Client(homes.home_at(given).socket).poke(name)
    if as_json:
        screen.emit_value({"channel": name, "poked": True})
    else:
        screen.say(f"{name} is being tried now; `daimon channel list` shows how it went")


def remove(given: Path | None, name: str, with_secret: bool | None, as_json: bool) -> None:
    with closing(_opened(given)) as hookup:
        left = hookup.remove(name)
        is_wanted = with_secret if with_secret is not None else bool(left) and _asked(left, as_json)
        if is_wanted:
            hookup.forget(left)
        is_heard, heard = reloaded(hookup.home, _GONE)
    gone, stays = (left, ()) if is_wanted else ((), left)
    if as_json:
        screen.emit_value({"channel": name, "removed": True, "secrets_removed": list(gone), "reloaded": is_heard})
        return
    screen.say(f"{name} is removed")
    for secret in gone:
        screen.remark(f"its secret {secret} is out of the vault too")
    for secret in stays:
        screen.remark(f"its secret {secret} is still in the vault; `daimon secrets remove {secret}` takes it out")
    screen.remark(heard)


def _asked(left: tuple[str, ...], as_json: bool) -> bool:
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        with attentive():
            return input(screen.plain(f"Take {' and '.join(left)} out of the vault too? [Y/n] ")).strip().lower() in ("", "y", "yes")
    except EOFError:
        return False


def _opened(given: Path | None) -> Hookup:
    return Hookup(homes.home_at(given), os.environ, hidden.passphrase)
