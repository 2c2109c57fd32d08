"""A channel without a network, and the service behind it: it keeps what people would see, and fails when told to.

`FakeService` outlives its channels, as a real one does. What it is given again under the same key it shows once where the channel is
`harmless`; elsewhere it is a second message, which is what tests look for.
"""

import asyncio
import re
from dataclasses import dataclass, field, replace
from typing import Literal

from daimon.abi.channel import Arrival, Choice, Piece, Receipt, Reception, Traits
from daimon.abi.errors import LockedOut
from daimon.abi.event import Said
from daimon.abi.message import Text
from daimon.abi.ports import Outgoing

Repeat = Literal["harmless", "findable", "never"]
_CUT = re.compile(r"(?s).{1,400}(?:\s|$)|.{1,400}")


@dataclass(frozen=True, slots=True)
class Sent:
    piece: Piece
    to: str
    key: str


@dataclass(slots=True)
class FakeService:
    sent: list[Sent] = field(default_factory=list)
    """What people see, in order."""
    updates: list[Arrival] = field(default_factory=list)
    """What nobody has acknowledged yet."""
    shown: list[tuple[str, str]] = field(default_factory=list)
    cuts: list[Literal["before", "after"]] = field(default_factory=list)
    """The next sends break off, before or after the act."""
    failures: list[Exception] = field(default_factory=list)
    """The next sends are refused with these."""
    is_locked: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def deliver(self, *updates: Arrival) -> None:
        self.updates += updates
        self.news.set()

    def has(self, key: str) -> bool:
        return any(sent.key == key for sent in self.sent)


class FakeChannel:
    def __init__(self, name: str = "fake", repeat: Repeat = "harmless", service: FakeService | None = None) -> None:
        self._name = name
        self.traits = Traits(repeat)
        self.service = service or FakeService()
        self.tries: list[str] = []
        """Keys, each time that something was to be sent."""

    @property
    def name(self) -> str:
        return self._name

    @property
    def sent(self) -> list[Sent]:
        return self.service.sent

    @property
    def failures(self) -> list[Exception]:
        return self.service.failures

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        said = message.content if isinstance(message.content, Said) else Said(())
        texts = [part.text for part in said.parts if isinstance(part, Text)]
        pieces = [Piece(cut) for text in texts for cut in _CUT.findall(text)]
        if said.asks is not None and pieces:
            choices = [Choice(f"{said.asks.to} {n}", option) for n, option in enumerate(said.asks.options, 1)]
            in_words = "".join(f"\n{choice.code}: {choice.text}" for choice in choices)
            is_shown = self.traits.has_buttons
            pieces[-1] = replace(pieces[-1], choices=tuple(choices)) if is_shown else Piece(f"{pieces[-1].text}{in_words}")
        return (*pieces, *(Piece(attachment=part) for part in said.parts if not isinstance(part, Text)))

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        self.tries.append(key)
        service = self.service
        if service.is_locked:
            raise LockedOut("the token was refused")
        if service.failures:
            raise service.failures.pop(0)
        cut = service.cuts.pop(0) if service.cuts else ""
        if cut == "before":
            raise ConnectionResetError("the connection broke off")
        if not (self.traits.repeat == "harmless" and service.has(key)):
            service.sent.append(Sent(piece, to, key))
        if cut == "after":
            raise ConnectionResetError("the connection broke off")
        return Receipt("sent", f"ref-{key}")

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        return Receipt("confirmed", f"ref-{key}") if Sent(piece, to, key) in self.sent else None

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        self.service.shown.append((to, doing))

    async def serve(self, reception: Reception) -> None:
        while True:
            self.service.news.clear()
            if self.service.is_locked:
                raise LockedOut("the token was refused")
            while self.service.updates:
                update = self.service.updates[0]
                await reception.take(update)
                self.service.updates.remove(update)
            await self.service.news.wait()
