"""Time by hand. `advance` moves the clock and wakes exactly those whose moment came, in order."""

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class ManualClock:
    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._monotonic = 1_000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic + seconds, next(self._order), future))
        await future

    async def advance(self, seconds: float) -> None:
        """Both clocks go on by this much."""
        end = self._monotonic + seconds
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, future = heapq.heappop(self._sleepers)
            self._move(at - self._monotonic)
            if not future.done():
                future.set_result(None)
            await asyncio.sleep(0)
        self._move(end - self._monotonic)
        await asyncio.sleep(0)

    def jump(self, seconds: float) -> None:
        """The wall clock alone jumps, as when somebody sets it."""
        self._now += timedelta(seconds=seconds)

    def _move(self, seconds: float) -> None:
        self._monotonic += seconds
        self._now += timedelta(seconds=seconds)
