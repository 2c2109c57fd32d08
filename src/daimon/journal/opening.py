"""Opening the file, carefully: the worst answer to a damaged journal is an empty one.

A home that once had a journal keeps a marker beside it; if the marker is there and the file is missing or empty, opening fails and says
so. A foreign file, one from a newer release, or one that SQLite calls corrupt fails as well. Nothing is ever repaired or recreated in
silence.
"""

import os
from pathlib import Path

import apsw

from daimon.abi.errors import JournalDamaged, JournalStopped
from daimon.journal import residue
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.journal.writer import explain

CACHE_KB = 8_000
"""Of the writer. Keys of deliveries and events are spread over the file: with less, a busy hour reads each page again and again. It is
taken as it is used, so a small journal takes little."""


def prepare(path: Path) -> apsw.Connection:
    """Opens or creates the file, checks that it is ours and whole, brings it to today's schema."""
    marker = path.with_name(path.name + ".exists")
    is_known = marker.exists()
    if is_known and (not path.exists() or path.stat().st_size == 0):
        raise JournalDamaged(
            f"the journal {path} is {'empty' if path.exists() else 'missing'}, but this home had one. Restore it from a backup; "
            f"if you really want to start anew, delete {marker}"
        )
    try:
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(residue.BUSY_MS)
        _check_identity(path, connection)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        connection.pragma("cache_size", -CACHE_KB)
        connection.pragma("wal_autocheckpoint", 4_000)
        connection.pragma("journal_size_limit", 64 * 1024 * 1024)
        _migrate(path, connection)
        residue.clean(connection)
        last_position(connection)  # reads where damage would hurt first
    except apsw.Error as error:
        failure = explain(error)
        raise type(failure)(f"{path}: {failure}") from error
    if not is_known:
        _write_marker(marker)
    return connection


def _check_identity(path: Path, connection: apsw.Connection) -> None:
    if connection.pragma("application_id") == 0 and connection.execute("SELECT COUNT(*) FROM sqlite_schema").get == 0:
        connection.pragma("application_id", APPLICATION_ID)
    if connection.pragma("application_id") != APPLICATION_ID:
        raise JournalDamaged(f"{path} is a database of another program; move it away or choose another --home")
    if (version := connection.pragma("user_version")) > len(MIGRATIONS):
        raise JournalDamaged(
            f"{path} has format {version}, this release knows up to {len(MIGRATIONS)}: a newer Daimon wrote it. Update, then start again"
        )


def _migrate(path: Path, connection: apsw.Connection) -> None:
    if connection.readonly("main"):
        raise JournalStopped(f"the journal {path} cannot be written: the file or its file system is read-only")
    for version in range(connection.pragma("user_version"), len(MIGRATIONS)):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(MIGRATIONS[version])
        connection.pragma("user_version", version + 1)
        connection.execute("COMMIT")


def rewrite_version(connection: apsw.Connection) -> None:
    """A write that changes nothing: it needs space all the same."""
    connection.pragma("user_version", connection.pragma("user_version"))


def last_position(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT MAX(COALESCE(MAX(pos), 0), (SELECT COALESCE(MAX(pos), 0) FROM erasures)) FROM payloads").get)


def _write_marker(marker: Path) -> None:
    marker.write_text("This home has a journal. Delete this file only to start anew after the journal was lost.\n", encoding="utf-8")
    directory = os.open(marker.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
