"""Which items have no vector of a model, and the texts that one is made of. Functions on the memory file; they block.

An item has one, `own`: of its text alone (`wording.py` says why). Only what holds is embedded.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

_ITEMS = """
    SELECT i.n, i.text FROM items i
    WHERE i.ended_at IS NULL AND i.is_deleted = 0 AND i.text <> ''
        AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.n = i.n AND v.model = ?)
"""


@dataclass(frozen=True, slots=True)
class Unembedded:
    n: int
    text: str


def within(connection: apsw.Connection, model: str, lowest: int, highest: int, limit: int) -> list[Unembedded]:
    """The newest first, of a range of numbers."""
    found = connection.execute(f"{_ITEMS} AND i.n BETWEEN ? AND ? ORDER BY i.n DESC LIMIT ?", (model, lowest, highest, limit))
    return [Unembedded(int(n), str(text)) for n, text in found]


def newest(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT ifnull(max(n), 0) FROM items").get)


def store(connection: apsw.Connection, model: str, made: Iterable[tuple[Unembedded, bytes]]) -> int:
    """How many items have got their vector. One that has changed meanwhile gets none: it would be of words that are no longer there."""
    stored = 0
    with connection:
        for item, vector in made:
            if within(connection, model, item.n, item.n, 1) == [item]:
                row = (item.n, "own", model, vector)
                connection.execute("INSERT OR REPLACE INTO vectors (n, aspect, model, vector) VALUES (?, ?, ?, ?)", row)
                stored += 1
    return stored
