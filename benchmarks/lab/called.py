"""The whole way of a tool call, between a model's wish and its next page: gate, intent on disk, tool, outcome on disk."""

import itertools
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from daimon.abi.event import Event, Said
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, EventId, Key, StepRef
from daimon.abi.judgement import Situation
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolCall
from daimon.abi.ports import Claim
from daimon.abi.step import Happened, Step, StepBody
from daimon.abi.tool import Call, Tool
from daimon.abi.turn import Pins
from daimon.journal.sqlite import SqliteJournal
from daimon.kernel.dispatch import Dispatch
from daimon.kernel.held import Holding
from daimon.kernel.limiter import LocalLimiter
from daimon.law import READS_SHELL
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from daimon.machine.reader import ChildReader
from daimon.policy.floor import StandingFloor
from daimon.tools.registry import Registry
from daimon.vault.redact import SecretRedactor
from lab.kernel import rules

LEASE_S = 3_600.0
MINE = owned("lab")


@dataclass(frozen=True, slots=True)
class Caller:
    journal: SqliteJournal
    dispatch: Dispatch
    claim: Claim
    clock: SystemClock
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def call(self, tool: str, arguments: JsonValue) -> None:
        """Raises RuntimeError where it did not come to something."""
        n = next(self._numbers)
        turn = self.claim.turn
        here = Conversation(HOME_SPACE, turn.conversation)
        key = Key(str(StepRef(turn.id, n)))
        situation = Situation(Call(key, HOME_SPACE, OWNER, SELF, here, None, self.clock.now(), MINE), ("Please add.",))
        intended = self.dispatch.admit(ToolCall(f"call-{n}", tool, arguments), situation)
        await self._record(n, intended)
        outcome = await self.dispatch.run(n, intended, situation)
        await self._record(next(self._numbers), outcome)
        if not isinstance(outcome, Happened) or outcome.code:
            raise RuntimeError(f"a call of {tool} came to nothing: {outcome}")

    async def _record(self, n: int, body: StepBody) -> None:
        turn = self.claim.turn
        step = Step(
            turn=turn.id, n=n, body=body, at=self.clock.now(), space=turn.space, principal=OWNER, agent=turn.agent, label=turn.label,
        )  # fmt: skip
        await self.journal.record(self.claim, (step,))


@asynccontextmanager
async def callers(place: Path, tools: Iterable[Tool], conversations: int) -> AsyncIterator[list[Caller]]:
    """One for each conversation, with Daimon's own rules, floor and redactor, and a journal on disk."""
    clock = SystemClock()
    ids = SortableIds(clock, SystemRandom())
    journal, reader = await SqliteJournal.open(place / "journal.db", clock, ids), ChildReader(READS_SHELL)
    try:
        registry = Registry((), tools)
        judge = rules("policy", registry.manifests())
        redactor = SecretRedactor(lambda: ())
        dispatch = Dispatch(registry, StandingFloor(reader), judge, LocalLimiter(clock), clock, Holding(journal), redactor)
        yield [Caller(journal, dispatch, await _claim(journal, ids.new("e"), clock), clock) for _ in range(conversations)]
    finally:
        reader.close()
        await journal.close()


async def _claim(journal: SqliteJournal, name: str, clock: SystemClock) -> Claim:
    now = clock.now()
    event = Event(
        id=EventId(name), source="lab", key=Key(name), conversation=name, principal=OWNER, body=Said((Text("go"),)), label=MINE,
        occurred_at=now, received_at=now,
    )  # fmt: skip
    await journal.accept(event)
    claim = await journal.claim(event.where, "lab", LEASE_S, Pins())
    assert isinstance(claim, Claim)
    return claim
