"""What stands between a client and a real homeserver and breaks what the server would not break on command.

    async with FaultProxy(server.url) as proxy:
        proxy.break_next("/send/", Cut(after=True))

Each request is read whole, sent on over a connection of its own, and answered whole. A fault counts for the next request whose method
and target hold its words; the rest passes. `passed` counts requests that reached the server, so that a test can tell a send that was
refused from one that was made and not answered.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

HOST = "127.0.0.1"
_MAX_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection ends without an answer: before the server heard of it, or after it did."""

    after: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """Given instead of the server's."""

    status: int
    errcode: str
    retry_after_ms: int | None = None
    after: bool = False
    """The server did what was asked all the same."""


@dataclass(frozen=True, slots=True)
class Late:
    """The server's own answer, so much later."""

    wait_s: float


Fault = Cut | Answer | Late
LIMITED = Answer(429, "M_LIMIT_EXCEEDED", retry_after_ms=1_500)
BROKEN = Answer(500, "M_UNKNOWN")
REVOKED = Answer(401, "M_UNKNOWN_TOKEN")


class FaultProxy:
    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self._faults: list[tuple[str, Fault]] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()
        self.asked: list[str] = []
        """The first line of each request."""
        self.passed: list[str] = []

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    def break_next(self, words: str, fault: Fault, times: int = 1) -> None:
        self._faults.extend([(words, fault)] * times)

    async def until(self, holds: Callable[[list[str]], bool]) -> None:
        """Waits until it holds of the requests so far."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: holds(self.asked))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, 0, limit=_MAX_HEAD_BYTES)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):  # the client left, or the server did
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(_length(head))
                writer.write(await self._answer(head, body))
                await writer.drain()
        finally:
            writer.close()

    async def _answer(self, head: bytes, body: bytes) -> bytes:
        line = head.split(b"\r\n", 1)[0].decode()
        async with self._arrived:
            self.asked.append(line)
            self._arrived.notify_all()
        fault = self._fault(line)
        if fault is not None and not isinstance(fault, Late) and not fault.after:
            return _spoken(fault)
        answer = await self._pass(head, body)
        self.passed.append(line)
        if isinstance(fault, Late):
            await asyncio.sleep(fault.wait_s)
            return answer
        return answer if fault is None else _spoken(fault)

    def _fault(self, line: str) -> Fault | None:
        for place, (words, fault) in enumerate(self._faults):
            if words in line:
                del self._faults[place]
                return fault
        return None

    async def _pass(self, head: bytes, body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
        try:
            first, *headers = head[:-4].split(b"\r\n")
            kept = [header for header in headers if not header.lower().startswith(b"connection:")]
            writer.write(b"\r\n".join([first, *kept, b"Connection: close", b"", b""]) + body)
            return await reader.read(-1)
        finally:
            writer.close()


def _length(head: bytes) -> int:
    for header in head.split(b"\r\n"):
        name, _, value = header.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def _spoken(fault: Cut | Answer) -> bytes:
    match fault:
        case Cut():
            return b""
        case Answer(status, errcode, wait):
            said = {"errcode": errcode, "error": "made by the fault proxy", **({} if wait is None else {"retry_after_ms": wait})}
            body = json.dumps(said).encode()
            head = f"HTTP/1.1 {status} Fault\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            return head.encode() + body
