"""A channel on the loopback server, and a reception that keeps what it is given."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

from daimon.abi.channel import Arrival, Message, Pressed
from daimon.abi.errors import JournalStopped, NotFound, TooLarge
from daimon.abi.event import Address, Asks, Said
from daimon.abi.ids import HOME_SPACE, BlobHash, Conversation, Key
from daimon.abi.label import UNLABELLED
from daimon.abi.message import Content, Text
from daimon.abi.ports import Outgoing
from daimon.gateway.channels.telegram import Bot, TelegramChannel
from daimon.testing.clock import START, ManualClock
from daimon.testing.telegram.server import TelegramServer

DEADLINE_S = 60.0


class Shelf:
    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        blob = BlobHash(sha256(data).hexdigest())
        self.blobs[blob] = data
        return blob

    async def get(self, blob: BlobHash) -> bytes:
        if blob not in self.blobs:
            raise NotFound(f"no blob {blob}")
        return self.blobs[blob]


class Book:
    """Outlives kills of `serve`, as a disk does. What comes with a known key is counted, and not taken in again."""

    def __init__(self, shelf: Shelf, most_bytes: int = 1_000_000) -> None:
        self.shelf = shelf
        self.most_bytes = most_bytes
        self.taken: dict[str, Arrival] = {}
        self.tries: list[str] = []
        self.values: dict[tuple[str, str], str] = {}
        self.failures: list[Exception] = []
        self.answer = "noted"
        self.strangers: set[str] = set()
        self.moments = 0
        """Kills come at one of these; see `kill_at`."""
        self.kill_at = 0
        self.killed = asyncio.Event()
        self.released = asyncio.Event()
        """What hangs at that moment fails: it was not in the process that was killed."""
        self._news = asyncio.Event()

    async def is_known(self, sender: str) -> bool:
        return sender not in self.strangers

    async def take(self, arrival: Arrival) -> str:
        await self._moment()
        self.tries.append(arrival.key)
        if self.failures:
            raise self.failures.pop(0)
        self.taken.setdefault(arrival.key, arrival)
        self._news.set()
        self._news = asyncio.Event()
        await self._moment()
        return self.answer if isinstance(arrival, Pressed) else ""

    async def keep(self, data: bytes) -> BlobHash:
        await self._moment()
        if len(data) > self.most_bytes:
            raise TooLarge("too large")
        return await self.shelf.put(data)

    async def recall(self, channel: str, name: str) -> str:
        await self._moment()
        return self.values.get((channel, name), "")

    async def remember(self, channel: str, name: str, value: str) -> None:
        await self._moment()
        self.values[channel, name] = value
        await self._moment()

    async def _moment(self) -> None:
        self.moments += 1
        if self.moments == self.kill_at:
            self.killed.set()
            await self.released.wait()
            raise JournalStopped("killed")

    async def arrivals(self, count: int) -> list[Arrival]:
        async with asyncio.timeout(DEADLINE_S):
            while len(self.taken) < count:
                await self._news.wait()
        return list(self.taken.values())

    async def message(self, number: int = 1) -> Message:
        arrival = (await self.arrivals(number))[number - 1]
        assert isinstance(arrival, Message)
        return arrival


class Rig:
    def __init__(self, server: TelegramServer, bot: Bot | None = None) -> None:
        self.server = server
        self.chats = server.chats
        self.clock = ManualClock()
        self.shelf = Shelf()
        self.book = Book(self.shelf)
        self.channel = TelegramChannel(bot or Bot(server.url), lambda: server.token, self.clock, self.shelf)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["asyncio.Task[None]"]:
        task = asyncio.create_task(self.channel.serve(self.book))
        try:
            yield task
        except TimeoutError as error:
            if task.done() and not task.cancelled():
                raise AssertionError("serve had ended") from task.exception()
            raise error
        finally:
            task.cancel()
            await asyncio.wait((task,), timeout=DEADLINE_S)

    async def send(self, *parts: Content, to: str = "1001", asks: Asks | None = None) -> None:
        message = outgoing(*parts, to=to, asks=asks)
        for n, piece in enumerate(self.channel.pieces(message)):
            await self.channel.send(piece, to, f"{message.key}/{n}")


@asynccontextmanager
async def rig() -> AsyncIterator[Rig]:
    async with asyncio.timeout(60), TelegramServer() as server:
        yield Rig(server)


def outgoing(*parts: Content, to: str = "1001", asks: Asks | None = None) -> Outgoing:
    return Outgoing(
        key=Key("turn-1:3"),
        conversation=Conversation(HOME_SPACE, f"telegram/{to}"),
        to=Address("telegram", to),
        content=Said(parts, asks=asks),
        label=UNLABELLED,
        created_at=START,
    )


def words(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))
