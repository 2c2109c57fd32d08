"""Bytes in both directions, with a deadline at every wait.

A `Stream` is a connection, as such (`Plain`) or inside of TLS (`tls.Sealed`). A `Source` reads from one ahead of need, and knows where a
head or a line ends. Invariant: what a `Source` has read ahead and nobody took is still there, so a connection with anything left over can
be told from a clean one.
"""

import asyncio
import re
import socket
import struct
from typing import Protocol

from daimon.net.refusal import Malformed

_PIECE = 64 * 1024
_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\0")
_RESET = struct.pack("ii", 1, 0)


class Stream(Protocol):
    sent: int
    received: int

    async def read(self) -> bytes:
        """At least one byte; empty at the end. Raises OSError, and TimeoutError when nothing comes for too long."""
        ...

    async def write(self, data: bytes) -> None:
        """The bytes are in order even if several write. Raises OSError, and TimeoutError when the other side does not read."""
        ...

    async def end(self) -> None:
        """Nothing more will be written."""
        ...

    def abort(self) -> None:
        """Cuts it, so that the other side does not take it for a proper end."""
        ...

    def close(self) -> None: ...

    @property
    def is_over(self) -> bool: ...


class Plain:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle_s: float) -> None:
        self._reader = reader
        self._writer = writer
        self._idle_s = idle_s
        # A head and its body are two writes; without this the second waits for a word about the first.
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0
        self.received = 0

    async def read(self) -> bytes:
        async with asyncio.timeout(self._idle_s):
            data = await self._reader.read(_PIECE)
        self.received += len(data)
        return data

    async def write(self, data: bytes) -> None:
        if self._writer.is_closing():
            raise ConnectionResetError("the other side has gone")
        self.sent += len(data)
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > _PIECE:
            async with asyncio.timeout(self._idle_s):
                await self._writer.drain()

    async def end(self) -> None:
        async with asyncio.timeout(self._idle_s):
            await self._writer.drain()
        if not self._writer.is_closing():
            self._writer.write_eof()

    def abort(self) -> None:
        connection: socket.socket | None = self._writer.get_extra_info("socket")
        if connection is not None and connection.fileno() >= 0 and not self._writer.is_closing():
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._writer.transport.abort()

    def close(self) -> None:
        """What was written still goes out, unless the other side does not take it."""
        self._writer.close()
        if self._writer.transport.get_write_buffer_size():
            asyncio.get_running_loop().call_later(self._idle_s, self._writer.transport.abort)

    @property
    def is_over(self) -> bool:
        return self._reader.at_eof() or self._writer.is_closing()


class Source:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._ahead = bytearray()

    @property
    def is_clean(self) -> bool:
        return not self._ahead

    async def begins(self) -> bool:
        """Waits for a first byte. False: the other side ended instead."""
        return bool(self._ahead) or await self._more()

    async def head(self, most: int) -> bytes | None:
        """All up to and including an empty line. None: it ended before a first byte. Raises Malformed; OverflowError past `most`."""
        seen = 0
        while (end := self._ahead.find(b"\r\n\r\n", max(0, seen - 3))) < 0:
            _refuse_bare(self._ahead, seen, len(self._ahead))
            seen = len(self._ahead)
            if seen > most:
                raise OverflowError
            if not await self._more():
                if not seen:
                    return None
                raise Malformed("it ended in the middle of a head")
        _refuse_bare(self._ahead, seen, end + 4)
        if end + 4 > most:
            raise OverflowError
        return self._take(end + 4)

    async def line(self, most: int) -> bytes:
        """One line without its CR LF."""
        while (end := self._ahead.find(b"\n")) < 0:
            if len(self._ahead) > most or not await self._more():
                raise Malformed("a line does not end")
        line = self._take(end + 1)
        if len(line) > most or not line.endswith(b"\r\n") or b"\r" in line[:-2]:
            raise Malformed("a line is too long, or does not end with CR LF")
        return line[:-2]

    async def some(self, most: int) -> bytes:
        """At least one byte and not more than `most`; empty at the end."""
        if self._ahead:
            return self._take(min(most, len(self._ahead)))
        data = await self._stream.read()
        if len(data) <= most:
            return data
        self._ahead += data[most:]
        return data[:most]

    async def _more(self) -> bool:
        data = await self._stream.read()
        self._ahead += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        taken = bytes(memoryview(self._ahead)[:size])
        del self._ahead[:size]
        return taken


def _refuse_bare(data: bytearray, seen: int, end: int) -> None:
    """Of what was seen before, the last byte may have been half of a line's end."""
    if _BARE.search(data, max(0, seen - 1), end):
        raise Malformed("a line ends with CR or LF alone, or there is a NUL")
