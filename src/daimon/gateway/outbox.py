"""The postman: tails the outbox and hands messages to their channels, in order, each once.

Of each place one message is under way at a time, the oldest; the next one begins when it is out or over. Of each channel only so many
places are served as its line has room for (`line.py`); the rows of a channel that is closed are not even read. So a dead place holds up
nobody, and neither does a dead channel. How one message goes out stands in `delivery.py`.

What goes to a person, questions too, is cleaned of secrets last thing before it leaves. An event for another conversation does not leave:
it goes to the inbox, which cleans it, and which knows its key. Only a journal that cannot be written any more ends the postman.
"""

import asyncio
import logging
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from daimon.abi.channel import Channel, Traits
from daimon.abi.cleaning import cleaned
from daimon.abi.errors import JournalFailed
from daimon.abi.event import INTERNAL, Address, Event, Said
from daimon.abi.ports import Outgoing, Random
from daimon.abi.step import Asked, Happened, Started
from daimon.gateway.answers import LineState
from daimon.gateway.delivery import MOST_ATTEMPTS, Courier, Desk, Later, Out, Over, pause_after
from daimon.gateway.line import Line
from daimon.kernel.feed import Changed, Feed, Recorded, Spoken, Update

Where = Callable[[Address], Awaitable[Address]]
MOST_AT_ONCE = 64
SWEEP_S = 30.0
_log = logging.getLogger(__name__)


class Inside(Protocol):
    """Takes events from one conversation to another."""

    async def accept(self, event: Event) -> object: ...


