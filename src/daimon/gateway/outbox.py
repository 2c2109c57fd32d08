"""The postman: tails the outbox and hands messages to their channels, in order, each once.

For a channel where a second send with the same key is harmless, a crash means a second try. For any other, the try is written
down first; found unfinished after a crash it is *unknown*, is not repeated, and says so. A failing channel is tried again
with growing pauses; other places are not held up by it. What goes to a person, questions too, is cleaned of secrets last thing before it
leaves; an event for another conversation is cleaned where that takes it in.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from daimon.abi.cleaning import cleaned
from daimon.abi.errors import JournalFull, JournalStopped, NotSent
from daimon.abi.event import Address, Said
from daimon.abi.ports import Channel, Clock, Delivery, Outbox, Outgoing
from daimon.abi.secret import Redactor
from daimon.abi.step import Asked, Happened, Started
from daimon.kernel.containment import within
from daimon.kernel.feed import Changed, Feed, Recorded, Spoken, Update
from daimon.kernel.log import FULL_RETRY_S

T = TypeVar("T")
MOST_AT_ONCE = 64
MOST_ATTEMPTS = 12
SEND_TIMEOUT_S = 60.0
SWEEP_S = 30.0
LONGEST_PAUSE_S = 600.0


class Postman:
    def __init__(self, outbox: Outbox, channels: Iterable[Channel], feed: Feed, clock: Clock, redactor: Redactor) -> None:
        self._outbox = outbox
        self._redactor = redactor
        self._channels = {channel.name: channel for channel in channels}
        self._feed = feed
        self._clock = clock
        self._busy: set[Address] = set()
        """Places that something is being sent to right now."""
        self._news = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        self._is_draining = False

    async def serve(self) -> None:
        """Runs until cancelled."""
        with self._feed.subscribe() as updates:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(_listen(updates, self._news))
                while True:
                    self._news.clear()
                    before = frozenset(self._busy)  # what is under way when the reading begins may be read as still to do
                    for message in await self._outbox.outgoing(MOST_AT_ONCE + len(before)):
                        if not self._is_draining and message.to not in before and message.to not in self._busy:
                            self._busy.add(message.to)
                            tasks.create_task(self._deliver(message))
                    with suppress(TimeoutError):
                        async with asyncio.timeout(SWEEP_S):
                            await self._news.wait()

    async def drain(self, seconds: float) -> None:
        """Nothing new is sent; what is under way gets this long for its receipt, so that less of it stays unknown."""
        self._is_draining = True
        deadline = self._clock.monotonic() + seconds
        while self._busy and self._clock.monotonic() < deadline:
            await self._clock.sleep(0.05)

    async def _deliver(self, message: Outgoing) -> None:
        try:
            await self._try(message)
        finally:
            self._busy.discard(message.to)
            self._news.set()

    async def _try(self, message: Outgoing) -> None:
        channel = self._channels.get(message.to.channel)
        if channel is None or message.content is None:
            note = "its text was erased or is damaged" if channel else f"there is no channel {message.to.channel!r}"
            await self._note(message, "failed", note)
        elif message.in_doubt and not channel.may_repeat:
            await self._note(message, "unknown", "the process died while this was being sent; it is not repeated")
        else:
            if not channel.may_repeat:
                await self._until_there_is_room(lambda: self._outbox.sending(message))
            await self._send(channel, message)

    async def _send(self, channel: Channel, message: Outgoing) -> None:
        if isinstance(message.content, Said):
            message = replace(message, content=cleaned(message.content, self._redactor.clean))
        try:
            state = await self._until_there_is_room(lambda: within(SEND_TIMEOUT_S, channel.send(message)))
        except JournalStopped:
            raise
        except Exception as failure:  # noqa: BLE001 - a channel's library may raise anything
            await self._fail(channel, message, failure)
            return
        await self._note(message, state)
        if isinstance(message.content, Said):
            self._feed.publish(Spoken(message.conversation, message.key, message.content))

    async def _fail(self, channel: Channel, message: Outgoing, failure: Exception) -> None:
        note = self._redactor.clean(f"{type(failure).__name__}: {failure}")
        if not channel.may_repeat and not isinstance(failure, NotSent):
            await self._note(message, "unknown", f"it may or may not have gone out, and is not repeated: {note}")
        elif message.attempts + 1 >= MOST_ATTEMPTS:
            await self._note(message, "failed", note)
        else:
            pause_s = min(LONGEST_PAUSE_S, 2.0**message.attempts)
            await self._note(message, "queued", note, self._clock.now() + timedelta(seconds=pause_s))
            if self._tasks is not None:
                self._tasks.create_task(self._ring(pause_s))

    async def _note(self, message: Outgoing, state: Delivery, note: str = "", retry_at: datetime | None = None) -> None:
        await self._until_there_is_room(lambda: self._outbox.delivered(message, state, note, retry_at))

    async def _until_there_is_room(self, write: Callable[[], Awaitable[T]]) -> T:
        """What happened must be noted, or it would happen again."""
        while True:
            try:
                return await write()
            except JournalFull:
                await self._clock.sleep(FULL_RETRY_S)

    async def _ring(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._news.set()


async def _listen(updates: AsyncIterable[Update], news: asyncio.Event) -> None:
    async for update in updates:
        match update:
            case Changed():
                news.set()
            case Recorded(step=step) if isinstance(step.body, Asked | Started | Happened) and step.body.operations:
                news.set()
