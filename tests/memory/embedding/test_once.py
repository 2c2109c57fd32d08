"""A question is answered once, however many ask it; a failure is not kept."""

import asyncio

import pytest

from daimon.abi.errors import ToolFailed
from daimon.memory.embedding.once import KEPT, Once

DEADLINE_S = 60.0


class Maker:
    """Answers when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.may = asyncio.Event()
        self.is_broken = False

    async def make(self) -> bytes:
        self.asked += 1
        await self.may.wait()
        if self.is_broken:
            raise ToolFailed("embedding_failed", "not now")
        return b"%d" % self.asked


async def test_whoever_asks_the_same_at_once_or_later_gets_the_same_answer() -> None:
    once, maker = Once(), Maker()
    async with asyncio.timeout(DEADLINE_S):
        asking = [asyncio.create_task(once.answer("bread", maker.make)) for _ in range(2)]
        await asyncio.sleep(0)
        maker.may.set()
        assert await asyncio.gather(*asking) == [b"1", b"1"]
        assert await once.answer("bread", maker.make) == b"1"
        assert await once.answer("wine \ud800", maker.make) == b"2"
    assert maker.asked == 2


async def test_one_who_leaves_takes_nothing_from_the_others() -> None:
    once, maker = Once(), Maker()
    async with asyncio.timeout(DEADLINE_S):
        leaving, staying = (asyncio.create_task(once.answer("bread", maker.make)) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.wait([leaving])
        maker.may.set()
        assert await staying == b"1"


async def test_a_failure_is_told_to_all_who_wait_and_tried_again_by_the_next() -> None:
    once, maker = Once(), Maker()
    maker.may.set()
    maker.is_broken = True
    async with asyncio.timeout(DEADLINE_S):
        found = await asyncio.gather(*(once.answer("bread", maker.make) for _ in range(2)), return_exceptions=True)
        assert [type(each) for each in found] == [ToolFailed, ToolFailed]
        maker.is_broken = False
        assert await once.answer("bread", maker.make) == b"2"


@pytest.mark.parametrize(("others", "asked"), [(KEPT - 1, KEPT), (KEPT, KEPT + 2)])
async def test_only_the_last_few_are_kept(others: int, asked: int) -> None:
    once, maker = Once(), Maker()
    maker.may.set()
    async with asyncio.timeout(DEADLINE_S):
        for text in ("bread", *map(str, range(others)), "bread"):
            await once.answer(text, maker.make)
    assert maker.asked == asked
