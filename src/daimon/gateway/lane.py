"""The short way in: a whole small `POST /v1/events` or `POST /hooks/NAME` in one piece is answered without an ASGI application in between.

A connection begins here. As long as each of its requests is of that one plain form, it stays; at the first that is not (another
route, a body that comes in parts, chunked, `Expect`, anything odd in the head) the whole connection is handed to uvicorn with the
bytes that were read, and never comes back. So nothing is understood in two ways: what this file does not recognise at once, it does
not touch. What is taken in and what is refused are the same functions that the long way uses (`Api.take`, `Api.post`); who does not come
with all that the owner's own programs bring (`Door.refusal`) goes the long way too, and hears there why not.

Requests of one connection are answered one after the other; what arrives meanwhile waits.

Every connection of a server begins here, so here they are counted, whatever becomes of them later. One more than there is room for is told
so and closed at once: what is open already goes on, and no caller takes the files that the journal needs. The socket in the home has a
server of its own, so the owner's programs come in however crowded the network is.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from daimon.gateway.answers import explained
from daimon.gateway.hooks.receive import Reply
from daimon.gateway.hooks.signature import Heads
from daimon.gateway.patient import PatientProtocol
from daimon.gateway.taking import KEY

Take = Callable[[bytes, str | None], Awaitable[tuple[int, bytes]]]
Post = Callable[[str, Heads, bytes], Awaitable[Reply]]
Refusal = Callable[[Heads, str], tuple[int, bytes] | None]
_HEAD = re.compile(rb"POST (/v1/events|/hooks/[a-z0-9][a-z0-9._-]{0,49}) HTTP/1\.1\r\n((?:[A-Za-z0-9-]++:[^\x00-\x1f\x7f]*+\r\n)++)\r\n")
"""Nothing in it can be read in two ways, so it is never gone over twice: whoever sends the most gets one pass."""
_FIELD = re.compile(r"([^:]++):([^\r]*+)\r\n")
"""In what has the form of a head."""
_HOOKS = "/hooks/"
_UNUSUAL = frozenset({"transfer-encoding", "expect", "upgrade", "connection"})
_KEY = KEY.lower()
_LARGEST = 64 * 1024
MOST_CONNECTIONS = 512
"""Of one server, those of WebSockets among them. A browser with eight tabs has fewer than sixty."""
_FULL_BODY = explained("too_many", "there are too many connections; close some, or come again in a moment")
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_FULL_BODY), _FULL_BODY)
)
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
        if len(self._state.connections) >= MOST_CONNECTIONS:
            self._transport.write(_FULL)
            self._transport.close()
            return
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
        if plain is None or self._ways.refusal(plain.headers, plain.path) is not None:
            self._hand_over(data)  # whoever is not known at once, a browser or somebody with a wrong token, is looked at in full there
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
        return Reply(*await self._ways.take(asked.body, asked.headers.get(_KEY)))

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
            self._transport.write(b"%bcontent-length: %d\r\n\r\n%b" % (_head(reply.status, reply.wait_s), len(reply.body), reply.body))

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


@lru_cache(256)
def _head(status: int, wait_s: int) -> bytes:
    """Of an answer, without its length."""
    wait = f"retry-after: {wait_s}\r\n" if wait_s else ""
    kind = "content-type: application/json\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n"
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{wait}{kind}".encode("ascii")


@dataclass(frozen=True, slots=True)
class _Plain:
    """One whole request."""

    path: str
    headers: Heads
    body: bytes


def _plain(data: bytes) -> _Plain | None:
    """A request of the plain form; None for anything else, and for one that says the same thing twice."""
    if len(data) > _LARGEST or (head := _HEAD.match(data)) is None:
        return None
    fields = _FIELD.findall(head[2].decode("latin-1"))
    headers = {name.lower(): value.strip(" ") for name, value in fields}
    length = headers.get("content-length", "")
    if len(headers) < len(fields) or not _UNUSUAL.isdisjoint(headers) or not length.isdecimal() or len(length) > _MOST_DIGITS:
        return None
    body = data[head.end() :]
    return _Plain(head[1].decode("ascii"), headers, body) if int(length) == len(body) else None
