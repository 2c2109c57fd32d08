"""Which rows a question is about at all: conditions on `items`, looked at before anything is ranked."""

import json
from dataclasses import dataclass
from typing import Any

import apsw

from daimon.abi.memory import Query
from daimon.memory.items import sane
from daimon.memory.moments import micros

_SPARE = 4
"""One in so many may be out of scope before more is looked at."""


@dataclass(frozen=True, slots=True)
class Scope:
    where: str
    """On `items`; made of literals of this package."""
    values: tuple[Any, ...]

    def among(self, connection: apsw.Connection) -> list[int]:
        """All of them."""
        return [n for (n,) in connection.execute(f"SELECT n FROM items WHERE {self.where}", self.values)]

    def of(self, connection: apsw.Connection, found: list[tuple[int, float]], enough: int) -> list[tuple[int, float]]:
        """Those of what was found that belong to it, in the same order; all of them, or at least enough.

        Mostly nearly all belong, so of a list that is longer than needed the beginning is looked at first.
        """
        kept: list[tuple[int, float]] = []
        first = enough + enough // _SPARE
        for part in (found[:first], found[first:]):
            if part and len(kept) < enough:
                kept += self._of(connection, part)
        return kept

    def _of(self, connection: apsw.Connection, found: list[tuple[int, float]]) -> list[tuple[int, float]]:
        numbers = json.dumps([n for n, _ in found])
        asked = f"SELECT n FROM (SELECT value AS wanted FROM json_each(?)) CROSS JOIN items ON n = wanted WHERE {self.where}"
        there = {n for (n,) in connection.execute(asked, (numbers, *self.values))}
        return [(n, score) for n, score in found if n in there]


def scope(query: Query) -> Scope:
    where = ["space = ? AND principal = ? AND ended_at IS NULL AND is_deleted = 0"]
    values: list[Any] = [query.space, query.principal]
    for condition, given in (
        (f"kind IN ({_marks(query.kinds)})", query.kinds),
        ("at >= ?", () if query.since is None else (micros(query.since),)),
        ("at <= ?", () if query.until is None else (micros(query.until),)),
        ("n IN (SELECT n FROM origins WHERE source = ?)", (sane(query.source),) if query.source else ()),
        ("conversation = ?", () if query.conversation is None else (sane(query.conversation),)),
        (
            "items.id NOT IN (SELECT value FROM json_each(?))",
            (json.dumps([sane(id_) for id_ in sorted(query.without)]),) * bool(query.without),
        ),
        ("turn <> ?", (sane(query.turn),) if query.turn else ()),
    ):
        if given:
            where.append(condition)
            values += given
    if query.trusted_only:
        where.append("is_trusted = 1")
    return Scope(" AND ".join(where), tuple(values))


def _marks(given: tuple[str, ...]) -> str:
    return ", ".join("?" * len(given))
