"""What an agent keeps: what steps say is to be kept, what comes of it, and how it is found again.

Memory is a reading of the journal. Events and replies become the transcript by themselves; everything else is an `Operation` that a step
carries, or an amendment: what the owner changed with their own hands. Applied in the order of the journal they give the same rows every
time, so the stores can be thrown away and made again.

An item is one thing that was kept, with its receipt: where it stands in the journal, whose words it is (its label), when, how sure, what
it took the place of. What is over (forgotten, superseded, taken back) keeps its row as history until it is deleted for good.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, Protocol

from pydantic import Field, JsonValue

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.plain import Moment

# -- what steps carry --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Remember:
    text: str
    note: str
    """The id of the note."""
    on_page: bool = False
    """It stands on the page that is part of every prompt."""
    replaces: tuple[str, ...] = ()
    """Notes that it takes the place of: they become history with it, or not at all."""
    kind: Literal["remember"] = "remember"


@dataclass(frozen=True, slots=True)
class Forget:
    note: str
    """The id of any item that was kept on purpose: a note, a fact, a value."""
    kind: Literal["forget"] = "forget"


@dataclass(frozen=True, slots=True)
class Learn:
    """A fact. Of those about the same thing of the same subject the newest trusted one holds; the others are history."""

    fact: str
    """Its id."""
    subject: str
    statement: str
    about: str = ""
    """Which thing of the subject: `city`, `birthday`. Empty: facts of the subject do not contradict each other by themselves."""
    confidence: float = 1.0
    supersedes: tuple[str, ...] = ()
    source: str = ""
    """The event or step whose words these are; empty: the step that carries this."""
    span: tuple[int, int] | None = None
    """Which characters of it."""
    kind: Literal["learn"] = "learn"


@dataclass(frozen=True, slots=True)
class Put:
    key: str
    value: JsonValue
    kind: Literal["put"] = "put"


@dataclass(frozen=True, slots=True)
class Node:
    """Known by kind and name. Properties are added to what is known."""

    kind: str
    name: str
    properties: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """Between two nodes, each by (kind, name)."""

    src: tuple[str, str]
    type: str
    """As it is written in a query: `CALLS`."""
    dst: tuple[str, str]
    properties: dict[str, JsonValue] = field(default_factory=dict)
    confidence: float = 1.0
    since: Moment | None = None
    until: Moment | None = None


@dataclass(frozen=True, slots=True)
class Relate:
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    kind: Literal["relate"] = "relate"


@dataclass(frozen=True, slots=True)
class Unrelate:
    """These hold no longer. A node goes with its edges."""

    nodes: tuple[tuple[str, str], ...] = ()
    edges: tuple[Edge, ...] = ()
    kind: Literal["unrelate"] = "unrelate"


@dataclass(frozen=True, slots=True)
class Summarise:
    """In place of older turns in the window: what a model made of them. They stay in the journal."""

    turns: tuple[str, ...]
    text: str
    kind: Literal["summarise"] = "summarise"


# -- what the owner changes with their own hands ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ForgetSource:
    """Deletes for good all that came from there, and all that was made of it: every item whose label names this source."""

    source: str
    """As labels name it (`web:example.org`, `mail:bob@x.org`), an event, a turn or a step."""
    kind: Literal["forget_source"] = "forget_source"


@dataclass(frozen=True, slots=True)
class Rewind:
    """Everything that was kept on purpose becomes as it was then. What came after becomes history; what was deleted stays deleted."""

    to: Moment
    kind: Literal["rewind"] = "rewind"


@dataclass(frozen=True, slots=True)
class Import:
    """Items from an export, with their dates and labels."""

    items: tuple["Item", ...]
    kind: Literal["import"] = "import"


AmendedBy = Annotated[Remember | Forget | Learn | Put | Relate | Unrelate | ForgetSource | Rewind | Import, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A change of memory that no turn made. It stands in the journal like a step."""

    id: str
    space: SpaceId
    principal: PrincipalId
    at: Moment
    operations: tuple[AmendedBy, ...]
    label: Label = UNLABELLED
    reason: str = ""


# -- what is read back -------------------------------------------------------------------------------------------------

