"""ORDER BY: by a column, named by its alias or written again, or by anything else that a match knows. Rows that stand for several matches
(distinct, counted) have nothing but their columns. What is unknown comes last, or first where the order is descending."""

from typing import Any, Protocol

from daimon.memory.graph import tree, values
from daimon.memory.graph.evaluate import Evaluator, Kind, Match, Meaning
from daimon.memory.graph.lexer import wrong
from daimon.memory.graph.plan import is_count


class Sorted(Protocol):
    cells: list[Any]
    order: tuple[Any, ...]


class Sorting:
    def __init__(self, evaluator: Evaluator, query: tree.Query, kinds: list[Kind]) -> None:
        self._places: list[int] = []
        """Of each key: which column, or how far from the end of a row's own keys, as a negative number."""
        self._descending = [order.is_descending for order in query.order]
        self._others: list[Meaning] = []
        is_merged = query.is_distinct or any(is_count(column.expression) for column in query.columns)
        for order in query.order:
            place = _column(query, order.by)
            if place is None and is_merged:
                raise wrong(evaluator.query, order.by.at, "this is no column of the answer", "add it to RETURN, or order by a column")
            meaning = evaluator.meaning(order.by) if place is None else None
            if (kinds[place] if place is not None else meaning.kind if meaning else "value") != "value":
                raise wrong(evaluator.query, order.by.at, "nodes, edges and paths have no order", "order by a property, like n.name")
            if meaning is not None:
                self._others.append(meaning)
            self._places.append(place if place is not None else -len(self._others))

    def keys(self, match: Match) -> tuple[Any, ...]:
        """Of a row: what it is ordered by and does not show."""
        return tuple(meaning.of(match) for meaning in self._others)

    def sort(self, rows: list[Any]) -> None:
        for place, is_descending in reversed(list(zip(self._places, self._descending, strict=True))):
            rows.sort(key=lambda row, at=place: values.place(_value(row, at)), reverse=is_descending)  # type: ignore[misc]


def _value(row: Sorted, place: int) -> Any:
    return row.cells[place] if place >= 0 else row.order[-place - 1]


def _column(query: tree.Query, by: tree.Expression) -> int | None:
    for i, column in enumerate(query.columns):
        if by in (column.expression, tree.Variable(column.name)):
            return i
    return None
