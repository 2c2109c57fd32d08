"""Lessons: what was drawn from the record of turns and waits for the owner's word, and how skills have served so far.

A proposal is a skill to have (`new`), a change of one that was learned (`refine`), or one to give up (`retire`). Nothing of it is used
before the owner accepts it. What is counted of skills is observed, and no proof: turns with a skill and turns without one differ in more
than that.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from daimon.abi.money import NOTHING
from daimon.abi.plain import Moment

LEARNED = "learned"
"""The source of a skill that was."""
Kind = Literal["new", "refine", "retire"]
Standing = Literal["open", "accepted", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A turn, in a line."""

    turn: str
    at: Moment
    asked: str
    """Without what is personal."""
    calls: int
    """Of tools."""
    tokens: int
    cost: Decimal | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    id: str
    kind: Kind
    skill: str
    text: str
    """Of the `SKILL.md` as it would be; empty: it would go."""
    diff: str
    """Against what there is."""
    why: str
    evidence: tuple[Evidence, ...] = ()
    at: Moment
    state: Standing = "open"
    decided_at: Moment | None = None
    fingerprint: str
    """Of the lesson: the same one is proposed once."""
    tools: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """What the request was about: requests that are alike are one lesson."""
    version: str = ""
    """Of the skill that it would change; empty: there is none."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What turns took, in sum."""

    turns: int = 0
    calls: int = 0
    tokens: int = 0
    cost: Decimal = NOTHING
    """What is known of it."""
    unpriced: int = 0
    """Turns of which not all is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """How a skill has served: observed, not proof."""

    skill: str
    uses: int = 0
    """Turns in which it was used."""
    good: int = 0
    """Of these: ended well, and were not put right, neither in them nor by the next message."""
    corrected: int = 0
    last_at: Moment | None = None
    used: Effort = Effort()
    unused: Effort = Effort()
    """Turns on like requests without it."""


class Lessons(Protocol):
    async def proposals(self, is_all: bool = False) -> tuple[Proposal, ...]:
        """Those that wait, or all; the newest first."""
        ...

    async def proposal(self, id_: str) -> Proposal:
        """Raises NotFound."""
        ...

    async def accept(self, id_: str, text: str = "") -> Proposal:
        """It counts from now on. `text`: as the owner has changed it. Raises NotFound, BadInput where it is decided or cannot be used,
        Outdated where the skill has changed since."""
        ...

    async def reject(self, id_: str) -> Proposal:
        """It does not come back. Raises NotFound, BadInput where it is decided."""
        ...

    async def uses(self) -> tuple[Service, ...]:
        """Of all skills that are here, by name."""
        ...
