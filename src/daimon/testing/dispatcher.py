"""A dispatcher that loses, doubles and reorders wake-ups: what every engine may do, done on purpose."""

from datetime import datetime

from daimon.abi.ids import Conversation
from daimon.abi.ports import Depth, Dispatcher, Handler, Random


class LossyDispatcher:
    def __init__(self, inner: Dispatcher, random: Random, drop: float = 0.4, double: float = 0.3) -> None:
        self._inner = inner
        self._random = random
        self._drop = drop
        self._double = double
        self._held: Conversation | None = None

    async def wake(self, conversation: Conversation, at: datetime | None = None, priority: int = 0) -> None:
        chance = self._random.uniform()
        if chance < self._drop:
            self._held = conversation
            return
        await self._inner.wake(conversation, at, priority)
        if chance > 1 - self._double:
            await self._inner.wake(conversation, at, priority)
        if self._held is not None and chance > 1 - self._double / 2:
            held, self._held = self._held, None
            await self._inner.wake(held)

    async def serve(self, handler: Handler, slots: int) -> None:
        await self._inner.serve(handler, slots)

    async def schedule(self, name: str, every_s: float, conversation: Conversation) -> None:
        await self._inner.schedule(name, every_s, conversation)

    async def stats(self) -> Depth:
        return await self._inner.stats()
