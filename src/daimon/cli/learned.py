"""What was learned: shown, accepted, turned down. Through the running gateway, else in the home itself, which is held meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from rich.text import Text

from daimon import homes
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput
from daimon.abi.lesson import Effort, Evidence, Lessons, Proposal, Service
from daimon.abi.money import dollars
from daimon.cli import editor, screen
from daimon.cli.awake import is_awake
from daimon.gateway.remote_lessons import RemoteLessons

T = TypeVar("T")
DID = {"new": "installed", "refine": "changed", "retire": "removed"}


def show_all(given: Path | None, is_all: bool, as_json: bool) -> None:
    found = _done(given, lambda lessons: lessons.proposals(is_all))
    if as_json:
        screen.emit(encode(tuple[Proposal, ...], found))
        return
    if not found:
        screen.remark("nothing waits for your word")
        return
    rows = screen.table("id", "what", "skill", "why", *(("state",) if is_all else ()))
    for each in found:
        state = (Text(each.state),) if is_all else ()
        rows.add_row(Text(each.id), Text(each.kind), Text(screen.plain(each.skill)), Text(screen.plain(each.why)), *state)
    screen.out().print(rows)


def show(given: Path | None, id_: str, as_json: bool) -> None:
    found = _done(given, lambda lessons: lessons.proposal(id_))
    if as_json:
        screen.emit(encode(Proposal, found))
        return
    facts = (("proposal", f"{found.id}, {found.state}"), ("what", found.kind), ("skill", found.skill), ("why", found.why))
    screen.out().print(screen.facts((*facts, *(("turn", _line(each)) for each in found.evidence))))
    for line in found.diff.splitlines():
        screen.say(line, "green" if line.startswith("+") else "red" if line.startswith("-") else None)
    if found.state == "open":
        screen.remark(
            f"`daimon skills accept {found.id}` lets it count, with --edit after a change; `daimon skills reject {found.id}` ends it"
        )


def accept(given: Path | None, id_: str, is_edited: bool, as_json: bool) -> None:
    text = ""
    if is_edited:
        found = _done(given, lambda lessons: lessons.proposal(id_))
        if not found.text:
            raise BadInput(f"the proposal {id_} has no text to change: it would take a skill away, or is decided")
        text = editor.edited(found.text, "SKILL.md")
    decided = _done(given, lambda lessons: lessons.accept(id_, text))
    _tell(decided, f"the skill {decided.skill} is {DID[decided.kind]}", as_json)


def reject(given: Path | None, id_: str, as_json: bool) -> None:
    decided = _done(given, lambda lessons: lessons.reject(id_))
    _tell(decided, f"{decided.id} does not come back", as_json)


def show_uses(given: Path | None, as_json: bool) -> None:
    found = _done(given, lambda lessons: lessons.uses())
    if as_json:
        screen.emit(encode(tuple[Service, ...], found))
        return
    if not found:
        screen.remark("no skill is installed")
        return
    rows = screen.table("skill", "uses", "went well", "put right", "last", "a turn with it", "a like turn without")
    for each in found:
        last = "never" if each.last_at is None else f"{each.last_at:%Y-%m-%d}"
        counts = (str(each.uses), str(each.good), str(each.corrected), last, _each(each.used), _each(each.unused))
        rows.add_row(Text(screen.plain(each.skill)), *map(Text, counts))
    screen.out().print(rows)
    screen.remark("observed, not proof: turns differ in more than the skill")


def _each(effort: Effort) -> str:
    """On average."""
    if not effort.turns:
        return "none yet"
    known = effort.turns - effort.unpriced
    cost = dollars(effort.cost / known) if known else "unknown cost"
    return f"{effort.calls / effort.turns:.1f} calls, {effort.tokens // effort.turns:,} tokens, {cost} (of {effort.turns})"


def _line(each: Evidence) -> str:
    cost = "unknown cost" if each.cost is None else dollars(each.cost)
    return f"{each.turn}  {each.at:%Y-%m-%d %H:%M}  {each.calls} calls, {each.tokens:,} tokens, {cost}, {each.outcome}: {each.asked}"


def _tell(decided: Proposal, said: str, as_json: bool) -> None:
    if as_json:
        screen.emit(encode(Proposal, decided))
    else:
        screen.say(said)


def _done(given: Path | None, do: Callable[[Lessons], Awaitable[T]]) -> T:
    async def asked() -> T:
        async with _lessons(homes.home_at(given)) as lessons:
            return await do(lessons)

    return asyncio.run(asked())


@asynccontextmanager
async def _lessons(home: homes.Home) -> AsyncIterator[Lessons]:
    if is_awake(home):
        yield RemoteLessons(home.socket)
        return
    from daimon.offline.lessons import deciding
    from daimon.offline.reading import reading

    async with reading(home):  # raises NotFound in an empty home, and leaves it empty
        pass
    async with deciding(home) as lessons:
        yield lessons
