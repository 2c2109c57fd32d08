"""`daimon secrets add`, `rotate`, `scope`, `forget`, `remove` and `seal`. A running gateway sees the change at its next use."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from daimon import config, homes, keeper, lines
from daimon.cli import hidden, screen
from daimon.keeper import PASSPHRASE_VARIABLE

_SOURCES = {
    "file": "a file of the home: whoever can read the home can open the vault",
    "passphrase": "your head: every start and every command needs the passphrase",
    "keyring": "the keyring of your session",
    "systemd": "a credential of systemd: only a service that has it opens the vault",
}


def add(given: Path | None, name: str, scope: keeper.Scope, as_json: bool) -> None:
    with opened(given) as (home, vault):
        vault.check_new(name, scope)
        home.ensure()
        vault.add(name, hidden.value(f"Value of {name} (it is not shown): "), scope)
        _told(as_json, {"name": name, "added": True}, f"{name} is in the vault; {_reach(vault.entry(name))}")


def rotate(given: Path | None, name: str, as_json: bool) -> None:
    with opened(given) as (_, vault):
        vault.entry(name)  # before somebody types a value for nothing
        vault.rotate(name, hidden.value(f"New value of {name} (it is not shown): "))
        _told(as_json, {"name": name, "rotated": True}, f"{name} has a new value from now on; the old one is kept out of texts on")


def rescope(given: Path | None, name: str, scope: keeper.Scope, as_json: bool) -> None:
    with opened(given) as (_, vault):
        vault.scope(name, scope)
        entry = vault.entry(name)
        value = {"name": name, "hosts": list(entry.hosts), "agents": list(entry.agents), "variable": entry.variable}
        _told(as_json, value, f"{name}: {_reach(entry)}")


def forget(given: Path | None, name: str, as_json: bool) -> None:
    with opened(given) as (_, vault):
        vault.forget(name)
        _told(as_json, {"name": name, "forgotten": True}, f"the old values of {name} are forgotten, and not looked for in texts any more")


def remove(given: Path | None, name: str, as_json: bool) -> None:
    with opened(given) as (home, vault):
        entry = vault.entry(name)
        settings = config.load(home.config, {})
        models, channels = keeper.referring(settings, name), lines.referring(settings, name)
        vault.remove(name)
        told = {"name": name, "removed": True, "models": list(models), "channels": list(channels), "agents": list(entry.agents)}
        _told(as_json, told, f"{name} is removed")
        for channel in channels if not as_json else ():
            screen.remark(f"the channel {channel} refers to it, and is locked out now")
        for model in models if not as_json else ():
            screen.remark(f"the model {model} refers to it, and has no key now")
        for agent in entry.agents if not as_json else ():
            screen.remark(f"{'every agent' if agent == '*' else f'the agent {agent}'} could use it, and cannot any more")


def seal(given: Path | None, source: str, as_json: bool) -> None:
    with opened(given) as (home, vault):
        is_said = vault.source != "passphrase" and PASSPHRASE_VARIABLE in os.environ  # else that is the old one
        home.ensure()
        vault.seal(keeper.source(source, home, os.environ, (lambda: os.environ[PASSPHRASE_VARIABLE]) if is_said else hidden.new_passphrase))
        _told(as_json, {"source": source}, f"the vault is sealed anew; its key is in {_SOURCES[source]}")


def scope(service: str | None, hosts: list[str] | None, agents: list[str] | None, variable: str | None) -> keeper.Scope:
    return keeper.Scope(service, _named(hosts), _named(agents), variable)


def _named(given: list[str] | None) -> tuple[str, ...] | None:
    """An empty word is none at all."""
    return tuple(word for word in given if word) if given else None


@contextmanager
def opened(given: Path | None) -> Iterator[tuple[homes.Home, keeper.Vault]]:
    home = homes.home_at(given)
    vault = keeper.opened(home, os.environ, hidden.passphrase)
    try:
        yield home, vault
    finally:
        vault.close()


def _told(as_json: bool, value: Mapping[str, object], text: str) -> None:
    if as_json:
        screen.emit_value(value)
    else:
        screen.say(text)


def _reach(entry: keeper.Entry) -> str:
    if not entry.hosts:
        return "it may go nowhere yet (--host says where)"
    if not entry.agents:
        return f"it may go to {', '.join(entry.hosts)}, and no box may use it (--agent says whose)"
    return f"it may go to {', '.join(entry.hosts)}; boxes of {', '.join(entry.agents)} may use it as {entry.variable}"
