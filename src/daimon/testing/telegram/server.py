"""Telegram on a loopback port: the Bot API by its documentation, people that tests move, faults on command.

    async with TelegramServer() as telegram:
        channel = TelegramChannel(Bot(api=telegram.url), lambda: telegram.token, clock, store)
        telegram.chats.says(ANNA, "hello")
        telegram.fail(Fault("cut after", "sendMessage"))

What the bot said is in `chats.seen(CHAT)`, as people see it and in order; every call is in `calls`. Closing it cuts all connections.
"""

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from daimon.testing.provider.wire import Answer, Asked, BadHttp, Connection, Hang, Reply, Reset
from daimon.testing.telegram.arguments import Arguments, read
from daimon.testing.telegram.chats import Chats
from daimon.testing.telegram.delivery import Delivery
from daimon.testing.telegram.faults import Fault, Faults
from daimon.testing.telegram.methods import Methods, Refusal
from daimon.testing.telegram.queue import Queue

HOST = "127.0.0.1"
TOKEN = "4242:AAH-loopback_token_of_the_test_bot"


class TelegramServer:
    def __init__(self, port: int = 0) -> None:
        self._port = port
        self.token = TOKEN
        self.queue = Queue()
        self.chats = Chats(self.queue)
        self.delivery = Delivery(self.queue, lambda: not self._is_revoked)
        self.calls: list[tuple[str, Arguments]] = []
        self.failures: list[BaseException] = []
        self._methods = Methods(self.chats)
        self._faults = Faults()
        self._is_revoked = False
        self._tasks: dict[asyncio.Task[None], asyncio.StreamWriter | None] = {}
        self._called = asyncio.Event()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}"

    def fail(self, *faults: Fault) -> None:
        for fault in faults:
            self._faults.add(fault)

    def revoke(self) -> None:
        """The token counts no more, also for those who are waiting."""
        self._is_revoked = True
        self.delivery.interrupt()

    def restore(self) -> None:
        self._is_revoked = False

    async def called(self, method: str, times: int = 1) -> None:
        """Waits until it was."""
        while sum(name == method for name, _ in self.calls) < times:
            await self._called.wait()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, self._port, limit=64 * 1024)
        self._port = self._server.sockets[0].getsockname()[1]
        self._start(self.delivery.post(), None)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.failures and error is None:
            raise self.failures[0]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._start(self._serve(Connection(reader, writer)), writer)

    def _start(self, work: Coroutine[object, object, None], writer: asyncio.StreamWriter | None) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = writer
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if writer := self._tasks.pop(task):
            writer.transport.abort()
        if not task.cancelled() and (failure := task.exception()):
            self.failures.append(failure)

    async def _serve(self, connection: Connection) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, BadHttp):  # the client may leave at any moment
            while (asked := await connection.read()) and await connection.send(await self._answer(asked)):
                pass
            connection.writer.close()
            await connection.writer.wait_closed()

    async def _answer(self, asked: Asked) -> Answer:
        _, first, *rest = asked.path.split("/")
        if first == "file":
            return self._file(rest)
        if self._is_revoked or first != f"bot{self.token}" or len(rest) != 1:
            is_known = first.startswith("bot") and ":" in first
            return _refused(Refusal(401, "Unauthorized") if is_known else Refusal(404, "Not Found"))
        return await self._call(rest[0], read(asked))

    async def _call(self, method: str, args: Arguments) -> Answer:
        self.calls.append((method, args))
        self._called.set()
        self._called = asyncio.Event()
        fault = self._faults.take(method)
        if fault and not fault.what.endswith(" after"):
            return _broken(fault)
        try:
            result = await self._do(method, args)
        except Refusal as refusal:
            return _refused(refusal)
        answer = _json(200, {"ok": True, "result": result})
        if fault and fault.what == "slow after":
            return replace(answer, wait_s=fault.wait_s)
        return _broken(fault) if fault else answer

    async def _do(self, method: str, args: Arguments) -> JsonValue:
        match method:
            case "getUpdates":
                return await self.delivery.get(args)
            case "setWebhook":
                return self.delivery.set(args)
            case "deleteWebhook":
                return self.delivery.delete(args)
            case "getWebhookInfo":
                return {"url": self.delivery.webhook, "has_custom_certificate": False, "pending_update_count": len(self.queue)}
            case _:
                return self._methods.call(method, args)

    def _file(self, rest: list[str]) -> Answer:
        fault = self._faults.take("file")
        if fault:
            return _broken(fault)
        data = self.chats.files.get(rest[-1])
        if self._is_revoked or rest[0] != f"bot{self.token}" or data is None:
            return _refused(Refusal(404, "Not Found"))
        return Reply(200, {"content-type": "application/octet-stream"}, (data,), len(data))


def _broken(fault: Fault) -> Answer:
    match fault.what.removesuffix(" after"):
        case "429":
            hint: dict[str, JsonValue] = {"retry_after": fault.retry_after}
            return _refused(Refusal(429, f"Too Many Requests: retry after {fault.retry_after}", hint))
        case "500":
            return _refused(Refusal(500, "Internal Server Error"))
        case "cut":
            return Reset()
        case "silent":
            return Hang()
        case _:
            page = b"<html>Bad Gateway</html>"
            return Reply(200, {"content-type": "text/html"}, (page,), len(page))


def _refused(refusal: Refusal) -> Reply:
    body: dict[str, JsonValue] = {"ok": False, "error_code": refusal.status, "description": refusal.why}
    return _json(refusal.status, body | ({"parameters": dict(refusal.parameters)} if refusal.parameters else {}))


def _json(status: int, body: JsonValue) -> Reply:
    data = json.dumps(body).encode()
    return Reply(status, {"content-type": "application/json"}, (data,), len(data))
