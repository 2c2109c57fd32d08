"""Figures against a journal whose every row was written here, so that each can be counted by hand."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import apsw

from daimon.abi.automation import Tick
from daimon.abi.codec import blob_hash
from daimon.abi.event import Address, Event, Said, Stop
from daimon.abi.figures import Figures, Interventions, Judged, Prompts, Spread, Taken, ToolUse
from daimon.abi.hook import Posted
from daimon.abi.ids import HOME_SPACE, OWNER, EventId, Key
from daimon.abi.judgement import Gate
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import Blob, DeadLetter
from daimon.abi.step import (
    Answered,
    Asked,
    Checkpointed,
    Continue,
    Decided,
    Happened,
    Intended,
    ModelFailed,
    Replied,
    Started,
    StepBody,
)
from daimon.abi.tool import Effect, Question, Send
from daimon.abi.turn import Ending
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.ledger import Desk, Pen
from daimon.testing.ids import CountingIds

ASK = Asked(Question("May I?", ("deny", "allow"), "authorise"))
THINK = Decided(Continue(), "1")
LONG = "word " * 4_000
"""Compressed in the journal."""


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Desk]:
    clock = ManualClock()
    journal = await SqliteJournal.open(path / "journal.db", clock, CountingIds())
    try:
        yield Desk(journal, clock)
    finally:
        await journal.close()


async def read(desk: Desk, days: float = 1) -> Figures:
    journal = desk.journal
    assert isinstance(journal, SqliteJournal)
    return await journal.figures(HOME_SPACE, START - timedelta(days=days))


def intended(tool: str, verdict: str) -> StepBody:
    return Intended("c", tool, {"x": 1}, Key(f"{tool}-{verdict}"), Effect.PURE, "hash", Gate(verdict))  # type: ignore[arg-type]


def happened(tool: str, code: str = "", how: str = "ran", took: float = 0.0, text: str = "ok") -> StepBody:
    return Happened(0, ToolResult("c", tool, (Text(text),)), code, how, duration_ms=took)  # type: ignore[arg-type]


async def answered(pen: Pen, seconds: float, choice: str, event: str | None = "e") -> None:
    asked = await pen.write(ASK)
    await pen.clock.advance(seconds)
    await pen.write(Answered(asked, choice, "", OWNER, None if event is None else EventId(event)))


async def test_an_empty_journal_has_only_noughts(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        assert await read(desk) == Figures(since=START - timedelta(days=1))


async def test_every_event_is_told_where_it_is_and_none_is_lost(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        await (await desk.begin("ended")).end()
        await (await desk.begin("failed")).end(Ending.FAILED)
        await desk.begin("open")
        now = desk.clock.now()
        waiting = Event(
            id=EventId("w"), source="t", key=Key("w"), conversation="waiting", principal=OWNER, body=Said((Text("w"),)),
            label=owned("test"), occurred_at=now, received_at=now,
        )  # fmt: skip
        await desk.journal.accept(waiting)
        figures = await read(desk)
        assert figures.taken == Taken(accepted=4, ended=2, open=1, waiting=1, late=0, lost=0)
        assert figures.endings == {"answered": 1, "failed": 1}


async def test_an_answer_takes_from_the_message_to_the_end_unless_somebody_was_asked(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        for seconds in (1, 2, 3, 100):
            pen = await desk.begin(f"c{seconds}")
            await desk.clock.advance(seconds)
            await pen.end()
        pen = await desk.begin("asks")
        await answered(pen, 5_000, "allow")
        await pen.end()
        assert (await read(desk)).answers == Spread(4, 2_000.0, 100_000.0)


async def test_calls_of_models_are_counted_with_what_was_new_in_their_prompts(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        pen = await desk.begin("a")
        fixed, first, second = b"system" * 100, b"first" * 50, b"second" * 20
        one = Blob(blob_hash(fixed + first), (fixed, first), 1)
        both = Blob(blob_hash(fixed + first + second), (fixed, first, second), 1)
        await pen.write(THINK)
        await desk.clock.advance(2)
        await pen.write(Replied("m", (Text("hi"),), "tools", request=one.hash), THINK, blobs=(one,))
        await desk.clock.advance(4)
        await pen.write(
            Replied("m", (Text(LONG * 20),), "stop", request=both.hash), THINK, ModelFailed("m", "cut", "it broke"), blobs=(both,)
        )
        sizes = 2 * len(fixed) + 2 * len(first) + len(second), len(first) + len(second)
        assert (await read(desk)).prompts == Prompts(2, 1, *sizes, Spread(2, 2_000.0, 4_000.0))


async def test_tools_are_told_by_name_with_what_failed_and_what_never_ran(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        pen = await desk.begin("a")
        await pen.write(intended("shell", "allow"), intended("shell", "ask"), intended("mail", "deny"), intended("mail", "invalid"))
        await pen.write(
            happened("shell", took=10), happened("shell", took=30, text=LONG), happened("shell", "timeout", took=50, text=LONG * 20)
        )
        await pen.write(happened("mail", "denied", "refused"), Checkpointed("workspace", "x"))
        figures = await read(desk)
        assert figures.tools == (
            ToolUse("shell", 3, 1, 0, Spread(3, 30.0, 50.0), {"timeout": 1}),
            ToolUse("mail", 1, 0, 1),
        )
        assert figures.judged == Judged(allowed=1, asked=1, denied=1, invalid=1)
        assert figures.checkpoints == 1


async def test_people_are_counted_with_how_long_they_took(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        pen = await desk.begin("a")
        await answered(pen, 10, "allow")
        await answered(pen, 20, "deny")
        await answered(pen, 30, "blue")
        await answered(pen, 40, "deny", event=None)
        await pen.write(Started(0, "h", Question("Which?")), Started(0, "child"))
        now = desk.clock.now()
        stop = Event(
            id=EventId("s"), source="api", key=Key("s"), conversation="a", principal=OWNER, body=Stop(pen.turn), label=owned("test"),
            occurred_at=now, received_at=now,
        )  # fmt: skip
        await desk.journal.accept(stop)
        assert (await read(desk)).interventions == Interventions(
            questions=5, allowed=1, denied=1, answered=1, lapsed=1, stops=1, took=Spread(3, 20_000.0, 30_000.0)
        )


async def test_what_went_out_and_what_happened_by_itself_is_told_by_outcome(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        journal, now = desk.journal, desk.clock.now()
        assert isinstance(journal, SqliteJournal)
        pen = await desk.begin("a")
        await pen.write(
            Asked(Question("?"), operations=(Send(Address("mail", "x"), (Text("a"),)), Send(Address("mail", "y"), (Text("b"),))))
        )
        (first, *_) = await journal.outgoing(10)
        await journal.delivered(first, "confirmed")
        await journal.bury(DeadLetter("api", "no JSON", b"{", now))
        for n, outcome in enumerate(("ran", "unchanged", "unchanged", "skipped")):
            await journal.tick(HOME_SPACE, Tick(automation="x", due=now + timedelta(minutes=n), at=now, outcome=outcome))  # type: ignore[arg-type]
        await journal.post(HOME_SPACE, Posted(hook="ci", key="1", at=now, outcome="refused", why="bad signature"))
        figures = await read(desk)
        assert figures.mail == {"confirmed": 1, "queued": 1}
        assert figures.letters == 1
        assert (figures.ticks, figures.idle_calls) == ({"ran": 1, "unchanged": 2, "skipped": 1}, 0)
        assert figures.deliveries == {"refused": 1}


async def test_only_the_stretch_counts(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        for name in ("old", "new"):
            pen = await desk.begin(name)
            await pen.write(intended("shell", "allow"), happened("shell", took=1), THINK, Replied("m", (Text("x"),), "stop"))
            await pen.end()
            await desk.clock.advance(3 * 86_400)
        figures = await read(desk, days=-2)
        assert (figures.taken.accepted, figures.endings, figures.prompts.calls) == (1, {"answered": 1}, 1)
        assert (figures.tools[0].calls, figures.judged.allowed) == (1, 1)


async def test_a_damaged_or_forgotten_payload_counts_and_says_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as desk:
        pen = await desk.begin("a")
        await pen.write(happened("shell"), happened("shell", text=LONG), happened("mail"), happened("mail"))
        with apsw.Connection(str(tmp_path / "journal.db")) as db:
            first = int(db.execute("SELECT MIN(pos) FROM steps").get)
            db.execute("UPDATE payloads SET body = x'00ff' WHERE pos IN (?, ?)", (first, first + 1))
            db.execute("UPDATE payloads SET body = NULL WHERE pos = ?", (first + 2,))
        assert {use.tool: use.calls for use in (await read(desk)).tools} == {"": 3, "mail": 1}
