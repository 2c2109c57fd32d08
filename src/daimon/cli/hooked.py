"""Webhooks, made, shown and changed. Through the running gateway, else in the journal itself."""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import JsonValue
from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Address
from daimon.abi.hook import Filter, Hook, Hooked, Hooks, Posted, Scheme, secret_of, secrets_of
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.cli import automated, hook_secrets, screen, silence
from daimon.cli.awake import is_awake
from daimon.gateway.client import Client
from daimon.gateway.hooks import signature

T = TypeVar("T")
if TYPE_CHECKING:
    from daimon import config

USUAL_PORT = 7310


@dataclass(frozen=True, slots=True)
class Wish:
    """What the options say."""

    task: str
    collect: bool
    only: list[str]
    schema: Path | None
    to: str
    conversation: str


@dataclass(frozen=True, slots=True)
class Limits:
    per_minute: int
    most_bytes: int
    tolerance_s: int


def wished(name: str, scheme: Scheme, wish: Wish, limits: Limits) -> Hook:
    """Raises BadInput."""
    hook = Hook(
        name=name, scheme=scheme, secret=secret_of(name), mode="collect" if wish.collect else "wake", task=wish.task,
        conversation=wish.conversation, to=_address(wish.to), filters=tuple(map(_filter, wish.only)), schema=_schema(wish.schema),
        most_bytes=limits.most_bytes, tolerance_s=limits.tolerance_s, per_minute=limits.per_minute,
    )  # fmt: skip
    from daimon.gateway.hooks.check import check

    check(hook)
    if bool(hook.task.strip()) == wish.collect:
        both = "--task and --collect exclude each other" if wish.collect else "what is to become of deliveries is missing"
        raise BadInput(f"{both}; give --task TEXT for a turn with each delivery, or --collect to keep them for an automation")
    return hook


def add(given: Path | None, hook: Hook, as_json: bool) -> None:
    home = homes.home_at(given)
    if any(each.hook.name == hook.name for each in _all(home)):
        raise BadInput(f"there is a hook {hook.name} already; `daimon hooks show {hook.name}` shows it, `remove` makes room")
    home.ensure()
    secret = hook_secrets.ensured(home, hook.secret)
    _make(home, hook)
    warnings = () if hook.mode == "collect" else silence.warnings(home)
    _tell(home, hook, secret, as_json, warnings)


def show_all(given: Path | None, as_json: bool) -> None:
    found = _all(homes.home_at(given))
    if as_json:
        screen.emit(encode(tuple[Hooked, ...], found))
        return
    rows = screen.table("name", "scheme", "mode", "task")
    for each in found:
        mode = f"{each.hook.mode}, paused" if each.hook.is_paused else each.hook.mode
        rows.add_row(each.hook.name, each.hook.scheme, mode, Text(screen.plain(each.hook.task[:80])))
    screen.out().print(rows if found else "there are no hooks")


def show(given: Path | None, name: str, with_secret: bool, as_json: bool) -> None:
    home = homes.home_at(given)
    hooked = found(home, name)
    secret = hook_secrets.ensured(home, hooked.hook.secret) if with_secret else ""
    if as_json:
        shown = {**json.loads(encode(Hooked, hooked)), "address": _url(home, name)}
        screen.emit_value({**shown, **({"secret": secret} if secret else {})})
        return
    hook = hooked.hook
    screen.out().print(screen.facts(tuple((name, screen.plain(text)) for name, text in _facts(hooked) if text)))
    _tell(home, hook, secret, as_json=False)


def _facts(hooked: Hooked) -> list[tuple[str, str]]:
    hook = hooked.hook
    limits = f"{hook.per_minute:,} a minute, {hook.most_bytes:,} bytes each"
    old = "none is asked for" if hook.scheme == "github" or not hook.tolerance_s else f"at most {hook.tolerance_s} s old"
    return [
        ("scheme", hook.scheme), ("mode", hook.mode + (", paused" if hook.is_paused else "")), ("task", hook.task),
        ("answers", f"{hook.to.channel}:{hook.to.to}" if hook.to else "to you" if hook.mode == "wake" else ""),
        *(("filter", f"{each.at} = {', '.join(each.is_in)}") for each in hook.filters),
        ("schema", "asked for" if hook.schema else ""), ("limits", limits), ("timestamp", old), ("made by", hooked.by),
    ]  # fmt: skip


def deliveries(given: Path | None, name: str, limit: int, as_json: bool) -> None:
    home = homes.home_at(given)
    if is_awake(home):
        posted = Client(home.socket).ask(tuple[Posted, ...], "GET", f"/v1/hooks/{name}/deliveries", query={"limit": str(limit)})
    else:
        posted = _here(home, lambda hooks: hooks.posted(HOME_SPACE, name, limit))
    if not posted:  # of one that was removed, the record stays
        found(home, name)
    if as_json:
        screen.emit(encode(tuple[Posted, ...], posted))
        return
    rows = screen.table("at", "outcome", "key", "event or why")
    for each in posted:
        at, told = f"{each.at.astimezone():%Y-%m-%d %H:%M:%S}", screen.plain(each.event or each.why)
        rows.add_row(at, each.outcome, Text(screen.plain(each.key)), Text(told))
    screen.out().print(rows if posted else "nothing came yet")


