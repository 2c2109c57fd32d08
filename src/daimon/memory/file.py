"""The memory file: opened, made, and brought further, always in one transaction with the cursor.

Nothing here is the only copy, so `synchronous` is NORMAL: after a power cut the last transactions may be gone, but together with their
cursor, and are applied again. Application id and `user_version` tell whose file it is and of which schema; `aside.py` looks at them first.

What is deleted is overwritten (`secure_delete`), and the write-ahead log, which would still hold it, is emptied afterwards; a kill between
the two is made up for at the next opening.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from daimon.abi.ports import START, Change, Cursor
from daimon.memory.apply import Turns, apply
from daimon.memory.graph.schema import TABLES as GRAPH_TABLES
from daimon.memory.schema import APPLICATION, SCHEMA, TABLES


def connect(path: Path) -> apsw.Connection:
    """The file must be sound, empty or absent."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(2_000)
    # One at a time: of several statements in one text only those up to the first that gives a row would run.
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("secure_delete", True)
    connection.transaction_mode = "IMMEDIATE"
    with connection:
        if connection.pragma("user_version") == 0:
            connection.execute(TABLES)
            connection.execute(GRAPH_TABLES)
            connection.execute("INSERT INTO position VALUES (1, ?)", (START,))
            connection.pragma("application_id", APPLICATION)
            connection.pragma("user_version", SCHEMA)
    empty_log(connection)
    return connection


def cursor(connection: apsw.Connection) -> Cursor:
    return Cursor(str(connection.execute("SELECT cursor FROM position").get))


def advance(connection: apsw.Connection, changes: list[Change], turns: Turns) -> None:
    """Applies these changes, all or none. One that is there already, by its cursor, is passed over."""
    with _transaction(connection):
        new = {change.cursor: change for change in changes}
        new.pop(cursor(connection), None)
        must_empty = apply(connection, list(new.values()), turns)
        connection.execute("UPDATE position SET cursor = ?", (changes[-1].cursor,))
    if must_empty:
        empty_log(connection)


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    """Not `with connection`: on a full disk SQLite may have rolled back by itself, and to do it again would hide why."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def empty_log(connection: apsw.Connection) -> None:
    """As far as no reader is in the way; then the next deletion, or the next opening, does it."""
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
