"""The door: bytes become an Event, the Event is on disk, the scheduler hears of it. In that order.

What cannot become an event is kept as a dead letter with the reason, and the sender is told. An event that resolves a step or
stops a turn goes to that turn's conversation, wherever it was sent from.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from daimon.abi.errors import BadInput, JournalFailed, NotFound
from daimon.abi.event import Body, Event, Said, Stop
from daimon.abi.message import Audio, File, Image
from daimon.abi.ports import Accepted, Archive, Clock, DeadLetter, Ids, Intake, Store
from daimon.gateway import wire

KEPT_BYTES = 64 * 1024


class Waker(Protocol):
    async def wake(self, event: Event) -> None: ...


class Shelves(Archive, Store, Protocol):
    """What is kept: turns, and the values that messages name."""


class Inbox:
    def __init__(self, intake: Intake, archive: Shelves, waker: Waker, clock: Clock, ids: Ids, max_event_bytes: int) -> None:
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
            await self._require_stored(event.body)
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

    async def _require_stored(self, body: Body) -> None:
        """Raises BadInput for a message that names what is not there, or says something else of its size: what it costs depends on it."""
        for part in body.parts if isinstance(body, Said) else ():
            if isinstance(part, Image | Audio | File):
                try:
                    data = await self._archive.get(part.blob)
                except NotFound as missing:
                    raise BadInput(f"parts: {missing}; store its bytes with POST /v1/blobs first") from None
                if isinstance(part, File) and part.size != len(data):
                    raise BadInput(f"parts: the size of {part.name!r} is {len(data)}, not {part.size}")

    async def _addressed(self, event: Event) -> Event:
        turn = event.resolves.turn if event.resolves else event.body.turn if isinstance(event.body, Stop) else None
        if turn is None:
            return event
        target = await self._archive.turn(turn)
        return replace(event, space=target.space, conversation=target.conversation)