class Postman:
    def __init__(
        self, desk: Desk, channels: Iterable[Channel], inside: Inside, feed: Feed, random: Random, where: Where | None = None
    ) -> None:
        """`where`: for a place that is only found when something is delivered there, such as wherever the owner is."""
        self._desk = desk
        self._inside = inside
        self._where = where or _as_addressed
        self._feed = feed
        self._random = random
        self._lines: dict[str, Line] = {}
        self._couriers: dict[str, Courier] = {}
        self._nowhere = Line(Traits("harmless"), desk.clock, random)
        """For what is for no channel: events, and what was addressed wrongly."""
        self._busy: set[Address] = set()
        """Places that something is being sent to right now."""
        self._refused: set[Address] = set()
        """Places for which the credential was refused last. It may be that only they are: the others go first."""
        self._under_way: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self._news = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None
        for each in channels:
            self.add(each)

    def add(self, channel: Channel) -> None:
        """In the place of the one with its name: what is under way there goes on with the old one, the next with this."""
        line = self._lines[channel.name] = Line(channel.traits, self._desk.clock, self._random)
        self._couriers[channel.name] = Courier(channel, line, self._desk)
        self._news.set()

    def remove(self, name: str) -> None:
        """What is still queued for it fails, and says why."""
        self._lines.pop(name, None)
        self._couriers.pop(name, None)
        self._news.set()

    def reaches(self, channel: str) -> bool:
        return channel in self._lines

    async def serve(self) -> None:
        """Runs until cancelled."""
        with self._feed.subscribe() as updates:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(_listen(updates, self._news))
                while True:
                    self._news.clear()
                    if not await self._round(tasks):
                        with suppress(TimeoutError):
                            async with asyncio.timeout(SWEEP_S):
                                await self._news.wait()

    async def drain(self, seconds: float) -> None:
        """Begins nothing more, and gives what is under way so long to end: what is cut off is in doubt, and some channels cannot look."""
        self._is_closing = True
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=seconds)

    def poke(self) -> None:
        """There is something new to be delivered."""
        self._news.set()

    def line_changed(self, line: LineState) -> None:
        """The supervisor says how the listening of a channel is."""
        found = self._lines.get(line.name)
        if found is None:
            return
        match line.state:
            case "up":
                found.rose()
            case "down":
                found.fell()
            case "locked_out":
                found.lock()
            case "starting":
                pass
        self._news.set()

    def told(self, line: LineState) -> LineState:
        """How a channel is that listens and to which nothing is sent at the moment."""
        found = self._lines.get(line.name)
        if found is None or line.state != "up" or not found.why:
            return line
        at = self._desk.clock.now() + timedelta(seconds=found.wait_s())
        return replace(line, why=f"nothing is sent for a while: {found.why}", next_try=at)

    async def _round(self, tasks: asyncio.TaskGroup) -> bool:
        """True: there may be more to begin with at once."""
        if self._is_closing:
            return False
        before = frozenset(self._busy)  # what is under way when the reading begins may be read as still to do
        closed = [name for name, line in self._lines.items() if line.room() <= 0]
        most, begun = MOST_AT_ONCE + len(before), 0
        found = await self._desk.outbox.outgoing(most, closed)
        for message in sorted(found, key=lambda message: message.to in self._refused):
            line = self._lines.get(message.to.channel, self._nowhere)
            if message.to not in before and message.to not in self._busy and (line is self._nowhere or line.room() > 0):
                self._busy.add(message.to)
                line.waiting += 1
                begun += 1
                self._under_way.add(task := tasks.create_task(self._deliver(message, line)))
                task.add_done_callback(self._under_way.discard)
        return begun > 0 and len(found) >= most

    async def _deliver(self, message: Outgoing, line: Line) -> None:
        try:
            went = await self._carry(message)
        except JournalFailed:
            raise
        except Exception as failure:  # noqa: BLE001 - one message must not stop the others
            _log.exception("a message could not be handled: %s", message.key)
            went = await self._again(message, failure)
        finally:
            line.waiting -= 1
            self._busy.discard(message.to)
            self._news.set()
        (self._refused.add if went == Later(None) else self._refused.discard)(message.to)
        self._ring((went.pause_s or 0.0) if isinstance(went, Later) else 0.0, line)

    async def _carry(self, message: Outgoing) -> Out | Over | Later:
        courier, content = self._couriers.get(message.to.channel), message.content
        if content is None:
            await self._desk.note(message, "failed", "its text was erased or is damaged")
            return Over()
        if message.to.channel == INTERNAL:
            return await self._hand_over(message)
        if (to := await self._where(message.to)) != message.to:
            await self._desk.until_there_is_room(lambda: self._desk.outbox.readdress(message, to))
            return Later(0.0)
        if courier is None or not isinstance(content, Said):
            await self._desk.note(message, "failed", f"there is no channel {message.to.channel!r}")
            return Over()
        content = cleaned(content, self._desk.redactor.clean)
        went = await courier.carry(replace(message, content=content))
        if isinstance(went, Out):
            self._feed.publish(Spoken(message.conversation, message.key, content))
        return went

    async def _hand_over(self, message: Outgoing) -> Out | Over | Later:
        event = message.content
        if not isinstance(event, Event):
            await self._desk.note(message, "failed", "only events go from one conversation to another")
            return Over()
        try:
            await self._desk.until_there_is_room(lambda: self._inside.accept(event))
        except JournalFailed:
            raise
        except Exception as failure:  # noqa: BLE001 - one event must not stop the others
            return await self._again(message, failure)
        await self._desk.note(message, "confirmed", "")
        return Out()

    async def _again(self, message: Outgoing, failure: Exception) -> Over | Later:
        if message.attempts + 1 >= MOST_ATTEMPTS:
            await self._desk.note(message, "failed", self._desk.said(failure))
            return Over()
        await self._desk.note(message, "queued", self._desk.said(failure), pause_after(message.attempts))
        return Later(pause_after(message.attempts))

    def _ring(self, pause_s: float, line: Line) -> None:
        """Wakes the postman when a message is due again, or its line opens."""
        seconds = max(pause_s, line.wait_s())
        if seconds > 0 and self._tasks is not None:
            self._tasks.create_task(self._after(seconds))

    async def _after(self, seconds: float) -> None:
        await self._desk.clock.sleep(seconds)
        self._news.set()


async def _as_addressed(to: Address) -> Address:
    return to


async def _listen(updates: AsyncIterable[Update], news: asyncio.Event) -> None:
    async for update in updates:
        match update:
            case Changed():
                news.set()
            case Recorded(step=step) if isinstance(step.body, Asked | Started | Happened) and step.body.operations:
                news.set()
