"""The name server of the throw-away machine: it keeps what it was asked, and one of its names changes its address from answer to answer."""

import asyncio
import itertools
import socket
import struct
from contextlib import AsyncExitStack
from typing import cast

from lab.escape.sinks import METADATA, PUBLIC

_TABLE: dict[str, tuple[str, ...]] = {
    "public.test": (PUBLIC,),
    "forbidden.test": (PUBLIC,),
    "inner.test": ("127.0.0.1",),
    "metadata.test": (METADATA,),
    "mixed.test": (PUBLIC, "127.0.0.1"),
    "mapped.test": ("::ffff:127.0.0.1",),
}
REBINDING = "rebind.test"
_A, _AAAA = 1, 28


class Server(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self._transport: asyncio.DatagramTransport | None = None
        self.clear()

    async def start(self, stack: AsyncExitStack) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", 53))
        stack.callback(transport.close)

    def clear(self) -> None:
        self.heard = b""
        self._turns = itertools.count()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.heard += data
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode())
            at += 1 + data[at]
        (kind,) = struct.unpack_from(">H", data, at + 1)
        answers = [_record(kind, address) for address in self._addresses(".".join(labels).lower(), kind) if _fits(kind, address)]
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, len(answers), 0, 0)
        assert self._transport is not None
        self._transport.sendto(head + data[12 : at + 5] + b"".join(answers), addr)

    def _addresses(self, name: str, kind: int) -> tuple[str, ...]:
        if name == REBINDING and kind == _A:
            return (PUBLIC,) if next(self._turns) == 0 else ("127.0.0.1",)
        return _TABLE.get(name, ())


def _fits(kind: int, address: str) -> bool:
    return kind == (_AAAA if ":" in address else _A)


def _record(kind: int, address: str) -> bytes:
    packed = socket.inet_pton(socket.AF_INET6 if kind == _AAAA else socket.AF_INET, address)
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(packed)) + packed
