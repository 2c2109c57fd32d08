"""A whole Daimon on real sockets, in a thread of its own, and somebody who calls it."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from daimon import boot, config
from daimon.gateway import unix
from daimon.machine.home import Home

DEADLINE_S = 60.0
MOST_BYTES = 1024 * 1024
RESTING = ("done", "failed", "parked")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of an error."""
        error = self.json["error"]
        assert set(error) == {"code", "message"}
        assert error["message"]
        return str(error["code"])


@dataclass(frozen=True, slots=True)
class Live:
    home: Home
    url: str
    token: str

    def connect(self) -> http.client.HTTPConnection:
        where = urlsplit(self.url)
        assert where.hostname is not None
        return http.client.HTTPConnection(where.hostname, where.port, timeout=DEADLINE_S)

    @property
    def authority(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def call(self, method: str, path: str, body: bytes | dict[str, Any] | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.call_as(method, path, body, {**self.authority, **named})

    def call_as(self, method: str, path: str, body: bytes | dict[str, Any] | None, headers: dict[str, str]) -> Answer:
        connection = self.connect()
        try:
            connection.request(method, path, json.dumps(body).encode() if isinstance(body, dict) else body, headers)
            return read(connection)
        finally:
            connection.close()

    def call_socket(self, method: str, path: str) -> Answer:
        """Through the Unix socket in the home."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = unix.connect(self.home.socket, DEADLINE_S)
        try:
            connection.request(method, path)
            return read(connection)
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def say(self, text: str, conversation: str) -> Any:
        answer = self.call("POST", "/v1/events", {"type": "message", "text": text, "conversation": conversation})
        assert answer.status == 202, answer.body
        return answer.json

    @contextmanager
    def feed(self, conversation: str) -> Iterator["Feed"]:
        connection = self.connect()
        try:
            connection.request("GET", f"/v1/feed?conversation={conversation}", headers=self.authority)
            feed = Feed(connection.getresponse())
            assert feed.answer.readline() == b"\n"
            yield feed
        finally:
            connection.close()

    def ask(self, text: str, conversation: str) -> Any:
        """Says it and waits until its turn rests; the turn."""
        with self.feed(conversation) as feed:
            self.say(text, conversation)
            return self.get(f"/v1/turns/{feed.until_rest()[-1]['turn']}")["turn"]


@dataclass(frozen=True, slots=True)
class Feed:
    answer: http.client.HTTPResponse

    def next(self) -> Any:
        line = self.answer.readline()
        assert line.endswith(b"\n"), line
        return json.loads(line)

    def until(self, kind: str) -> list[Any]:
        """Everything up to the first update of this kind."""
        seen = [self.next()]
        while seen[-1]["kind"] != kind:
            seen.append(self.next())
        return seen

    def until_rest(self) -> list[Any]:
        seen = self.until("turn")
        while seen[-1]["state"] not in RESTING:
            seen += self.until("turn")
        return seen


def read(connection: http.client.HTTPConnection) -> Answer:
    answer = connection.getresponse()
    return Answer(answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()})


@contextmanager
def live(path: Path, timezone: str = "") -> Iterator[Live]:
    settings = config.Settings(
        extensions=("tests.gateway.puppet",),
        model=config.Model(use="puppet"),
        gateway=config.Gateway(max_event_bytes=MOST_BYTES),
        kernel=config.Kernel(drain_s=0),
        context=config.Context(patience_s=60),  # what memory has is in the prompt, however busy the machine is
        agents={"daimon": config.Agent(role="reader")},  # it asks before every act
        owner=config.Owner(timezone=timezone),
    )
    ready: list[Live] = []
    failed: list[BaseException] = []
    is_up, loop = threading.Event(), asyncio.new_event_loop()
    told = asyncio.Event()

    async def run() -> None:
        home = Home(path)
        async with boot.running(home, settings, port=0) as daimon:
            ready.append(Live(home, daimon.url, home.token()))
            is_up.set()
            await told.wait()

    def serve() -> None:
        try:
            loop.run_until_complete(run())
        except BaseException as failure:  # noqa: BLE001 - raised again in the thread of the test
            failed.append(failure)
        finally:
            for left in asyncio.all_tasks(loop):  # of libraries, which do not wait for them
                left.cancel()
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
            is_up.set()

    thread = threading.Thread(target=serve, name="live")
    thread.start()
    assert is_up.wait(DEADLINE_S)
    if failed:
        raise failed[0]
    try:
        yield ready[0]
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(told.set)
        thread.join(DEADLINE_S)
        assert not thread.is_alive()
    if failed:
        raise failed[0]
