"""The door: who calls is found out before anything else is done.

The Unix socket lies in the home directory, which only its owner can enter: whoever reaches it is the owner (`access/inner.py`). Everything
else comes through `FrontDoor` (`access/front.py`): programs with the token of the home, browsers and phones with a session.

`Guarded` stands before the whole application. It leaves the `Caller` and where they come from in the scope, or answers with the refusal;
it puts the headers that every answer has on it (`room/headers.py`); and it ends the streams of a device that is over. A device has only so
many streams at once, so that one that is broken or not the owner's any more takes no room from the others. A page cannot read why a
WebSocket was not opened, so one too many is opened and closed with the reason. Who was let in is
looked at again with every piece that they send or are sent: a request that was begun before its device was over, and kept waiting for its
last byte, is not done, and a file that is being fetched ends. Who is not in has some seconds to send what they want to say. A door that
only has to know the owner's programs answers `refusal` at once: that is what the short way (`lane.py`) asks, and whatever is refused there
is looked at here again, in full.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from daimon.abi.access import NOBODY, Caller
from daimon.abi.errors import TooMany
from daimon.gateway.access.places import Place
from daimon.gateway.answers import explained
from daimon.gateway.entry import CALLER
from daimon.gateway.room.headers import ALWAYS, NEVER_KEPT, PART

Headers = Mapping[str, str]
"""By name in small letters."""
SOURCE = "daimon.source"
"""Where the door leaves the `Source` in the ASGI scope."""
STRANGERS_S = 15.0
"""So long somebody who is not in may take for the body of a request; hooks have their own time, which is shorter."""
STREAMS = frozenset({"/v1/feed", "/mcp"})
"""What is told here may go on for long, and ends at once when its device is over."""
MOST_STREAMS = 64
"""Of one device at once: one for each tab, or for each call of a program that goes on. The owner's own programs are not counted."""
OVER = 4401
"""Why a WebSocket is closed: the device is over or has other rights. Whoever comes again is looked at anew."""
CROWDED = 4429
"""Why a WebSocket is closed: its device has `MOST_STREAMS` already."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a request comes from."""

    address: str
    is_local: bool
    """From this machine, as far as can be known."""
    place: Place | None = None
    """The name under which it came; None: through the socket in the home."""


@dataclass(frozen=True, slots=True)
class Admitted:
    caller: Caller
    source: Source


@dataclass(frozen=True, slots=True)
class Refused:
    status: int
    code: str
    message: str
    retry_s: float = 0.0
    by: str = ""
    """The address that had a wrong token; empty: nothing was tried."""
    wait_s: float = 0.0
    """The answer comes so much later."""
    asks: str = ""
    """Which way to prove oneself would do, as `WWW-Authenticate` says it."""

    def response(self) -> Response:
        headers = {"retry-after": str(round(self.retry_s) or 1)} if self.retry_s else {}
        if self.asks:
            headers["www-authenticate"] = self.asks
        return Response(explained(self.code, self.message), self.status, headers, "application/json")


class Door(Protocol):
    def refusal(self, headers: Headers, path: str) -> tuple[int, bytes] | None:
        """For a program that sends a whole small request: None if it may come in at once."""
        ...

    def admit(self, scope: Scope) -> Admitted | Refused: ...

    async def note(self, found: "Admitted | Refused") -> None:
        """Writes down what is to be known of it later."""
        ...

    def is_still(self, caller: Caller) -> bool:
        """Is this caller in, with the rights that they came with?"""
        ...

    async def until_over(self, caller: Caller) -> None:
        """Returns when what this caller is being shown must end."""
        ...


class _Over(Exception):
    """In the middle of an answer."""


class Guarded:
    """An application behind a door."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door
        self._streams: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        dressed = _dressed(scope["path"], send)
        found = self._door.admit(scope)
        await self._door.note(found)
        if isinstance(found, Refused):
            await asyncio.sleep(found.wait_s)
            await _refuse(found, scope, receive, dressed)
            return
        scope[CALLER], scope[SOURCE] = found.caller, found.source
        if not (scope["type"] == "websocket" or scope["path"] in STREAMS):
            await self._request(scope, receive, dressed)
        elif found.caller.by is not None and self._streams[found.caller.id] >= MOST_STREAMS:
            await _send_away(scope, receive, dressed)
        else:
            await self._stream(scope, receive, dressed)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller = scope[CALLER]
        until_s = asyncio.get_running_loop().time() + STRANGERS_S if caller is NOBODY else None

        async def heard() -> Message:
            """Whoever is over by now, or is no one and slow, has gone as far as the application knows."""
            try:
                async with asyncio.timeout_at(until_s):
                    message = await receive()
            except TimeoutError:
                return {"type": "http.disconnect"}
            return message if self._door.is_still(caller) else {"type": "http.disconnect"}

        async def told(message: Message) -> None:
            if message.get("more_body") and not self._door.is_still(caller):
                raise _Over
            await send(message)

        with suppress(_Over):
            await self._app(scope, heard, told)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        served = asyncio.ensure_future(self._app(scope, receive, send))
        over = asyncio.ensure_future(self._door.until_over(scope[CALLER]))
        self._streams[scope[CALLER].id] += 1
        try:
            await asyncio.wait((served, over), return_when=asyncio.FIRST_COMPLETED)
            if not served.done() and scope["type"] == "websocket":
                await WebSocket(scope, receive, send).close(OVER)
        finally:
            over.cancel()
            served.cancel()
            results = await asyncio.gather(served, over, return_exceptions=True)
            self._streams.subtract((scope[CALLER].id,))
            self._streams += Counter()  # without those of whom nothing is open
        if isinstance(failure := results[0], Exception):
            raise failure


async def _send_away(scope: Scope, receive: Receive, send: Send) -> None:
    what = f"this device has {MOST_STREAMS} streams open already; close some of its tabs, or let some of its calls end"
    if scope["type"] != "websocket":
        await Refused(429, TooMany.code, what, retry_s=5.0).response()(scope, receive, send)
        return
    socket = WebSocket(scope, receive, send)
    with suppress(WebSocketDisconnect):
        await socket.accept()
        await socket.close(CROWDED, what)


async def _refuse(refused: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(refused.response())
    else:
        await refused.response()(scope, receive, send)


def _dressed(path: str, send: Send) -> Send:
    """Puts on what every answer wears. What the answer says by itself stays."""
    worn = PART if path.startswith("/room/") else ALWAYS if not path.startswith(("/v1", "/mcp")) else {**ALWAYS, **NEVER_KEPT}

    async def dress(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            _put(message, worn)
        await send(message)

    return dress


def _put(message: MutableMapping[str, Any], more: dict[str, str]) -> None:
    headers = MutableHeaders(raw=list(message.get("headers", ())))
    for name, value in more.items():
        headers.setdefault(name, value)
    message["headers"] = headers.raw
