"""What goes wrong on command."""

from dataclasses import dataclass
from typing import Literal

What = Literal["429", "500", "500 after", "cut", "cut after", "silent", "silent after", "garbage after", "slow after"]
"""With `after`: the bot's wish was fulfilled first. `cut`: the connection ends without an answer; `silent`: it stays, without one;
`slow`: the answer is the right one, and comes late."""


@dataclass(frozen=True, slots=True)
class Fault:
    what: What
    method: str = ""
    """Empty: any but getUpdates."""
    retry_after: int = 1
    wait_s: float = 2.0
    """How late a slow answer comes."""

    def meets(self, method: str) -> bool:
        return self.method == method if self.method else method != "getUpdates"


class Faults:
    """Each meets one call, the first that it fits."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault)

    def take(self, method: str) -> Fault | None:
        for fault in self._waiting:
            if fault.meets(method):
                self._waiting.remove(fault)
                return fault
        return None
