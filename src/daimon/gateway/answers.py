"""What the API answers with, for the server that writes it and the client that reads it.

No web framework is imported here, so that a client starts quickly.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from daimon.abi.codec import encode
from daimon.abi.event import Event
from daimon.abi.ids import BlobHash, EventId
from daimon.abi.ports import Balance, Count, Depth, Grouping, Spending
from daimon.abi.step import Step
from daimon.abi.turn import Turn


@dataclass(frozen=True, slots=True)
class LineState:
    """How something is that is kept running: the listening of a channel, or other long work."""

    name: str
    state: Literal["starting", "up", "down", "locked_out"]
    since: datetime
    why: str = ""
    """What broke it last; while it is up, why nothing is sent there at the moment."""
    restarts: int = 0
    next_try: datetime | None = None


@dataclass(frozen=True, slots=True)
class Status:
    version: str
    home: str
    pid: int
    started_at: datetime
    model: str
    count: Count
    depth: Depth
    commits: int
    warnings: tuple[str, ...] = ()
    balances: tuple[Balance, ...] = ()
    """Of the day and the month."""
    lines: tuple[LineState, ...] = ()
    """Channels, and what else is kept running."""
    strangers: int = 0
    """So many knocked and were not let in."""
    lessons: int = 0
    """So many proposals of what was learned wait for the owner."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An event is on disk. For a repeated key, `event` and `seq` are those of the first one."""

    event: EventId
    seq: int
    conversation: str
    new: bool


@dataclass(frozen=True, slots=True)
class Caused:
    """An event and the turn that took it in, if one did yet."""

    event: Event
    turn: Turn | None


@dataclass(frozen=True, slots=True)
class Trace:
    turn: Turn
    event: Event
    steps: tuple[Step, ...] = ()
    late: tuple[Event, ...] = ()
    """What came for it when it was over."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """The settings were read again."""

    use: tuple[str, ...]
    """The models that answer now."""
    restart: tuple[str, ...]
    """Sections that have changed and take effect only at the next start."""
    policy: str = ""
    """The version of the policies that are in force now."""


@dataclass(frozen=True, slots=True)
class Costs:
    by: Grouping
    rows: tuple[Spending, ...]
    balances: tuple[Balance, ...]
    """Of the day and the month."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes are on disk; a message may name them."""

    blob: BlobHash
    size: int


@dataclass(frozen=True, slots=True)
class Letter:
    source: str
    reason: str
    at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A link, shown this once. `urls` are the same way in under each name of this machine, the nearest first."""

    urls: tuple[str, ...]
    until: datetime


def explained(code: str, message: str) -> bytes:
    """An error, as every route tells it."""
    return encode(dict[str, dict[str, str]], {"error": {"code": code, "message": message}})