def change(given: Path | None, name: str, as_json: bool, is_paused: bool) -> None:
    home = homes.home_at(given)
    changed = _make(home, replace(found(home, name).hook, is_paused=is_paused))
    if as_json:
        screen.emit(encode(Hooked, changed))
    else:
        screen.say(f"{name} is paused; services are told to try later" if is_paused else f"{name} takes deliveries in again")


def remove(given: Path | None, name: str, as_json: bool) -> None:
    home = homes.home_at(given)
    hooked, watching = found(home, name), automated.watching(home, name)
    secrets_gone = secrets_of(hooked.hook, (each.hook for each in _all(home)))
    if is_awake(home):
        Client(home.socket).ask(Hooked, "DELETE", f"/v1/hooks/{name}")
    else:
        _here(home, lambda hooks: hooks.unhook(HOME_SPACE, name, OWNER))
    hook_secrets.drop(home, secrets_gone)
    if as_json:
        screen.emit_value({"name": name, "removed": True, "watched_by": list(watching)})
        return
    screen.say(f"{name} is removed" + (", with its secret" if secrets_gone else f"; its secret {hooked.hook.secret} stays in the vault"))
    if watching:
        screen.remark(f"warning: looked at by {', '.join(watching)}; each look fails from now on: `daimon automations remove` ends it")


def send_sample(given: Path | None, name: str, as_json: bool) -> None:
    """A sample that passes no filter on purpose does no harm; one that does begins a turn, as a delivery would."""
    home = homes.home_at(given)
    hook = found(home, name).hook
    body = json.dumps({"test": True, "id": f"test-{secrets.token_hex(8)}", "from": "daimon hooks test"}).encode()
    secret = hook_secrets.ensured(home, hook.secret)
    headers = {"Content-Type": "application/json", **signature.sign(hook, secret, body, int(time.time()))}
    answer = Client(home.socket).post(f"/hooks/{name}", body, headers)
    if as_json:
        screen.emit(answer)
    else:
        screen.say(f"the gateway let it in: {json.loads(answer)['outcome']}")


def found(home: homes.Home, name: str) -> Hooked:
    """Raises NotFound."""
    for each in _all(home):
        if each.hook.name == name:
            return each
    raise NotFound(f"there is no hook {name!r}; `daimon hooks list` shows all")


def _all(home: homes.Home) -> tuple[Hooked, ...]:
    if is_awake(home):
        return Client(home.socket).ask(tuple[Hooked, ...], "GET", "/v1/hooks")
    return _here(home, lambda hooks: hooks.hooks(HOME_SPACE))


def _make(home: homes.Home, hook: Hook) -> Hooked:
    if is_awake(home):
        return Client(home.socket).ask(Hooked, "PUT", f"/v1/hooks/{hook.name}", encode(Hook, hook))
    return _here(home, lambda hooks: hooks.hook(HOME_SPACE, hook, OWNER, owned("api")))


def _here(home: homes.Home, does: Callable[[Hooks], Awaitable[T]]) -> T:
    from daimon.offline.hooks import hooking

    async def done() -> T:
        async with hooking(home) as hooks:
            return await does(hooks)

    return asyncio.run(done())


def _tell(home: homes.Home, hook: Hook, secret: str, as_json: bool, warnings: tuple[str, ...] = ()) -> None:
    url = _url(home, hook.name)
    if as_json:
        screen.emit_value({"name": hook.name, "address": url, "secret": secret, "warnings": list(warnings)})
        return
    screen.say(f"address  {url}")
    if secret:
        screen.say(f"secret   {secret}")
    if not _gateway(home).public_url:
        screen.remark("only this machine reaches it; set gateway.public_url when a proxy or tunnel passes /hooks/ on (docs/hooks.md)")
    silence.tell(warnings)


def _url(home: homes.Home, name: str) -> str:
    gateway = _gateway(home)
    return f"{gateway.public_url or f'http://127.0.0.1:{gateway.port or USUAL_PORT}'}/hooks/{name}"


def _gateway(home: homes.Home) -> "config.Gateway":
    from daimon import config

    return config.load(home.config, {}).gateway


def _address(text: str) -> Address | None:
    channel, colon, place = text.partition(":")
    if text and not (channel and colon and place):
        raise BadInput(f"{text!r} is no place for answers; write CHANNEL:PLACE, such as local:main")
    return Address(channel, place) if text else None


def _filter(text: str) -> Filter:
    at, equals, values = text.partition("=")
    if not equals:
        raise BadInput(f"{text!r} is no filter; write it as /action=opened,reopened")
    return Filter(at, tuple(value for value in values.split(",") if value))


def _schema(file: Path | None) -> dict[str, JsonValue]:
    if file is None:
        return {}
    try:
        schema = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as broken:
        raise BadInput(f"the schema {file} cannot be read: {str(broken)[:200]}") from None
    if not isinstance(schema, dict):
        raise BadInput(f"the schema {file} is no object")
    return schema
