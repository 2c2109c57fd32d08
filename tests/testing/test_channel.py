"""The contract of channels, held by the one that tests use."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from unittest import SkipTest

from daimon.abi.channel import Arrival, Channel, Message, Pressed
from daimon.abi.errors import RetryLater
from daimon.abi.message import Text
from daimon.abi.ports import Store
from daimon.testing.channel import FakeChannel, FakeService, Repeat
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.channel import ChannelContract, ChannelRig
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


class FakeRig:
    sender, place, group = "alice", "alice-and-agent", "garden"

    def __init__(self, repeat: Repeat, has_buttons: bool) -> None:
        self.store: Store = MemoryJournal(ManualClock(), CountingIds())
        self._service = FakeService()
        self._repeat: Repeat = repeat
        self._has_buttons = has_buttons
        self._ids = count()
        self._last: Arrival | None = None

    async def channel(self) -> Channel:
        made = FakeChannel("fake", self._repeat, self._service)
        made.traits = replace(made.traits, has_buttons=self._has_buttons)
        return made

    async def say_as(self, sender: str, place: str, text: str) -> None:
        self._say(sender, place, text, is_direct=place == self.place)

    async def say_to_agent(self, sender: str, place: str, text: str) -> None:
        self._say(sender, place, text, is_direct=True)

    def _say(self, sender: str, place: str, text: str, *, is_direct: bool) -> None:
        is_group, key = place == self.group, f"u{next(self._ids)}"
        said = Message(key=key, place=place, sender=sender, parts=(Text(text),), at=AT, is_group=is_group, is_direct=is_direct)
        self._deliver(said)

    def _deliver(self, arrival: Arrival) -> None:
        self._last = arrival
        self._service.deliver(arrival)

    async def attach_as(self, sender: str, place: str, name: str, data: bytes) -> None:
        raise SkipTest("this channel brings no files in")

    async def press_as(self, sender: str, place: str, text: str) -> None:
        (choice,) = [choice for each in self._service.sent for choice in each.piece.choices if choice.text == text]
        self._deliver(Pressed(key=f"u{next(self._ids)}", place=place, sender=sender, at=AT, code=choice.code))

    async def seen(self, place: str) -> Sequence[str]:
        return [each.piece.text for each in self._service.sent if each.to == place and each.piece.attachment is None]

    async def attached(self, place: str) -> Sequence[bytes]:
        return [await self.store.get(each.piece.attachment.blob) for each in self._service.sent if each.piece.attachment is not None]

    async def cut_before_act(self) -> None:
        self._service.cuts.append("before")

    async def cut_after_act(self) -> None:
        self._service.cuts.append("after")

    async def retry_after(self, seconds: float) -> None:
        self._service.failures.append(RetryLater("too many", seconds))

    async def revoke(self) -> None:
        self._service.is_locked = True
        self._service.news.set()

    async def redeliver(self) -> None:
        assert self._last is not None
        self._service.deliver(self._last)


class TestHarmless(ChannelContract):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[ChannelRig]:
        yield FakeRig("harmless", has_buttons=True)


class TestFindable(ChannelContract):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[ChannelRig]:
        yield FakeRig("findable", has_buttons=False)


class TestNever(ChannelContract):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[ChannelRig]:
        yield FakeRig("never", has_buttons=True)
