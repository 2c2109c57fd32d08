"""GitHub on a loopback port, with TLS where a context is given: issues, labels, assignees, comments, tokens, limits, faults on command.

    async with GitHubServer(Repository("acme", "widgets"), context=certificates.serving("api.github.test")) as github:
        github.repository.open("It crashes")
        github.fail("cut after")           # the next change is made, and nobody hears of it

What was changed is in `repository.changes`; every request in `calls`. `delivery` makes the webhook that GitHub would post, signed.
"""

import asyncio
import hashlib
import hmac
import json
import ssl
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self
from uuid import uuid4

from pydantic import JsonValue

from daimon.testing.github.methods import Methods, Refusal, Token
from daimon.testing.github.repository import Issue, Repository
from daimon.testing.provider.wire import Answer, Asked, BadHttp, Connection, Hang, Reply, Reset

HOST = "127.0.0.1"
TOKEN = "github_pat_11LOOPBACK_of_the_test_repository"
What = Literal["500", "cut", "cut after", "silent", "silent after"]
"""With `after`: the change was made first. `cut`: the connection ends without an answer; `silent`: it stays, without one."""


class GitHubServer:
    def __init__(self, repository: Repository, context: ssl.SSLContext | None = None, hourly: int = 5_000) -> None:
        self.repository = repository
        self.tokens = {TOKEN: Token("triage")}
        self.left = hourly
        self.calls: list[Asked] = []
        self._hourly = hourly
        self._context = context
        self._methods = Methods(repository, self.tokens)
        self._faults: list[What] = []
        self._tasks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._called = asyncio.Event()
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def fail(self, *faults: What) -> None:
        """Each meets one change."""
        self._faults += faults

    async def called(self, times: int) -> None:
        """Waits until so many requests came, and were answered or were not."""
        while len(self.calls) < times:
            await self._called.wait()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, 0, ssl=self._context)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(Connection(reader, writer)))
        self._tasks[task] = writer
        task.add_done_callback(lambda ended: self._tasks.pop(ended).transport.abort())

    async def _serve(self, connection: Connection) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, BadHttp):  # the client may leave at any moment
            while (asked := await connection.read()) and await connection.send(self._answer(asked)):
                pass
            connection.writer.close()
            await connection.writer.wait_closed()

    def _answer(self, asked: Asked) -> Answer:
        fault = self._faults.pop(0) if self._faults and asked.method != "GET" else None
        try:
            return self._tried(asked, fault)
        finally:
            self.calls.append(asked)
            self._called.set()
            self._called = asyncio.Event()

    def _tried(self, asked: Asked, fault: What | None) -> Answer:
        if fault and not fault.endswith(" after"):
            return _broken(fault)
        try:
            if self.left <= 0:
                raise Refusal(403, "API rate limit exceeded for user ID 1.")
            self.left -= 1
            status, body = self._methods.call(asked)
        except Refusal as refusal:
            status, body = refusal.status, refusal.wire
        return _broken(fault) if fault else self._json(status, body)

    def _json(self, status: int, body: JsonValue) -> Reply:
        data = json.dumps(body).encode()
        limits = {"x-ratelimit-limit": str(self._hourly), "x-ratelimit-remaining": str(self.left)}
        wait = {"retry-after": "60"} if status == 403 and self.left <= 0 else {}
        return Reply(status, {"content-type": "application/json; charset=utf-8", **limits, **wait}, (data,), len(data))


def _broken(fault: What) -> Answer:
    match fault.removesuffix(" after"):
        case "500":
            return Reply(500, {"content-type": "application/json"}, (b"{}",), 2)
        case "cut":
            return Reset()
        case _:
            return Hang()


def delivery(repository: Repository, issue: Issue, secret: str, action: str = "opened") -> tuple[bytes, dict[str, str]]:
    """Body and headers of the webhook."""
    home: dict[str, JsonValue] = {"full_name": f"{repository.owner}/{repository.name}", "private": False}
    body = json.dumps(
        {"action": action, "issue": issue.wire(repository.path), "repository": home, "sender": {"login": "somebody"}}
    ).encode()
    signed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return body, {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-event": "issues",
        "x-github-delivery": str(uuid4()),
        "x-hub-signature-256": f"sha256={signed}",
    }
