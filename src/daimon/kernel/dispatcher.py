"""The dispatcher of one process: a queue of conversations that want to be looked at.

It is a hint and keeps nothing: after a restart the journal's `due` fills it again. A conversation is never handled twice at
once here; a wake-up that comes while it is being handled makes it be handled once more afterwards.
"""

import asyncio
import heapq
from datetime import datetime
from itertools import count

from daimon.abi.ids import Conversation
from daimon.abi.ports import Clock, Depth, Handler, RetryAt


class LocalDispatcher:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._order = count()
        self._ready: list[tuple[int, int, Conversation]] = []
        self._queued: set[Conversation] = set()
        self._running: set[Conversation] = set()
        self._again: set[Conversation] = set()
        self._arrived = asyncio.Event()
        self._later: asyncio.TaskGroup | None = None

    async def wake(self, conversation: Conversation, at: datetime | None = None, priority: int = 0) -> None:
        delay = 0.0 if at is None else (at - self._clock.now()).total_seconds()
        if delay > 0 and self._later is not None:
            self._later.create_task(self._wake_later(conversation, delay, priority))
        else:
            self._wake(conversation, priority)

    async def serve(self, handler: Handler, slots: int) -> None:
        free = asyncio.Semaphore(slots)
        async with asyncio.TaskGroup() as tasks:
            self._later = tasks
            while True:
                await free.acquire()
                conversation = await self._next()
                self._running.add(conversation)
                tasks.create_task(self._handle(handler, conversation, free))

    async def schedule(self, name: str, every_s: float, conversation: Conversation) -> None:
        if self._later is None:
            raise RuntimeError("schedule() needs a dispatcher that serves")
        self._later.create_task(self._repeat(every_s, conversation), name=name)

    async def stats(self) -> Depth:
        return Depth(len(self._ready), len(self._running))

    def _wake(self, conversation: Conversation, priority: int) -> None:
        if conversation in self._running:
            self._again.add(conversation)
        elif conversation not in self._queued:
            self._queued.add(conversation)
            heapq.heappush(self._ready, (-priority, next(self._order), conversation))
            self._arrived.set()

    async def _next(self) -> Conversation:
        while not self._ready:
            self._arrived.clear()
            await self._arrived.wait()
        _, _, conversation = heapq.heappop(self._ready)
        self._queued.discard(conversation)
        return conversation

    async def _handle(self, handler: Handler, conversation: Conversation, free: asyncio.Semaphore) -> None:
        try:
            result = await handler(conversation)
        finally:
            self._running.discard(conversation)
            free.release()
        again = conversation in self._again
        self._again.discard(conversation)
        if again:
            self._wake(conversation, 0)
        elif isinstance(result, RetryAt):
            await self.wake(conversation, result.at)

    async def _wake_later(self, conversation: Conversation, delay: float, priority: int) -> None:
        await self._clock.sleep(delay)
        self._wake(conversation, priority)

    async def _repeat(self, every_s: float, conversation: Conversation) -> None:
        while True:
            await self._clock.sleep(every_s)
            self._wake(conversation, 0)
