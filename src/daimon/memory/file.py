"""The memory file: opened, made, and brought further, always in one transaction with the cursor.

Nothing here is the only copy, so `synchronous` is NORMAL: after a power cut the last transactions may be gone, but together with their
cursor, and are applied again. Application id and `user_version` tell whose file it is and of which schema; `aside.py` looks at them first.

One change that cannot be applied does not stop those after it, or memory would stay dead: the journal says the same at every start. It is
left out, as a whole, and said.

What is deleted is overwritten (`secure_delete`), and the write-ahead log, which would still hold it, is emptied afterwards; a kill between
the two is made up for at the next opening. Files that were moved aside before a deletion may hold what it deletes, and go.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from daimon.abi.ports import START, Change, Cursor, Erasure
from daimon.abi.step import Step
from daimon.memory.apply import Turns, apply, is_deletion
from daimon.memory.aside import remove_older
from daimon.memory.graph.schema import TABLES as GRAPH_TABLES
from daimon.memory.items import sane
from daimon.memory.moments import micros
from daimon.memory.schema import APPLICATION, SCHEMA, TABLES

FAULTS = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    apsw.ConstraintError, apsw.MismatchError, apsw.RangeError, apsw.TooBigError,
)  # fmt: skip
"""Of one change: it would be the same the next time. Not those of the file or the disk."""


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
            connection.execute("INSERT INTO position (one, cursor) VALUES (1, ?)", (START,))
            connection.pragma("application_id", APPLICATION)
            connection.pragma("user_version", SCHEMA)
    empty_log(connection)
    return connection


def cursor(connection: apsw.Connection) -> Cursor:
    return Cursor(str(connection.execute("SELECT cursor FROM position").get))


def is_of(connection: apsw.Connection, since: Callable[[Cursor], list[Change]]) -> bool:
    """Does the journal hold what was applied last, where it was? `since` gives the next change after a cursor."""
    at, before, name = connection.execute("SELECT cursor, before, name FROM position").get
    return at == START or not name or [(change.cursor, _name(change)) for change in since(Cursor(before))] == [(at, name)]


def _name(change: Change) -> str:
    match change.item:
        case Step(ref=ref):
            return str(ref)
        case Erasure(turn=turn, at=when):
            return f"{turn} {micros(when)}"
        case item:
            return sane(item.id)


def advance(connection: apsw.Connection, changes: list[Change], turns: Turns) -> list[str]:
    """Applies these changes, all or none. One that is there already, by its cursor, is passed over. Says what was left out."""
    left_out: list[str] = []
    try:
        must_empty = _apply(connection, changes, lambda new: apply(connection, new, turns))
    except FAULTS:
        must_empty = _apply(connection, changes, lambda new: True in [_alone(connection, change, turns, left_out) for change in new])
    if must_empty:
        empty_log(connection)
        remove_older(Path(connection.filename), max(change.item.at for change in changes if is_deletion(change.item)))
    return left_out


def _apply(connection: apsw.Connection, changes: list[Change], work: Callable[[list[Change]], bool]) -> bool:
    with _transaction(connection):
        new = {change.cursor: change for change in changes}
        new.pop(cursor(connection), None)
        deletes = work(list(new.values()))
        if new:
            before = [cursor(connection), *new][-2]
            connection.execute("UPDATE position SET cursor = ?, before = ?, name = ?", (changes[-1].cursor, before, _name(changes[-1])))
    return deletes


def _alone(connection: apsw.Connection, change: Change, turns: Turns, left_out: list[str]) -> bool:
    deletes = False
    try:
        with connection:
            deletes = apply(connection, [change], turns)
    except FAULTS as fault:
        what = f"{type(change.item).__name__} at {change.cursor} of the journal ({type(fault).__name__})"
        left_out.append(f"memory could not take in the {what} and goes on without it; the journal has it. Please report this")
    return deletes


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
