"""A restore takes the place of a home as a whole, or leaves it alone; what was there before is never gone."""

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.backup.furnished import furnish
from tests.journal.world import opened

from daimon.abi.access import ALL_RIGHTS, Device, Link, Request
from daimon.abi.errors import BadInput, HomeBusy, Misconfigured
from daimon.backup import making, restore
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock

CLOCK = ManualClock()


@pytest.fixture
async def home(tmp_path: Path) -> Home:
    return (await furnish(tmp_path / "home")).home


@pytest.fixture
def backup(tmp_path: Path, home: Home) -> Path:
    return making.make(home, tmp_path / "b.tar.gz", CLOCK).path


async def test_data_is_never_replaced_without_being_told_to(home: Home, backup: Path) -> None:
    home.config.write_text("# newer\n")
    with pytest.raises(BadInput, match="holds data already"):
        restore.restore(backup, home, CLOCK)
    assert home.config.read_text() == "# newer\n"
    assert not (home.path / "lock").exists(), "not even a lock was made"


async def test_what_was_there_before_is_kept_aside(tmp_path: Path, home: Home, backup: Path) -> None:
    home.config.write_text("# newer\n")
    done = restore.restore(backup, home, CLOCK, may_replace=True)
    assert done.aside == tmp_path / "home.before-restore-20260302T090000Z"
    assert (done.aside / "daimon.toml").read_text() == "# newer\n"
    assert "Ada" in home.config.read_text()
    again = restore.restore(backup, home, CLOCK, may_replace=True)
    assert again.aside == tmp_path / "home.before-restore-20260302T090000Z+"
    async with opened(home.journal) as journal:
        assert (await journal.count()).events == 3


async def test_backups_that_lie_in_the_home_stay_there(home: Home, backup: Path) -> None:
    own = home.path / "backups"
    os.mkdir(own)
    os.rename(backup, own / backup.name)
    restore.restore(own / backup.name, home, CLOCK, may_replace=True)
    assert (own / backup.name).exists()


async def test_a_home_that_somebody_runs_is_left_alone(tmp_path: Path, home: Home, backup: Path) -> None:
    held = home.lock()
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(HomeBusy):
        restore.restore(backup, home, CLOCK, may_replace=True)
    assert sorted(os.listdir(tmp_path)) == before
    os.close(held)
    restore.restore(backup, home, CLOCK, may_replace=True)


@pytest.mark.parametrize("names", [(), ("lock",)], ids=["empty", "locked once"])
async def test_an_empty_home_counts_as_none(tmp_path: Path, backup: Path, names: tuple[str, ...]) -> None:
    there = Home(tmp_path / "there")
    there.ensure()
    for name in names:
        (there.path / name).touch()
    done = restore.restore(backup, there, CLOCK)
    assert done.aside is None
    assert there.journal.exists()
    assert sorted(os.listdir(tmp_path)) == ["b.tar.gz", "home", "there"]


async def test_a_home_behind_a_link_is_replaced_where_it_is(tmp_path: Path, backup: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    restore.restore(backup, Home(tmp_path / "link"), CLOCK)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "journal.db").exists()


async def test_a_file_in_the_way_is_said(tmp_path: Path, backup: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(Misconfigured):
        restore.restore(backup, Home(tmp_path / "there"), CLOCK)
    assert (tmp_path / "there").read_text() == "mine"


async def test_nobody_comes_back_in_with_a_backup_and_others_can_be_let_in_anew(tmp_path: Path, home: Home) -> None:
    now = CLOCK.now()
    phone = Device("d1", "phone", ALL_RIGHTS, "code", now, now, now + timedelta(days=30))
    async with opened(home.journal) as journal:
        await journal.access.admit(phone, b"1" * 32)
        await journal.access.offer(Link(b"2" * 32, "", ALL_RIGHTS, now + timedelta(minutes=10)), now)
        await journal.access.ask(Request("AAAA", "tablet", "10.0.0.2", now, now + timedelta(minutes=10)), b"3" * 32)
    backup = making.make(home, tmp_path / "with.tar.gz", CLOCK).path
    there = Home(tmp_path / "there")
    assert restore.restore(backup, there, CLOCK).signed_out == 1
    assert not [each.name for each in there.path.iterdir() if each.name.startswith("journal.db-")]
    async with opened(there.journal) as journal:
        assert await journal.access.devices(now) == ()
        assert await journal.access.redeem(b"2" * 32, now) is None
        assert await journal.access.requests(now) == ()
        await journal.access.admit(replace(phone, id="d2"), b"4" * 32)
        assert [device.id for device, _ in await journal.access.devices(now)] == ["d2"]
        assert (await journal.count()).events == 3
    async with opened(home.journal) as journal:
        assert len(await journal.access.devices(now)) == 1, "the home that was backed up is as it was"
