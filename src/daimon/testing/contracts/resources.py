"""What everybody must do who keeps resources that live longer than a call: one per key, and whoever comes back hears what was lost, once.

    class TestMyPool(ResourcesContract):
        @asynccontextmanager
        async def open(self, clock: ManualClock, most: int = 3) -> AsyncIterator[tuple[Resources[FakeLife], list[FakeLife]]]:
            ...

The list is of all that were made, in order. Ten minutes unused, and one is closed.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed
from daimon.abi.resources import Resources
from daimon.testing.clock import ManualClock

IDLE_S = 600.0
DEADLINE_S = 60.0


@dataclass(slots=True)
class FakeLife:
    """Something that lives until somebody ends it."""

    key: str
    is_alive: bool = True
    closed: int = 0
    is_needed: bool = False

    @property
    def about(self) -> str:
        return f"a fake for {self.key}"

    @property
    def losses(self) -> str:
        return "all that it held"

    async def close(self) -> None:
        self.is_alive = False
        self.closed += 1


class ResourcesContract:
    def open(self, clock: ManualClock, most: int = 3) -> AbstractAsyncContextManager[tuple[Resources[FakeLife], list[FakeLife]]]:
        raise NotImplementedError

    async def test_a_key_gets_one_and_keeps_it(self) -> None:
        async with self.open(ManualClock()) as (pool, made):
            async with pool.lease("a") as first, pool.lease("a") as again:
                assert first.resource is again.resource
            async with pool.lease("a") as later, pool.lease("b") as other:
                assert later.resource is first.resource is not other.resource
                assert (later.lost, other.lost) == ("", "")
            assert [life.key for life in made] == ["a", "b"]

    async def test_many_at_once_make_only_one(self) -> None:
        async with self.open(ManualClock()) as (pool, made):

            async def use() -> FakeLife:
                async with pool.lease("a") as lease:
                    await asyncio.sleep(0)
                    return lease.resource

            async with asyncio.timeout(DEADLINE_S):
                assert len({id(life) for life in await asyncio.gather(*(use() for _ in range(20)))}) == 1
            assert len(made) == 1

    async def test_what_died_is_made_anew_and_the_loss_is_told_once(self) -> None:
        async with self.open(ManualClock()) as (pool, made):
            async with pool.lease("a") as lease:
                lease.resource.is_alive = False
            async with pool.lease("a") as lease:
                assert lease.resource.is_alive
                assert "all that it held" in lease.lost
            async with pool.lease("a") as lease:
                assert lease.lost == ""
            assert len(made) == 2
            assert made[0].closed == 1

    async def test_a_restart_says_why(self) -> None:
        async with self.open(ManualClock()) as (pool, made):
            async with pool.lease("a"):
                pass
            await pool.restart("a", "the owner wanted it")
            await pool.restart("nobody", "there is none")
            assert made[0].closed == 1
            async with pool.lease("a") as lease:
                assert lease.lost == "the owner wanted it: all that it held"

    async def test_one_that_keeps_dying_is_left_alone_for_a_minute(self) -> None:
        async with self.open(clock := ManualClock()) as (pool, made):
            refused = None
            for _ in range(20):
                try:
                    async with pool.lease("a") as lease:
                        lease.resource.is_alive = False
                except ToolFailed as failure:
                    refused = failure
                    break
            assert refused is not None
            assert refused.retryable
            number = len(made)
            await clock.advance(61)
            async with pool.lease("a") as lease:
                assert lease.resource.is_alive
            assert len(made) == number + 1

    async def test_where_there_are_too_many_the_longest_unused_goes(self) -> None:
        async with self.open(clock := ManualClock(), most=3) as (pool, made):
            for number in range(10):
                async with pool.lease(f"k{number}"):
                    await clock.advance(1)
            assert [life.key for life in made if life.is_alive] == ["k7", "k8", "k9"]
            async with pool.lease("k0") as lease:
                assert lease.lost == "others needed its place: all that it held"
            async with pool.lease("k0") as lease:
                assert lease.lost == ""

    async def test_those_in_use_are_not_closed_for_others(self) -> None:
        async with self.open(ManualClock(), most=2) as (pool, made):
            async with pool.lease("a"), pool.lease("b"):
                assert await _is_refused(pool, "c")
            async with pool.lease("c") as lease:
                assert lease.lost == ""
            assert len(made) == 3

    async def test_many_at_once_do_not_become_too_many(self) -> None:
        async with self.open(ManualClock(), most=3) as (pool, made):
            go = asyncio.Event()

            async def use(key: str) -> bool:
                try:
                    async with pool.lease(key):
                        await go.wait()
                except ToolFailed:
                    return False
                return True

            async with asyncio.timeout(DEADLINE_S), asyncio.TaskGroup() as group:
                uses = [group.create_task(use(f"k{number}")) for number in range(10)]
                for _ in range(20):
                    await asyncio.sleep(0)
                assert sum(life.is_alive for life in made) <= 3
                go.set()
            assert sum(task.result() for task in uses) == 3

    async def test_what_nobody_used_for_long_is_closed(self) -> None:
        async with self.open(clock := ManualClock()) as (pool, made):
            async with pool.lease("a"), pool.lease("b"):
                pass
            async with pool.lease("b"):
                await settle()
                await clock.advance(IDLE_S + 1)
                await settle()
                assert [life.is_alive for life in made] == [False, True]
            async with pool.lease("a") as lease:
                assert "10 minutes" in lease.lost
            assert len(made) == 3

    async def test_what_goes_on_by_itself_is_not_closed_for_being_unused(self) -> None:
        async with self.open(clock := ManualClock()) as (pool, made):
            async with pool.lease("a") as lease:
                lease.resource.is_needed = True
            for is_needed in (True, False):
                made[0].is_needed = is_needed
                for _ in range(2):
                    await settle()
                    await clock.advance(IDLE_S + 1)
                await settle()
                assert made[0].is_alive is is_needed

    async def test_it_says_how_they_stand(self) -> None:
        async with self.open(ManualClock()) as (pool, _), pool.lease("a"):
            [standing] = pool.standing()
            assert (standing.key, standing.is_alive, standing.leases, standing.about) == ("a", True, 1, "a fake for a")

    async def test_closing_closes_all(self) -> None:
        async with self.open(ManualClock()) as (pool, made):
            async with pool.lease("a"), pool.lease("b"):
                pass
            await pool.close()
            assert [life.closed for life in made] == [1, 1]


async def _is_refused(pool: Resources[FakeLife], key: str) -> bool:
    try:
        async with pool.lease(key):
            return False
    except ToolFailed as failure:
        return failure.retryable


async def settle() -> None:
    """Whoever can run has run."""
    for _ in range(20):
        await asyncio.sleep(0)
