"""Just enough HTTP/1.1 on loopback: one request a connection for callers, keep-alive for servers, bodies with Content-Length only.

Hand-written, so that neither the driver nor the world shares a line with the system under test.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

TIMEOUT_S = 60.0


class Unanswered(Exception):
    """No whole answer came: nobody knows whether the request took effect."""


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


Handler = Callable[[Asked], Awaitable[Answer | None]]


def answer(data: object, status: int = 200) -> Answer:
    return Answer(status, json.dumps(data).encode())


async def call(port: int, method: str, path: str, data: object = None, **headers: str) -> Answer:
    """Raises Unanswered."""
    body = b"" if data is None else json.dumps(data).encode()
    fields = {
        "Host": "127.0.0.1",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    head = "".join([f"{method} {path} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in fields.items()), "\r\n"])
    writer = None
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head.encode() + body)
            first, body = await _message(reader)
            return Answer(int(first.split()[1]), body)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, IndexError) as broken:
        raise Unanswered(f"{method} {path}: {type(broken).__name__} {broken}") from broken
    finally:
        if writer is not None:
            writer.close()


async def serve(handler: Handler) -> asyncio.Server:
    """Answers on a free port. A handler that returns None says nothing and hangs up."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                first, body = await _message(reader)
                method, path, _ = first.split()
                said = await handler(Asked(method, path, body))
                if said is None:
                    return
                writer.write(b"HTTP/1.1 %d -\r\nContent-Length: %d\r\n\r\n" % (said.status, len(said.body)) + said.body)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(connection, "127.0.0.1", 0)


async def _message(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
    return head[0], await reader.readexactly(int(fields.get("content-length", 0)))
