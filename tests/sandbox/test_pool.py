"""The pool keeps the contract, also with boxes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from daimon.abi.errors import Misconfigured
from daimon.machine.clock import SystemClock
from daimon.sandbox.pool import Pool
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.resources import DEADLINE_S, IDLE_S, FakeLife, ResourcesContract, settle


class TestPool(ResourcesContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock, most: int = 3) -> AsyncIterator[tuple[Pool[FakeLife], list[FakeLife]]]:
        made: list[FakeLife] = []

        async def make(key: str) -> FakeLife:
            await asyncio.sleep(0)
            made.append(FakeLife(key))
            return made[-1]

        pool = Pool(make, clock, IDLE_S, most)
        tending = asyncio.create_task(pool.tend())
        try:
            yield pool, made
        finally:
            tending.cancel()
            await asyncio.gather(tending, return_exceptions=True)
            await pool.close()


async def test_what_cannot_be_made_is_said_each_time_and_takes_no_place() -> None:
    async def make(key: str) -> FakeLife:
        if key == "bad":
            raise Misconfigured("not here")
        return FakeLife(key)

    pool = Pool(make, SystemClock(), IDLE_S, 1)
    for _ in range(3):
        with pytest.raises(Misconfigured, match="not here"):
            async with pool.lease("bad"):
                pass
    async with pool.lease("good") as lease:
        assert lease.lost == ""
    await pool.close()


class Slow(FakeLife):
    """Its end takes until somebody lets it."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.is_ending, self.may_end = asyncio.Event(), asyncio.Event()

    async def close(self) -> None:
        self.is_ending.set()
        await self.may_end.wait()
        await FakeLife.close(self)


class Broken(FakeLife):
    async def close(self) -> None:
        await FakeLife.close(self)
        raise OSError("it cannot be closed")


async def test_one_that_fails_to_close_keeps_no_other_open() -> None:
    made: list[FakeLife] = []

    async def make(key: str) -> FakeLife:
        made.append(Broken(key) if key in "ac" else FakeLife(key))
        return made[-1]

    pool = Pool(make, SystemClock(), IDLE_S, 4)
    for key in "abcd":
        async with pool.lease(key):
            pass
    with pytest.raises(OSError, match="cannot be closed"):
        await pool.close()
    assert [life.closed for life in made] == [1, 1, 1, 1]


async def test_whoever_is_cancelled_while_one_is_closed_for_them_does_not_leave_it_half_closed() -> None:
    made: list[Slow] = []

    async def make(key: str) -> Slow:
        made.append(Slow(key))
        return made[-1]

    pool = Pool(make, SystemClock(), IDLE_S, 1)
    async with pool.lease("a"):
        pass

    async def use() -> None:
        async with pool.lease("b"):
            pass

    leasing = asyncio.create_task(use())
    async with asyncio.timeout(DEADLINE_S):
        await made[0].is_ending.wait()
        leasing.cancel()
        await settle()
        made[0].may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await leasing
        await pool.close()
    assert [life.closed for life in made] == [1]


async def test_closing_waits_for_what_is_being_closed_already() -> None:
    life = Slow("a")

    async def make(key: str) -> Slow:
        return life

    clock = ManualClock()
    pool = Pool(make, clock, IDLE_S, 1)
    tending = asyncio.create_task(pool.tend())
    async with asyncio.timeout(DEADLINE_S):
        async with pool.lease("a"):
            pass
        await settle()
        await clock.advance(IDLE_S + 1)
        await life.is_ending.wait()
        for _ in range(3):  # however often
            tending.cancel()
            await settle()
        closing = asyncio.create_task(pool.close())
        await settle()
        assert not closing.done()
        life.may_end.set()
        await closing
        await asyncio.gather(tending, return_exceptions=True)
    assert life.closed == 1


async def test_what_cannot_be_closed_for_being_unused_does_not_end_who_looks_after_the_others() -> None:
    made: list[FakeLife] = []

    async def make(key: str) -> FakeLife:
        made.append(Broken(key) if key == "a" else FakeLife(key))
        return made[-1]

    clock = ManualClock()
    pool = Pool(make, clock, IDLE_S, 2)
    tending = asyncio.create_task(pool.tend())
    for key in "ab":
        async with pool.lease(key):
            pass
        await settle()
        await clock.advance(IDLE_S + 1)
        await settle()
    assert [life.closed for life in made] == [1, 1]
    assert not tending.done()
    tending.cancel()
    await asyncio.gather(tending, return_exceptions=True)
    await pool.close()


async def test_another_is_made_under_a_key_when_the_old_one_is_closed() -> None:
    made: list[Slow] = []

    async def make(key: str) -> Slow:
        assert all(life.closed for life in made)
        made.append(Slow(key))
        return made[-1]

    clock = ManualClock()
    pool = Pool(make, clock, IDLE_S, 1)
    tending = asyncio.create_task(pool.tend())

    async def use() -> None:
        async with pool.lease("a"):
            pass

    async with asyncio.timeout(DEADLINE_S):
        await use()
        await settle()
        await clock.advance(IDLE_S + 1)
        await made[0].is_ending.wait()
        again = asyncio.create_task(use())
        await settle()
        assert len(made) == 1
        made[0].may_end.set()
        await again
        made[1].may_end.set()
        tending.cancel()
        await asyncio.gather(tending, return_exceptions=True)
        await pool.close()
    assert [life.closed for life in made] == [1, 1]
