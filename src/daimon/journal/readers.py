"""Who reads the file: beside the writer, never in its way."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from daimon.abi.errors import JournalStopped
from daimon.journal.writer import explain

T = TypeVar("T")
READERS = 2


class Readers:
    """Read-only connections, one to a thread.

    They are held here too, not by their threads alone. A child that was forked to become another program first forgets all threads but its
    own, and what only those held: it would close their connections, and wait for ever for a lock of SQLite's that one of them had. The
    parent waits for the child.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = threading.local()
        self._held: list[apsw.Connection] = []
        self._is_closed = False
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="journal-reader")

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        self._require_open()
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._here, work)

    def here(self, work: Callable[[apsw.Connection], T]) -> T:
        """On the calling thread."""
        self._require_open()
        return self._here(work)

    def _here(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            if not hasattr(self._mine, "connection"):
                self._mine.connection = open_reader(self._path)
                self._held.append(self._mine.connection)
            return work(self._mine.connection)
        except apsw.Error as error:
            raise explain(error) from error

    def _require_open(self) -> None:
        if self._is_closed:
            raise JournalStopped("the journal is closed")

    async def close(self) -> None:
        self._is_closed = True
        await asyncio.to_thread(self._pool.shutdown)
        for connection in self._held:  # by name: one that somebody still holds, closed after the writer's, would leave the log behind
            connection.close(True)
        self._held.clear()


def open_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5_000)
    connection.pragma("query_only", True)
    return connection
