"""Shows in a chat that somebody is at work on an answer, for as long as the turn runs.

It listens to the feed, as anybody may, and is in nobody's way: what it misses is not shown, what a channel raises is dropped, and a
channel that takes long is asked again only when it has answered. A turn that waits for a person is not at work, so nothing is shown.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Literal

from daimon.abi.channel import Channel
from daimon.abi.errors import DaimonError
from daimon.abi.event import Address
from daimon.abi.ids import Conversation, TurnId
from daimon.abi.ports import Archive, Clock
from daimon.abi.turn import State
from daimon.kernel.containment import within
from daimon.kernel.feed import Changed, Feed

EVERY_S = 4.0
SHOW_TIMEOUT_S = 10.0
MOST_S = 3_600.0
"""Nobody believes that somebody types for longer."""


class Typing:
    def __init__(self, archive: Archive, channels: Iterable[Channel], feed: Feed, clock: Clock) -> None:
        self._archive = archive
        self._channels = {channel.name: channel for channel in channels}
        self._feed = feed
        self._clock = clock
        self._shown: dict[Conversation, tuple[TurnId, asyncio.Task[None]]] = {}

    def add(self, channel: Channel) -> None:
        self._channels[channel.name] = channel

    def remove(self, name: str) -> None:
        self._channels.pop(name, None)

    async def serve(self) -> None:
        """Runs until cancelled."""
        with self._feed.subscribe() as updates:
            async with asyncio.TaskGroup() as tasks:
                async for update in updates:
                    if isinstance(update, Changed):
                        self._changed(update, tasks.create_task)

    def _changed(self, update: Changed, start: "Callable[..., asyncio.Task[None]]") -> None:
        turn, showing = self._shown.get(update.conversation, (None, None))
        if turn == update.turn and update.state is State.RUNNING:
            return
        if showing is not None:
            showing.cancel()
            del self._shown[update.conversation]
        if update.state is State.RUNNING:
            self._shown[update.conversation] = update.turn, start(self._show(update.turn))

    async def _show(self, turn: TurnId) -> None:
        """Never raises: the postman and the turn know nothing of this."""
        try:
            to = (await self._archive.event((await self._archive.turn(turn)).event)).reply_to
        except DaimonError:
            return
        channel = None if to is None else self._channels.get(to.channel)
        if to is None or channel is None:
            return
        try:
            for _ in range(int(MOST_S / EVERY_S)):
                await _ask(channel, to, "thinking")
                await self._clock.sleep(EVERY_S)
        finally:
            await _ask(channel, to, "nothing")


async def _ask(channel: Channel, to: Address, doing: Literal["thinking", "nothing"]) -> None:
    with suppress(Exception):
        await within(SHOW_TIMEOUT_S, channel.show(to.to, doing))
