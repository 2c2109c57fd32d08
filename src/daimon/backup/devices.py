"""Nobody comes back in with a backup.

A backup knows who was let in when it was made, and not who was sent away since: restored as it is, it would let a phone in again that was
lost and revoked. So whatever browser, phone or program a restored home knows is signed out, and links and requests that were open are
gone. The owner comes in by the socket and the token of the home, and lets others in anew.

This is done to the unpacked copy, after it was compared and before it takes the place of the home: no crash leaves a home in which it was
not done. The archive stays as it was made.
"""

from datetime import datetime
from pathlib import Path

import apsw

from daimon.backup.copies import sentence
from daimon.journal import access

TABLES = frozenset({"devices", "links", "requests"})


def sign_out(journal: Path, at: datetime) -> int:
    """How many were in. A journal from before there were devices has none. Raises JournalFailed, NoSpace."""
    if not journal.exists():
        return 0
    try:
        db = apsw.Connection(str(journal), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            found = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            ended = 0
            if found >= TABLES:
                with db:
                    ended = access.end_all(db, at)
            return ended
        finally:
            db.close()
    except apsw.Error as error:
        raise sentence(journal, error) from error
