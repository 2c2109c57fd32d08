"""The contract of grants, on the file and in memory, and what only the file can show: older files, a home that nobody runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw
from tests.journal.world import begun, database, filed, opened, step

from daimon.abi.ids import HOME_SPACE, OWNER, SELF
from daimon.abi.judgement import Grant
from daimon.abi.ports import Given
from daimon.abi.step import Granted
from daimon.abi.tool import Capability
from daimon.journal.readonly import ReadOnlyJournal
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.grants import GrantsContract, GrantsJournal
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal

GRANT = Grant("t1:0", SELF, (Capability.SENDS,), "send", ("bob@x.org",), at=START)


class TestSqliteGrants(GrantsContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[GrantsJournal]:
        async with filed(clock) as journal:
            yield journal


class TestMemoryGrants(GrantsContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[GrantsJournal]:
        yield MemoryJournal(clock, CountingIds())


async def test_grants_outlive_the_process_and_are_read_where_nobody_runs(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with opened(file) as journal:
        claim = await begun(journal)
        await journal.record(claim, [step(claim, 0, Granted(0, GRANT))])
    async with opened(file) as journal:
        assert await journal.grants(HOME_SPACE, START) == (GRANT,)
        revoked = await journal.revoke(HOME_SPACE, GRANT.id, OWNER)
    reader = await ReadOnlyJournal.open(file)
    try:
        assert await reader.given(HOME_SPACE) == (revoked,) == (Given(GRANT, START, OWNER),)
        assert await reader.grants(HOME_SPACE, START) == ()
        assert await reader.late(claim.turn.id) == ()
    finally:
        await reader.close()


async def test_a_file_of_format_2_gets_its_table_and_keeps_its_messages(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    old = apsw.Connection(str(file))
    old.pragma("application_id", APPLICATION_ID)
    for migration in MIGRATIONS[:2]:
        old.execute(migration)
    old.pragma("user_version", 2)
    old.execute(
        """INSERT INTO outbox (pos, key, space, conversation, turn, channel, dest, is_event, created_at, schema, state)
           VALUES (1, 'k', 'home', 'main', 't1', 'mail', 'bob', 0, 0, 2, 'queued')"""
    )
    old.execute("INSERT INTO payloads (pos, hash, codec) VALUES (1, x'00', 0)")
    old.close()
    async with opened(file) as journal:
        assert await journal.given(HOME_SPACE) == ()
        assert [message.key for message in await journal.outgoing(10)] == ["k"]
    with database(file) as now:
        assert now.pragma("user_version") == len(MIGRATIONS)
