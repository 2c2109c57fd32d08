"""Names to addresses, by the machine's own resolver.

`getaddrinfo` blocks and cannot be called back; so it runs in a few named threads, and whoever finds all of them busy waits for one, with
the caller's deadline.
"""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

_THREADS = 4


class Resolver(Protocol):
    async def resolve(self, host: str) -> Sequence[str]:
        """Its addresses, best first. Raises OSError."""
        ...


class SystemResolver:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_THREADS, "daimon-resolve")
        self._free = asyncio.Semaphore(_THREADS)

    async def resolve(self, host: str) -> Sequence[str]:
        await self._free.acquire()
        lookup = asyncio.get_running_loop().run_in_executor(self._threads, _lookup, host)
        # A lookup that nobody waits for any more still holds its thread.
        lookup.add_done_callback(self._done)
        return await asyncio.shield(lookup)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _done(self, lookup: "asyncio.Future[Sequence[str]]") -> None:
        self._free.release()
        if not lookup.cancelled():
            lookup.exception()  # nobody may be left to look at it


def _lookup(host: str) -> Sequence[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))
