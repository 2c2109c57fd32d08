"""The door: bytes become an Event, the Event is on disk, the scheduler hears of it. In that order.

What cannot become an event is kept as a dead letter with the reason, and the sender is told. An event that resolves a step or
stops a turn goes to that turn's conversation, wherever it was sent from. Known secrets are taken out before anything is written; otherwise
the words stay as they were said.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from daimon.abi.cleaning import cleaned, cleaned_text
from daimon.abi.errors import BadInput, JournalFailed, NotFound
from daimon.abi.event import Body, Event, Said, Stop
from daimon.abi.message import Audio, File, Image
from daimon.abi.ports import Accepted, Archive, Clock, DeadLetter, Ids, Intake, Store
from daimon.abi.secret import Redactor
from daimon.gateway import wire

KEPT_BYTES = 64 * 1024
BEYOND_BYTES = 4 * 1024
"""So much more of a letter is cleaned than is kept: a secret at the cut is seen whole."""


class Waker(Protocol):
    async def wake(self, event: Event) -> None: ...


class Shelves(Intake, Archive, Store, Protocol):
    """What is kept: events, turns, and the values that messages name."""


class Inbox:
    def __init__(self, shelves: Shelves, waker: Waker, clock: Clock, ids: Ids, redactor: Redactor, max_event_bytes: int) -> None:
        self._shelves = shelves
        self._redactor = redactor
        self._waker = waker
        self._clock = clock
        self._ids = ids
        self.max_event_bytes = max_event_bytes

    async def take(
        self, data: bytes, key: str | None = None, source: str | None = None, may: Callable[[Event], None] = lambda event: None
    ) -> tuple[Event, Accepted]:
        """Raises BadInput, after the data was buried; and what `may` raises, which says whether the sender may send this."""
        try:
            event = wire.to_event(wire.read(data, self.max_event_bytes, key), self._clock, self._ids, source)
            may(event)
            await self._require_stored(event.body)
            return await self.accept(event)
        except BadInput as bad:
            await self.bury(source or "api", str(bad), data)
            raise

    async def accept(self, event: Event) -> tuple[Event, Accepted]:
        event = await self._addressed(self._without_secrets(event))
        accepted = await self._shelves.accept(event)
        if accepted.is_new:
            await self._waker.wake(event)
        return event, accepted

    async def bury(self, source: str, reason: str, data: bytes) -> None:
        with suppress(JournalFailed):  # the sender is told in any case; a full disk must not hide the reason
            clean = self._redactor.clean_known
            kept = cleaned_text(data[: KEPT_BYTES + BEYOND_BYTES], clean)
            await self._shelves.bury(DeadLetter(clean(source), clean(reason), kept[:KEPT_BYTES], self._clock.now()))

    def _without_secrets(self, event: Event) -> Event:
        """Wherever they stand: a label names its source, and so does a principal."""
        clean = self._redactor.clean_known
        label = cleaned(event.label, clean)
        event = cleaned(event, clean)
        return event if label is event.label else replace(event, label=label)

    async def _require_stored(self, body: Body) -> None:
        """Raises BadInput for a message that names what is not there, or says something else of its size: what it costs depends on it."""
        for part in body.parts if isinstance(body, Said) else ():
            if isinstance(part, Image | Audio | File):
                try:
                    data = await self._shelves.get(part.blob)
                except NotFound as missing:
                    raise BadInput(f"parts: {missing}; store its bytes with POST /v1/blobs first") from None
                if isinstance(part, File) and part.size != len(data):
                    raise BadInput(f"parts: the size of {part.name!r} is {len(data)}, not {part.size}")

    async def _addressed(self, event: Event) -> Event:
        turn = event.resolves.turn if event.resolves else event.body.turn if isinstance(event.body, Stop) else None
        if turn is None:
            return event
        target = await self._shelves.turn(turn)
        return replace(event, space=target.space, conversation=target.conversation)
