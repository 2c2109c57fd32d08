"""One message on its way out, piece by piece.

    for each piece that is not out yet:
        in doubt?     harmless: again under the same key · findable: the channel looks · never: it stays unknown, and the rest goes on
        its turn      `line.py`: slots, rates, breaker
        noted         "sending piece n", on disk, where a second send would be a second message
        sent          under the key KEY/n
        noted         it is out, and what the channel calls it

A crash between two of these leaves at most one piece in doubt, and what is done about it is the first line. What a channel raises decides:
`RetryLater` waits exactly so long and is no try; `LockedOut` closes the line and is no try; `NotSent` is a try that failed; anything else
leaves it open whether the piece is out. While the channel does not even hear (its line is down) a try that fails is none either: an outage
may last for days, and costs no message.

It does not know which message comes next; `outbox.py` does.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, TypeVar

from daimon.abi.channel import Channel, Piece, Receipt
from daimon.abi.errors import DaimonError, InDoubt, JournalFailed, JournalFull, LockedOut, NotSent, RetryLater
from daimon.abi.event import Said
from daimon.abi.message import Text
from daimon.abi.ports import Clock, Delivery, Outbox, Outgoing
from daimon.abi.secret import Redactor
from daimon.gateway.line import Line
from daimon.kernel.containment import within
from daimon.kernel.log import FULL_RETRY_S

T = TypeVar("T")
MOST_ATTEMPTS = 12
SEND_TIMEOUT_S = 60.0
FILE_TIMEOUT_S = 600.0
LONGEST_PAUSE_S = 600.0
DOWN_PAUSE_S = 30.0
LONG_TEXT = 16_000
"""A text of more characters is cut into pieces in a thread: that takes a while."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What deliveries stand on."""

    outbox: Outbox
    clock: Clock
    redactor: Redactor

    async def until_there_is_room(self, write: Callable[[], Awaitable[T]]) -> T:
        """What happened must be noted, or it would happen again."""
        while True:
            try:
                return await write()
            except JournalFull:
                await self.clock.sleep(FULL_RETRY_S)

    async def note(self, message: Outgoing, state: Delivery, note: str, pause_s: float | None = None) -> None:
        at = None if pause_s is None else self.clock.now() + timedelta(seconds=pause_s)
        await self.until_there_is_room(lambda: self.outbox.delivered(message, state, note, at))

    async def postpone(self, message: Outgoing, note: str, pause_s: float | None = None) -> None:
        at = None if pause_s is None else self.clock.now() + timedelta(seconds=pause_s)
        await self.until_there_is_room(lambda: self.outbox.postponed(message, note, at))

    def said(self, failure: Exception) -> str:
        """For people: errors of ours say all in their text, others need their kind."""
        return self.redactor.clean(str(failure) if isinstance(failure, DaimonError) else f"{type(failure).__name__}: {failure}")


def pause_after(attempts: int) -> float:
    return float(min(LONGEST_PAUSE_S, 2.0**attempts))


@dataclass(frozen=True, slots=True)
class Out:
    """All of it went out, as far as anybody knows."""


@dataclass(frozen=True, slots=True)
class Over:
    """It does not go out any more."""


@dataclass(frozen=True, slots=True)
class Later:
    pause_s: float | None
    """None: when the line opens."""


