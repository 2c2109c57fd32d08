"""The postman: tails the outbox and hands messages to their channels, in order, each once.

For a channel where a second send with the same key is harmless, a crash means a second try. For any other, the try is written
down first; found unfinished after a crash it is *unknown*, is not repeated, and says so. A failing channel is tried again
with growing pauses; other places are not held up by it.
"""

import asyncio
from collections.abc import AsyncIterable, Iterable
from contextlib import suppress
from datetime import timedelta

from daimon.abi.errors import JournalFailed, JournalFull
from daimon.abi.event import Said
from daimon.abi.ports import Channel, Clock, Outbox, Outgoing
from daimon.abi.step import Asked, Happened, Started
from daimon.kernel.feed import Changed, Feed, Recorded, Spoken, Update

MOST_AT_ONCE = 64
MOST_ATTEMPTS = 12
SEND_TIMEOUT_S = 60.0
SWEEP_S = 30.0
FULL_RETRY_S = 2.0
LONGEST_PAUSE_S = 600.0


class Postman:
    def __init__(self, outbox: Outbox, channels: Iterable[Channel], feed: Feed, clock: Clock) -> None:
        self._outbox = outbox
        self._channels = {channel.name: channel for channel in channels}
        self._feed = feed
        self._clock = clock

    async def serve(self) -> None:
        """Runs until cancelled."""
        with self._feed.subscribe() as updates:
            news = asyncio.Event()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_listen(updates, news))
                while True:
                    news.clear()
                    pause = await self._round()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await news.wait()

    async def _round(self) -> float:
        try:
            return await self._send_all()
        except JournalFull:
            return FULL_RETRY_S  # what was sent is noted when there is room; a second try has the same key

    async def _send_all(self) -> float:
        while messages := await self._outbox.outgoing(MOST_AT_ONCE):
            results = await asyncio.gather(*(self._deliver(message) for message in messages))
            if not any(results):
                return 1.0
        return SWEEP_S

    async def _deliver(self, message: Outgoing) -> bool:
        """True if this place may have more to send now."""
        channel = self._channels.get(message.to.channel)
        if channel is None or message.content is None:
            note = "its text was erased" if channel else f"there is no channel {message.to.channel!r}"
            await self._outbox.delivered(message, "failed", note)
            return True
        if not channel.may_repeat:
            if message.in_doubt:
                await self._outbox.delivered(message, "unknown", "the process died while this was being sent; it is not repeated")
                return True
            await self._outbox.sending(message)
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                state = await channel.send(message)
        except JournalFailed:
            raise
        except Exception as failure:  # noqa: BLE001 - a channel's library may raise anything
            return await self._postpone(message, failure)
        await self._outbox.delivered(message, state)
        if isinstance(message.content, Said):
            self._feed.publish(Spoken(message.conversation, message.key, message.content))
        return True

    async def _postpone(self, message: Outgoing, failure: Exception) -> bool:
        note = f"{type(failure).__name__}: {failure}"
        if message.attempts + 1 >= MOST_ATTEMPTS:
            await self._outbox.delivered(message, "failed", note)
            return True
        pause = min(LONGEST_PAUSE_S, 2.0**message.attempts)
        await self._outbox.delivered(message, "queued", note, self._clock.now() + timedelta(seconds=pause))
        return False


async def _listen(updates: AsyncIterable[Update], news: asyncio.Event) -> None:
    async for update in updates:
        match update:
            case Changed():
                news.set()
            case Recorded(step=step) if isinstance(step.body, Asked | Started | Happened) and step.body.operations:
                news.set()
