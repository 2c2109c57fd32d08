"""Events, steps and journals to try things on."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

import daimon
from daimon.abi.event import Address, Body, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, Conversation, EventId, Key
from daimon.abi.judgement import Gate
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import Busy, Claim, Ended, Idle, Ids, NotYet
from daimon.abi.step import Happened, Intended, Step, StepBody
from daimon.abi.tool import Effect, Operation
from daimon.abi.turn import Ending, Pins
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds

MAIN = Conversation(HOME_SPACE, "main")
PINS = Pins("c1", "p1", "s1", "t1", "m1")
TTL_S = 30.0
PROCESS_S = 120.0
"""So long a process that was started may take to its end: what it does is little, what it imports is much."""
DONE = Ended(Ending.ANSWERED, owned("test"), (Text("an answer"),))
SOURCE = str(Path(daimon.__file__).parents[1])
ROOT = str(Path(__file__).parents[2])


def fresh_ids() -> Ids:
    """Names that no earlier process has used."""
    return SortableIds(SystemClock(), SystemRandom())


@asynccontextmanager
async def opened(path: Path, clock: ManualClock | None = None) -> AsyncIterator[SqliteJournal]:
    journal = await SqliteJournal.open(path, clock or ManualClock(), fresh_ids())
    try:
        yield journal
    finally:
        await journal.close()


@asynccontextmanager
async def filed(clock: ManualClock) -> AsyncIterator[SqliteJournal]:
    """One in a file of its own, for a contract."""
    with TemporaryDirectory() as home:
        journal = await SqliteJournal.open(Path(home) / "journal.db", clock, CountingIds())
        try:
            yield journal
        finally:
            await journal.close()


def event(key: str, body: Body | None = None, conversation: str = "main") -> Event:
    return Event(
        id=EventId(f"e-{key}"), source="test", key=Key(key), conversation=conversation, principal=OWNER, body=body or Said((Text(key),)),
        label=owned("test"), occurred_at=START, received_at=START, reply_to=Address("local", conversation),
    )  # fmt: skip


def step(claim: Claim, n: int, body: StepBody) -> Step:
    turn = claim.turn
    return Step(turn=turn.id, n=n, body=body, at=START, space=turn.space, principal=turn.principal, agent=turn.agent, label=owned("test"))


def intent(claim: Claim, n: int, effect: Effect = Effect.UNSAFE) -> Step:
    return step(claim, n, Intended("c1", "pay", {"to": "bob"}, Key(f"{claim.turn.id}:{n}"), effect, "hash", Gate("allow")))


def outcome(claim: Claim, n: int, *operations: Operation, text: str = "ok") -> Step:
    return step(claim, n, Happened(n, ToolResult("c1", "pay", (Text(text),), label=owned("test")), operations=operations))


def claimed(claim: Claim | Busy | Idle | NotYet) -> Claim:
    assert isinstance(claim, Claim), claim
    return claim


async def begun(journal: SqliteJournal, key: str = "k1") -> Claim:
    await journal.accept(event(key))
    return claimed(await journal.claim(MAIN, "w1", TTL_S, PINS))


@contextmanager
def database(path: Path) -> Iterator[apsw.Connection]:
    """The file itself, past the journal."""
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


def child(script: str, *arguments: object, before: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """Another process that runs this text, with these as sys.argv[1:]."""
    return subprocess.Popen(
        [*before, sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": f"{SOURCE}:{ROOT}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )  # fmt: skip


def said_by(script: str, *arguments: object, before: tuple[str, ...] = ()) -> str:
    """What such a process printed by its end, which must be a good one."""
    out, code = ended(child(script, *arguments, before=before))
    assert code == 0, out
    return out.strip()


def ended(process: "subprocess.Popen[str]") -> tuple[str, int]:
    """What it printed and how it ended. One that does not end is killed: who only waited for it would never tell."""
    with process:
        try:
            out, _ = process.communicate(timeout=PROCESS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return out, process.returncode