class Courier:
    """Carries the messages of one channel."""

    def __init__(self, channel: Channel, line: Line, desk: Desk) -> None:
        self._channel = channel
        self._line = line
        self._desk = desk

    async def carry(self, message: Outgoing) -> Out | Over | Later:
        try:
            pieces = await self._pieces(message)
        except Exception as failure:  # noqa: BLE001 - a channel's code may raise anything
            await self._desk.note(message, "failed", f"it cannot be put into pieces: {self._desk.said(failure)}")
            return Over()
        if message.done >= len(pieces):
            await self._desk.note(message, "unknown" if message.unsure else "sent", message.unsure)
            return Out()
        while message.done < len(pieces):
            went = await self._next(message, pieces)
            if not isinstance(went, Outgoing):
                return went
            message = went
        return Out()

    async def _pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        parts = message.content.parts if isinstance(message.content, Said) else ()
        if sum(len(part.text) for part in parts if isinstance(part, Text)) < LONG_TEXT:
            return self._channel.pieces(message)
        return await asyncio.to_thread(self._channel.pieces, message)

    async def _next(self, message: Outgoing, pieces: tuple[Piece, ...]) -> Outgoing | Over | Later:
        if message.in_doubt and self._channel.traits.repeat == "never":
            return await self._unsure(message, pieces, "the process died while it was being sent")
        async with self._line.admitted(message.to.to):
            try:
                found = await self._found(message, pieces[message.done])
            except Exception as failure:  # noqa: BLE001 - a channel's library may raise anything
                return await self._failed(message, pieces, failure, is_doubtful=True)
            try:
                receipt = found or await self._send(message, pieces[message.done])
            except JournalFailed:
                raise
            except Exception as failure:  # noqa: BLE001 - likewise
                is_doubtful = not isinstance(failure, NotSent | LockedOut) and self._channel.traits.repeat != "harmless"
                return await self._failed(message, pieces, failure, is_doubtful=is_doubtful)
            self._line.went_well()
        return await self._progressed(message, pieces, receipt.state, receipt.ref)

    async def _found(self, message: Outgoing, piece: Piece) -> Receipt | None:
        if not message.in_doubt or self._channel.traits.repeat != "findable":
            return None
        return await within(SEND_TIMEOUT_S, self._channel.find(piece, message.to.to, _key(message)))

    async def _send(self, message: Outgoing, piece: Piece) -> Receipt:
        if self._channel.traits.repeat != "harmless":
            await self._desk.until_there_is_room(lambda: self._desk.outbox.sending(message, message.done))
        limit_s = SEND_TIMEOUT_S if piece.attachment is None else FILE_TIMEOUT_S
        return await within(limit_s, self._channel.send(piece, message.to.to, _key(message)))

    async def _failed(
        self, message: Outgoing, pieces: tuple[Piece, ...], failure: Exception, *, is_doubtful: bool
    ) -> Outgoing | Over | Later:
        message, note = replace(message, in_doubt=is_doubtful), self._desk.said(failure)
        match failure:
            case RetryLater(after_s=after_s):
                self._line.went_well()  # it answers
                await self._desk.postpone(message, note, after_s)
                return Later(after_s)
            case LockedOut():
                self._line.lock()
                await self._desk.postpone(message, note)
                return Later(None)
            case InDoubt():
                return await self._unsure(message, pieces, note)
            case NotSent(is_lasting=True):
                self._line.went_well()  # it answers
                some = f" ({message.done} of {len(pieces)} pieces went out)" if message.done else ""
                await self._desk.note(message, "failed", f"{note}{some}")
                return Over()
            case NotSent(is_alone=True):
                self._line.went_well()  # it answers
            case _:
                self._line.went_wrong(message.to.to, note)
        if is_doubtful and self._channel.traits.repeat == "never":
            return await self._unsure(message, pieces, note)
        return await self._again(message, len(pieces), note)

    async def _again(self, message: Outgoing, many: int, note: str) -> Over | Later:
        if self._line.is_down:  # the way is gone for all: no try of this message, however long it lasts
            await self._desk.postpone(message, note, DOWN_PAUSE_S)
            return Later(DOWN_PAUSE_S)
        if message.attempts + 1 >= MOST_ATTEMPTS:
            some = f" ({message.done} of {many} pieces went out)" if message.done else ""
            await self._desk.note(message, "unknown" if message.in_doubt else "failed", f"{note}{some}")
            return Over()
        pause_s = pause_after(message.attempts)
        await self._desk.note(message, "sending" if message.in_doubt else "queued", note, pause_s)
        return Later(pause_s)

    async def _unsure(self, message: Outgoing, pieces: tuple[Piece, ...], why: str) -> Outgoing:
        which = "it" if len(pieces) == 1 else f"piece {message.done + 1} of {len(pieces)}"
        told = f"{which} may or may not have gone out, and is not repeated: {why}"
        return await self._progressed(replace(message, unsure="; ".join(filter(None, (message.unsure, told)))), pieces, "sent", "")

    async def _progressed(self, message: Outgoing, pieces: tuple[Piece, ...], state: Literal["sent", "confirmed"], ref: str) -> Outgoing:
        n, is_last = message.done, message.done + 1 == len(pieces)
        now: Delivery = "queued" if not is_last else "unknown" if message.unsure else state
        await self._desk.until_there_is_room(lambda: self._desk.outbox.progressed(message, n, now, ref, message.unsure))
        return replace(message, done=n + 1, in_doubt=False, attempts=0)


def _key(message: Outgoing) -> str:
    return f"{message.key}/{message.done}"
