"""The floor: the least that anybody must do who promises that bytes are on disk.

A thread, a queue, one table, one INSERT a piece, one commit for all that have queued up meanwhile (WAL, synchronous=FULL), and only
then the answers. No keys, no order, no claims, no reading back. What the journal costs above this is the price of what it promises
besides.
"""

import asyncio
import queue
import threading
from pathlib import Path

import apsw

MOST_PER_COMMIT = 512


class Floor:
    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "full")
        self._connection.pragma("wal_autocheckpoint", 4_000)
        self._connection.execute("CREATE TABLE IF NOT EXISTS pieces (n INTEGER PRIMARY KEY, body BLOB NOT NULL)")
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def write(self, body: bytes) -> "asyncio.Future[None]":
        """Done when it is on disk."""
        future = self._loop.create_future()
        self._waiting.put((body, future))
        return future

    def close(self) -> None:
        self._waiting.put(None)
        self._thread.join()
        self._connection.close()

    def _serve(self) -> None:
        connection = self._connection
        while (item := self._waiting.get()) is not None:
            batch = [item]
            while len(batch) < MOST_PER_COMMIT and not self._waiting.empty():
                if (item := self._waiting.get()) is None:
                    self._waiting.put(None)
                    break
                batch.append(item)
            connection.execute("BEGIN IMMEDIATE")
            for body, _ in batch:
                connection.execute("INSERT INTO pieces (body) VALUES (?)", (body,))
            connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(_tell, [future for _, future in batch])


def _tell(futures: "list[asyncio.Future[None]]") -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
