"""The words of items that are not over. A projection of the rows: what stands in it can be made again from them.

FTS5 keeps no text here, but its segments hold the words themselves. Removing a row only hides them; `rewrite` makes new segments without
them, so that after a deletion they are not in the bytes of the file either.
"""

import apsw

from daimon.memory import wording
from daimon.memory.moments import moment

_TEXTS = """
    SELECT i.at, i.speaker, i.text, p.speaker, p.text
    FROM items i LEFT JOIN items p ON p.n = i.previous AND p.is_deleted = 0 WHERE i.n = ?
"""


def add(connection: apsw.Connection, n: int) -> None:
    at, speaker, text, *said = connection.execute(_TEXTS, (n,)).get
    before = "" if said[0] is None else wording.before(*said)
    connection.execute("INSERT INTO words (rowid, own, before) VALUES (?, ?, ?)", (n, wording.own(moment(at), speaker, text), before))


def remove(connection: apsw.Connection, n: int) -> None:
    """Also what was embedded of it."""
    connection.execute("DELETE FROM words WHERE rowid = ?", (n,))
    connection.execute("DELETE FROM vectors WHERE n = ?", (n,))


def rewrite(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
