"""The short way in: a whole small `POST /v1/events` or `POST /hooks/NAME` in one piece is answered without an ASGI application in between.

A connection begins here. As long as each of its requests is of that one plain form, it stays; at the first that is not (another
route, a body that comes in parts, chunked, `Expect`, anything odd in the head) the whole connection is handed to uvicorn with the
bytes that were read, and never comes back. So nothing is understood in two ways: what this file does not recognise at once, it does
not touch. What is taken in, what is refused and who may call are the same functions that the long way uses (`Api.take`, `Api.post`,
`Door.refusal`).

Requests of one connection are answered one after the other; what arrives meanwhile waits.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from daimon.gateway.api import key_in
from daimon.gateway.hooks.receive import Reply
from daimon.gateway.patient import PatientProtocol

Header = tuple[bytes, bytes]
Take = Callable[[bytes, str | None], Awaitable[tuple[int, bytes]]]
Post = Callable[[str, list[Header], bytes], Awaitable[Reply]]
Refusal = Callable[[Iterable[Header], str], tuple[int, bytes] | None]
_START = re.compile(rb"POST (/v1/events|/hooks/[a-z0-9][a-z0-9._-]{0,49}) HTTP/1\.1\r\n")
_HOOKS = "/hooks/"
_END = b"\r\n\r\n"
_UNUSUAL = frozenset({b"transfer-encoding", b"expect", b"upgrade", b"connection"})
_LARGEST = 64 * 1024
_IDLE_S = 30.0
_MOST_DIGITS = 6


def lane(take: Take, post: Post, refusal: Refusal) -> Callable[..., asyncio.Protocol]:
    """What uvicorn calls for each new connection."""

    def connect(
        config: Config, server_state: ServerState, app_state: dict[str, Any], _loop: asyncio.AbstractEventLoop | None = None
    ) -> _Lane:
        return _Lane(Ways(take, post, refusal), server_state, lambda: PatientProtocol(config, server_state, app_state, _loop))

    return connect


@dataclass(frozen=True, slots=True)
class Ways:
    """What the long way uses too."""

    take: Take
    post: Post
    refusal: Refusal


class _Lane(asyncio.Protocol):
    def __init__(self, ways: Ways, state: ServerState, long_way: Callable[[], PatientProtocol]) -> None:
        self._ways = ways
        self._state = state
        self._long_way = long_way
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiting = b""
        self._is_closing = False
        self._is_choked = False
        self._is_idle = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._state.connections.add(self)  # type: ignore[arg-type]  # uvicorn only asks it to `shutdown`
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_timer()
        self._state.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self._is_idle = False
        if self._task is not None:
            self._waiting += data
            if len(self._waiting) > _LARGEST and self._transport is not None:
                self._transport.pause_reading()  # whoever sends faster than the disk writes is made to wait
            return
        plain = _plain(data)
        if plain is None:
            self._hand_over(data)
            return
        if (refused := self._ways.refusal(plain.headers, plain.path)) is not None:
            self._write(Reply(*refused))
            return
        self._task = asyncio.get_running_loop().create_task(self._answer(plain))
        self._state.tasks.add(self._task)

    def pause_writing(self) -> None:
        """The caller does not read: nothing more is read from it either."""
        self._is_choked = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._is_choked = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def shutdown(self) -> None:
        """uvicorn wants to end: at once if nothing is under way, else after the answer."""
        self._is_closing = True
        if self._task is None and self._transport is not None:
            self._transport.close()

    async def _answer(self, asked: "_Plain") -> None:
        try:
            self._write(await self._reply(asked))
        except Exception:  # noqa: BLE001 - a bug of ours: the caller hears of it, and tries again with the same key
            self._write(Reply(500, b'{"error":{"code":"bug","message":"an error in Daimon itself"}}'))
            self._is_closing = True
        finally:
            if self._task is not None:
                self._state.tasks.discard(self._task)
            self._task = None
        if self._is_closing and self._transport is not None:
            self._transport.close()
        elif self._waiting:
            waiting, self._waiting = self._waiting, b""
            if self._transport is not None and not self._transport.is_closing():
                if not self._is_choked:
                    self._transport.resume_reading()
                self.data_received(waiting)

    async def _reply(self, asked: "_Plain") -> Reply:
        if asked.path.startswith(_HOOKS):
            return await self._ways.post(asked.path[len(_HOOKS) :], asked.headers, asked.body)
        return Reply(*await self._ways.take(asked.body, key_in(asked.headers)))

    def _look_again(self) -> None:
        """Closes a connection on which nothing came since the last look."""
        if self._is_idle and self._task is None and self._transport is not None:
            self._transport.close()
            return
        self._is_idle = True
        self._timer = asyncio.get_running_loop().call_later(_IDLE_S, self._look_again)

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self, reply: Reply) -> None:
        if self._transport is not None and not self._transport.is_closing():
            wait = f"retry-after: {reply.wait_s}\r\n" if reply.wait_s else ""
            head = (
                f"HTTP/1.1 {reply.status} {HTTPStatus(reply.status).phrase}\r\n{wait}content-type: application/json\r\n"
                f"content-length: {len(reply.body)}\r\n\r\n"
            )
            self._transport.write(head.encode("ascii") + reply.body)

    def _hand_over(self, data: bytes) -> None:
        assert self._transport is not None
        self._state.connections.discard(self)
        self._forget_timer()
        protocol = self._long_way()
        protocol.connection_made(self._transport)
        self._transport.set_protocol(protocol)
        if self._is_choked:
            protocol.pause_writing()
        protocol.data_received(data)


@dataclass(frozen=True, slots=True)
class _Plain:
    """One whole request."""

    path: str
    headers: list[Header]
    body: bytes


def _plain(data: bytes) -> _Plain | None:
    """A request of the plain form; None for anything else."""
    if (start := _START.match(data)) is None or len(data) > _LARGEST:
        return None
    end = data.find(_END)
    if end < 0:
        return None
    headers: list[Header] = []
    length = -1
    for line in data[start.end() : end].split(b"\r\n"):
        name, colon, value = line.partition(b":")
        name = name.lower()
        if not colon or not name.replace(b"-", b"").isalnum() or name in _UNUSUAL or b"\n" in line or b"\r" in line:
            return None
        value = value.strip(b" \t")
        if any(c < 32 or c == 127 for c in value):
            return None
        if name == b"content-length":
            if length >= 0 or not value.isdigit() or len(value) > _MOST_DIGITS:
                return None
            length = int(value)
        headers.append((name, value))
    body = data[end + len(_END) :]
    return _Plain(start[1].decode("ascii"), headers, body) if length == len(body) else None
