"""A turn that makes an automation is heard of at once."""

import asyncio
from contextlib import suppress

import pytest
from tests.heartbeat.world import hourly
from tests.journal.world import MAIN, PINS, TTL_S, claimed, event, outcome

from daimon.abi.automation import Automate, Cease
from daimon.abi.event import Address
from daimon.abi.message import Text
from daimon.abi.tool import Operation, Send
from daimon.heartbeat.hearing import hear, is_news
from daimon.kernel.feed import Feed, Gap, Recorded
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


async def _recorded(*operations: Operation) -> Recorded:
    journal = MemoryJournal(ManualClock(), CountingIds())
    await journal.accept(event("k"))
    claim = claimed(await journal.claim(MAIN, "w", TTL_S, PINS))
    return Recorded(MAIN, outcome(claim, 0, *operations))


@pytest.mark.parametrize("operation", [Automate(hourly()), Cease("brief")])
async def test_an_automation_that_a_turn_makes_or_takes_away_wakes_the_heart(operation: Operation) -> None:
    feed, poked = Feed(), asyncio.Event()
    hearing = asyncio.ensure_future(hear(feed, poked.set))
    await asyncio.sleep(0)
    feed.publish(await _recorded(operation))
    async with asyncio.timeout(60):
        await poked.wait()
    hearing.cancel()
    with suppress(asyncio.CancelledError):
        await hearing


async def test_other_steps_do_not_wake_it_and_what_was_missed_does() -> None:
    assert not is_news(await _recorded(Send(Address("mail", "bob"), (Text("hi"),))))
    assert not is_news(await _recorded())
    assert is_news(Gap(3))
