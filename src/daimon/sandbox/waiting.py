"""What the gateway waits to hear about one command of a box."""

import asyncio
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from daimon.abi.box import End


@dataclass(slots=True)
class Waiting:
    ended: "asyncio.Future[dict[str, Any]]"
    cleared: "asyncio.Future[dict[str, Any]]"
    over: End | None = None
    is_shell: bool = False
    """It stands on a terminal and stays."""
    asked: "deque[asyncio.Future[dict[str, Any]]]" = field(default_factory=deque)
    """Who wants to know what a shell has running; the supervisor answers in this order."""

    @classmethod
    def fresh(cls, is_shell: bool = False) -> "Waiting":
        loop = asyncio.get_running_loop()
        return cls(loop.create_future(), loop.create_future(), is_shell=is_shell)

    def hear(self, said: dict[str, Any]) -> None:
        if "listed" in said:
            answer = self.asked.popleft() if self.asked else None
            if answer is not None and not answer.done():
                answer.set_result(said)
        elif "cleared" in said and not self.cleared.done():
            self.cleared.set_result(said)
        elif not self.ended.done():
            status_of(said)
            self.ended.set_result(said)

    def fail(self, why: Exception) -> None:
        for future in (self.ended, self.cleared, *self.asked):
            if not future.done():
                future.set_exception(why)
                future.exception()  # nobody may be waiting for it


def status_of(said: Mapping[str, Any]) -> int:
    status = said["ended"]
    if not isinstance(status, int) or not 0 <= status <= 0xFFFF:
        raise ValueError(f"{status!r:.80} is no status of a process")
    return os.waitstatus_to_exitcode(status)
