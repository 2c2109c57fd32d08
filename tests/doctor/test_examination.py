"""What is wrong with a home is said in words, with what to do; a look changes nothing."""

import os
from pathlib import Path

import pytest
from tests.backup.furnished import Furnished, forget, furnish, remembered
from tests.journal.world import begun, database, event, opened

from daimon.abi.errors import HomeBusy
from daimon.backup import making, shelf
from daimon.backup.inventory import Scope
from daimon.backup.plan import plan_of
from daimon.config import Settings
from daimon.doctor import backups, house, journal, memory
from daimon.doctor.examination import examined
from daimon.doctor.finding import Finding, worst
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.testing.clock import START, ManualClock

LATER = SystemClock().now()


@pytest.fixture
async def made(tmp_path: Path) -> Furnished:
    return await furnish(tmp_path / "home")


def faults(findings: tuple[Finding, ...]) -> list[str]:
    return [each.what for each in findings if each.severity in ("warning", "error")]


def spoil(path: Path, sql: str) -> None:
    with database(path) as connection:
        connection.execute(sql)


def listing(home: Home) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in home.path.rglob("*")}


@pytest.mark.parametrize("everything", [False, True])
async def test_a_good_home_is_called_good_and_stays_as_it_was(made: Furnished, everything: bool) -> None:
    before = listing(made.home)
    found = await examined(made.home, everything=everything)
    assert [text for text in faults(found) if "sandbox" not in text and "box" not in text] == []
    assert {each.area for each in found} >= {"journal", "memory", "workspaces", "home", "settings", "vault", "clock", "sandbox", "backup"}
    assert listing(made.home) == before


async def test_a_home_that_somebody_writes_to_is_looked_at_too(made: Furnished) -> None:
    async with opened(made.home.journal) as running:
        await begun(running, "under way")
        assert faults(journal.look(made.home.journal, everything=True)) == []
        assert journal.position(made.home.journal) > 0  # type: ignore[operator]
        await running.accept(event("goes on"))


async def test_a_home_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    found = await examined(Home(tmp_path / "none"))
    assert (worst(found), "there is nothing at" in found[0].what) == ("note", True)
    assert not (tmp_path / "none").exists()


async def test_a_journal_that_is_gone_is_an_error_where_there_was_one(made: Furnished) -> None:
    made.home.journal.unlink()
    assert "is missing, but this home had one" in faults(journal.look(made.home.journal))[0]
    made.home.journal.write_bytes(b"")
    assert "is empty, but this home had one" in faults(journal.look(made.home.journal))[0]


async def test_pages_with_other_bytes_are_damage(made: Furnished) -> None:
    with made.home.journal.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 20))
    found = journal.look(made.home.journal)
    assert worst(found) == "error"
    assert "restore a backup" in found[-1].todo


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("DELETE FROM steps WHERE n = 0", "steps are missing in turns"),
        ("DELETE FROM payloads WHERE pos IN (SELECT pos FROM steps LIMIT 1)", "steps without their words"),
        ("DELETE FROM payloads WHERE pos IN (SELECT pos FROM events LIMIT 1)", "events without their words"),
        ("DELETE FROM turns", "steps of turns that are not there"),
        ("DELETE FROM events WHERE pos = (SELECT MIN(pos) FROM events)", "turns of events that are not there"),
        ("DELETE FROM blobs WHERE hash IN (SELECT body FROM payloads WHERE codec = 2)", "long words whose value is not there"),
        ("UPDATE payloads SET body = x'00' WHERE codec = 0", "values are not what was written"),
        ("UPDATE payloads SET hash = zeroblob(32) WHERE codec = 0", "values are not what was written"),
        ("UPDATE blobs SET body = x'0011' WHERE codec < 3", "values are not what was written"),
    ],
)
async def test_rows_that_do_not_fit_together_are_named(made: Furnished, sql: str, says: str) -> None:
    spoil(made.home.journal, sql)
    assert any(says in text for text in faults(journal.look(made.home.journal, everything=True)))


async def test_what_was_erased_on_purpose_is_no_fault(made: Furnished) -> None:
    await forget(made.home, made.turns[0])
    assert faults(journal.look(made.home.journal, everything=True)) == []


