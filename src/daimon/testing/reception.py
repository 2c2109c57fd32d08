"""A reception that lets everybody in, keeps what came in memory, and fails when told to."""

import asyncio
import hashlib
from collections.abc import Callable

from daimon.abi.channel import Arrival
from daimon.abi.errors import TooLarge
from daimon.abi.ids import BlobHash


class MemoryReception:
    def __init__(self, most_bytes: int = 1 << 20) -> None:
        self.took: list[Arrival] = []
        """In order, what was delivered again too."""
        self.failures: list[Exception] = []
        """Raised by the next ones who come, instead of taking what they bring."""
        self.blobs: dict[BlobHash, bytes] = {}
        self.kept: dict[tuple[str, str], str] = {}
        self.strangers: set[str] = set()
        self.says = ""
        self._most_bytes = most_bytes
        self._news = asyncio.Condition()

    @property
    def most_bytes(self) -> int:
        return self._most_bytes

    async def is_known(self, sender: str) -> bool:
        return sender not in self.strangers

    async def take(self, arrival: Arrival) -> str:
        async with self._news:
            self._news.notify_all()
            if self.failures:
                raise self.failures.pop(0)
            self.took.append(arrival)
        return self.says

    async def keep(self, data: bytes) -> BlobHash:
        if len(data) > self._most_bytes:
            raise TooLarge(f"{len(data)} bytes are more than {self._most_bytes}")
        blob = BlobHash(hashlib.sha256(data).hexdigest())
        self.blobs[blob] = data
        return blob

    async def recall(self, channel: str, name: str) -> str:
        return self.kept.get((channel, name), "")

    async def remember(self, channel: str, name: str, value: str) -> None:
        self.kept[channel, name] = value

    async def until(self, is_so: Callable[[list[Arrival]], bool], deadline_s: float = 10.0) -> list[Arrival]:
        async with asyncio.timeout(deadline_s), self._news:
            await self._news.wait_for(lambda: is_so(self.took))
        return self.took
