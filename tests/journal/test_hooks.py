"""The contract of hooks, on the file and in memory, and what only the file can show: how much of it stays."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.journal.world import database, filed, opened

from daimon.abi.errors import JournalFull
from daimon.abi.hook import Posted
from daimon.abi.ids import HOME_SPACE, OWNER
from daimon.abi.label import owned
from daimon.abi.memory import Amendment, ForgetSource
from daimon.journal import hooks
from daimon.testing.clock import START, ManualClock
from daimon.testing.contracts.hooks import HooksContract, HooksJournal
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal


class TestSqliteHooks(HooksContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[HooksJournal]:
        async with filed(clock) as journal:
            yield journal


class TestMemoryHooks(HooksContract):
    @asynccontextmanager
    async def open(self, clock: ManualClock) -> AsyncIterator[HooksJournal]:
        yield MemoryJournal(clock, CountingIds())


def posted(key: str, outcome: str = "collected") -> Posted:
    return Posted(hook="ci", key=key, at=START, outcome=outcome, data={"key": key})  # type: ignore[arg-type]


def fill(file: Path, outcome: str, many: int) -> None:
    """As many deliveries as it takes, written as one would write a table."""
    with database(file) as db, db:
        db.executemany(
            "INSERT INTO deliveries (space, hook, key, at, outcome, why, event, body) VALUES ('home', 'ci', ?, 0, ?, '', '', NULL)",
            [(f"old{i}", outcome) for i in range(many)],
        )


async def test_old_deliveries_age_out_and_their_keys_stay_known(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with opened(file) as journal:
        assert await journal.post(HOME_SPACE, posted("first", "filtered")) is not None
    fill(file, "filtered", hooks.MOST_KEPT)
    async with opened(file) as journal:
        for i in range(hooks.LOOK_EACH):
            await journal.post(HOME_SPACE, posted(f"new{i}", "filtered"))
        kept = await journal.posted(HOME_SPACE, "ci", 20_000)
        assert len(kept) <= hooks.MOST_KEPT + hooks.LOOK_EACH
        assert "first" not in {each.key for each in kept}
        assert await journal.post(HOME_SPACE, posted("first", "filtered")) is None


async def test_what_nobody_has_collected_yet_does_not_age_out(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with opened(file) as journal:
        await journal.post(HOME_SPACE, posted("first"))
    fill(file, "filtered", hooks.MOST_KEPT)
    async with opened(file) as journal:
        for i in range(hooks.LOOK_EACH):
            await journal.post(HOME_SPACE, posted(f"new{i}", "filtered"))
        (first,) = await journal.collected(HOME_SPACE, "ci", 0, 10)
        assert first.key == "first"
        assert await journal.collected(HOME_SPACE, "ci", first.n, 10) == ()
        for i in range(hooks.LOOK_EACH):
            await journal.post(HOME_SPACE, posted(f"newer{i}", "filtered"))
        assert await journal.collected(HOME_SPACE, "ci", 0, 10) == ()


async def test_when_too_much_waits_to_be_collected_deliveries_are_refused_and_none_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    async with opened(file):
        pass
    fill(file, "collected", hooks.MOST_WAITING)
    async with opened(file) as journal:
        for i in range(-hooks.MOST_WAITING % hooks.LOOK_EACH - 1):
            await journal.post(HOME_SPACE, posted(f"new{i}"))
        for key in ("one too many", "another"):
            with pytest.raises(JournalFull, match="wait to be collected"):
                await journal.post(HOME_SPACE, posted(key))
    with database(file) as db:
        assert db.execute("SELECT COUNT(*) FROM deliveries WHERE key LIKE 'old%'").get == hooks.MOST_WAITING


async def test_refusals_push_out_only_refusals(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.post(HOME_SPACE, posted("good", "filtered"))
        for _ in range(hooks.MOST_REFUSED + 50):
            await journal.post(HOME_SPACE, replace(posted("", "refused"), why="x" * 10_000))
        kept = await journal.posted(HOME_SPACE, "ci", 1_000)
        assert len(kept) == hooks.MOST_REFUSED + 1
        assert kept[-1].key == "good"
        assert max(len(each.why) for each in kept) == hooks.MOST_WHY


async def test_forgetting_a_hook_as_a_source_empties_what_it_collected(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db") as journal:
        await journal.post(HOME_SPACE, posted("k1"))
        assert await journal.foresee_forgetting(HOME_SPACE, "webhook:ci") == 1
        wish = Amendment(id="a1", space=HOME_SPACE, principal=OWNER, at=START, label=owned("api"), operations=(ForgetSource("webhook:ci"),))
        assert await journal.forget_source(wish) == 1
        assert await journal.collected(HOME_SPACE, "ci", 0, 10) == ()
    assert b'"key":"k1"' not in (tmp_path / "journal.db").read_bytes()
