"""Matches become rows: as they come, each once, or counted; then in order, and no more than are wanted.

Columns beside a count say what is counted together. A row keeps what it was made of, for its label.
"""

from dataclasses import dataclass, field
from typing import Any

from daimon.memory.graph import tree
from daimon.memory.graph.evaluate import Evaluator, Kind, Match, Meaning
from daimon.memory.graph.match import Matcher
from daimon.memory.graph.plan import is_count
from daimon.memory.graph.shown import key_of
from daimon.memory.graph.sorting import Sorting
from daimon.memory.graph.view import Late


@dataclass(frozen=True, slots=True)
class Bounds:
    timeout_s: float = 2.0
    most_rows: int = 200
    most_matches: int = 200_000
    """Looked at for a count, an order or distinct rows."""


@dataclass(slots=True)
class Row:
    cells: list[Any]
    nodes: set[int] = field(default_factory=set)
    edges: set[int] = field(default_factory=set)
    order: tuple[Any, ...] = ()
    counted: list[set[object]] = field(default_factory=list)
    """For each column that counts distinct values: those."""


class Collector:
    def __init__(self, query: tree.Query, evaluator: Evaluator, bounds: Bounds) -> None:
        self._query, self._bounds = query, bounds
        self._columns = [column.expression for column in query.columns]
        self._counts = [i for i, column in enumerate(self._columns) if is_count(column)]
        self._meanings = [_meaning(evaluator, column) for column in self._columns]
        self.kinds: list[Kind] = ["value" if i in self._counts else meaning.kind for i, meaning in enumerate(self._meanings)]
        self._sorting = Sorting(evaluator, query, self.kinds)
        self._known: dict[tuple[object, ...], Row] = {}
        self._rows: list[Row] = []
        self._is_cut = False

    def run(self, matcher: Matcher) -> None:
        taken = 0
        try:
            for match in () if self._is_enough() else matcher.matches():
                if taken == self._bounds.most_matches:
                    self._is_cut = True
                    break
                taken += 1
                if (row := self._taken(match)) is not None:
                    matcher.touch(match, row.nodes, row.edges)
                if self._is_enough():
                    break
        except Late:
            self._is_cut = True

    def rows(self) -> tuple[list[Row], bool]:
        """Those that are shown, and whether there is more than may be."""
        if not self._rows and len(self._counts) == len(self._columns):
            self._rows = [Row([0] * len(self._columns))]
        self._sorting.sort(self._rows)
        wanted = self._rows[self._query.skip :][: self._query.limit]
        return wanted[: self._bounds.most_rows], self._is_cut or len(wanted) > self._bounds.most_rows

    def _is_enough(self) -> bool:
        if self._counts or self._query.order:
            return False
        most = self._bounds.most_rows + 1
        return len(self._rows) >= self._query.skip + (most if self._query.limit is None else min(most, self._query.limit))

    def _taken(self, match: Match) -> Row | None:
        """The row that the match is now part of; none, if there is such a row already, and it needs no more."""
        cells = [meaning.of(match) for meaning in self._meanings]
        if not self._counts and not self._query.is_distinct:
            self._rows.append(row := Row(cells, order=self._sorting.keys(match)))
            return row
        key = tuple(key_of(self.kinds[i], cell) for i, cell in enumerate(cells) if i not in self._counts)
        found = self._known.get(key)
        if found is not None and not self._counts:
            return None
        row = found or Row([0 if i in self._counts else cell for i, cell in enumerate(cells)], counted=[set() for _ in self._counts])
        if found is None:
            self._known[key] = row
            self._rows.append(row)
        self._count(row, cells)
        return row

    def _count(self, row: Row, cells: list[Any]) -> None:
        for i, counted in zip(self._counts, row.counted, strict=True):
            column, cell = self._columns[i], cells[i]
            assert isinstance(column, tree.Call)
            if cell is None:
                continue
            if column.is_distinct:
                counted.add(key_of(self._meanings[i].kind, cell))
                row.cells[i] = len(counted)
            else:
                row.cells[i] += 1


def _meaning(evaluator: Evaluator, column: tree.Expression) -> Meaning:
    """Of a count: of what it counts. A row counts as itself."""
    if not is_count(column):
        return evaluator.meaning(column)
    assert isinstance(column, tree.Call)
    return evaluator.meaning(column.arguments[0]) if column.arguments else Meaning("value", lambda _: True)
