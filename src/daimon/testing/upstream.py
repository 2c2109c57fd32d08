"""A web server on loopback, plain or with TLS, that keeps every byte it got.

    async with Upstream() as server:           # or Upstream(certificates.serving("api.test"))
        server.port, server.got                # each request: method, target, headers, body, and `raw`, as it came

By path: `/echo` says what came, `/redirect?to=URL` sends elsewhere, `/chunked` speaks in chunks, `/size/N` has N bytes, `/hang` never
answers. `answers[path]` are bytes to answer with, exactly; a connection that gets them is closed. It reads on its own, simply and by the
book, so that it shares no misreading with whatever stands in front of it.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import unquote

_MOST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Got:
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    raw: bytes
    """Head and body as they came."""
    connection: int

    def header(self, name: str) -> str:
        """All of that name, joined; empty: none."""
        return ", ".join(value for key, value in self.headers if key.lower() == name.lower())


class Upstream:
    def __init__(self, context: ssl.SSLContext | None = None, answers: Mapping[str, bytes] | None = None) -> None:
        self._context = context
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.answers = dict(answers or {})
        self.got: list[Got] = []
        self.connections = 0
        self.bytes = bytearray()
        """All that came, of all connections, whether it was a request or not."""

    async def __aenter__(self) -> "Upstream":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._context, limit=_MOST)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(_Tap(reader, self.bytes), writer, self.connections))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: "_Tap", writer: asyncio.StreamWriter, connection: int) -> None:
        try:
            while (got := await _request(reader, writer, connection)) is not None:
                self.got.append(got)
                if not await self._answer(got, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass  # what broke off stays in `bytes`
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, got: Got, writer: asyncio.StreamWriter) -> bool:
        """False: the connection is over."""
        path, _, query = got.target.partition("?")
        if path in self.answers:
            writer.write(self.answers[path])
            await writer.drain()
            return False
        if path == "/hang":
            await asyncio.get_running_loop().create_future()
        writer.write(_answered(got, path, query))
        await writer.drain()
        return got.header("connection").lower() != "close"


class _Tap:
    """A reader that keeps what it read."""

    def __init__(self, reader: asyncio.StreamReader, kept: bytearray) -> None:
        self._reader = reader
        self._kept = kept
        self.last = bytearray()

    async def until(self, end: bytes) -> bytes:
        try:
            return self._keep(await self._reader.readuntil(end))
        except asyncio.IncompleteReadError as error:
            self._keep(error.partial)
            raise

    async def exactly(self, size: int) -> bytes:
        try:
            return self._keep(await self._reader.readexactly(size))
        except asyncio.IncompleteReadError as error:
            self._keep(error.partial)
            raise

    def _keep(self, data: bytes) -> bytes:
        self._kept += data
        self.last += data
        return data


async def _request(reader: _Tap, writer: asyncio.StreamWriter, connection: int) -> Got | None:
    reader.last.clear()
    try:
        head = await reader.until(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in lines))
    known = {name.lower(): value for name, value in headers}
    if known.get("expect"):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await _body(reader, known)
    return Got(method, target, headers, body, bytes(reader.last), connection)


async def _body(reader: _Tap, known: dict[str, str]) -> bytes:
    if known.get("transfer-encoding") != "chunked":
        return await reader.exactly(int(known.get("content-length", "0")))
    body = b""
    while size := int(await reader.until(b"\r\n"), 16):
        body += (await reader.exactly(size + 2))[:-2]
    await reader.until(b"\r\n")
    return body


def _answered(got: Got, path: str, query: str) -> bytes:
    if path == "/redirect":
        return _whole("302 Found", b"", got.method, ("Location", unquote(query.removeprefix("to="))))
    if path == "/chunked":
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
    if path == "/empty":
        return b"HTTP/1.1 204 No Content\r\n\r\n"
    if path == "/unchanged":
        return b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'
    if path.startswith("/size/"):
        return _whole("200 OK", b"x" * int(path.removeprefix("/size/")), got.method)
    return _whole("200 OK", got.raw, got.method)


def _whole(status: str, body: bytes, method: str, *headers: tuple[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in (*headers, ("Content-Length", str(len(body)))))
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + (b"" if method == "HEAD" else body)
