"""The words of items that are not over. A projection of the rows: what stands in it can be made again from them.

FTS5 keeps no text here, but its segments hold the words themselves. Removing a row only hides them; `rewrite` makes new segments without
them, so that after a deletion they are not in the bytes of the file either.

New words are gathered and written at the end of the transaction, but also at every savepoint, and SQLite makes one for each statement that
could fail halfway: one with RETURNING, or one that changes rows of an unknown number. So what happens for every message does without such,
or there would be a segment for every message.
"""

import apsw

from daimon.memory import wording
from daimon.memory.moments import moment


def add(connection: apsw.Connection, n: int) -> None:
    at, speaker, text, previous = connection.execute("SELECT at, speaker, text, previous FROM items WHERE n = ?", (n,)).get
    write(connection, n, wording.own(moment(at), speaker, text), previous)


def write(connection: apsw.Connection, n: int, own: str, previous: int | None) -> None:
    """What `add` would read of a row, for whoever has just made it."""
    said = previous and connection.execute("SELECT speaker, text FROM items WHERE n = ? AND is_deleted = 0", (previous,)).get
    before = wording.before(*said) if said else ""
    connection.execute("INSERT INTO words (rowid, own, before) VALUES (?, ?, ?)", (n, own, before))


def remove(connection: apsw.Connection, n: int) -> None:
    """Also what was embedded of it."""
    connection.execute("DELETE FROM words WHERE rowid = ?", (n,))
    connection.execute("DELETE FROM vectors WHERE n = ?", (n,))


def rewrite(connection: apsw.Connection) -> None:
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")
