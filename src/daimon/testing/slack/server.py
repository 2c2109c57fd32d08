"""Slack on loopback ports: the Web API by its documentation, a socket that tells events, people that tests move, faults on command.

    async with SlackServer() as slack:
        channel = SlackChannel(Workspace(slack.url), Tokens(lambda: slack.bot_token, lambda: slack.app_token), clock, store)
        slack.workspace.says(ANNA, CHAT, "hello")
        slack.fail(Fault("cut after", "chat.postMessage"))

An envelope is told to whoever is connected, until it is acknowledged; one that nobody acknowledged comes again at the next connection,
and is forgotten after some tries, as Slack forgets it. What the bot said is in `workspace.seen(CHANNEL)`, in order.
"""

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from pydantic import JsonValue
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from daimon.testing.provider.wire import Answer, Asked, BadHttp, Connection, Hang, Reply, Reset
from daimon.testing.slack.methods import Methods, Refusal
from daimon.testing.slack.workspace import FIRST, Event, Workspace
from daimon.testing.telegram.arguments import Arguments, read
from daimon.testing.telegram.faults import Fault, Faults

HOST = "127.0.0.1"
MOST_TRIES = 4


class SlackServer:
    def __init__(self, port: int = 0, first: int = FIRST) -> None:
        self._port = port
        self.bot_token, self.app_token = "xoxb-of-the-test", "xapp-of-the-test"
        self.workspace = Workspace(self._tell, first)
        self.calls: list[tuple[str, Arguments]] = []
        self._faults = Faults()
        self._is_revoked = False
        self._called = asyncio.Event()
        self._waiting: dict[str, tuple[Event, int]] = {}
        """Envelopes that nobody acknowledged, and how often they were told."""
        self._last: Event | None = None
        self._numbers = iter(range(1, 1_000_000))
        self._sockets: set[ServerConnection] = set()
        self._tasks: dict[asyncio.Task[None], asyncio.StreamWriter | None] = {}
        self._server: asyncio.Server | None = None
        self._socket_server: Server | None = None
        self._methods: Methods | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}/api"

    @property
    def file_url(self) -> str:
        return f"http://{HOST}:{self._port}/files"

    def fail(self, *faults: Fault) -> None:
        for fault in faults:
            self._faults.add(fault)

    def revoke(self) -> None:
        """The tokens count no more; whoever is connected is cut off."""
        self._is_revoked = True
        self.cut()

    def cut(self) -> None:
        """Sockets break."""
        for socket in tuple(self._sockets):
            socket.transport.abort()

    def renew(self) -> None:
        """Slack asks for another connection, as it does every few hours."""
        for socket in tuple(self._sockets):
            self._start(_say(socket, {"type": "disconnect", "reason": "refresh_requested"}), None)

    def forget(self) -> None:
        """What was not acknowledged is not told again: the app was away for too long."""
        self._waiting.clear()

    def again(self) -> None:
        """The last envelope comes once more."""
        assert self._last is not None
        self._send({**self._last, "envelope_id": f"again-{next(self._numbers)}"})

    async def called(self, method: str) -> None:
        """Waits until it was, and the answer is decided."""
        while all(name != method for name, _ in self.calls):
            await self._called.wait()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, self._port, limit=64 * 1024)
        self._port = self._server.sockets[0].getsockname()[1]
        self._socket_server = await serve(self._connected, HOST, 0)
        number = next(iter(self._socket_server.sockets)).getsockname()[1]
        self._methods = Methods(self.workspace, f"http://{HOST}:{self._port}", f"ws://{HOST}:{number}")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        assert self._socket_server is not None
        self._server.close()
        self._socket_server.close()
        self.cut()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- events

    def _tell(self, kind: str, event: Event) -> None:
        payload: JsonValue = event if kind == "interactive" else {"type": "event_callback", "event": event}
        self._last = {"type": kind, "envelope_id": f"env-{next(self._numbers)}", "payload": payload}
        self._send(self._last)

    def _send(self, envelope: Event) -> None:
        self._waiting[str(envelope["envelope_id"])] = envelope, 0
        for socket in tuple(self._sockets)[:1]:
            self._start(self._deliver(socket, envelope), None)

    async def _deliver(self, socket: ServerConnection, envelope: Event) -> None:
        id_ = str(envelope["envelope_id"])
        _, tries = self._waiting.get(id_, (envelope, MOST_TRIES))
        if tries >= MOST_TRIES:
            self._waiting.pop(id_, None)
            return
        self._waiting[id_] = envelope, tries + 1
        await _say(socket, {**envelope, "retry_attempt": tries})

    async def _connected(self, socket: ServerConnection) -> None:
        if self._is_revoked:
            return
        self._sockets.add(socket)
        try:
            await _say(socket, {"type": "hello", "num_connections": len(self._sockets)})
            for envelope, _ in tuple(self._waiting.values()):
                await self._deliver(socket, envelope)
            async for frame in socket:
                self._waiting.pop(str(json.loads(frame)["envelope_id"]), None)
        except ConnectionClosed:
            pass
        finally:
            self._sockets.discard(socket)

    # -- the Web API

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._start(self._serve(Connection(reader, writer)), writer)

    def _start(self, work: Coroutine[object, object, None], writer: asyncio.StreamWriter | None) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = writer
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if writer := self._tasks.pop(task):
            writer.transport.abort()

    async def _serve(self, connection: Connection) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, BadHttp):  # the client may leave at any moment
            while (asked := await connection.read()) and await connection.send(self._answer(asked)):
                pass

    def _answer(self, asked: Asked) -> Answer:
        assert self._methods is not None
        _, first, name = asked.path.split("/", 2)
        if first == "upload":
            return _json(200 if self._methods.upload(name, asked.body) else 404, {})
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if first == "files":
            data = self.workspace.files.get(name)
            if data is None or token != self.bot_token or self._is_revoked:
                return Reply(200, {"content-type": "text/html"}, (b"<html>log in</html>",), 19)
            return Reply(200, {"content-type": "application/octet-stream"}, (data,), len(data))
        wanted = self.app_token if name == "apps.connections.open" else self.bot_token
        if self._is_revoked or token != wanted:
            return _json(200, {"ok": False, "error": "token_revoked" if self._is_revoked else "invalid_auth"})
        return self._call(name, read(asked))

    def _ring(self) -> None:
        self._called.set()
        self._called = asyncio.Event()

    def _call(self, method: str, args: Arguments) -> Answer:
        assert self._methods is not None
        self.calls.append((method, args))
        fault = self._faults.take(method)
        asyncio.get_running_loop().call_soon(self._ring)
        if fault and not fault.what.endswith(" after"):
            return _broken(fault)
        try:
            answer = self._methods.call(method, args)
        except Refusal as refusal:
            return _json(200, {"ok": False, "error": str(refusal)})
        said = _json(200, {"ok": True, **answer})
        if fault and fault.what == "slow after":
            return replace(said, wait_s=fault.wait_s)
        return _broken(fault) if fault else said


def _broken(fault: Fault) -> Answer:
    match fault.what.removesuffix(" after"):
        case "429":
            return _json(429, {"ok": False, "error": "ratelimited"}, {"retry-after": str(fault.retry_after)})
        case "500":
            return _json(500, {"ok": False, "error": "internal_error"})
        case "cut":
            return Reset()
        case "silent":
            return Hang()
        case _:
            return Reply(200, {"content-type": "text/html"}, (b"<html></html>",), 13)


def _json(status: int, body: JsonValue, headers: dict[str, str] | None = None) -> Reply:
    data = json.dumps(body).encode()
    return Reply(status, {"content-type": "application/json", **(headers or {})}, (data,), len(data))


async def _say(socket: ServerConnection, frame: Event) -> None:
    with suppress(ConnectionClosed):
        await socket.send(json.dumps(frame))
