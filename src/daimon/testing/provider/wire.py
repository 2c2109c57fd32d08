"""HTTP/1.1 by hand, since half of what this server must do is what no decent HTTP library lets one do.

Bytes come in as `Asked`, an `Answer` goes out. A connection carries one request after another until somebody closes it or an
answer ends in any other way than `whole`. It knows neither providers nor JSON. While an answer is held back for good it reads on,
so that a client that leaves is noticed.
"""

import asyncio
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal, assert_never
from urllib.parse import parse_qsl, unquote, urlsplit

MAX_BODY_BYTES = 64 * 1024 * 1024

Ending = Literal["whole", "closed", "cut", "held"]
"""`closed`: the end of the connection is the end of the body. `cut`: it closes before what it announced. `held`: silence."""


class BadHttp(Exception):
    """What came is no HTTP request that this server can read."""


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...]
    """Each is written on its own; without a length each is one HTTP chunk."""
    length: int | None = None
    ending: Ending = "whole"
    wait_s: float = 0
    pause_s: float = 0


@dataclass(frozen=True, slots=True)
class Hang:
    """Not one byte comes."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection ends with RST instead of an answer."""


Answer = Reply | Hang | Reset


@dataclass(frozen=True, slots=True)
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def read(self) -> Asked | None:
        """The next request, or None if the client has closed."""
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as error:
            raise BadHttp("the head of the request is longer than 64 KiB") from error
        request, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        try:
            method, target, _ = request.split(" ")
            headers = {name.strip().lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        except ValueError as error:
            raise BadHttp(f"{request!r} is no head of a request") from error
        url = urlsplit(target)
        return Asked(method, unquote(url.path), dict(parse_qsl(url.query)), headers, await self._body(headers))

    async def _body(self, headers: Mapping[str, str]) -> bytes:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return await self._chunks()
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            raise BadHttp(f"a body of {length!r} bytes; at most {MAX_BODY_BYTES} are read")
        return await self.reader.readexactly(int(length))

    async def _chunks(self) -> bytes:
        body = bytearray()
        while size := _size(await self.reader.readline()):
            if len(body) + size > MAX_BODY_BYTES:
                raise BadHttp(f"a body of more than {MAX_BODY_BYTES} bytes")
            body += await self.reader.readexactly(size)
            await self.reader.readline()
        while (await self.reader.readline()).strip():
            pass
        return bytes(body)

    async def send(self, answer: Answer) -> bool:
        """Whether the connection may carry another request."""
        match answer:
            case Reply():
                return await self._reply(answer)
            case Hang():
                await self._until_gone()
            case Reset():
                _reset(self.writer)
            case _:
                assert_never(answer)
        return False

    async def _reply(self, reply: Reply) -> bool:
        await asyncio.sleep(reply.wait_s)
        chunked = reply.length is None and reply.ending != "closed"
        self.writer.write(_head(reply, chunked))
        for piece in reply.pieces:
            self.writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            await self.writer.drain()
            await asyncio.sleep(reply.pause_s)
        if reply.ending == "held":
            await self._until_gone()
        if chunked and reply.ending == "whole":
            self.writer.write(b"0\r\n\r\n")
        return reply.ending == "whole"

    async def _until_gone(self) -> None:
        while await self.reader.read(65_536):
            pass


def _size(line: bytes) -> int:
    try:
        return int(line.split(b";")[0], 16)
    except ValueError as error:
        raise BadHttp(f"{line!r} is no size of a chunk") from error


def _reset(writer: asyncio.StreamWriter) -> None:
    """Closing with a linger time of zero makes the system send RST."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _head(reply: Reply, chunked: bool) -> bytes:
    headers = dict(reply.headers)
    if chunked:
        headers["transfer-encoding"] = "chunked"
    elif reply.ending == "closed":
        headers["connection"] = "close"
    else:
        headers["content-length"] = str(reply.length)
    lines = [f"HTTP/1.1 {reply.status} {_reason(reply.status)}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Site Overloaded"
