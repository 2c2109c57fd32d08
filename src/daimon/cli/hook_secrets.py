"""The secrets of webhooks, in the vault of the home: shown once to their owner, who enters them at the service.

A hook has one secret; while it is being changed there are two, and both count.
"""

from pathlib import Path

from daimon import homes, keeper
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.hook import NEXT
from daimon.cli import screen
from daimon.cli.secrets_change import opened


def ensured(home: homes.Home, name: str) -> str:
    """The value; made where there is none."""
    with opened(home.path) as (_, vault):
        keeper.hook_secret_made(vault, name)
        return vault.checking((name,), "owner")[0]


def values(home: homes.Home, name: str) -> tuple[str, ...]:
    """The one in force, and the next if there is one."""
    with opened(home.path) as (_, vault):
        return vault.checking((name, name + NEXT), "owner")


def drop(home: homes.Home, names: tuple[str, ...]) -> None:
    with opened(home.path) as (_, vault):
        keeper.drop_secrets(vault, names)


def rotate(given: Path | None, name: str, is_done: bool, as_json: bool) -> None:
    from daimon.cli import hooked

    home = homes.home_at(given)
    secret = hooked.found(home, name).hook.secret
    value = _finish(home, secret) if is_done else _begin(home, secret)
    if as_json:
        screen.emit_value({"name": name, "done": is_done, **({} if is_done else {"secret": value})})
    elif is_done:
        screen.say(f"{name} has its new secret; the old one does not count any more")
    else:
        screen.say(f"secret   {value}")
        screen.remark(f"enter it at the service; both secrets count until `daimon hooks rotate {name} --done`")


def _begin(home: homes.Home, secret: str) -> str:
    with opened(home.path) as (_, vault):
        if not vault.has(secret):
            raise NotFound(f"there is no secret {secret!r} to follow; `daimon hooks show NAME --secret` makes it")
        keeper.hook_secret_made(vault, secret + NEXT)
        return vault.checking((secret + NEXT,), "owner")[0]


def _finish(home: homes.Home, secret: str) -> str:
    with opened(home.path) as (_, vault):
        following = vault.checking((secret + NEXT,), "owner")
        if not following:
            raise BadInput("no next secret was made; `daimon hooks rotate NAME` makes it")
        vault.rotate(secret, following[0])
        vault.remove(secret + NEXT)
        return following[0]
