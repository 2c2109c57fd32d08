"""A query, read: what the parser makes and the planner takes. `at` is where in the text a part stands: for errors, no part of equality."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import JsonValue

MOST_HOPS = 10


def _at() -> int:
    return field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literally:
    value: JsonValue
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Property:
    of: "Expression"
    key: str
    at: int = _at()


@dataclass(frozen=True, slots=True)
class HasLabel:
    of: "Expression"
    label: str
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Several:
    """A list."""

    items: tuple["Expression", ...]
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    """In small letters."""
    arguments: tuple["Expression", ...]
    """Of `count(*)`: none."""
    is_distinct: bool = False
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Compared:
    by: str
    """`=`, `<>`, `<`, `<=`, `>`, `>=`, `CONTAINS`, `STARTS WITH`, `ENDS WITH`, `IN`."""
    left: "Expression"
    right: "Expression"
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Missing:
    """IS NULL."""

    of: "Expression"
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Not:
    of: "Expression"
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Joined:
    by: Literal["AND", "OR", "XOR"]
    parts: tuple["Expression", ...]
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Quantified:
    how: Literal["ANY", "ALL", "NONE", "SINGLE"]
    name: str
    among: "Expression"
    where: "Expression"
    at: int = _at()


Expression: TypeAlias = Literally | Variable | Property | HasLabel | Several | Call | Compared | Missing | Not | Joined | Quantified


@dataclass(frozen=True, slots=True)
class NodePattern:
    variable: str
    """Empty: none."""
    labels: tuple[tuple[str, ...], ...] = ()
    """One of each."""
    properties: tuple[tuple[str, JsonValue], ...] = ()
    at: int = _at()


@dataclass(frozen=True, slots=True)
class EdgePattern:
    variable: str
    types: tuple[str, ...]
    """Empty: any."""
    direction: Literal["out", "in", "both"]
    """As it is written, from left to right."""
    least: int = 1
    most: int = 1
    is_many: bool = False
    """Written with a star: its variable is a list."""
    properties: tuple[tuple[str, JsonValue], ...] = ()
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Pattern:
    """Nodes with edges between them: one more node than edges."""

    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...]
    path: str = ""
    is_shortest: bool = False
    at: int = _at()


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Order:
    by: Expression
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    patterns: tuple[Pattern, ...]
    where: Expression | None
    columns: tuple[Column, ...]
    is_distinct: bool = False
    order: tuple[Order, ...] = ()
    skip: int = 0
    limit: int | None = None
