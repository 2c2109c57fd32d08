"""Turns as somebody looks through them: which ones are sought, and what a list says of each.

A list is read newest first, in pages: the id of the last one is where the next page begins (`before`). What a row tells of calls, tokens
and money is what the ledger holds; a model that is not metered took nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from daimon.abi.event import Event
from daimon.abi.ids import SpaceId, TurnId
from daimon.abi.money import Usage
from daimon.abi.step import Step
from daimon.abi.turn import State, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Each that is given must fit."""

    conversation: str = ""
    state: State | None = None
    agent: str = ""
    job: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: str = ""
    """Turns that began before this one."""
    has_asked: bool = False
    """A person was asked something, or something went on outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    turn: Turn
    event: Event | None
    """None: its row cannot be read."""
    models: tuple[str, ...]
    """Those that were chosen, in the order in which they came in."""
    steps: int
    model_calls: int
    tool_calls: int
    usage: Usage
    """Its cost is None where that of a call is not known."""


class Runs(Protocol):
    async def runs(self, space: SpaceId, sought: Sought, limit: int) -> tuple[Run, ...]:
        """Newest first, at most so many."""
        ...

    async def steps_from(self, turn: TurnId, first: int) -> tuple[Step, ...]:
        """Those of a turn from this one on."""
        ...

    async def erasures(self) -> int:
        """How often something was erased: when it is more than before, what was kept must be read again."""
        ...
