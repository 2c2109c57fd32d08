"""Where a value came from and who may see it.

A label has two halves. *Origins* say whose words are in the value; they are joined by union, so influence is never forgotten.
*Readers* say which principals may see it; they are joined by intersection, so secrecy is never forgotten either. `None` as
readers means anyone.

The invariant: a label is never dropped. A value read back without one is `UNLABELLED`: a stranger's words, for the owner only.
This module knows no rules; what a label permits is decided in `policy`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, reduce

from daimon.abi.ids import OWNER, PrincipalId


class Author(StrEnum):
    """Who may have written a value, from most to least trusted."""

    OWNER = "owner"
    SERVICE = "service"
    AGENT = "agent"
    LIMITED = "limited"
    """A stranger, but no words of theirs: only a number, a date, a yes or no, or one of the options that were given."""
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    author: Author
    source: str
    """Where the words were found: `terminal`, `mail:bob@x.org`, `web:example.org`, `tool:now`."""

    def __str__(self) -> str:
        return f"{self.author}@{self.source}"


@dataclass(frozen=True, slots=True)
class Label:
    """Make one with `Label.of`, which keeps origins and readers sorted, so that equal labels have equal bytes."""

    origins: tuple[Origin, ...]
    readers: tuple[PrincipalId, ...] | None = None

    @classmethod
    def of(cls, *origins: Origin, readers: Iterable[PrincipalId] | None = None) -> "Label":
        return cls(tuple(sorted(set(origins))), None if readers is None else tuple(sorted(set(readers))))

    @property
    def is_trusted(self) -> bool:
        return bool(self.origins) and all(o.author in (Author.OWNER, Author.SERVICE) for o in self.origins)

    @property
    def is_limited(self) -> bool:
        """Not trusted, and yet nobody's words could have talked a model into anything: strangers only gave closed answers."""
        return not self.is_trusted and bool(self.origins) and all(o.author in _WORDLESS for o in self.origins)

    def limited(self) -> "Label":
        """The label of a closed answer about a value with this one."""
        return Label.of(*(o if o.author in _WORDLESS else Origin(Author.LIMITED, o.source) for o in self.origins), readers=self.readers)

    def may_be_read_by(self, principal: PrincipalId) -> bool:
        return self.readers is None or principal in self.readers

    def joined(self, other: "Label") -> "Label":
        return Label.of(*self.origins, *other.origins, readers=_common(self.readers, other.readers))


_WORDLESS = (Author.OWNER, Author.SERVICE, Author.LIMITED)

UNLABELLED = Label.of(Origin(Author.STRANGER, "unknown"), readers=(OWNER,))
"""What a missing label means."""

EMPTY = Label((), None)
"""The label of nothing: neutral in a join. A value of its own never has it."""


@lru_cache(256)
def owned(source: str) -> Label:
    """The label of the owner's own words, private to the owner."""
    return Label.of(Origin(Author.OWNER, source), readers=(OWNER,))


def stated(label: Label | None) -> Label:
    """What a label that was stored, or handed over, says. One that names nobody says nothing, and would pass for neutral in a join."""
    return label if label is not None and label.origins else UNLABELLED


def join(labels: Iterable[Label]) -> Label:
    """The label of a value made of all these. Of none at all: unlabelled."""
    return reduce(Label.joined, labels, EMPTY) if (labels := tuple(labels)) else UNLABELLED


def _common(a: tuple[PrincipalId, ...] | None, b: tuple[PrincipalId, ...] | None) -> Iterable[PrincipalId] | None:
    if a is None:
        return b
    return a if b is None else set(a) & set(b)
