"""Keeps what must run for ever running: the listening of each channel, and other long work by name.

Whatever ends or breaks is started again after a pause that grows, with some chance in it, from a second to five minutes; having stayed up
for a while it begins at a second again. What is locked out, which only the owner can mend, is tried every ten minutes, or at once when
somebody says that it is worth a try (`poke`). One part's fall is nobody else's trouble, and nothing that a part raises gets past here.

    starting → up      it has run for some seconds without breaking
    any → down         it broke, or ended by itself
    any → locked_out   it raised LockedOut

Parts come and go while it runs. One that takes another's place begins when the other has ended, since two that listen to the same thing
would take from each other.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from daimon.abi.errors import DaimonError, LockedOut
from daimon.abi.ports import Clock, Random
from daimon.abi.secret import Redactor
from daimon.gateway.answers import LineState
from daimon.kernel.containment import contained

FIRST_S = 1.0
LONGEST_S = 300.0
LOCKED_S = 600.0
UP_AFTER_S = 3.0
STEADY_AFTER_S = 120.0
"""What stayed up for so long has not fallen again and again."""
MOST_WHY = 300
ENDING_S = 10.0
"""So long a part that was told to end holds up the one that takes its place."""
_log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class _Part:
    work: Work
    line: LineState
    falls: int = 0
    """In a row."""
    poked: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class Supervisor:
    def __init__(self, clock: Clock, random: Random, redactor: Redactor, told: Callable[[LineState], None] = lambda line: None) -> None:
        """`told` hears of every change."""
        self._clock = clock
        self._random = random
        self._redactor = redactor
        self._told = told
        self._parts: dict[str, _Part] = {}
        self._tasks: asyncio.TaskGroup | None = None
        """While it serves."""

    def add(self, name: str, work: Work) -> None:
        """Before `serve` or during it; in the place of what has this name."""
        ending = self.remove(name)
        part = self._parts[name] = _Part(work, LineState(name, "starting", self._clock.now()))
        if self._tasks is not None:
            part.task = self._tasks.create_task(self._keep(part, ending))

    def remove(self, name: str) -> "asyncio.Task[None] | None":
        """It is told to end. Returns what is over when it has."""
        part = self._parts.pop(name, None)
        if part is None or part.task is None:
            return None
        part.task.cancel()
        return part.task

    def states(self) -> tuple[LineState, ...]:
        return tuple(part.line for part in self._parts.values())

    def poke(self, name: str) -> bool:
        """Try it now. False: there is no such part."""
        part = self._parts.get(name)
        if part is not None:
            part.poked.set()
        return part is not None

    async def serve(self) -> None:
        """Runs until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for part in self._parts.values():
                part.task = tasks.create_task(self._keep(part))
            await asyncio.get_running_loop().create_future()  # others may come, also where there is none yet

    async def _keep(self, part: _Part, ending: "asyncio.Task[None] | None" = None) -> None:
        if ending is not None:
            await asyncio.wait((ending,), timeout=ENDING_S)
        while True:
            part.poked.clear()
            failure, lasted_s = await self._run(part)
            part.falls = 1 if lasted_s >= STEADY_AFTER_S else part.falls + 1
            is_locked = isinstance(failure, LockedOut)
            pause_s = LOCKED_S if is_locked else self._pause(part.falls)
            next_try = self._clock.now() + timedelta(seconds=pause_s)
            why = self._redactor.clean(_why(failure))[:MOST_WHY]
            self._change(part, replace(part.line, state="locked_out" if is_locked else "down", why=why, next_try=next_try))
            await self._until_poked(part, pause_s)
            self._change(part, replace(part.line, state="starting", restarts=part.line.restarts + 1, next_try=None))

    async def _run(self, part: _Part) -> tuple[Exception | None, float]:
        began = self._clock.monotonic()
        rising = asyncio.ensure_future(self._rise(part))
        try:
            await contained(part.work())
        except Exception as failure:  # noqa: BLE001 - a part may raise anything
            return failure, self._clock.monotonic() - began
        finally:
            await _dropped(rising)
        return None, self._clock.monotonic() - began

    async def _rise(self, part: _Part) -> None:
        await self._clock.sleep(UP_AFTER_S)
        self._change(part, replace(part.line, state="up", why="", next_try=None))

    async def _until_poked(self, part: _Part, pause_s: float) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._clock.sleep(pause_s)), asyncio.ensure_future(part.poked.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _dropped(*waits)

    def _pause(self, falls: int) -> float:
        longest = min(LONGEST_S, FIRST_S * 2.0 ** min(falls - 1, 20))
        return float(longest * (0.75 + self._random.uniform() / 4))

    def _change(self, part: _Part, line: LineState) -> None:
        is_news = line.state != part.line.state
        part.line = replace(line, since=self._clock.now()) if is_news else line
        if not is_news:
            return
        _log.log(*_words(part.line))
        try:
            self._told(part.line)
        except Exception:  # noqa: BLE001 - whoever listens must not stop what is kept running
            _log.exception("whoever was told of %s failed", line.name)


def _words(line: LineState) -> tuple[int, str, str, str, str]:
    level = logging.WARNING if line.state in ("down", "locked_out") else logging.INFO
    again = f"; next try at {line.next_try:%H:%M:%S}" if line.next_try else ""
    return level, "%s is %s%s", line.name, line.state.replace("_", " "), f": {line.why}{again}" if line.why else again


def _why(failure: Exception | None) -> str:
    if failure is None:
        return "it ended by itself"
    return str(failure) if isinstance(failure, DaimonError) else f"{type(failure).__name__}: {failure}"


async def _dropped(*tasks: "asyncio.Future[Any]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
