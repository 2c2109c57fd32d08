"""Databases of a home, copied while others write to them: SQLite's online backup, on a connection of our own.

A read transaction is opened first and held to the end. In WAL mode it sees one moment, whatever is written meanwhile, and hinders nobody;
only the log cannot be emptied while it lasts, and so grows a little. What is counted is counted in the same transaction, so the figures
belong to the copy. The connection is read-only: it neither mends nor tidies a file that a killed process left behind.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from daimon.abi.errors import DaimonError, JournalDamaged, JournalFailed
from daimon.backup.manifest import Journal
from daimon.journal.opening import last_position
from daimon.journal.schema import APPLICATION_ID
from daimon.journal.writer import explain

PAGES = 1_024
"""At a time, so that whoever interrupts is heard."""
BUSY_MS = 10_000
_COUNTED = """SELECT (SELECT COUNT(*) FROM events), (SELECT COUNT(*) FROM turns), (SELECT COUNT(*) FROM steps),
    (SELECT COUNT(*) FROM erasures), (SELECT COUNT(*) FROM turns WHERE state IN ('running', 'parked')),
    (SELECT COUNT(*) FROM outbox WHERE state IN ('queued', 'sending'))"""


def copy(source: Path, to: Path) -> Journal | None:
    """One database; figures if it is the journal. Raises JournalFailed, or OSError where the disk is full."""
    with snapshot(source) as held:
        counted = journal_in(held) if source.name == "journal.db" else None
        made = apsw.Connection(str(to))
        try:
            made.pragma("synchronous", "off")  # the archive is what is brought to the disk
            with made.backup("main", held, "main") as pages:
                while not pages.done:
                    pages.step(PAGES)
        finally:
            made.close()
    return counted


@contextmanager
def snapshot(source: Path) -> Iterator[apsw.Connection]:
    """One moment of a database. Raises JournalFailed in words, whichever database it is."""
    try:
        connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_MS)
            connection.execute("BEGIN")
            connection.execute("SELECT COUNT(*) FROM sqlite_schema").get  # noqa: B018 - the moment is taken by the first read
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise sentence(source, error) from error


@contextmanager
def immutable(path: Path) -> Iterator[apsw.Connection]:
    """A copy that nobody writes to: nothing is made beside it."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(f"file:{quote(str(path))}?mode=ro&immutable=1", flags=flags)
        try:
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise sentence(path, error) from error


def journal_in(connection: apsw.Connection) -> Journal:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise JournalDamaged("journal.db is a database of another program")
    counted: list[Any] = connection.execute(_COUNTED).fetchall()
    return Journal(last_position(connection), *counted[0])


def layers_in(index: Path) -> frozenset[tuple[str, str]]:
    with immutable(index) as connection:
        return layers_of(connection)


def layers_of(index: apsw.Connection) -> frozenset[tuple[str, str]]:
    """Families and names of the layers that an index names."""
    rows = index.execute(
        "SELECT family, name FROM layers UNION SELECT family, live FROM workspaces UNION SELECT family, layer FROM generations"
    )
    return frozenset((str(family), str(name)) for family, name in rows)


def sentence(path: Path, error: apsw.Error) -> DaimonError:
    failure: JournalFailed = explain(error)
    if path.name == "journal.db":
        return type(failure)(f"{path}: {failure}")
    return type(failure)(f"{path}: {error}; a start without it rebuilds it or says what to do")
