"""The dispatcher is a hint: whatever it loses or doubles, every event is answered once and in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.journal.world import opened
from tests.kernel.rig import Rig, Tool, kernel

from daimon.abi.message import Role
from daimon.abi.model import Reply, Request
from daimon.abi.ports import Dispatcher
from daimon.abi.turn import State
from daimon.kernel.scheduler import SWEEP_S
from daimon.testing.clock import ManualClock
from daimon.testing.dispatcher import LossyDispatcher
from daimon.testing.ids import CountingIds, SeededRandom
from daimon.testing.journal import MemoryJournal
from daimon.testing.model import calls, says

CONVERSATIONS = 4
EACH = 6
DEADLINE_S = 60.0


def answer(request: Request) -> Reply:
    """Uses the tool once, then says what it was told."""
    last = request.messages[-1]
    if last.role is Role.TOOL:
        asked = next(message for message in reversed(request.messages) if message.role is Role.USER)
        return says(asked.text)
    return calls(("echo", {"text": last.text}))


@asynccontextmanager
async def lossy(seed: int, drop: float, double: float, path: Path | None = None) -> AsyncIterator[tuple[Rig, ManualClock, Tool]]:
    clock, echo = ManualClock(), Tool("echo")

    def losing(inner: Dispatcher) -> Dispatcher:
        return LossyDispatcher(inner, SeededRandom(seed), drop, double)

    script = [answer] * (CONVERSATIONS * EACH * 2)
    if path is None:
        journal = MemoryJournal(clock, CountingIds())
        async with kernel(script=script, tools=[echo], journal=journal, clock=clock, dispatcher=losing) as rig:
            yield rig, clock, echo
        return
    async with opened(path, clock) as file, kernel(script=script, tools=[echo], journal=file, clock=clock, dispatcher=losing) as rig:
        yield rig, clock, echo


async def sweep_until_answered(rig: Rig, clock: ManualClock, number: int) -> None:
    """Lets time pass, one sweep after another, until so much has been said.

    What is on disk is written by a thread, which has a time of its own: how many sweeps go by meanwhile says something about the machine.
    """
    async with asyncio.timeout(DEADLINE_S):
        while len(rig.channel.messages) < number:
            while (await rig.journal.count()).turns[State.RUNNING]:  # noqa: ASYNC110 - the truth is in the journal
                await asyncio.sleep(0.001)
            await clock.advance(SWEEP_S)
            for _ in range(50):
                await asyncio.sleep(0)
            await asyncio.sleep(0.01)


async def everything_is_answered_once_and_in_order(rig: Rig, clock: ManualClock, echo: Tool) -> None:
    sent: dict[str, list[str]] = {f"c{n}": [] for n in range(CONVERSATIONS)}
    for n in range(EACH):
        for conversation, texts in sent.items():
            texts.append(f"{conversation} says {n}")
            await rig.say(texts[-1], conversation)
    await sweep_until_answered(rig, clock, CONVERSATIONS * EACH)
    await rig.spoken(CONVERSATIONS * EACH)
    for _ in range(3):
        await clock.advance(SWEEP_S)
    heard: dict[str, list[str]] = {conversation: [] for conversation in sent}
    for text, message in zip(await rig.spoken(CONVERSATIONS * EACH), rig.channel.messages, strict=True):
        heard[message.to.to].append(text)
    assert heard == sent
    assert len(echo.calls) == len({call.key for call in echo.calls}) == CONVERSATIONS * EACH
    assert (await rig.journal.count()).turns[State.DONE] == CONVERSATIONS * EACH


@pytest.mark.parametrize("seed", range(6))
async def test_with_lost_and_doubled_wake_ups_every_event_is_answered_once_and_in_order(seed: int) -> None:
    async with lossy(seed, drop=0.4, double=0.3) as (rig, clock, echo):
        await everything_is_answered_once_and_in_order(rig, clock, echo)


@pytest.mark.parametrize("seed", range(2))
async def test_on_the_real_journal_too(seed: int, tmp_path: Path) -> None:
    async with lossy(seed, drop=0.4, double=0.3, path=tmp_path / "journal.db") as (rig, clock, echo):
        await everything_is_answered_once_and_in_order(rig, clock, echo)


async def test_when_every_wake_up_is_doubled_nothing_is_done_twice() -> None:
    async with lossy(0, drop=0.0, double=1.0) as (rig, clock, echo):
        await everything_is_answered_once_and_in_order(rig, clock, echo)


async def test_when_most_wake_ups_are_lost_the_sweep_still_finds_everything() -> None:
    async with lossy(0, drop=0.9, double=0.0) as (rig, clock, echo):
        await everything_is_answered_once_and_in_order(rig, clock, echo)
