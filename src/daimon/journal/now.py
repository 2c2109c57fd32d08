"""What a transaction may know of the world, and what the writer remembers between two of them.

`holds` is a short cut: for each claimed conversation, what the tables say of its claim, so that recording a step need not read it
again. Only the writer's thread touches it. The invariant: an entry says what the tables say; whenever anything is rolled back, all
entries are dropped and read anew.
"""

from dataclasses import dataclass
from datetime import datetime
from itertools import count

from daimon.abi.ids import Conversation, TurnId
from daimon.abi.ports import Ids


@dataclass(slots=True)
class Held:
    """What a claim's holder needs to know."""

    epoch: int
    worker: str
    turn: TurnId
    next_n: int
    attempts: int
    is_stopped: bool
    may_have_waiting: bool
    """False only if nothing waits in the conversation."""


@dataclass(frozen=True, slots=True)
class Now:
    boot: str
    """This process; leases and tries of another one are void."""
    at: datetime
    monotonic: float
    ids: Ids
    positions: "count[int]"
    """The counter behind `pos`."""
    holds: dict[Conversation, Held]
