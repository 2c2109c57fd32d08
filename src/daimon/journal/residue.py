"""What an erasure leaves in the bytes of the files, and how it goes.

A payload that was emptied is gone for every reader at once. Its bytes may still stand in the write-ahead log, and in the gaps of pages that
were split while it was there: `secure_delete` overwrites what is deleted, not what was copied before. So the file is made anew and the log
is emptied. Both happen after the commit, so the commit notes that they are owed (`residues`); that note goes when they are done. Whoever
opens the file of a process that died in between, or of a release that did not know of this, finds it and does what is owed.
"""

from contextlib import suppress

import apsw

from daimon.journal.writer import explain

BUSY_MS = 10_000
_NO_ROOM = (apsw.FullError, apsw.IOError, apsw.CantOpenError)


def rewrite(connection: apsw.Connection) -> int:
    """Makes the file anew, if that is owed; the last erasure that is so dealt with."""
    last = int(connection.execute("SELECT COALESCE(MAX(n), 0) FROM residues").get)
    try:
        if last:
            connection.execute("VACUUM")
    except _NO_ROOM as error:
        raise type(explain(error))(
            f"it was erased and cannot be read any more, but bytes of it may be left in the journal's file, which could not be made anew: "
            f"{error}. It needs as much space as the file, there and in the directory for temporary files; make room and erase once more"
        ) from error
    return last


def truncate_log(connection: apsw.Connection) -> bool:
    """Empties the write-ahead log. Does not wait for readers."""
    connection.set_busy_timeout(0)
    try:
        return connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) == (0, 0)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_timeout(BUSY_MS)


def settle(connection: apsw.Connection, last: int) -> None:
    connection.execute("DELETE FROM residues WHERE n <= ?", (last,))


def clean(connection: apsw.Connection) -> None:
    """What a process that died has left. Without room for it a start is still a start, and it stays owed."""
    if not connection.execute("SELECT 1 FROM residues LIMIT 1").get:
        return
    with suppress(*_NO_ROOM):
        connection.execute("VACUUM")
        if truncate_log(connection):
            settle(connection, int(connection.execute("SELECT MAX(n) FROM residues").get))
