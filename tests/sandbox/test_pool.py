"""The pool keeps the contract, also with boxes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from daimon.abi.errors import Misconfigured
from daimon.machine.clock import SystemClock
from daimon.sandbox.pool import Pool
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.resources import IDLE_S, FakeLife, ResourcesContract


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
