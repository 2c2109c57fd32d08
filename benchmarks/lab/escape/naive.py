"""The proxy that the box does not have: it goes wherever it is sent, believes lengths, and puts the secret in for whoever names it."""

import asyncio
from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

from lab.escape.host import Host

_MOST = 64 << 20


class Naive:
    def __init__(self, host: Host, placeholder: str, value: str) -> None:
        self._host, self._swap = host, (placeholder.encode(), value.encode())

    async def start(self, stack: AsyncExitStack) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 3_128, limit=_MOST)
        stack.callback(server.close)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(20):
                while await self._one(reader, writer):
                    pass
        with suppress(OSError):
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if method == "CONNECT":
            name, _, port = target.rpartition(":")
            far = await self._reach(name.strip("[]"), int(port))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(_carry(reader, far[1]), _carry(far[0], writer))
            return False
        where = urlsplit(target)
        far = await self._reach(where.hostname or "", where.port or 80)
        path = f"{where.path or '/'}{'?' + where.query if where.query else ''}"
        far[1].write(head.replace(target.encode("latin-1"), path.encode("latin-1"), 1).replace(*self._swap))
        far[1].write((await reader.readexactly(_length(head))).replace(*self._swap))
        await far[1].drain()
        await self._answer(far[0], writer)
        far[1].close()
        return True

    async def _reach(self, name: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address, mapped = self._host.local().get(name, (name, 0))
        return await asyncio.open_connection(address, mapped or port, limit=_MOST)

    async def _answer(self, far: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await far.readuntil(b"\r\n\r\n")
        writer.write(head + await far.readexactly(_length(head)))
        await writer.drain()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


async def _carry(near: asyncio.StreamReader, far: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await near.read(65_536):
            far.write(data)
            await far.drain()
        far.close()
