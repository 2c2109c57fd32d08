"""A home with one run of very many steps, written straight into its journal."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from tests.journal.world import DONE, PINS, TTL_S, fresh_ids

from daimon.abi.event import Address, Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, Conversation, EventId, Key, TurnId
from daimon.abi.judgement import Gate
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolCall, ToolResult
from daimon.abi.ports import Claim
from daimon.abi.step import Continue, Decided, Happened, Intended, Replied, Routed, Step, StepBody, UseTools
from daimon.abi.tool import Effect
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home

STEPS = 10_000
LARGE = 5 * 1024 * 1024
ROUND = 6
BATCH = 1_000
DEADLINE_S = 180.0
AFTER = timedelta(milliseconds=7)


def write(home: Path) -> TurnId:
    """The turn. Its first call gave back five megabytes. In a thread of its own: whoever drives a browser has a loop already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(_write(Home(home)))).result(DEADLINE_S)


async def _write(home: Home) -> TurnId:
    home.path.mkdir(parents=True, exist_ok=True)
    clock = SystemClock()
    journal = await SqliteJournal.open(home.journal, clock, fresh_ids())
    try:
        now, where = clock.now(), Conversation(HOME_SPACE, "long")
        await journal.accept(
            Event(
                id=EventId("e-long"), source="test", key=Key("long"), conversation="long", principal=OWNER, body=Said((Text("go far"),)),
                label=owned("test"), occurred_at=now, received_at=now, reply_to=Address("local", "long"),
            )
        )  # fmt: skip
        claim = await journal.claim(where, "test", TTL_S, PINS)
        assert isinstance(claim, Claim)
        steps = [_step(claim, n, body) for n, body in enumerate(_bodies())]
        for first in range(0, len(steps), BATCH):
            await journal.record(claim, steps[first : first + BATCH])
        await journal.finish(claim, (), DONE)
        return claim.turn.id
    finally:
        await journal.close()


def _step(claim: Claim, n: int, body: StepBody) -> Step:
    turn = claim.turn
    return Step(
        turn=turn.id, n=n, body=body, at=turn.created_at + n * AFTER, space=turn.space, principal=turn.principal, agent=turn.agent,
        label=owned("test"),
    )  # fmt: skip


def _bodies() -> Iterator[StepBody]:
    for first in range(0, STEPS - ROUND + 1, ROUND):
        yield Decided(Continue(), "1")
        yield Routed("far", "list", "the only one")
        yield Replied("far", (ToolCall("c", "look", {"at": first}),), "tools", duration_ms=5)
        yield Intended("c", "look", {"at": first}, Key(f"k{first}"), Effect.PURE, "m", Gate("allow", by="harmless"))
        yield Decided(UseTools((first + 3,)), "1")
        text = "y" * LARGE if first == 0 else f"saw {first}"
        yield Happened(first + 3, ToolResult("c", "look", (Text(text),), label=owned("test")), duration_ms=4)
