"""How a command reaches a Daimon, whether one runs or not.

    source    to read: the running gateway, else the journal itself, read-only
    door      to hand events in: the running gateway, else the journal, for the next start to answer
    gateway   to talk: the running gateway, else one in this process for as long as the command lasts

A gateway that is just starting holds the home before it listens; `door` and `gateway` wait for it instead of failing (`awake.py`).
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from daimon import homes
from daimon.abi.errors import HomeBusy
from daimon.abi.ids import BlobHash, SpaceId
from daimon.abi.ports import Archive, Given, Overview
from daimon.cli.awake import is_awake
from daimon.cli.failures import log_in_lines
from daimon.gateway.answers import Taken
from daimon.gateway.client import Client, RemoteArchive

RESTART_S = 30.0
"""How long a chat waits for a gateway that went away."""


class Source(Archive, Overview, Protocol):
    """A journal to read."""

    async def get(self, blob: BlobHash) -> bytes: ...

    async def given(self, space: SpaceId) -> tuple[Given, ...]: ...


class Door(Protocol):
    def send(self, event: bytes, key: str | None = None) -> Taken: ...


@dataclass(frozen=True, slots=True)
class Line:
    """A gateway to talk to, and how long to wait for it when it goes away."""

    client: Client
    patience_s: float
    is_own: bool


@asynccontextmanager
async def source(home: homes.Home) -> AsyncIterator[Source]:
    client = Client(home.socket)
    if client.is_there():
        yield RemoteArchive(client)
        return
    from daimon.offline.reading import looking

    async with looking(home) as journal:
        yield journal


@contextmanager
def door(home: homes.Home) -> Iterator[tuple[Door, bool]]:
    """The door, and whether somebody is behind it."""
    client = Client(home.socket)
    if is_awake(home):
        yield client, True
        return
    with asyncio.Runner() as runner:
        try:
            letterbox = _Letterbox(runner, home)
        except HomeBusy:  # a gateway was faster
            if not is_awake(home):
                raise
            yield client, True
            return
        try:
            yield letterbox, False
        finally:
            letterbox.close()


@contextmanager
def gateway(home: homes.Home) -> Iterator[Line]:
    client = Client(home.socket)
    if is_awake(home):
        yield Line(client, RESTART_S, is_own=False)
        return
    own = _OwnGateway(home)
    try:
        own.start()
    except HomeBusy:  # another one was faster
        if not is_awake(home):
            raise
        yield Line(client, RESTART_S, is_own=False)
        return
    try:
        yield Line(client, 0.0, is_own=True)
    finally:
        own.close()


class _Letterbox:
    """The door of a home where nobody is: what is put in lies on disk until the next start."""

    def __init__(self, runner: asyncio.Runner, home: homes.Home) -> None:
        from daimon import config
        from daimon.offline.inbox import taking

        self._runner = runner
        self._stack = AsyncExitStack()
        self._inbox = runner.run(self._stack.enter_async_context(taking(home, config.settings_of(home))))

    def send(self, event: bytes, key: str | None = None) -> Taken:
        taken, accepted = self._runner.run(self._inbox.take(event, key))
        return Taken(accepted.event, accepted.seq, taken.conversation, accepted.is_new)

    def close(self) -> None:
        self._runner.run(self._stack.aclose())


class _OwnGateway:
    """A whole Daimon in a thread of this process. Signals stay with the main thread."""

    def __init__(self, home: homes.Home) -> None:
        self._home = home
        self._thread = threading.Thread(target=self._live, name="gateway", daemon=True)
        self._ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._failure: BaseException | None = None
        self._ask: Callable[[], str | None] = lambda: None

    def start(self) -> None:
        from daimon.cli import hidden

        log_in_lines()
        self._ask = hidden.passphrase_ahead(self._home)
        self._thread.start()
        self._ready.result()

    def close(self) -> None:
        """Raises what made it fail, if something did."""
        loop, done = self._ready.result()
        if self._thread.is_alive():
            loop.call_soon_threadsafe(done.set)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _live(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as failure:  # noqa: BLE001 - it is raised again in the thread that waits for it
            self._failure = failure
            if not self._ready.done():
                self._ready.set_exception(failure)

    async def _serve(self) -> None:
        from daimon import boot, config

        done = asyncio.Event()
        async with boot.running(self._home, config.settings_of(self._home), 0, self._ask) as daimon:
            self._ready.set_result((asyncio.get_running_loop(), done))
            ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(done.wait()), daimon.failed]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            ends[0].cancel()
            if daimon.failed.done():
                raise daimon.failed.result()
