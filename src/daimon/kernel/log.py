"""The turn's pen: steps are added as they are known and written when it matters.

The rule that makes resuming mechanical: **before any model call and before any effect, everything added so far is on disk**
(`commit`). Between two commits steps only gather, so a tool round costs two of them: {reply, intents, decision} before the
tools run, {outcomes, decision} before the model is asked again.

A full disk does not lose a turn: the write is tried again until there is room. Every other failure of the journal ends the process.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from daimon.abi.errors import JournalFull, OverBudget
from daimon.abi.event import Event
from daimon.abi.judgement import Held
from daimon.abi.label import Label
from daimon.abi.ports import Blob, Claim, Clock, Ended, Journal, More, Noticed, Parked, Released
from daimon.abi.step import Raised, Received, Replied, Reserved, Settled, Short, Step, StepBody, Wait
from daimon.abi.turn import State
from daimon.kernel.desk import Desk
from daimon.kernel.feed import Changed, Cost, Feed, Recorded
from daimon.kernel.progress import Progress

T = TypeVar("T")
FULL_RETRY_S = 2.0


class Log:
    def __init__(self, journal: Journal, clock: Clock, feed: Feed, claim: Claim, desk: Desk, freed: Callable[[], None]) -> None:
        """`freed` is called when money that others may wait for came free."""
        self._journal = journal
        self._clock = clock
        self._feed = feed
        self._freed = freed
        self.claim = claim
        self.desk = desk
        self.progress = Progress(claim)
        self.arrived: tuple[Event, ...] = claim.arrived
        self.newer: tuple[Event, ...] = ()
        self.held: dict[str, Held] = {}
        """What handles stand for, as far as somebody named them."""
        self._written: list[Step] = list(claim.steps)
        self._steps: list[Step] = []
        self._blobs: list[Blob] = []

    def add(self, body: StepBody, label: Label | None = None) -> Step:
        step = self._step(body, label)
        self._steps.append(step)
        self.progress.take(step)
        return step

    async def reserve(self, reserved: Reserved) -> Short | None:
        """Commits all that was added, with a reservation behind it; or says what it did not fit into, and nothing is committed."""
        step = self._step(reserved, None)
        steps, blobs = (*self._steps, step), tuple(self._blobs)
        try:
            await self._persist(lambda: self._commit(steps, blobs))
        except OverBudget as over:
            return over.short
        self.progress.take(step)
        return None

    def receive(self, event: Event, resolves: int | None = None, ignored: str = "") -> None:
        """`ignored` says why it changes nothing: not even who had a word in this turn."""
        self.add(Received(event.id, resolves, ignored), None if ignored else event.label)

    def now(self) -> datetime:
        return self._clock.now()

    def keep(self, blob: Blob) -> None:
        self._blobs.append(blob)

    async def commit(self) -> None:
        if self._steps:
            steps, blobs = tuple(self._steps), tuple(self._blobs)
            await self._persist(lambda: self._commit(steps, blobs))

    async def finish(self, end: Ended) -> More | Released:
        ending = end.ending
        left = await self._persist(lambda: self._rest(end))
        self._feed.publish(Changed(self.claim.conversation, self.claim.turn.id, ending.state, ending))
        return left

    async def park(self, waits: Sequence[Wait]) -> More | Released:
        left = await self._persist(lambda: self._rest(Parked(tuple(waits))))
        self._feed.publish(Changed(self.claim.conversation, self.claim.turn.id, State.PARKED))
        return left

    def restarted(self) -> "Log":
        """A log that knows only what is on disk: for ending a turn whose last steps could not be written."""
        return Log(self._journal, self._clock, self._feed, replace(self.claim, steps=tuple(self._written)), self.desk, self._freed)

    def _step(self, body: StepBody, label: Label | None) -> Step:
        turn = self.claim.turn
        return Step(
            turn=turn.id, n=self.progress.next_n, body=body, at=self._clock.now(), space=turn.space, principal=turn.principal,
            agent=self.progress.agent, label=self.progress.label if label is None else label,
        )  # fmt: skip

    async def _commit(self, steps: tuple[Step, ...], blobs: tuple[Blob, ...]) -> None:
        self.notice(await self._journal.record(self.claim, steps, blobs))
        self._publish(steps)

    async def _rest(self, rest: Ended | Parked) -> More | Released:
        steps, blobs = tuple(self._steps), tuple(self._blobs)
        left = await self._journal.finish(self.claim, steps, rest, blobs)
        self._publish(steps)
        return left

    def notice(self, noticed: Noticed) -> None:
        self.progress.is_stopped |= noticed.is_stopped
        self.arrived, self.newer = noticed.arrived, noticed.newer

    async def _persist(self, write: Callable[[], Coroutine[Any, Any, T]]) -> T:
        while True:
            try:
                return await _to_the_end(write())
            except JournalFull:
                await self._clock.sleep(FULL_RETRY_S)

    def _publish(self, steps: tuple[Step, ...]) -> None:
        self._written += steps
        self._steps, self._blobs = self._steps[len(steps) :], []
        self.desk.grants.take(steps)
        conversation, turn = self.claim.conversation, self.claim.turn.id
        if any(isinstance(step.body, Settled | Raised) for step in steps):
            self._freed()
        for step in steps:
            self._feed.publish(Recorded(conversation, step))
            if isinstance(step.body, Replied):
                self._feed.publish(Cost(conversation, turn, step.body.usage))


async def _to_the_end(write: Coroutine[Any, Any, T]) -> T:
    """A write cannot be taken back: whoever is cancelled during one waits for it, and is cancelled then."""
    task = asyncio.ensure_future(write)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
