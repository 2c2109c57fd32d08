"""The journal contract, on the real file and on the fake in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.journal.world import filed

from daimon.testing.clock import ManualClock
from daimon.testing.contracts.journal import FullJournal, JournalContract
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


class TestSqliteJournal(JournalContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[FullJournal]:
        async with filed(clock) as journal:
            yield journal


class TestMemoryJournal(JournalContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[FullJournal]:
        yield MemoryJournal(clock, CountingIds())
