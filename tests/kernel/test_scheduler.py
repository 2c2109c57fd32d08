"""Who watches over turns when things around them fail."""

import asyncio
from typing import Any

import pytest
from tests.kernel.rig import Rig, Tool, kernel

from daimon.abi.errors import Fenced, JournalFull, JournalStopped
from daimon.abi.tool import Result
from daimon.abi.turn import Ending, State
from daimon.kernel.log import FULL_RETRY_S
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.model import calls, says


class Failing:
    """A journal of which one method fails the first few times."""

    def __init__(self, clock: ManualClock, method: str, failures: list[Exception]) -> None:
        self._journal = MemoryJournal(clock, CountingIds())
        self._method = method
        self.failures = failures

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._journal, name)
        if name != self._method:
            return method

        async def fail(*arguments: Any, **named: Any) -> Any:
            if self.failures:
                raise self.failures.pop(0)
            return await method(*arguments, **named)

        return fail


async def advance(rig: Rig, clock: ManualClock, seconds: float) -> None:
    for _ in range(int(seconds)):
        for _ in range(20):
            await asyncio.sleep(0)
        await clock.advance(1)


@pytest.mark.parametrize("method", ["claim", "record", "finish", "due", "delivered", "renew"])
async def test_a_full_disk_makes_everybody_wait_and_loses_nothing(method: str) -> None:
    clock = ManualClock()
    journal = Failing(clock, method, [JournalFull("no space")] * 3)
    async with kernel(script=[calls(("echo", {"text": "x"})), says("done")], tools=[Tool("echo")], journal=journal, clock=clock) as rig:
        event = await rig.say("go")
        await advance(rig, clock, 6 * FULL_RETRY_S)
        turn = await rig.rested(event)
        assert turn.ending is Ending.ANSWERED
        assert await rig.spoken(1) == ["done"]


async def test_a_fenced_turn_has_no_further_effect() -> None:
    clock, echo = ManualClock(), Tool("echo")
    journal = Failing(clock, "record", [Fenced("somebody else holds it")])
    async with kernel(script=[calls(("echo", {"text": "x"}))], tools=[echo], journal=journal, clock=clock) as rig:
        await rig.say("go")
        await advance(rig, clock, 3)
        assert echo.calls == []
        assert rig.scheduler.running == 0


async def test_a_journal_that_fails_for_good_ends_the_scheduler() -> None:
    clock = ManualClock()
    journal = Failing(clock, "claim", [JournalStopped("fsync failed")])
    async with kernel(journal=journal, clock=clock) as rig:
        await rig.say("go")
        await advance(rig, clock, 1)
        with pytest.raises(BaseExceptionGroup) as failure:
            await asyncio.wait_for(rig.serving, 60)
        assert failure.group_contains(JournalStopped)


async def test_a_bug_in_daimon_ends_one_turn_and_not_the_system() -> None:
    clock = ManualClock()
    journal = Failing(clock, "record", [RuntimeError("a bug")])
    async with kernel(script=[calls(("echo", {"text": "x"})), says("fine")], tools=[Tool("echo")], journal=journal, clock=clock) as rig:
        first = await rig.rested(await rig.say("one"))
        assert (first.state, first.ending) == (State.FAILED, Ending.FAILED)
        second = await rig.rested(await rig.say("two"))
        assert second.ending is Ending.ANSWERED


async def test_draining_lets_a_turn_under_way_rest_and_starts_no_other() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def wait(arguments: Any, call: Any) -> Any:
        begun.set()
        await go.wait()
        return Result("ok")

    async with kernel(script=[calls(("gate", {"text": "x"})), says("done")], tools=[Tool("gate", behaviour=wait)]) as rig:
        first = await rig.say("one")
        await begun.wait()
        draining = asyncio.ensure_future(rig.scheduler.drain(60.0))
        second = await rig.say("two", "elsewhere")
        await asyncio.sleep(0)
        go.set()
        await draining
        assert (await rig.rested(first)).ending is Ending.ANSWERED
        assert await rig.journal.turn_of(second.id) is None
