"""Gives items their vectors, in the background: the newest first, a few at a time.

    start → look over all items once, from the newest down → wait until an item is touched → those → wait …

It watches the table of items (`watch.py`), so new items wake it, and so does an item whose words or whose message before have changed.
While nothing is touched nothing runs: an idle day costs nothing. With another model all items lack a vector, so all are embedded again;
the old ones stay until then, and nobody compares them with the new.

Vectors are stored only while the item still says what was embedded. When the embedder fails, it is tried again after a while, longer each
time, with fewer items at once; an item that fails alone is left aside until the next start, so one text cannot hold up the others.

Invariant: an item holds a vector of the current model, or is still to be looked at, or stands aside. A kill loses
nothing, since the next start looks over all again. Questions go first: the embedder takes turns, and a turn here is short.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import apsw

from daimon.abi.errors import DaimonError
from daimon.abi.memory import Embedder
from daimon.abi.ports import Clock
from daimon.memory import unembedded
from daimon.memory.unembedded import Unembedded
from daimon.memory.watch import watch

T = TypeVar("T")
BATCH = 8
RANGE = 5_000
"""So many numbers are looked over at once, since the thread that does it has other things to do."""
BACKOFF_S = (2.0, 6.0, 31.0, 121.0, 601.0)
"""Each a little longer than the embedder's own."""


class Run(Protocol):
    def __call__(self, work: Callable[[apsw.Connection], T], /) -> Awaitable[T]:
        """In the thread that the file belongs to."""
        ...


class Embedding:
    def __init__(self, embedder: Embedder, run: Run, clock: Clock, rest_s: float = 0.0) -> None:
        """`rest_s`: so long after something new it begins, so that it is out of the way while somebody waits for an answer."""
        self._embedder, self._run, self._clock, self._rest_s = embedder, run, clock, rest_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()
        self._connection: apsw.Connection | None = None
        self._below = 0
        """Of the look over all: what has this number or less is still to come."""
        self._touched: set[int] = set()
        self._aside: set[int] = set()
        self._made = self._failures = 0
        self._trouble = ""

    async def work(self) -> None:
        """Until it is cancelled."""
        self._loop = asyncio.get_running_loop()
        while True:
            await self._clock.sleep(self._rest_s)
            self._woken.clear()
            while await self._step():
                pass
            await self._woken.wait()

    def wake(self) -> None:
        """To be called where the file may be another one; what is new in a file that it knows wakes it by itself. From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)

    def status(self) -> str:
        """How far it is, in words."""
        left = len(self._touched) + self._below
        state = (
            "starting"
            if self._connection is None
            else f"at most {left} items are still to be looked at"
            if left
            else "all items have vectors"
        )
        aside = f", {len(self._aside)} items could not be embedded" if self._aside else ""
        trouble = f"; waiting, because {self._trouble}" if self._trouble else ""
        return f"{self._embedder.model}: {state}{aside}; {self._made} embedded since the start{trouble}"

    async def _step(self) -> bool:
        """Is there more to do?"""
        items: list[Unembedded] = []
        try:
            items, is_end = await self._run(self._find)
            if items:
                await self._give(items)
            self._failures, self._trouble = 0, ""
            return not is_end
        except DaimonError as error:
            self._trouble = str(error)
            self._failures += 1
            self._touched.update(item.n for item in items if item.n not in self._aside)
            await self._clock.sleep(BACKOFF_S[min(self._failures, len(BACKOFF_S)) - 1])
            return True

    async def _give(self, items: list[Unembedded]) -> None:
        texts = tuple(dict.fromkeys(item.text for item in items))
        model = self._embedder.model
        try:
            vectors = dict(zip(texts, await self._embedder.embed(texts, "passage"), strict=True))
        except DaimonError:
            self._aside.update(item.n for item in items if len(items) == 1)
            raise
        made = [(item, vectors[item.text]) for item in items]
        self._made += await self._run(lambda connection: unembedded.store(connection, model, made))

    # From here on: only in the thread.

    def _find(self, connection: apsw.Connection) -> tuple[list[Unembedded], bool]:
        """The next few, and whether nothing is left behind them."""
        if connection is not self._connection:
            watch(connection, "items", ("n",), self._touch)
            self._connection, self._below = connection, unembedded.newest(connection)
            self._touched.clear()
        most = max(1, BATCH >> self._failures)
        items = self._new(connection, most) or self._next(connection, most)
        return items, not items and not self._touched and not self._below

    def _new(self, connection: apsw.Connection, most: int) -> list[Unembedded]:
        found: list[Unembedded] = []
        seen: list[int] = []
        for n in sorted(self._touched, reverse=True):
            seen.append(n)
            found += unembedded.within(connection, self._embedder.model, n, n, 1)
            if len(found) == most:
                break
        self._touched.difference_update(seen)
        return found

    def _next(self, connection: apsw.Connection, most: int) -> list[Unembedded]:
        lowest = max(self._below - RANGE, 0) + 1
        found = unembedded.within(connection, self._embedder.model, lowest, self._below, most)
        self._below = found[-1].n - 1 if len(found) == most else lowest - 1
        return found

    def _touch(self, n: int) -> None:
        self._aside.discard(n)
        self._touched.add(n)
        self.wake()
