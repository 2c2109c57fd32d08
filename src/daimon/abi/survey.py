"""What memory holds, to look over: how much of what, page by page, from where, about whom.

A question about one thing is answered by `Memory`; this is for somebody who does not know yet what there is. All of it is the owner's, and
nothing is changed by looking. Lists come in pages: `next` is what to ask for as `after`, and empty at the end.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import JsonValue

from daimon.abi.label import Label
from daimon.abi.memory import Item, Kind
from daimon.abi.plain import Moment

Standing = Literal["holds", "over", "any"]
"""Of what is listed: what holds or stands beside it as disputed, what is history, or both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    kinds: tuple[Kind, ...] = ()
    """Empty: all."""
    standing: Standing = "holds"
    subject: str = ""
    source: str = ""
    """Only what came from there, as labels name it."""
    after: str = ""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Listed:
    """The newest first."""

    items: tuple[Item, ...]
    total: int
    """Of all pages."""
    next: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    holding: dict[Kind, int] = field(default_factory=dict)
    over: dict[Kind, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spring:
    """A source that labels name, with how much came from there."""

    source: str
    label: Label
    """Who speaks there, as one of the items says it."""
    items: int
    newest_at: Moment


@dataclass(frozen=True, slots=True)
class Thing:
    """Somebody or something by name: a subject of facts, a node of the graph, or both."""

    name: str
    kinds: tuple[str, ...]
    """Of nodes of this name; empty: only facts know of it."""
    facts: int
    relations: int


@dataclass(frozen=True, slots=True)
class Things:
    things: tuple[Thing, ...]
    is_cut: bool = False
    """There are more; ask for a part of the name."""


@dataclass(frozen=True, slots=True)
class Said:
    """A node of this name: what is said of it."""

    kind: str
    properties: dict[str, JsonValue]
    label: Label
    source: str
    at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    is_from: bool
    """From the thing to the other; else the other way."""
    type: str
    kind: str
    """Of the other."""
    name: str
    properties: dict[str, JsonValue]
    confidence: float
    since: Moment | None
    until: Moment | None
    label: Label
    source: str
    at: Moment


@dataclass(frozen=True, slots=True)
class Portrait:
    """One thing with what is known of it and what it belongs to."""

    name: str
    nodes: tuple[Said, ...]
    relations: tuple[Relation, ...]
    is_cut: bool
    """There are more relations."""
    facts: tuple[Item, ...]
    """That hold, the newest first."""


@dataclass(frozen=True, slots=True)
class Turned:
    """A moment at which something kept on purpose began or ended."""

    at: Moment
    before: Moment
    """Rewinding to this takes it back, with all that came later."""
    did: Literal["kept", "superseded", "disputed", "forgotten", "rewound"]
    item: Item


class Survey(Protocol):
    async def counts(self) -> Counts: ...

    async def listed(self, listing: Listing) -> Listed: ...

    async def springs(self) -> tuple[Spring, ...]:
        """Those with the most items first."""
        ...

    async def things(self, text: str, limit: int) -> Things:
        """With this text in their name; empty: all."""
        ...

    async def portrait(self, name: str) -> Portrait:
        """Raises NotFound where nothing has this name."""
        ...

    async def turned(self, limit: int) -> tuple[Turned, ...]:
        """The newest first."""
        ...
