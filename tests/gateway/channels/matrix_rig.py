"""An agent's account on a real homeserver, the channel on it, and a reception that keeps what it was given."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from daimon.abi.channel import Arrival, Message
from daimon.abi.errors import JournalFailed, TooLarge
from daimon.abi.event import Address, Asks, Said
from daimon.abi.ids import BlobHash, Conversation, Key, SpaceId
from daimon.abi.label import UNLABELLED
from daimon.abi.message import Content, Text
from daimon.abi.ports import Outgoing
from daimon.gateway.channels.matrix import Account, MatrixChannel
from daimon.testing.clock import ManualClock
from daimon.testing.matrix.homeserver import Homeserver
from daimon.testing.matrix.person import Person
from daimon.testing.matrix.proxy import FaultProxy

DEADLINE_S = 60


class Blobs:
    def __init__(self) -> None:
        self.kept: dict[BlobHash, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        blob = BlobHash(hashlib.sha256(data).hexdigest())
        self.kept[blob] = data
        return blob

    async def get(self, blob: BlobHash) -> bytes:
        return self.kept[blob]


class Desk:
    """A reception. What it keeps outlives the channel, as the journal does."""

    def __init__(self, blobs: Blobs, *known: str) -> None:
        self.known = set(known)
        self.taken: list[Arrival] = []
        self.values: dict[tuple[str, str], str] = {}
        self.full_from: int | None = None
        """When it has so many, no more can be written."""
        self._blobs = blobs
        self._changed = asyncio.Condition()

    @property
    def most_bytes(self) -> int:
        return 100_000

    @property
    def messages(self) -> list[Message]:
        return [arrival for arrival in self.taken if isinstance(arrival, Message)]

    @property
    def texts(self) -> list[str]:
        return [words(message) for message in self.messages]

    async def take(self, arrival: Arrival) -> str:
        if self.full_from is not None and len(self.taken) >= self.full_from:
            raise JournalFailed("the disk is full")
        async with self._changed:
            if arrival.key not in {known.key for known in self.taken}:
                self.taken.append(arrival)
            self._changed.notify_all()
        return ""

    async def until(self, holds: Callable[["Desk"], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: holds(self))

    async def is_known(self, sender: str) -> bool:
        return sender in self.known

    async def keep(self, data: bytes) -> BlobHash:
        if len(data) > self.most_bytes:
            raise TooLarge("too large")
        return await self._blobs.put(data)

    async def recall(self, channel: str, name: str) -> str:
        return self.values.get((channel, name), "")

    async def remember(self, channel: str, name: str, value: str) -> None:
        async with self._changed:
            self.values[channel, name] = value
            self._changed.notify_all()


@dataclass
class Rig:
    agent: Person
    owner: Person
    proxy: FaultProxy
    desk: Desk
    blobs: Blobs
    channel: MatrixChannel
    clock: ManualClock = field(default_factory=ManualClock)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """The channel listens when this begins; it must not have fallen when it ends."""
        asked = len(self.proxy.asked)
        task = asyncio.create_task(self.channel.serve(self.desk))
        try:
            listening = asyncio.create_task(self.proxy.until(lambda lines: any("since=" in line for line in lines[asked:])))
            await asyncio.wait([task, listening], return_when=asyncio.FIRST_COMPLETED)
            listening.cancel()
            if not task.done():
                yield
            if task.done():
                await task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def direct(self) -> str:
        """A room of the owner and the agent, in which both are."""
        room = await self.owner.room(self.agent.user)
        await self.agent.join(room)
        return room

    async def group(self, *others: Person) -> str:
        room = await self.owner.room(self.agent.user, *(other.user for other in others))
        for member in (self.agent, *others):
            await member.join(room)
        return room

    async def fallen(self) -> BaseException:
        """What broke the channel."""
        try:
            await self.channel.serve(self.desk)
        except Exception as error:  # noqa: BLE001 - whatever it is, is looked at
            return error
        raise AssertionError("it ended by itself")


@asynccontextmanager
async def rig(server: Homeserver) -> AsyncIterator[Rig]:
    agent, owner = await Person.new(server, "agent"), await Person.new(server, "owner")
    blobs, clock = Blobs(), ManualClock(datetime.now(UTC) + timedelta(hours=1))
    async with asyncio.timeout(DEADLINE_S), FaultProxy(server.url) as proxy:
        channel = MatrixChannel(Account(proxy.url, agent.user), lambda: agent.token, clock, blobs)
        try:
            yield Rig(agent, owner, proxy, Desk(blobs, owner.user), blobs, channel, clock)
        finally:
            await channel.close()
            await agent.close()
            await owner.close()


def words(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def outgoing(*parts: Content, to: str = "!room:localhost", asks: Asks | None = None) -> Outgoing:
    return Outgoing(
        key=Key("turn_1:1"),
        conversation=Conversation(SpaceId("main"), "matrix/somewhere"),
        to=Address("matrix", to),
        content=Said(tuple(parts), asks=asks),
        label=UNLABELLED,
        created_at=datetime(2026, 3, 2, tzinfo=UTC),
    )
