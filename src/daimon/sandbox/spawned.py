"""A shell on a terminal in a box, from the gateway's side: what it has running, signals to that, and its end.

It is told apart from commands in one thing: it stays. What runs below it is its own and no leftover of a command that ends meanwhile.
Whatever comes back from inside is read with care: a list too long is cut, an entry that is none is left out.
"""

import asyncio
import contextlib
import signal
import time
from dataclasses import dataclass
from typing import Any, Protocol

from daimon.abi.box import End
from daimon.abi.errors import Lost
from daimon.sandbox.waiting import Waiting, status_of

ANSWER_S = 20.0
TICKS = 100
"""A second, as /proc counts for everybody."""
MOST = 64


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    """As it is called in the box."""
    born: int
    state: str
    line: str

    @property
    def age_s(self) -> float:
        return max(0.0, now_ticks() - self.born) / TICKS


def now_ticks() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


class Orders(Protocol):
    """The box, as far as a shell needs it."""

    def order(self, **order: object) -> None: ...

    def forget(self, number: int) -> None: ...

    def condemn(self, why: str) -> None:
        """The box does not do what it must: it is ended."""
        ...

    def busy(self, is_busy: bool) -> None:
        """A command begins or ends: the watcher looks closely meanwhile."""
        ...


class Spawned:
    def __init__(self, box: Orders, number: int, waiting: Waiting) -> None:
        self._box, self._number, self._waiting = box, number, waiting

    @property
    def ended(self) -> "asyncio.Future[dict[str, Any]]":
        return self._waiting.ended

    @property
    def has_ended(self) -> bool:
        return self._waiting.ended.done()

    def took_over(self) -> End | None:
        """What the whole box was stopped for since the last time."""
        over, self._waiting.over = self._waiting.over, None
        return over

    def how(self) -> str:
        """How the shell itself ended."""
        try:
            said = self._waiting.ended.result()
        except Lost as lost:
            return str(lost)
        if error := said.get("error"):
            return str(error)[:500].encode(errors="replace").decode()
        status = status_of(said)
        return f"it ended with {status}" if status >= 0 else f"signal {-status} ended it"

    def busy(self, is_busy: bool) -> None:
        self._box.busy(is_busy)

    async def below(self, which: int = 0, since: int = 0, pid: int = 0) -> tuple[Process, ...]:
        """What runs below the shell, born since then; signalled, where a signal is given. Raises Lost."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self.has_ended:
            return ()
        self._waiting.asked.append(answer)
        self._box.order(do="below", id=self._number, what={"signal": int(which), "since": since, "pid": pid})
        try:
            return _listed(await asyncio.wait_for(asyncio.shield(answer), ANSWER_S))
        except TimeoutError:
            self._box.condemn("its supervisor does not answer")
            raise Lost("the box did not say what runs in it, and was ended") from None

    async def kill(self) -> None:
        """The shell and all that it started. Raises Lost where the box does not even do that."""
        if self.has_ended:
            return
        self._box.order(do="signal", id=self._number, signal=int(signal.SIGKILL))
        try:
            await asyncio.wait_for(asyncio.shield(self._waiting.ended), ANSWER_S)
        except TimeoutError:
            self._box.condemn("a shell could not be stopped")

    async def clear(self) -> None:
        """After its end: what it left running, however well hidden, goes too."""
        with contextlib.suppress(TimeoutError, Lost):
            self._box.order(do="clear", id=self._number)
            await asyncio.wait_for(asyncio.shield(self._waiting.cleared), ANSWER_S)
        self._box.forget(self._number)


def _listed(said: dict[str, Any]) -> tuple[Process, ...]:
    rows = said.get("listed")
    found = []
    for row in rows[:MOST] if isinstance(rows, list) else ():
        match row:
            case [int(pid), int(born), str(state), str(line)] if 1 < pid < 1 << 22 and 0 <= born < 1 << 62:
                found.append(Process(pid, born, state[:2], line[:200].encode(errors="replace").decode()))
    return tuple(found)
