"""Death at a chosen commit: a hook on every new database connection counts commits of the journal, or of the index of the layers, and kills
the process at the n-th.

`before` dies in SQLite's commit hook, when nothing of the transaction has reached the file; `after` dies when the COMMIT statement
has ended and nobody has been told yet. The product knows nothing of this: `apsw.connection_hooks` runs for each connection that
anybody opens. (A WAL hook would be the obvious place for `after`, but `PRAGMA wal_autocheckpoint`, which the journal uses, takes
that hook away; the end of the statement is traced instead.)

The driver lights the fuse from outside, while the process runs or before it starts (`dial.py`).
"""

import os
import signal
from pathlib import Path

import apsw

from lab.dial import Dial

JOURNAL, INDEX = "journal.db", "index.db"
OUT, BEFORE, AFTER = 0, 1, 2
"""Places of the dial: when, and how many commits from now."""


class Fuse:
    """The fuse, as both sides see it."""

    def __init__(self, path: Path) -> None:
        self._dial = Dial(path)

    def light(self, when: int, commits: int) -> None:
        self._dial.set(when, commits)

    def put_out(self) -> None:
        self._dial.set(OUT)

    @property
    def is_lit(self) -> bool:
        return self._dial.get()[0] != OUT

    def burn(self) -> int:
        """One commit passes. BEFORE or AFTER when it is the last one."""
        when, left, *_ = self._dial.get()
        if when != OUT:
            self._dial.set(when if left > 1 else OUT, left - 1)
        return when if left <= 1 else OUT


def attach(path: Path, database: str = JOURNAL) -> None:
    """From now on every connection of this process to such a database burns the fuse."""
    fuse = Fuse(path)
    apsw.connection_hooks.append(lambda connection: _watch(connection, fuse) if Path(connection.filename).name == database else None)


def attach_to_layers(path: Path) -> None:
    attach(path, INDEX)


def _watch(connection: apsw.Connection, fuse: Fuse) -> None:
    is_last = False

    def committing() -> bool:
        nonlocal is_last
        when = fuse.burn()
        if when == BEFORE:
            _die()
        is_last = when == AFTER
        return False

    def ended(_: dict[str, object]) -> None:
        if is_last:
            _die()

    connection.set_commit_hook(committing, id="fuse")
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, ended, id="fuse")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
