"""Conversations, as they are read back: the list of them, and one turn with all that was said and done in it.

A reading of the journal for whoever shows conversations to people. It answers with what stands on disk, not with how it looks. A turn of
thousands of steps comes with its beginning and its end; what lies between is counted, and `Archive.steps` has it.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from daimon.abi.event import Address, Event, Said
from daimon.abi.ids import Key, PrincipalId, SpaceId, TurnId
from daimon.abi.ports import Delivery
from daimon.abi.step import Step
from daimon.abi.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One of the conversations. `rank` orders them: hand it back to get those before it."""

    name: str
    rank: str
    began: Event
    """What was said first."""
    last: Event
    """What came in last."""
    reply: Said | None
    """What the agent answered to it; None: nothing yet, or words that were erased."""
    at: datetime
    principals: tuple[PrincipalId, ...]
    """Whom its newest turns served."""
    is_running: bool
    questions: int
    """That people have not answered yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message of a turn to people, and what became of it."""

    key: Key
    to: Address
    said: Said | None
    """None: it was erased."""
    state: Delivery
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Spent:
    """What the model calls of a turn took, as the ledger counts it. A cost of None is unknown."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    turn: Turn
    event: Event
    steps: tuple[Step, ...]
    skipped: int
    """Steps that were left out of the middle."""
    events: tuple[Event, ...]
    """Those that the steps say were taken in later."""
    sent: tuple[Sent, ...]
    spent: Spent


class Chats(Protocol):
    async def chats(self, space: SpaceId, limit: int, before: str = "") -> tuple[Chat, ...]:
        """Newest first. Those of agents that work for other agents are no conversations with people."""
        ...

    async def told(self, space: SpaceId, conversation: str, limit: int, before: str = "") -> tuple[tuple[Told, ...], bool]:
        """Newest first, those before this turn, and whether there are more; fewer than asked for where there is much in them."""
        ...

    async def told_of(self, turn: TurnId) -> Told:
        """Raises NotFound."""
        ...

    async def waiting(self, space: SpaceId, conversation: str) -> tuple[Event, ...]:
        """What came in and has no turn yet, the oldest first."""
        ...