async def test_memory_that_is_ahead_of_the_journal_is_of_another_one(made: Furnished) -> None:
    position = journal.position(made.home.journal)
    assert faults(memory.look(made.home.memory, position)) == []
    remembered(made.home, 10_000)
    assert "ahead of the journal" in faults(memory.look(made.home.memory, position))[0]
    made.home.memory.write_bytes(b"nothing" * 1_000)
    found = memory.look(made.home.memory, position)
    assert "--rebuild-memory" in found[0].todo


async def test_memory_is_set_aside_only_where_nobody_runs(made: Furnished) -> None:
    held = made.home.lock()
    with pytest.raises(HomeBusy):
        memory.set_memory_aside(made.home)
    os.close(held)
    assert "rebuilt from the journal" in memory.set_memory_aside(made.home)
    assert not made.home.memory.exists()
    assert "was set aside" in next(each.what for each in house.look(made.home) if each.severity == "note")


async def test_what_others_can_read_is_said(made: Furnished) -> None:
    assert faults(house.look(made.home)) == []
    made.home.path.chmod(0o755)
    (made.home.path / "token").chmod(0o644)
    assert [text.split(" (")[0].replace(str(made.home.path), "HOME") for text in faults(house.look(made.home))] == [
        "others can look into HOME",
        "others may read HOME/token",
    ]


async def test_settings_and_a_vault_that_do_not_open_are_errors(made: Furnished) -> None:
    assert house.vault(made.home).what == "it opens, and holds 1 secrets"
    made.home.config.write_text("[owner]\nnmae = 'Ada'\n")
    assert "did you mean 'name'" in house.settings(made.home).what
    made.home.vault_key.write_bytes(os.urandom(32))
    assert house.vault(made.home).severity == "error"


async def test_a_clock_that_went_back_is_noticed(made: Furnished) -> None:
    clock = ManualClock()
    async with opened(made.home.journal, clock) as running:
        await running.accept(event("now"))
    assert house.clock(made.home, LATER).severity == "ok"
    with database(made.home.journal) as connection:
        connection.execute("UPDATE events SET received_at = received_at + 1000000 * 86400 * 3650")
    assert "ahead of the clock" in house.clock(made.home, LATER).what
    assert START.year > 2000


async def test_a_layer_that_is_missing_is_named(made: Furnished) -> None:
    (made.home.path / "workspaces" / "f1").rename(made.home.path / "workspaces" / "gone")
    assert any("layers are missing: f1/l" in text for text in faults(await examined(made.home)))


async def test_the_newest_backup_is_judged_by_its_age_and_its_bytes(made: Furnished) -> None:
    plan = plan_of(Settings(), made.home)
    assert backups.look(plan, LATER, 0, everything=False)[0].severity == "note"
    plan.to.mkdir()
    clock = SystemClock()
    backup = making.make(made.home, plan.to / shelf.name_for(clock.now()), clock, Scope(workspaces=False))
    found = backups.look(plan, clock.now(), 0, everything=True)
    assert worst(found) == "ok"
    data = bytearray(backup.path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    backup.path.write_bytes(data)
    assert worst(backups.look(plan, clock.now(), 0, everything=False)) == "ok", "its head is good"
    assert "cannot be restored" in faults(backups.look(plan, clock.now(), 0, everything=True))[0]
    backup.path.rename(plan.to / "daimon-20260101T000000Z.tar.gz")
    assert "days ago" in faults(backups.look(plan, clock.now(), 0, everything=False))[0]


async def test_backups_that_still_hold_what_was_erased_are_counted(made: Furnished) -> None:
    plan, clock = plan_of(Settings(), made.home), SystemClock()
    plan.to.mkdir()
    making.make(made.home, plan.to / shelf.name_for(clock.now()), clock, Scope(workspaces=False))
    await forget(made.home, made.turns[0])
    notes = [each.what for each in backups.look(plan, clock.now(), 1, everything=False) if each.severity == "note"]
    assert notes == ["1 of 1 were made before something was erased, and still hold it"]
