"""The journal contract, on the real file and on the fake in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import ManualClock
from daimon.testing.contracts.journal import FullJournal, JournalContract
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


class TestSqliteJournal(JournalContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[FullJournal]:
        with TemporaryDirectory() as home:
            journal = await SqliteJournal.open(Path(home) / "journal.db", clock, CountingIds())
            try:
                yield journal
            finally:
                await journal.close()


class TestMemoryJournal(JournalContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[FullJournal]:
        yield MemoryJournal(clock, CountingIds())
