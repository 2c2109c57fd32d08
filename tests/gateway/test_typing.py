"""That somebody is at work is shown while they are, and never in the way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Literal

from tests.journal.world import MAIN, PINS, TTL_S, claimed, event

from daimon.abi.event import Address
from daimon.abi.ids import TurnId
from daimon.abi.turn import State
from daimon.gateway.typing import EVERY_S, Typing
from daimon.kernel.feed import Changed, Feed
from daimon.testing.channel import FakeChannel
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


class Scene:
    def __init__(self, channel: FakeChannel) -> None:
        self.clock, self.feed = ManualClock(), Feed()
        self.journal = MemoryJournal(self.clock, CountingIds())
        self.channel = channel
        self._typing = Typing(self.journal, (channel,), self.feed, self.clock)

    async def turn(self, channel: str = "chat") -> TurnId:
        await self.journal.accept(replace(event("k"), reply_to=Address(channel, "bob")))
        return claimed(await self.journal.claim(MAIN, "w", TTL_S, PINS)).turn.id

    async def changed(self, turn: TurnId, state: State) -> None:
        self.feed.publish(Changed(MAIN, turn, state))
        await _settled()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Scene"]:
        serving = asyncio.ensure_future(self._typing.serve())
        await _settled()
        try:
            yield self
            assert not serving.done()
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def _settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_it_is_shown_again_and_again_while_the_turn_runs_and_then_no_more() -> None:
    async with Scene(FakeChannel("chat")).open() as scene:
        turn = await scene.turn()
        await scene.changed(turn, State.RUNNING)
        for _ in range(3):
            await scene.clock.advance(EVERY_S)
            await _settled()
        await scene.changed(turn, State.DONE)
        await scene.clock.advance(10 * EVERY_S)
        assert scene.channel.service.shown == [*[("bob", "thinking")] * 4, ("bob", "nothing")]


async def test_nothing_is_shown_while_a_person_is_being_waited_for() -> None:
    async with Scene(FakeChannel("chat")).open() as scene:
        turn = await scene.turn()
        await scene.changed(turn, State.RUNNING)
        await scene.changed(turn, State.PARKED)
        await scene.clock.advance(10 * EVERY_S)
        assert scene.channel.service.shown == [("bob", "thinking"), ("bob", "nothing")]


async def test_nothing_is_shown_for_a_turn_that_answers_elsewhere_or_is_unknown() -> None:
    async with Scene(FakeChannel("chat")).open() as scene:
        await scene.changed(await scene.turn("local"), State.RUNNING)
        await scene.changed(TurnId("t-unknown"), State.RUNNING)
        assert scene.channel.service.shown == []


async def test_a_channel_that_breaks_is_nobodys_trouble() -> None:
    class Broken(FakeChannel):
        async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
            raise SystemExit(3)

    async with Scene(Broken("chat")).open() as scene:
        await scene.changed(await scene.turn(), State.RUNNING)
        await scene.clock.advance(EVERY_S)
        await _settled()
