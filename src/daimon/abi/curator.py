"""What the owner does with memory by hand: look, ask why, correct, take back, delete.

A curator speaks for the owner alone. What it changes becomes an amendment of the journal, with the owner's label, and so is a change like
any other: it can be looked up and, but for a deletion, taken back. Whatever deletes or changes much is foreseen first: the same question,
without the deed.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from daimon.abi.memory import Answered, Item, Kind, Page, Query, Recalled
from daimon.abi.plain import Moment
from daimon.abi.survey import Survey


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the words of an item stand in the journal."""

    ref: str
    what: Literal["event", "step", "amendment"]
    at: Moment
    conversation: str = ""
    speaker: str = ""
    turn: str = ""
    text: str = ""
    """Of the part that the item names, or else the beginning of all."""
    asked: str = ""
    """Of a step: the beginning of what its turn was asked."""
    erased: str = ""
    """Why the words are gone; empty: they are not."""
    erased_at: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An item with its receipt."""

    id: str
    item: Item | None
    """None: it was deleted for good."""
    origin: Origin | None
    """None: the journal does not know it."""
    replaced: tuple[Item, ...] = ()
    """What it took the place of."""
    replaced_by: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a source is in: what would go, or went."""

    source: str
    items: dict[Kind, int] = field(default_factory=dict)
    claims: int = 0
    """Of nodes and edges of the graph."""
    payloads: int = 0
    """Of the journal: events, steps, messages, amendments."""

    @property
    def is_nothing(self) -> bool:
        return not (self.items or self.claims or self.payloads)


@dataclass(frozen=True, slots=True)
class Rewound:
    """What a rewinding would change, or changed."""

    to: Moment
    ended: tuple[Item, ...]
    returned: tuple[Item, ...]
    claims: int = 0
    """Of nodes and edges of the graph, that ended or returned."""
    undo: Moment | None = None
    """Rewinding to this takes it back."""


@dataclass(frozen=True, slots=True)
class Imported:
    new: int
    known: int
    """Left as they are here."""


class Curator(Survey, Protocol):
    async def search(self, query: Query) -> Recalled:
        """Whose it is does not matter: it is the owner's."""
        ...

    async def items(self, kinds: tuple[Kind, ...], after: str = "", limit: int = 500) -> tuple[Item, ...]:
        """All, also what is over, in the order of their ids; the next ones come after the last id."""
        ...

    async def page(self) -> Page: ...

    async def why(self, id_: str) -> Account:
        """Also of what was deleted. Raises NotFound."""
        ...

    async def history(self, about: str) -> tuple[Item, ...]:
        """All that ever held of an item or of a subject, the oldest first."""
        ...

    async def ask_graph(self, query: str) -> Answered: ...

    async def remember(self, text: str, on_page: bool) -> Item:
        """Raises BadInput where the page has no room, with what stands on it."""
        ...

    async def take_off(self, id_: str) -> Item:
        """From the page. It goes on as a note like others."""
        ...

    async def learn(self, subject: str, statement: str, about: str) -> Item: ...

    async def correct(self, id_: str, text: str, on_page: bool | None = None) -> Item:
        """Other words for a note or a fact: the owner's from now on. What there was becomes history. `on_page`: of a note, whether it
        stands there from now on; None: as before. Raises Outdated for what holds no longer, BadInput for what is neither."""
        ...

    async def bring_back(self, id_: str) -> Item:
        """What was forgotten or replaced holds again, under a new id, with its words and label. Raises BadInput for what holds."""
        ...

    async def forget(self, id_: str) -> Item:
        """It becomes history. Raises BadInput for what was not kept on purpose."""
        ...

    async def foresee_forgetting(self, source: str) -> Forgotten:
        """Raises BadInput while a turn is under way that has words from there."""
        ...

    async def forget_source(self, source: str) -> Forgotten:
        """For good, in memory and journal. Raises BadInput as above, and NotFound if nothing is from there."""
        ...

    async def foresee_rewinding(self, to: datetime) -> Rewound: ...

    async def rewind(self, to: datetime) -> Rewound: ...

    async def take_in(self, items: tuple[Item, ...], is_own: bool) -> Imported:
        """Labels are believed where the items are the owner's own; else they are a stranger's besides. Known ids are left alone."""
        ...
