"""Contestant: Daimon's journal through its port. A step is one outcome with a kilobyte of text, recorded under a claim that is held."""

import asyncio
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import uvloop

from daimon.abi.codec import encode
from daimon.abi.event import Event, Said
from daimon.abi.ids import OWNER, EventId, Key
from daimon.abi.label import owned
from daimon.abi.message import Text, ToolResult
from daimon.abi.ports import Claim
from daimon.abi.step import Happened, Step, StepBody
from daimon.abi.turn import Pins
from daimon.journal.sqlite import SqliteJournal
from daimon.machine.chance import SystemRandom
from daimon.machine.clock import SystemClock
from daimon.machine.ids import SortableIds
from lab import bout

BODY = Happened(0, ToolResult("call-1", "read_page", (Text(bout.PAYLOAD),), label=owned("lab")))
BYTES = encode(StepBody, BODY)
"""What the floor has to write as well."""
LEASE_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Daimon:
    journal: SqliteJournal
    ids: SortableIds

    async def run(self, conversations: int, steps: int) -> float:
        claims = [await self._claim() for _ in range(conversations)]
        begun = time.perf_counter()
        await asyncio.gather(*(self._record(claim, steps) for claim in claims))
        return time.perf_counter() - begun

    async def _record(self, claim: Claim, steps: int) -> None:
        turn = claim.turn
        for n in range(steps):
            step = Step(
                turn=turn.id, n=n, body=BODY, at=datetime.now(UTC), space=turn.space, principal=OWNER, agent=turn.agent, label=turn.label,
            )  # fmt: skip
            await self.journal.record(claim, (step,))

    async def _claim(self) -> Claim:
        now, name = datetime.now(UTC), self.ids.new("e")
        event = Event(
            id=EventId(name), source="lab", key=Key(name), conversation=name, principal=OWNER, body=Said((Text("go"),)), label=owned("lab"),
            occurred_at=now, received_at=now,
        )  # fmt: skip
        await self.journal.accept(event)
        claim = await self.journal.claim(event.where, "lab", LEASE_S, Pins())
        assert isinstance(claim, Claim)
        return claim


async def main(place: Path) -> None:
    clock = SystemClock()
    ids = SortableIds(clock, SystemRandom())
    await bout.serve(Daimon(await SqliteJournal.open(place / "journal.db", clock, ids), ids).run)


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
