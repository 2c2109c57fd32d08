"""The reading commands. Each asks a `Source`, which may be a running gateway or the journal itself, and prints what it says."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.text import Text

from daimon import __version__, homes
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput, Erased, NotFound
from daimon.abi.ids import HOME_SPACE, TurnId
from daimon.abi.ports import Count
from daimon.abi.step import ModelFailed, Replied
from daimon.abi.turn import State, Turn
from daimon.cli import screen
from daimon.cli.reach import Source, source
from daimon.gateway.answers import Letter, LineState, Status, Trace
from daimon.gateway.client import Client
from daimon.gateway.codes import code_of
from daimon.kernel import words
from daimon.kernel.questions import OpenQuestion, open_questions

STATES = {State.QUEUED: "cyan", State.RUNNING: "cyan", State.PARKED: "yellow", State.DONE: "green", State.FAILED: "red"}
LAST = "last"
MOST_SEARCHED = 1_000
MOST_CODES = 5


def status(given: Path | None, as_json: bool) -> None:
    home = homes.home_at(given)
    client = Client(home.socket)
    if client.is_there():
        running = client.status()
        count, rows = running.count, _running(running)
        told = b'{"running":true,' + encode(Status, running)[1:]
    else:
        count, rows = asyncio.run(_count(home)), (("gateway", _absent(home)), ("home", str(home.path)))
        told = b'{"running":false,"version":%s,"home":%s,"count":%s}' % (
            encode(str, __version__), encode(str, str(home.path)), encode(Count, count),
        )  # fmt: skip
    if as_json:
        screen.emit(told)
    else:
        screen.out().print(screen.facts((*rows, *_waiting(asyncio.run(open_now(home))), *_amounts(count))))


def _absent(home: homes.Home) -> str:
    if (holder := home.holder()) is None:
        return "not running; start it with `daimon up`"
    return f"does not listen: process {holder} holds this home; it is starting or ending, or a command is at work"


def _waiting(found: tuple[OpenQuestion, ...]) -> tuple[tuple[str, str], ...]:
    if not found:
        return ()
    codes = ", ".join(code_of(asked.to) for asked in found[:MOST_CODES])
    many = "1 waits" if len(found) == 1 else f"{len(found)} wait"
    return (("questions", f"{many} for you ({codes}{', …' if len(found) > MOST_CODES else ''}); `daimon questions` lists them"),)


async def _count(home: homes.Home) -> Count:
    async with source(home) as journal:
        return await journal.count()


def _running(status: Status) -> tuple[tuple[str, str], ...]:
    age_s = (datetime.now(UTC) - status.started_at).total_seconds()
    return (
        ("gateway", f"running for {words.duration(age_s)}, process {status.pid}, version {status.version}"),
        ("home", status.home),
        ("model", status.model),
        ("work", f"{status.depth.running} running, {status.depth.waiting} waiting; {status.commits} commits since the start"),
        *((("cost", "; ".join(map(words.balance, status.balances))),) if status.balances else ()),
        *((("channels", ", ".join(map(_line, status.lines))),) if status.lines else ()),
        *((("strangers", f"{status.strangers} knocked and got no answer; `daimon people` lists them"),) if status.strangers else ()),
        *((("learned", f"{status.lessons} proposals wait for your word; `daimon skills proposals` lists them"),) if status.lessons else ()),
        *(("warning", warning) for warning in status.warnings),
    )


def _line(line: LineState) -> str:
    if line.state in ("up", "starting"):
        return f"{line.name} {line.state}"
    again = f", next try at {line.next_try:%H:%M:%S}" if line.next_try else ""
    again += f"; `daimon channel test {line.name}` says more" if line.state == "locked_out" else ""
    return f"{line.name} {line.state.replace('_', ' ')} since {line.since:%m-%d %H:%M} ({words.short(line.why, 100)}{again})"


def _amounts(count: Count) -> tuple[tuple[str, str], ...]:
    states = ", ".join(f"{number} {state}" for state, number in count.turns.items() if number)
    return (
        ("events", str(count.events)),
        ("turns", states or "none"),
        ("steps", str(count.steps)),
        ("timers", str(count.timers)),
        ("to deliver", str(count.outgoing)),
        *((("messages", ", ".join(f"{number} {state}" for state, number in sorted(count.mail.items()))),) if count.mail else ()),
        ("dead letters", str(count.dead_letters)),
        ("journal", f"{count.bytes / 1_000_000:.1f} MB"),
    )


def turns(given: Path | None, limit: int, conversation: str | None, state: str | None, as_json: bool) -> None:
    if state is not None and state not in State.__members__.values():
        raise typer.BadParameter(f"{state!r} is none of {', '.join(State)}", param_hint="--state")
    asyncio.run(_turns(homes.home_at(given), limit, conversation, None if state is None else State(state), as_json))


async def _turns(home: homes.Home, limit: int, conversation: str | None, state: State | None, as_json: bool) -> None:
    async with source(home) as journal:
        found = await journal.turns(HOME_SPACE, limit, conversation, state)
        if as_json:
            screen.emit(encode(tuple[Turn, ...], found))
            return
        rows = screen.table("turn", "began", "state", "ending", "conversation", "what was said")
        for turn in found:
            said = words.said((await journal.event(turn.event)).body)
            rows.add_row(
                turn.id, f"{turn.created_at:%m-%d %H:%M:%S}", Text(turn.state, STATES[turn.state]), turn.ending or "",
                screen.plain(turn.conversation), Text(screen.plain(words.short(said))),
            )  # fmt: skip
    screen.out().print(rows if found else "no turns")


def trace(given: Path | None, turn: str, as_json: bool) -> None:
    found = asyncio.run(_trace(homes.home_at(given), turn))
    if as_json:
        screen.emit(encode(Trace, found))
    else:
        from daimon.cli import page
        from daimon.observe.trace import report

        page.show(report(found.turn, found.event, found.steps, found.late))


async def _trace(home: homes.Home, turn: str) -> Trace:
    async with source(home) as journal:
        found = await find(journal, turn)
        return Trace(found, await journal.event(found.event), await journal.steps(found.id), await journal.late(found.id))


def prompt(given: Path | None, turn: str, n: int) -> None:
    screen.raw(asyncio.run(_prompt(homes.home_at(given), turn, n)))


async def _prompt(home: homes.Home, turn: str, n: int) -> bytes:
    async with source(home) as journal:
        found = await find(journal, turn)
        calls = {step.n: step.body.request for step in await journal.steps(found.id) if isinstance(step.body, Replied | ModelFailed)}
        blob = calls.get(n)
        if blob is None:
            raise NotFound(f"step {n} of {found.id} is no model call; those are {', '.join(map(str, calls)) or 'none'}")
        try:
            return await journal.get(blob)
        except Erased as gone:
            raise Erased(f"the request of step {n} was erased: {gone}") from gone


async def find(journal: Source, text: str) -> Turn:
    """The turn of this id, of this beginning of one, or the last one."""
    recent = await journal.turns(HOME_SPACE, 1 if text == LAST else MOST_SEARCHED)
    if text == LAST:
        if not recent:
            raise NotFound("there are no turns yet")
        return recent[0]
    matching = [turn for turn in recent if turn.id.startswith(text)]
    if len(matching) > 1 and not any(turn.id == text for turn in matching):
        raise BadInput(
            f"{text!r} is the beginning of {len(matching)} turns, such as {matching[0].id} and {matching[1].id}; give more of it"
        )
    return matching[0] if len(matching) == 1 else await journal.turn(TurnId(text))


def questions(given: Path | None, as_json: bool) -> None:
    found = asyncio.run(open_now(homes.home_at(given)))
    if as_json:
        screen.emit(encode(tuple[OpenQuestion, ...], found))
        return
    from daimon.cli.speech import question

    rows = screen.table("answer to", "code", "asked", "conversation", "question")
    for asked in found:
        rows.add_row(
            str(asked.to),
            code_of(asked.to),
            f"{asked.asked_at:%m-%d %H:%M:%S}",
            screen.plain(asked.conversation),
            Text(screen.plain(question(asked))),
        )
    screen.out().print(rows if found else "nobody is being asked anything")


async def open_now(home: homes.Home) -> tuple[OpenQuestion, ...]:
    async with source(home) as journal:
        return await open_questions(journal, HOME_SPACE)


def letters(given: Path | None, limit: int, as_json: bool) -> None:
    found = asyncio.run(_letters(homes.home_at(given), limit))
    if as_json:
        screen.emit(encode(tuple[Letter, ...], found))
        return
    rows = screen.table("at", "from", "reason", "what came")
    for letter in found:
        rows.add_row(
            f"{letter.at:%m-%d %H:%M:%S}",
            screen.plain(letter.source),
            Text(screen.plain(letter.reason)),
            Text(screen.plain(words.short(letter.body))),
        )
    screen.out().print(rows if found else "no dead letters")


async def _letters(home: homes.Home, limit: int) -> tuple[Letter, ...]:
    async with source(home) as journal:
        found = await journal.letters(limit)
        return tuple(Letter(letter.source, letter.reason, letter.at, letter.body.decode("utf-8", "backslashreplace")) for letter in found)
