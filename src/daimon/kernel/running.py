"""A turn under way in this process, and how it is interrupted from outside.

Work that takes time (a model, tools) runs inside `unless_stopped`: when somebody stops the turn, that work is cancelled and
`Stopped` is raised inside the turn, which then ends by a recorded decision like any other.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from daimon.kernel.containment import abandon
from daimon.kernel.log import Log

T = TypeVar("T")


class Stopped(Exception):
    """Inside a turn: somebody wants it to end now."""


class Running:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.nudged = asyncio.Event()
        """Set when something happened in the conversation that the turn should look at."""
        self._stop = asyncio.Event()

    def stop(self) -> None:
        self._stop.set()

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise Stopped
        finally:
            stop.cancel()
            if not task.done():
                await abandon(task)
