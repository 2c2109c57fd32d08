"""Which items have no vector of a model, and the texts that one is made of. Functions on the memory file; they block.

An item has two: of itself (`own`), and of itself behind the message before it (`context`). Only what holds is embedded.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from daimon.memory import wording
from daimon.memory.matrix import ASPECTS
from daimon.memory.moments import moment

_ITEMS = """
    SELECT i.n, i.at, i.speaker, i.text, p.at, p.speaker, p.text
    FROM items i LEFT JOIN items p ON p.n = i.previous AND p.is_deleted = 0
    WHERE i.ended_at IS NULL AND i.is_deleted = 0 AND i.text <> ''
        AND (SELECT count(*) FROM vectors v WHERE v.n = i.n AND v.model = ?) < 2
"""


@dataclass(frozen=True, slots=True)
class Unembedded:
    n: int
    texts: tuple[str, str]
    """In the order of `ASPECTS`. The same where there is no message before."""


def within(connection: apsw.Connection, model: str, lowest: int, highest: int, limit: int) -> list[Unembedded]:
    """The newest first, of a range of numbers."""
    found = connection.execute(f"{_ITEMS} AND i.n BETWEEN ? AND ? ORDER BY i.n DESC LIMIT ?", (model, lowest, highest, limit))
    return [_worded(*row) for row in found]


def newest(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT ifnull(max(n), 0) FROM items").get)


def store(connection: apsw.Connection, model: str, made: Iterable[tuple[Unembedded, tuple[bytes, bytes]]]) -> int:
    """How many items have got their vectors. One that has changed meanwhile gets none: they would be of words that are no longer there."""
    stored = 0
    with connection:
        for item, vectors in made:
            if within(connection, model, item.n, item.n, 1) == [item]:
                rows = [(item.n, aspect, model, vector) for aspect, vector in zip(ASPECTS, vectors, strict=True)]
                connection.executemany("INSERT OR REPLACE INTO vectors (n, aspect, model, vector) VALUES (?, ?, ?, ?)", rows)
                stored += 1
    return stored


def _worded(n: int, at: int, speaker: str, text: str, *before: int | str | None) -> Unembedded:
    then, who, said = before
    own = wording.own(moment(at), speaker, text)
    previous = wording.own(moment(then), str(who), str(said)) if isinstance(then, int) else ""
    return Unembedded(n, (own, wording.context(previous, own)))
