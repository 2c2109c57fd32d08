"""A language model on a loopback port, faithful to the wire and obedient to a script.

    async with ProviderServer([Line(text="Hello."), Line(fault=Fault("429", retry_after=2))]) as server:
        client = AsyncOpenAI(base_url=f"{server.url}/v1", api_key="test-key")

One port speaks to the clients of OpenAI, Anthropic, Google and, for its list of models, Ollama. Every request is in `requests`,
in order of arrival, from the moment that its answer is decided. Closing the server cuts all connections; what went wrong in the
script itself is raised there.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from daimon.testing.provider.desk import Desk
from daimon.testing.provider.openai.shape import OPENAI
from daimon.testing.provider.script import Script, load
from daimon.testing.provider.seen import Seen
from daimon.testing.provider.shape import Problem
from daimon.testing.provider.wire import BadHttp, Connection

HOST = "127.0.0.1"
KEY = "test-key"
_MAX_HEAD_BYTES = 64 * 1024
_BACKLOG = 1_024


class ProviderServer:
    def __init__(self, script: Script = (), *, key: str = KEY, port: int = 0, models: Sequence[str] = ()) -> None:
        self._desk = Desk(script, key, models)
        self._port = port
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._failures: list[BaseException] = []
        self._arrival = asyncio.Event()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}"

    @property
    def requests(self) -> list[Seen]:
        return self._desk.requests

    async def request(self, number: int) -> Seen:
        """Waits for it, so that a test may act while the answer hangs."""
        while len(self.requests) < number:
            await self._arrival.wait()
        return self.requests[number - 1]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, HOST, self._port, limit=_MAX_HEAD_BYTES, backlog=_BACKLOG)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        tasks = list(self._connections)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._failures and error:
            error.add_note(f"the provider server failed first: {self._failures[0]!r}")
        elif self._failures:
            raise self._failures[0]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(Connection(reader, writer)))
        self._connections[task] = writer
        task.add_done_callback(self._closed)

    def _closed(self, task: asyncio.Task[None]) -> None:
        self._connections.pop(task).transport.abort()
        if not task.cancelled() and (failure := task.exception()):
            self._failures.append(failure)

    async def _serve(self, connection: Connection) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):  # the client may leave at any moment
            await self._talk(connection)
            connection.writer.close()
            await connection.writer.wait_closed()

    async def _talk(self, connection: Connection) -> None:
        try:
            while asked := await connection.read():
                answer = self._desk.answer(asked)
                self._arrival.set()
                self._arrival = asyncio.Event()
                if not await connection.send(answer):
                    return
        except BadHttp as bad:
            await connection.send(OPENAI.problem(Problem("invalid", str(bad))))


async def serve(script: Path | None, port: int, say: Callable[[str], None]) -> None:
    """Until cancelled; says where it listens, then a line for each request."""
    async with ProviderServer(load(script) if script else (), port=port) as server:
        say(f"listening on {server.url}, key {KEY}")
        for number in count(1):
            seen = await server.request(number)
            say(f"{seen.number} {seen.method} {seen.path} → {seen.answered}")
