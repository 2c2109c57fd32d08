"""How it went, in figures: what the journal can truly tell of a stretch of time, and nothing that it cannot.

Each figure is a count or a measure of rows that are there; whatever was not written down (a repeated event, which leaves nothing behind, or
the time that the making of a prompt took) has no figure here. A `Spread` of nothing has no percentiles.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from daimon.abi.ids import SpaceId


@dataclass(frozen=True, slots=True)
class Spread:
    """Of many measurements: how many, and their percentiles."""

    n: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """What came in, and where it is now. The parts add up to `accepted`, and `lost` is the promise: it is nothing."""

    accepted: int = 0
    ended: int = 0
    """Their turn is over."""
    open: int = 0
    """Their turn runs, or waits for something."""
    waiting: int = 0
    """No turn has taken them yet."""
    late: int = 0
    """They came for a turn that was over: kept, and without effect."""
    lost: int = 0
    """Taken by a turn that is not there. It is a fault of Daimon if this is not nothing."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    tool: str
    """Empty: the call was forgotten since."""
    calls: int
    """Those with an outcome."""
    failed: int
    """The tool said so, or broke."""
    refused: int
    """By the policy or by a person: the tool never ran."""
    took: Spread = Spread()
    codes: dict[str, int] = field(default_factory=dict)
    """Of what failed."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the policy said of the calls that models wanted."""

    allowed: int = 0
    asked: int = 0
    denied: int = 0
    invalid: int = 0


@dataclass(frozen=True, slots=True)
class Interventions:
    """What people were asked and did."""

    questions: int = 0
    allowed: int = 0
    """Of the answers: yes to an act."""
    denied: int = 0
    """No to one."""
    answered: int = 0
    """Answers to other questions."""
    lapsed: int = 0
    """Nobody answered in time, and the safe option was taken."""
    stops: int = 0
    """Turns that somebody stopped."""
    took: Spread = Spread()
    """From a question to a person's answer."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """What models were shown."""

    calls: int = 0
    failed: int = 0
    bytes: int = 0
    """Of all prompts."""
    new_bytes: int = 0
    """Of these: what no prompt before had in it."""
    took: Spread = Spread()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    since: datetime
    taken: Taken = Taken()
    endings: dict[str, int] = field(default_factory=dict)
    """Turns that ended, by how."""
    answers: Spread = Spread()
    """From the moment that a person's message was on disk to its answer; without turns that asked somebody something."""
    prompts: Prompts = Prompts()
    tools: tuple[ToolUse, ...] = ()
    """The most used first."""
    judged: Judged = Judged()
    interventions: Interventions = Interventions()
    checkpoints: int = 0
    """Times that a call which changes files had a checkpoint to go back to. Those that people make are in no turn, and not counted."""
    mail: dict[str, int] = field(default_factory=dict)
    """Messages that were to go out to people, by what became of them."""
    letters: int = 0
    """Input that could not be used."""
    ticks: dict[str, int] = field(default_factory=dict)
    """Of automations, by outcome."""
    idle_calls: int = 0
    """Model calls of ticks that found nothing new. The promise: none."""
    deliveries: dict[str, int] = field(default_factory=dict)
    """Of webhooks, by outcome."""


class Measured(Protocol):
    async def figures(self, space: SpaceId, since: datetime) -> Figures:
        """Of all that was written down since then."""
        ...
