"""The contract of automations, on the file and in memory, and what only the file can show: what ages out, a home that nobody runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.journal.world import filed

from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.journal import automations
from daimon.journal.readonly import ReadOnlyJournal
from daimon.journal.sqlite import SqliteJournal
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.automations import BRIEF, LABEL, AutomationsContract, AutomationsJournal, tick
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


class TestSqliteAutomations(AutomationsContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[AutomationsJournal]:
        async with filed(clock) as journal:
            yield journal


class TestMemoryAutomations(AutomationsContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[AutomationsJournal]:
        yield MemoryJournal(clock, CountingIds())


async def test_what_found_nothing_new_ages_out_and_what_ran_stays_for_ninety_days(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db", clock := ManualClock(), CountingIds())
    try:
        await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
        await journal.tick(HOME_SPACE, tick(START, "ran"))
        for n in range(1, automations.NEWEST + 3 * automations.EVERY):
            await journal.tick(HOME_SPACE, tick(START + timedelta(minutes=n)))
        kept = await journal.ticks(HOME_SPACE, "brief", 10_000)
        assert automations.NEWEST <= len(kept) < automations.NEWEST + 3 * automations.EVERY
        assert kept[-1].outcome == "ran"
        await clock.advance(91 * 86_400)
        for n in range(10 * automations.EVERY):
            await journal.tick(HOME_SPACE, tick(clock.now() + timedelta(minutes=n)))
        assert (await journal.ticks(HOME_SPACE, "brief", 10_000))[-1].outcome == "unchanged"
    finally:
        await journal.close()


async def test_a_home_that_nobody_runs_shows_them(tmp_path: Path) -> None:
    journal = await SqliteJournal.open(tmp_path / "journal.db", ManualClock(), CountingIds())
    kept = await journal.automate(HOME_SPACE, BRIEF, OWNER, LABEL)
    await journal.tick(HOME_SPACE, tick(START))
    await journal.close()
    looking = await ReadOnlyJournal.open(tmp_path / "journal.db")
    try:
        assert await looking.automations(HOME_SPACE) == (replace(kept, last=tick(START), reached=START),)
        assert await looking.ticks(HOME_SPACE) == (tick(START),)
    finally:
        await looking.close()
