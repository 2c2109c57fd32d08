"""The door: bytes become an Event, the Event is on disk, the scheduler hears of it. In that order.

What cannot become an event is kept as a dead letter with the reason, and the sender is told. An event that resolves a step or
stops a turn goes to that turn's conversation, wherever it was sent from.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from daimon.abi.errors import BadInput, JournalFailed
from daimon.abi.event import Event, Stop
from daimon.abi.ports import Accepted, Archive, Clock, DeadLetter, Ids, Intake
from daimon.gateway import wire

KEPT_BYTES = 64 * 1024


class Waker(Protocol):
    async def wake(self, event: Event) -> None: ...


class Inbox:
    def __init__(self, intake: Intake, archive: Archive, waker: Waker, clock: Clock, ids: Ids, max_event_bytes: int) -> None:
        self._intake = intake
        self._archive = archive
        self._waker = waker
        self._clock = clock
        self._ids = ids
        self.max_event_bytes = max_event_bytes

    async def take(self, data: bytes, key: str | None = None, source: str | None = None) -> tuple[Event, Accepted]:
        """Raises BadInput, after the data was buried."""
        try:
            event = wire.to_event(wire.read(data, self.max_event_bytes, key), self._clock, self._ids, source)
            return await self.accept(event)
        except BadInput as bad:
            await self.bury(source or "api", str(bad), data)
            raise

    async def accept(self, event: Event) -> tuple[Event, Accepted]:
        event = await self._addressed(event)
        accepted = await self._intake.accept(event)
        if accepted.is_new:
            await self._waker.wake(event)
        return event, accepted

    async def bury(self, source: str, reason: str, data: bytes) -> None:
        with suppress(JournalFailed):  # the sender is told in any case; a full disk must not hide the reason
            await self._intake.bury(DeadLetter(source, reason, data[:KEPT_BYTES], self._clock.now()))

    async def _addressed(self, event: Event) -> Event:
        turn = event.resolves.turn if event.resolves else event.body.turn if isinstance(event.body, Stop) else None
        if turn is None:
            return event
        target = await self._archive.turn(turn)
        return replace(event, space=target.space, conversation=target.conversation)
