"""Whoever opens a workspace may give up before it is open. Then nothing of it stays: a second tree over the same layers spoils them."""

import asyncio

import pytest
from tests.sandbox.workspace.hand import Hand, Recorder

from daimon.sandbox.ground import Stack
from daimon.sandbox.workspace.store import Store

DEADLINE_S = 60.0


class Slow(Recorder):
    """It takes until somebody lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_begun, self.may_rise, self.closed = asyncio.Event(), asyncio.Event(), 0

    async def put(self, stack: Stack) -> Recorder:
        self.is_begun.set()
        await self.may_rise.wait()
        return await super().put(stack)

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("has_risen", [False, True], ids=["before", "in the same moment"])
async def test_what_opens_after_whoever_wanted_it_gave_up_is_closed(store: Store, hand: Hand, has_risen: bool) -> None:
    ground = Slow()
    opening = asyncio.create_task(store.opened(hand.workspace, ground.put))
    async with asyncio.timeout(DEADLINE_S):
        await ground.is_begun.wait()
        if has_risen:
            ground.may_rise.set()
            while not ground.stacks:  # noqa: ASYNC110 - the very turn of the loop in which it is there
                await asyncio.sleep(0)
        opening.cancel()
        await asyncio.sleep(0)
        ground.may_rise.set()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await store.settle()
    assert ground.closed == 1
    await store.discard(hand.workspace)  # nobody has it open


async def test_a_copy_that_is_made_after_whoever_wanted_it_gave_up_is_closed(store: Store, hand: Hand) -> None:
    opening = asyncio.create_task(store.copied(hand.workspace, "w"))
    async with asyncio.timeout(DEADLINE_S):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        await store.settle()
    await store.discard(hand.workspace)
