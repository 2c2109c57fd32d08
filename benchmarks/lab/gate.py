"""A real gateway in a process of its own, and all that comes out of it while it runs: its answers, its live stream, its stderr."""

import asyncio
import json
import signal
from collections import defaultdict
from contextlib import suppress
from typing import Any

from lab import wire
from lab.planted import Planted

READY_S, REST_S, STOP_S = 60.0, 90.0, 30.0
AT_REST = ("done", "failed", "parked")


class Gate:
    def __init__(self, planted: Planted) -> None:
        self.planted = planted
        self.errors = planted.place / "gateway.stderr"
        self.port = 0
        self.pid = 0
        self.stdout = b""
        self.streamed: dict[str, list[bytes]] = defaultdict(list)
        """Lines of the feed, by conversation."""
        self.pieces: dict[tuple[str, str], str] = defaultdict(str)
        """What came piece by piece, put together, by conversation and kind."""
        self._states: dict[str, str] = {}
        self._news = asyncio.Event()
        self._child: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "Gate":
        try:
            await self._start()
        except BaseException:
            if self._child is not None and self._child.returncode is None:
                self._child.kill()
            raise
        return self

    async def _start(self) -> None:
        with self.errors.open("ab") as sink:
            self._child = await asyncio.create_subprocess_exec(
                *self.planted.command("up", "--port", "0"), env=self.planted.environment(), cwd=self.planted.place,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=sink,
            )  # fmt: skip
        self.pid = self._child.pid
        assert self._child.stdout is not None
        async with asyncio.timeout(READY_S):
            while line := await self._child.stdout.readline():
                self.stdout += line
                if line.startswith(b"ready http://"):
                    break
            else:
                raise RuntimeError(f"the gateway did not start: {self.errors.read_text()[-2_000:]}")
        self.port = int(line.rsplit(b":", 1)[1])
        listens = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(listens))
        async with asyncio.timeout(READY_S):
            await asyncio.wait({asyncio.ensure_future(listens.wait()), self._listening}, return_when=asyncio.FIRST_COMPLETED)
        if self._listening.done():
            self._listening.result()

    async def __aexit__(self, *_: object) -> None:
        assert self._child is not None
        assert self._listening is not None
        self._listening.cancel()
        with suppress(asyncio.CancelledError):
            await self._listening
        if self._child.returncode is None:
            self._child.send_signal(signal.SIGTERM)
        async with asyncio.timeout(STOP_S):
            await self._child.wait()

    @property
    def token(self) -> str:
        return (self.planted.home / "token").read_text().strip()

    async def call(self, method: str, path: str, data: object = None) -> wire.Answer:
        return await wire.call(self.port, method, path, data, Authorization=f"Bearer {self.token}")

    async def get(self, path: str) -> bytes:
        return (await self.call("GET", path)).body

    async def data(self, path: str) -> Any:
        return json.loads(await self.get(path))

    async def post(self, event: dict[str, Any]) -> bytes:
        return (await self.call("POST", "/v1/events", event)).body

    async def ask(self, event: dict[str, Any]) -> bytes:
        """Handed in, and then until the turn is at rest."""
        self._states.pop(event["conversation"], None)
        said = await self.post(event)
        await self.rest(event["conversation"])
        return said

    async def rest(self, *conversations: str) -> None:
        async with asyncio.timeout(REST_S):
            while any(self._states.get(name) not in AT_REST for name in conversations):
                self._news.clear()
                await self._news.wait()

    async def _listen(self, listens: asyncio.Event) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(f"GET /v1/feed HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise RuntimeError(f"the feed does not open: {head!r}")
        rest = b""
        try:
            while size := int((await reader.readuntil(b"\r\n")).strip() or b"0", 16):
                rest += (await reader.readexactly(size + 2))[:-2]
                listens.set()
                *lines, rest = rest.split(b"\n")
                for line in filter(None, lines):
                    self._take(line)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    def _take(self, line: bytes) -> None:
        update = json.loads(line)
        name = update.get("conversation", {}).get("name", "")
        self.streamed[name].append(line)
        if update["kind"] == "token":
            self.pieces[name, update["of"]] += update["text"]
        if update["kind"] == "turn":
            self._states[name] = update["state"]
            self._news.set()