Kind = Literal["message", "note", "fact", "episode", "value", "summary"]
KINDS: tuple[Kind, ...] = ("message", "note", "fact", "episode", "value", "summary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    id: str
    """Of a message: the event, or the step of the reply. Of what was kept on purpose: the id that its operation gave it."""
    kind: Kind
    text: str
    at: Moment
    label: Label
    source: str
    """The event, step or amendment that holds its words in the journal."""
    span: tuple[int, int] | None = None
    conversation: str = ""
    speaker: str = ""
    subject: str = ""
    about: str = ""
    confidence: float = 1.0
    supersedes: tuple[str, ...] = ()
    on_page: bool = False
    standing: Literal["holds", "superseded", "disputed", "forgotten", "rewound"] = "holds"
    """`disputed`: somebody who may not says otherwise than the owner."""
    ended_at: Moment | None = None
    ended_by: str = ""
    """The step or amendment that did."""
    uses: int = 0
    """How often it stood in a prompt because it was recalled."""
    used_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """The notes that stand in every prompt, in order."""

    notes: tuple[Item, ...]
    most_characters: int
    left_out: tuple[str, ...] = ()
    """Notes that were meant for it and do not fit, as when two turns add to it at once."""

    @property
    def characters(self) -> int:
        return sum(len(note.text) + 1 for note in self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    space: SpaceId
    principal: PrincipalId
    text: str
    limit: int = 10
    kinds: tuple[Kind, ...] = ()
    """Empty: all."""
    since: datetime | None = None
    until: datetime | None = None
    source: str = ""
    """Only what came from there, as labels name it."""
    conversation: str | None = None
    """Only from this one."""
    without: frozenset[str] = frozenset()
    """Ids that the asker has already."""
    turn: str = ""
    """The turn that asks: what belongs to it is not looked for, or the question would be its own best answer."""
    trusted_only: bool = False
    by_itself: bool = False
    """Nobody asked for it: small talk finds nothing, and what fits far worse than the best is left out."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a hit is one: which list had it, in which place, by what."""

    by: Literal["words", "context", "meaning", "speaker", "time", "graph", "neighbour", "recent", "used"]
    rank: int
    """In that list, from 1; 0: no list, a weight of its own."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    item: Item
    score: float
    why: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Recalled:
    hits: tuple[Hit, ...]
    """The best first."""
    how: str
    """By what: `words and meaning (all-MiniLM-L6-v2)`, `words only: nobody makes vectors here`."""


class Memory(Protocol):
    """What was kept, to read. Every answer knows all that was recorded before the question."""

    async def recall(self, query: Query) -> Recalled:
        """The best matches first; an empty text gives the newest. Raises ToolFailed where the file cannot be used."""
        ...

    async def page(self, space: SpaceId, principal: PrincipalId) -> Page: ...

    async def value(self, space: SpaceId, principal: PrincipalId, key: str) -> Item | None:
        """Its text is the value as JSON."""
        ...

    async def item(self, space: SpaceId, principal: PrincipalId, id_: str) -> Item:
        """Also one that is over. Raises NotFound."""
        ...

    async def history(self, space: SpaceId, principal: PrincipalId, about: str) -> tuple[Item, ...]:
        """All that ever held of an item (by its id) or of a subject, the oldest first."""
        ...

    async def items(
        self, space: SpaceId, principal: PrincipalId, kinds: tuple[Kind, ...], after: str = "", limit: int = 500
    ) -> tuple[Item, ...]:
        """All, also what is over, in the order of their ids; the next ones come after the last id."""
        ...

    async def ask_graph(self, space: SpaceId, principal: PrincipalId, query: str) -> "Answered":
        """Raises BadInput with what is wrong in the query and where."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """What a query of the graph found."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    """A node is {"kind", "name", "properties"}, an edge {"type", "src", "dst", "properties"}, a path {"nodes", "edges"}."""
    label: Label
    """Of all that is in them."""
    is_cut: bool = False
    """There is more than the limit."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All of what was said or done at one place of the journal, as a model may see it."""

    text: str
    label: Label


class Texts(Protocol):
    async def whole(self, space: SpaceId, principal: PrincipalId, ref: str) -> Whole:
        """Of an event or a step (TURN:STEP). Raises NotFound, also for what is somebody else's, and Erased."""
        ...


# -- meaning -----------------------------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Makes vectors of texts. May take time; runs elsewhere."""

    @property
    def model(self) -> str:
        """Its id. Vectors of different models are never compared."""
        ...

    async def embed(self, texts: tuple[str, ...], what: Literal["query", "passage"]) -> tuple[bytes, ...]:
        """Little-endian float32, of unit length, all of one dimension. Raises ToolFailed if it cannot."""
        ...


class Amender(Protocol):
    """The journal, as far as it takes what the owner changes in memory."""

    async def amend(self, amendment: Amendment) -> None:
        """On disk when it returns. A second one with the same id is the first."""
        ...

    async def forget_source(self, amendment: Amendment) -> int:
        """Writes the amendment, and in the same transaction deletes the payloads that it names; how many.

        What goes: the event, the turn or the step that the source is; or every event and step whose label names it. Numbers, hashes and
        tombstones stay. Raises BadInput while a turn that would lose something is open.
        """
        ...
