"""A server of the settings, for as long as Daimon runs: connected when somebody needs it, and let go when nobody does.

    idle ──call──> connecting ──> ready ──nobody calls──> idle
                       │            └──it dies──> resting ──the next call, later and later──> connecting
                       └──it fails──> resting

At every start it is asked for its tools before anything is called, so a tool that is not what the owner approved is not called; when it
says that its list changed, it is asked again, and also before a call if what it said is older than some seconds: one that changes its
tools without a word is found out then. A server that nobody calls costs nothing. One that fails fails alone: whoever calls it gets
`ToolFailed`, with what went wrong.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from daimon import config
from daimon.abi.connector import Changes, ServerState
from daimon.abi.errors import DaimonError, Lost, ToolFailed
from daimon.abi.ports import Clock
from daimon.abi.tool import Call, Touched
from daimon.mcp.bounds import BOUNDS, Bounds
from daimon.mcp.connection import Connection, Step
from daimon.mcp.listed import BESIDES, Listed, listed
from daimon.mcp.pins import Pins

if TYPE_CHECKING:
    import mcp_types as types

MOST_WAIT_S = 10.0
"""A call waits so long for a server that rests; if it rests for longer, it is told so."""
_CALM_S = 1.0
"""Between two looks at a list that changes."""
_NAME = re.compile(r"[\x21-\x7e]{1,128}")
Connect = Callable[[Callable[[], None]], Connection]
"""Makes the next connection; what it is given is called when the list of tools changes."""


def _nobody() -> None:
    return


def _nothing() -> None:
    return


def remedy(name: str) -> str:
    return f"see it, and agree to it or not, with `daimon mcp review {name}`"


class Server:
    def __init__(self, name: str, settings: config.Server, connect: Connect, pins: Pins, clock: Clock, bounds: Bounds = BOUNDS) -> None:
        self.name, self.settings, self.pins = name, settings, pins
        self._connect, self._clock, self._bounds = connect, clock, bounds
        self._opening, self._listing = asyncio.Lock(), asyncio.Lock()
        self._looked_at = float("-inf")
        self._connection: Connection | None = None
        self._begun: list[Connection] = []
        """Those that are not over: one may not be open yet, and one that was given up may still be ending while the next is in use."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._is_connecting = self._is_stale = self._is_closed = False
        self._deaths, self._not_before, self._last_used = 0, 0.0, 0.0
        self._running = 0
        self.why = ""
        """What ended it the last time, where that was not our will."""
        self.notes: tuple[str, ...] = ()
        self.odd = 0
        """Tools of its list that are not taken, for their names."""
        self.since: datetime | None = None
        self.changed: Callable[[], None] = _nobody
        """Its tools are others than they were."""
        self.signing: Callable[[], tuple[str, ...] | None] = _nothing
        """What somebody must sign in for there (`Hooks.lacks`)."""

    @property
    def lacks(self) -> tuple[str, ...] | None:
        """The scopes that a person must sign in for; empty: it is not said. None: nobody need."""
        if self.settings.oauth:
            return self.signing()
        last = self._begun[-1] if self._begun else None
        return () if last is not None and last.is_refused and not last.is_open else None

    @property
    def state(self) -> ServerState:
        if not self.settings.is_on:
            return "off"
        if self.lacks is not None:
            return "locked_out"
        if self._connection is not None and self._connection.is_open:
            return "ready"
        if self._is_connecting:
            return "connecting"
        return "resting" if self._not_before > self._clock.monotonic() else "idle"

    @property
    def version(self) -> str:
        """Of the protocol; empty where it is not connected."""
        return self._connection.client.protocol_version if self._connection is not None and self._connection.is_open else ""

    async def connected(self) -> Connection:
        """Raises ToolFailed: nothing was asked of it then."""
        async with self._opening:
            if self._connection is not None and self._connection.is_open:
                return self._connection
            await self._rested()
            if self._is_closed:
                raise Lost(f"the server {self.name} is not connected any more: the settings have changed, or Daimon ends")
            self._is_connecting = True
            try:
                self._connection = await self._opened()
            finally:
                self._is_connecting = False
            return self._connection

    async def call(
        self, tool: Listed, arguments: dict[str, JsonValue], call: Call | None, step: Step | None = None, limit_s: float | None = None
    ) -> "types.CallToolResult":
        """Raises ToolFailed. `limit_s`: whoever calls keeps the server's own limit, and this is only the outermost."""
        connection = await self.ready_for(tool)
        with self.in_use():
            try:
                return await connection.call(tool.name, arguments, limit_s or self.settings.timeout_s, call, step)
            except ToolFailed as failed:
                if failed.reason == "timeout":
                    self._begin(self._probe(connection))
                raise

    async def ready_for(self, tool: Listed) -> Connection:
        """It still says of this tool what the owner approved. Raises ToolFailed: nothing was asked of the tool then."""
        connection = await self.connected()
        async with self._listing:  # of many calls at once one asks for all
            if self._is_stale or self._clock.monotonic() - self._looked_at > self._bounds.list_s:
                await self._look_first(connection)
        self._require(tool)
        return connection

    def _require(self, tool: Listed) -> None:
        """Raises ToolFailed for a tool that is not what the owner approved."""
        approved = self.pins.approved.get(tool.name)
        if approved is None or approved.hash != tool.hash or not self.pins.is_offered(tool.name):
            raise ToolFailed("changed", f"{tool.name} of the server {self.name} is not what the owner approved; {remedy(self.name)}")

    def touched(self) -> tuple[Touched, ...]:
        """What it reached since the last time, as far as it was seen."""
        return self._connection.touched() if self._connection is not None else ()

    def doubt(self) -> None:
        """A call got no answer in time."""
        if self._connection is not None:
            self._begin(self._probe(self._connection))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While it is, it is not stopped for being idle."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._last_used = self._clock.monotonic()

    async def review(self) -> Changes:
        """Asks it for its tools, at once even if it rests, and says what waits for the owner. Raises ToolFailed."""
        self._not_before = 0.0
        connection = await self.connected()
        with self.in_use():
            await self._look(connection)
        return self.pins.changes()

    def approve(self, hashes: frozenset[str]) -> None:
        """Raises Outdated, OSError."""
        self.pins.approve(hashes)
        self.changed()

    async def close(self) -> None:
        """For good: what comes later is told that it is gone."""
        self._is_closed = True
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=10)
        await asyncio.gather(*(connection.close() for connection in self._begun))
        async with self._opening:  # whoever was connecting just now has come to an end
            if self._connection is not None:
                await self._connection.close()
                self._connection = None

    # -- its life --------------------------------------------------------------------------------------------------------

    async def _rested(self) -> None:
        left_s = self._not_before - self._clock.monotonic()
        if left_s > MOST_WAIT_S:
            often = f"the server {self.name} failed {self._deaths} times in a row ({self.why})"
            raise ToolFailed("resting", f"{often}; the next try is in {left_s:.0f} s", retryable=True)
        if left_s > 0:
            await self._clock.sleep(left_s)

    async def _opened(self) -> Connection:
        try:
            connection = self._connect(self._list_changed)
        except DaimonError as wrong:
            self._failed(str(wrong))
            raise Lost(f"the server {self.name}: {wrong}") from wrong
        self._begun = [*(each for each in self._begun if not each.is_over), connection]
        try:
            await connection.open()
            await self._look(connection)
        except BaseException as failed:
            await connection.close()
            self.notes = connection.notes
            if isinstance(failed, DaimonError):
                self._failed(str(failed))
            raise
        self._last_used = self._clock.monotonic()
        self.since, self.why = self._clock.now(), ""
        self._begin(self._tend(connection))
        return connection

    def _failed(self, why: str) -> None:
        self.why, self.since = why, None
        self._deaths += 1
        delay_s = min(self._bounds.first_s * 2 ** min(self._deaths - 1, 20), self._bounds.longest_s)
        self._not_before = self._clock.monotonic() + delay_s

    async def _tend(self, connection: Connection) -> None:
        """Until it dies, or nobody has needed it for a while."""
        began = self._clock.monotonic()
        while connection.is_open:
            left_s = self._bounds.idle_s - (self._clock.monotonic() - self._last_used)
            if left_s <= 0 and not self._running:
                await connection.close()
                self._deaths = 0
                if self._connection is connection:
                    self.notes, self.since = connection.notes, None
                return
            await _either(connection.ended(), self._clock.sleep(max(left_s, _CALM_S)))
        if self._clock.monotonic() - began >= self._bounds.healthy_s:
            self._deaths = 0
        if self._connection is not connection:  # the next is in use already, and what is told is about that one
            self._deaths += 1
            return
        self.notes = connection.notes
        self._failed(connection.why or "it ended without a word")

    async def _probe(self, connection: Connection) -> None:
        """It did not answer in time. If it answers nothing at all, the next call gets a new one."""
        if not await connection.is_alive():
            await connection.close()

    # -- its tools -------------------------------------------------------------------------------------------------------

    async def _look(self, connection: Connection) -> None:
        """Raises ToolFailed. A name that nobody can read, or that stands in the list twice, is no tool."""
        told = [listed(tool) for tool in await connection.tools()]
        often = Counter(tool.name for tool in told)
        good = [tool for tool in told if often[tool.name] == 1 and _NAME.fullmatch(tool.name)]
        self.odd = len(told) - len(good)
        capabilities = connection.client.server_capabilities
        good += [each for name, each in BESIDES.items() if getattr(capabilities, name) is not None]
        wanted = tuple(tool for tool in good if any(fnmatchcase(tool.name, each) for each in self.settings.only))
        self._looked_at = self._clock.monotonic()
        try:
            is_changed = self.pins.saw(wanted)
        except OSError as error:
            raise ToolFailed("not_recorded", f"what the server {self.name} says now cannot be written down: {error.strerror}") from error
        if is_changed:
            self.changed()

    async def _look_first(self, connection: Connection) -> None:
        """Before a call, and no longer than that may take. Raises Lost: the call has not left."""
        self._is_stale = False
        try:
            with self.in_use():
                async with asyncio.timeout(self.settings.timeout_s):
                    await self._look(connection)
        except (ToolFailed, TimeoutError) as failed:
            self._begin(self._probe(connection))
            why = str(failed) or f"no answer within {self.settings.timeout_s:g} s"
            raise Lost(f"what the server {self.name} has could not be looked at before the call: {why}") from failed

    def _list_changed(self) -> None:
        self._is_stale = True
        if self._looking is None or self._looking.done():
            self._looking = self._begin(self._look_again())

    async def _look_again(self) -> None:
        while self._is_stale:
            await self._clock.sleep(_CALM_S)  # a list that never rests is looked at once in a while
            self._is_stale = False
            connection = self._connection
            if connection is None or not connection.is_open:
                return
            with suppress(ToolFailed):
                await self._look(connection)

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _either(*waits: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
