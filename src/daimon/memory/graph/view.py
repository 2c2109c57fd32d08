"""What one question may see of the graph: nodes of one space and principal that hold, and edges that hold and are valid now.

All SQL of a query is in here: a few statements, always the same, with everything that the query says bound as a value. Neighbours are
fetched for many nodes at once and kept for the length of the question; so are the rows of nodes and edges that were looked at.

The view also knows when to stop. After its time SQLite interrupts the statement that is running (a progress handler), and `tick` stops the
loops outside. Both show as `Late`.
"""

import json
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Self

import apsw

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import Label, join
from daimon.memory.graph.claims import label_of
from daimon.memory.moments import micros

Direction = Literal["out", "in", "both"]
_CHUNK = 500
_INSTRUCTIONS = 20_000
"""Of SQLite, between two looks at the clock."""
_TICKS = 512
MANY = 500


class Late(Exception):
    """The time is over."""


class NodeRow(NamedTuple):
    n: int
    kind: str
    name: str
    properties: str
    label: str


class EdgeRow(NamedTuple):
    n: int
    src: int
    type: str
    dst: int
    properties: str
    confidence: float
    since: int | None
    until: int | None
    label: str


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge of a pattern, as it is walked: away from `out`, against `in`, or along `both` ways."""

    direction: Direction
    types: tuple[str, ...]

    def reversed(self) -> "Hop":
        turned: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}
        return Hop(turned[self.direction], self.types)


_VALID = "e.ended_at IS NULL AND (e.since IS NULL OR e.since <= ?2) AND (e.until IS NULL OR e.until > ?2)"
_TYPED = ("?3 IS NOT NULL", "e.type = ?3", "e.type IN (SELECT value FROM json_each(?3))")
"""Of any type, of one, of several."""
_NEIGHBOURS = {
    (far, types): f"""
        SELECT e.{near}, e.n, e.{far} FROM json_each(?1) AS f CROSS JOIN edges AS e ON e.{near} = f.value
        WHERE {_VALID} AND {_TYPED[types]}
    """
    for near, far in (("src", "dst"), ("dst", "src"))
    for types in (0, 1, 2)
}
_CROWDS = {
    "out": "SELECT count(*) FROM (SELECT 1 FROM edges WHERE src = ? LIMIT ?)",
    "in": "SELECT count(*) FROM (SELECT 1 FROM edges WHERE dst = ? LIMIT ?)",
}
_NODE, _EDGE = ", ".join(NodeRow._fields), ", ".join(EdgeRow._fields)
_MINE = f"SELECT {_NODE} FROM nodes WHERE space = ?1 AND principal = ?2 AND ended_at IS NULL"
_NAMED = ("?3 IS NOT NULL", "name = ?3", "name IN (SELECT value FROM json_each(?3))")
_KIND = ("?4 IS NOT NULL", "kind IN (SELECT value FROM json_each(?4))")
_SCANS = {(names, kinds): f"{_MINE} AND {_NAMED[names]} AND {_KIND[kinds]}" for names in (0, 1, 2) for kinds in (False, True)}
_NODES = f"SELECT {_NODE} FROM nodes WHERE n IN (SELECT value FROM json_each(?))"
_EDGES = f"SELECT {_EDGE} FROM edges WHERE n IN (SELECT value FROM json_each(?))"
_LABELS = (
    "SELECT DISTINCT label FROM nodes WHERE n IN (SELECT value FROM json_each(?))",
    "SELECT DISTINCT label FROM edges WHERE n IN (SELECT value FROM json_each(?))",
)


class View:
    def __init__(self, connection: apsw.Connection, space: SpaceId, principal: PrincipalId, now: datetime, timeout_s: float) -> None:
        self._connection = connection
        self._whose = (str(space), str(principal))
        self._now = micros(now)
        self._deadline = time.monotonic() + timeout_s
        self._ticks = 0
        self._nodes: dict[int, NodeRow] = {}
        self._edges: dict[int, EdgeRow] = {}
        self._neighbours: dict[Hop, dict[int, list[tuple[int, int]]]] = {}

    def __enter__(self) -> Self:
        self._connection.set_progress_handler(self._is_late, _INSTRUCTIONS, id=self)
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.set_progress_handler(None, id=self)

    def tick(self) -> None:
        """Called by every loop. Raises Late."""
        self._ticks += 1
        if self._ticks % _TICKS == 0 and self._is_late():
            raise Late

    def scan(self, names: Collection[str] | None, kinds: Collection[str] | None) -> Iterator[NodeRow]:
        """Nodes of these names and kinds; None: of all."""
        name, number = _bound(None if names is None else sorted(names))
        statement, values = _SCANS[number, kinds is not None], (*self._whose, name, json.dumps(sorted(kinds or ())))
        try:
            for row in self._connection.execute(statement, values):
                yield self._nodes.setdefault(row[0], NodeRow(*row))
        except apsw.InterruptError as late:
            raise Late from late

    def around(self, nodes: Collection[int], hop: Hop) -> dict[int, list[tuple[int, int]]]:
        """For each of these nodes (and maybe others) the edges at it that the hop may take, each with the node at its other end."""
        known = self._neighbours.setdefault(hop, {})
        missing = [n for n in nodes if n not in known]
        for i in range(0, len(missing), _CHUNK):
            self._fetch(missing[i : i + _CHUNK], hop, known)
        return known

    def crowd(self, n: int, hop: Hop) -> int:
        """About how many edges there are at a node, as far as it matters: no more than `MANY` are counted."""
        sides = [_CROWDS[hop.direction]] if hop.direction != "both" else [_CROWDS["out"], _CROWDS["in"]]
        return sum(count for statement in sides for (count,) in self._rows(statement, (n, MANY)))

    def node(self, n: int) -> NodeRow:
        if n not in self._nodes:
            self.load([n])
        return self._nodes[n]

    def edge(self, n: int) -> EdgeRow:
        if n not in self._edges:
            self.load_edges([n])
        return self._edges[n]

    def load(self, nodes: Collection[int]) -> None:
        """Their rows, all at once."""
        if missing := [n for n in nodes if n not in self._nodes]:
            self._nodes.update((row[0], NodeRow(*row)) for row in self._rows(_NODES, (json.dumps(missing),)))

    def load_edges(self, edges: Collection[int]) -> None:
        if missing := [n for n in edges if n not in self._edges]:
            self._edges.update((row[0], EdgeRow(*row)) for row in self._rows(_EDGES, (json.dumps(missing),)))

    def label(self, nodes: Collection[int], edges: Collection[int]) -> Label:
        """Of all these together; at least one."""
        stored = _labels(nodes, self._nodes) | _labels(edges, self._edges)
        for statement, ns, rows in ((_LABELS[0], nodes, self._nodes), (_LABELS[1], edges, self._edges)):
            if missing := [n for n in ns if n not in rows]:
                stored.update(text for (text,) in self._rows(statement, (json.dumps(missing),)))
        return join(map(label_of, sorted(stored)))

    def _fetch(self, nodes: list[int], hop: Hop, known: dict[int, list[tuple[int, int]]]) -> None:
        types, number = _bound(hop.types or None)
        values = (json.dumps(nodes), self._now, types)
        known.update((n, []) for n in nodes)
        if hop.direction in ("out", "both"):
            for near, edge, far in self._rows(_NEIGHBOURS["dst", number], values):
                known[near].append((edge, far))
        if hop.direction in ("in", "both"):
            for near, edge, far in self._rows(_NEIGHBOURS["src", number], values):
                # A loop was already met on the way out.
                if near != far or hop.direction == "in":
                    known[near].append((edge, far))

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        try:
            return self._connection.execute(statement, values).fetchall()
        except apsw.InterruptError as late:
            raise Late from late

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


def _labels(ns: Collection[int], rows: Mapping[int, NodeRow] | Mapping[int, EdgeRow]) -> set[str]:
    """Those of rows that are here already."""
    return {rows[n].label for n in ns if n in rows}


def _bound(words: Collection[str] | None) -> tuple[str, int]:
    """Words as one value, and which statement takes it: that for any, for one, or for several."""
    if words is None:
        return "", 0
    return ("".join(words), 1) if len(words) == 1 else (json.dumps([*words]), 2)
