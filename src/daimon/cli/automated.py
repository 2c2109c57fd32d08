"""What happens by itself: shown, set, run, stopped. Through the running gateway, else in the journal itself."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal, TypeVar

from rich.text import Text

from daimon import homes
from daimon.abi import licence
from daimon.abi.automation import Automation, Clerk, Draft, Shown, Tick
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Address
from daimon.abi.plan import Plan
from daimon.abi.watch import Watch, WatchFeed, WatchFiles, WatchHook, WatchMailbox, WatchOutput, WatchPage, WatchRefs
from daimon.cli import exits, screen, silence, watched
from daimon.cli.awake import is_awake
from daimon.gateway.remote_automations import RemoteClerk

T = TypeVar("T")
SET = {
    "watch": "what it watched", "to": "where its results went", "model": "its model", "cost": "its limit in dollars",
    "tokens": "its limit in tokens", "licence": "its licence", "jitter_s": "its jitter", "is_paused": "its pause",
}  # fmt: skip
"""What an automation may have, in words."""


@dataclass(frozen=True, slots=True)
class Watches:
    feeds: tuple[str, ...]
    page: str
    selector: str
    files: tuple[str, ...]
    refs: str
    output: str
    hook: str
    mailbox: str

    def one(self) -> Watch | None:
        found: list[Watch] = [
            *((WatchFeed(self.feeds),) if self.feeds else ()),
            *((WatchPage(self.page, self.selector),) if self.page else ()),
            *((WatchFiles(self.files),) if self.files else ()),
            *((WatchRefs(self.refs),) if self.refs else ()),
            *((WatchOutput(self.output),) if self.output else ()),
            *((WatchHook(self.hook),) if self.hook else ()),
            *((WatchMailbox(self.mailbox),) if self.mailbox else ()),
        ]
        if len(found) > 1:
            raise BadInput(f"one automation watches one kind of thing, not {' and '.join(each.kind for each in found)}; make one for each")
        if self.selector and not self.page:
            raise BadInput("--selector says which part of a page; give the page with --watch-page")
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Wish:
    """The words of the command line."""

    name: str
    schedule: str
    task: str
    watches: Watches
    to: str
    model: str
    cost: str
    tokens: int
    catch_up: str
    overlap: str
    jitter: float
    timezone: str
    licence: Path | None

    def draft(self) -> Draft:
        return Draft(
            id=self.name, schedule=self.schedule, task=self.task, timezone=self.timezone, watch=self.watches.one(), to=_address(self.to),
            model=self.model, cost=_cost(self.cost), tokens=self.tokens or None, licence=_licence(self.licence),
            catch_up=_catch_up(self.catch_up), overlap=_overlap(self.overlap), jitter_s=self.jitter,
        )  # fmt: skip


def show_all(given: Path | None, as_json: bool) -> None:
    found = _done(given, lambda clerk: clerk.all())
    if as_json:
        screen.emit(encode(tuple[Shown, ...], found))
        return
    rows = screen.table("name", "schedule", "watches", "next", "last")
    for each in found:
        a = each.automation
        watches = Text(screen.plain(watched.in_words(a.watch)))
        rows.add_row(a.id, each.schedule, watches, "paused" if a.is_paused else _moment(each.next) or "never", Text(_last(each.last)))
    screen.out().print(rows if found else 'nothing happens by itself; for example: daimon automations add brief "every weekday at 8" "…"')


def add(given: Path | None, wish: Wish, as_json: bool) -> None:
    draft = wish.draft()

    async def put(clerk: Clerk) -> Shown:
        stood = next((each.automation for each in await clerk.all() if each.automation.id == draft.id), None)
        made = await clerk.put(draft)
        return replace(made, warnings=(*_lost(stood, made.automation), *made.warnings))

    found = _done(given, put)
    if as_json:
        screen.emit(encode(Shown, found))
    else:
        screen.say(f"{found.automation.id}: {found.schedule}; next {_moment(found.next) or 'never'}")
        silence.tell(found.warnings)


def _lost(stood: Automation | None, now: Automation) -> tuple[str, ...]:
    """What the one in whose place it was put had, and it has not: an option that was left out is easily not meant."""
    lost = () if stood is None else [words for field, words in SET.items() if getattr(stood, field) and not getattr(now, field)]
    return (f"it took the place of another, and this is gone: {', '.join(lost)}; say it again where you want it",) if lost else ()


def show(given: Path | None, name: str, as_json: bool) -> None:
    async def look(clerk: Clerk) -> tuple[Shown, tuple[Tick, ...]]:
        found = next((each for each in await clerk.all() if each.automation.id == name), None)
        if found is None:
            raise NotFound(f"there is no automation {name[:60]!r}; `daimon automations` lists them")
        return found, await clerk.ticks(name, 5)

    found, last = _done(given, look)
    if as_json:
        screen.emit(encode(Shown, found))
        return
    a = found.automation
    where = "to you" if a.to is None else f"{a.to.channel}:{a.to.to}"
    limit = ", ".join([*([f"${a.cost} a day"] if a.cost is not None else []), *([f"{a.tokens:,} tokens a day"] if a.tokens else [])])
    told = (
        ("name", a.id), ("schedule", found.schedule), ("task", a.task), ("watches", watched.in_words(a.watch)),
        ("results", where), ("model", a.model), ("limit", limit), ("missed times", a.catch_up), ("overlap", a.overlap),
        ("licence", "; ".join(step.tool for step in a.licence.steps) if a.licence else ""),
        ("next", "paused" if a.is_paused else _moment(found.next) or "never"), ("set by", str(found.by)),
    )  # fmt: skip
    screen.out().print(screen.facts(tuple((name, screen.plain(value)) for name, value in told if value)))
    _print(last)


def preview(given: Path | None, schedule: str, timezone: str, number: int, as_json: bool) -> None:
    found = _done(given, lambda clerk: clerk.preview(schedule, timezone, number))
    if as_json:
        screen.emit(encode(tuple[datetime, ...], found))
        return
    for at in found:
        screen.say(f"{at:%a %Y-%m-%d %H:%M %z}")
    if not found:
        screen.say("never again")


def ticks(given: Path | None, name: str, number: int, as_json: bool) -> None:
    found = _done(given, lambda clerk: clerk.ticks(name, number))
    if as_json:
        screen.emit(encode(tuple[Tick, ...], found))
    else:
        _print(found)


def run(given: Path | None, name: str, as_json: bool) -> None:
    home = homes.home_at(given)
    is_running = is_awake(home)
    tick = _done(given, lambda clerk: clerk.run(name))
    if as_json:
        screen.emit(encode(Tick, tick))
    elif tick.outcome == "ran" and not is_running:
        screen.say(f"{name}: runs at the next start; nobody runs this home now, `daimon up` does")
    else:
        screen.say(f"{name}: {tick.outcome}{f' ({tick.why})' if tick.why else ''}")
    if not as_json:
        silence.tell(silence.warnings(home))
    if tick.outcome == "failed":
        raise SystemExit(exits.FAILED)


def pause(given: Path | None, name: str, is_paused: bool, as_json: bool) -> None:
    found = _done(given, lambda clerk: clerk.pause(name, is_paused))
    if as_json:
        screen.emit(encode(Shown, found))
    else:
        screen.say(f"{name}: " + ("paused" if is_paused else f"next {_moment(found.next) or 'never'}"))


def remove(given: Path | None, name: str, as_json: bool) -> None:
    _done(given, lambda clerk: clerk.cease(name))
    if as_json:
        screen.emit_value({"removed": name})
    else:
        screen.say(f"{name} is removed; `daimon automations ticks {name}` still shows what it did")


def watching(home: homes.Home, hook: str) -> tuple[str, ...]:
    """The automations that look at what this webhook collects."""
    found = _done(home.path, lambda clerk: clerk.all())
    return tuple(
        each.automation.id for each in found if isinstance(each.automation.watch, WatchHook) and each.automation.watch.hook == hook
    )


def _print(found: tuple[Tick, ...]) -> None:
    rows = screen.table("due", "automation", "outcome", "why")
    for tick in found:
        rows.add_row(_moment(tick.due), tick.automation, tick.outcome, Text(screen.plain(tick.why)))
    screen.out().print(rows if found else "nothing was due yet")


def _last(tick: Tick | None) -> str:
    return "" if tick is None else screen.plain(f"{tick.outcome} {_moment(tick.due)}")


def _moment(at: datetime | None) -> str:
    return "" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M}"


def _done(given: Path | None, do: Callable[[Clerk], Awaitable[T]]) -> T:
    return asyncio.run(_with(homes.home_at(given), do))


async def _with(home: homes.Home, do: Callable[[Clerk], Awaitable[T]]) -> T:
    async with _clerk(home) as clerk:
        return await do(clerk)


@asynccontextmanager
async def _clerk(home: homes.Home) -> AsyncIterator[Clerk]:
    if is_awake(home):
        yield RemoteClerk(home.socket)
        return
    from daimon.offline.automations import automating

    async with automating(home) as clerk:
        yield clerk


def _address(text: str) -> Address | None:
    if not text:
        return None
    channel, colon, place = text.partition(":")
    if not colon or not channel or not place:
        raise BadInput(f"--to {text!r} is no place; write CHANNEL:PLACE, such as telegram:123456")
    return Address(channel, place)


def _cost(text: str) -> Decimal | None:
    try:
        return Decimal(text.removeprefix("$")) if text else None
    except InvalidOperation:
        raise BadInput(f"--cost-per-day {text!r} is no amount in dollars, such as 0.50") from None


def _catch_up(text: str) -> Literal["skip", "once", "all"]:
    for each in ("skip", "once", "all"):
        if text == each:
            return each
    raise BadInput(f"--catch-up {text!r} is none of skip, once, all")


def _overlap(text: str) -> Literal["skip", "wait"]:
    for each in ("skip", "wait"):
        if text == each:
            return each
    raise BadInput(f"--overlap {text!r} is none of skip, wait")


def _licence(file: Path | None) -> Plan | None:
    if file is None:
        return None
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as failed:
        raise BadInput(f"the licence {file} cannot be read: {failed}") from failed
    return licence.read(text)
