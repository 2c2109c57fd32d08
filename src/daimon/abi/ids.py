"""Names of things. An id is opaque text; only its NewType says what it names.

A conversation is named by (space, conversation), a step by (turn, number). There is no global order and no row id: these
names are all that a journal on another database needs.
"""

from dataclasses import dataclass
from typing import NewType

SpaceId = NewType("SpaceId", str)
PrincipalId = NewType("PrincipalId", str)
AgentId = NewType("AgentId", str)
EventId = NewType("EventId", str)
TurnId = NewType("TurnId", str)
TimerId = NewType("TimerId", str)
BlobHash = NewType("BlobHash", str)
Key = NewType("Key", str)
"""An idempotency key: the same key means the same act."""

MOST_DIGITS = 1_000
"""Of a step number, as text."""

HOME_SPACE = SpaceId("home")
OWNER = PrincipalId("owner")
SELF = AgentId("daimon")
READER = AgentId("reader")
"""Reads what the others must not see. It is given no tools, and its answers only pass in the form that was asked for."""
SUMMARIZER = AgentId("daimon/summarizer")
"""Writes what is kept of turns that left the window. It answers nobody, and nobody is asked on its behalf."""
SAMPLER = AgentId("daimon/sampler")
"""Thinks for a server that asked for it, about nothing but what the server said."""
WITHOUT_TOOLS = frozenset({READER, SUMMARIZER, SAMPLER})
"""They read what strangers wrote, so they are given no tools, no page and nothing recalled."""
SUMMARIES = "summaries/"
"""How conversations begin in which the summarizer works; the rest is the conversation whose turns it reads."""


@dataclass(frozen=True, slots=True, order=True)
class Conversation:
    """The unit of order: turns of one conversation run one at a time, in order of arrival."""

    space: SpaceId
    name: str

    def __str__(self) -> str:
        return f"{self.space}/{self.name}"


@dataclass(frozen=True, slots=True, order=True)
class StepRef:
    """One step of one turn. As text, `turn:number`, it is also the idempotency key of the effect that the step intends."""

    turn: TurnId
    n: int

    def __str__(self) -> str:
        return f"{self.turn}:{self.n}"

    @property
    def key(self) -> Key:
        return Key(str(self))

    @classmethod
    def parse(cls, text: str) -> "StepRef":
        turn, _, n = text.rpartition(":")
        if not turn or not n.isdecimal() or len(n) > MOST_DIGITS:
            raise ValueError(f"{text[:80]!r} is not a step; expected TURN:NUMBER, such as t01jx:4")
        return cls(TurnId(turn), int(n))
