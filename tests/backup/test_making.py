"""A backup of a home comes back as it was, also while somebody writes to it; one that would not is not kept."""

import gzip
import os
import stat
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from tests.backup.furnished import LARGE, ODD, forget, furnish, seen_in
from tests.journal.world import begun, event, opened

from daimon import keeper
from daimon.abi.errors import BadInput, HomeBusy, JournalDamaged, Misconfigured, NotFound
from daimon.abi.ids import HOME_SPACE
from daimon.backup import making, restore, shelf, state
from daimon.backup.inventory import LOCK, SCRATCH, WHOLE, Inventory, Scope
from daimon.machine.home import Home
from daimon.testing.clock import ManualClock

CLOCK = ManualClock()


def backed_up(home: Home, to: Path, scope: Scope = WHOLE) -> making.Made:
    return making.make(home, to, CLOCK, scope)


async def test_everything_that_a_home_holds_comes_back(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    assert stat.S_IMODE(backup.path.stat().st_mode) == 0o600
    there = Home(tmp_path / "there")
    restored = restore.restore(backup.path, there, CLOCK)
    assert (restored.aside, restored.manifest) == (None, backup.manifest)
    for name in (
        "daimon.toml",
        "token",
        "services.json",
        "outputs/one",
        "policy/own.cedar",
        "vault.sealed",
        "vault.key",
        "journal.db.exists",
    ):
        assert (there.path / name).read_bytes() == (made.home.path / name).read_bytes(), name
        assert (there.path / name).stat().st_mtime_ns == (made.home.path / name).stat().st_mtime_ns, name
    assert stat.S_IMODE(there.path.stat().st_mode) == 0o700
    with closing(keeper.opened(there, {})) as vault:
        assert [entry.name for entry in vault.entries()] == ["weather"]
    async with opened(there.journal) as journal:
        assert {turn.id for turn in await journal.turns(HOME_SPACE, 10)} == set(made.turns)
        assert await journal.get(made.blob) == LARGE  # type: ignore[arg-type]


async def test_layers_come_back_with_whiteouts_opaque_directories_links_and_odd_names(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    made.home.path.rename(tmp_path / "gone")
    restored = restore.restore(backup.path, made.home, CLOCK)
    expected = {path: text for path, text in made.seen.items() if path != "pipe"}
    assert await seen_in(made.home) == expected
    assert ODD in expected
    assert expected["away"] == "->/etc/passwd"
    twins = [path.stat().st_ino for path in restored.home.rglob("*") if path.name in ("large", "twin")]
    assert len(twins) == 2
    assert len(set(twins)) == 1, "what was one file is one file"
    assert [line.rpartition("/")[2] for line in backup.manifest.left_out] == ["pipe: a pipe or a device"]


async def test_what_is_only_for_a_running_process_stays_out(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    (made.home.path / "memory.db.damaged-20260101T000000Z").write_text("old")
    os.close(made.home.lock())
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    names = {entry.path for entry in backup.manifest.entries}
    assert {"journal.db", "memory.db", "workspaces/index.db", "workspaces/f1", "token"} < names
    assert not {name for name in names if name.endswith(("-wal", "-shm", "/lock")) or "damaged" in name or name in ("lock", LOCK, SCRATCH)}
    assert not [name for name in names if name.endswith("/work/work")]
    assert backup.manifest.rebuildable == ("memory.db",)


async def test_without_workspaces_labels_of_directories_still_come_along(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    (made.home.path / "workspaces" / "marks.json").write_text("{}")
    backup = backed_up(made.home, tmp_path / "b.tar.gz", Scope(workspaces=False))
    names = {entry.path for entry in backup.manifest.entries}
    assert [name for name in sorted(names) if name.startswith("workspace")] == ["workspaces", "workspaces/marks.json"]
    restore.restore(backup.path, there := Home(tmp_path / "there"), CLOCK)
    assert (there.path / "workspaces" / "marks.json").exists()


async def test_the_key_of_the_vault_can_be_kept_elsewhere(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    backup = backed_up(made.home, tmp_path / "b.tar.gz", Scope(key=False))
    names = {entry.path for entry in backup.manifest.entries}
    assert "vault.sealed" in names
    assert "vault.key" not in names
    assert [line for line in backup.manifest.left_out if line.startswith("vault.key: as you asked")]


async def test_a_backup_while_somebody_writes_is_one_moment(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    async with opened(made.home.journal) as journal:
        await begun(journal, "under way")
        backup = backed_up(made.home, tmp_path / "b.tar.gz")
        await journal.accept(event("later"))
    told = backup.manifest.head.journal
    assert told is not None
    assert (told.turns, told.events, told.open_turns) == (4, 4, 1)
    restore.restore(backup.path, there := Home(tmp_path / "there"), CLOCK)
    async with opened(there.journal) as journal:
        assert (await journal.count()).events == 4
    async with opened(made.home.journal) as journal:
        assert (await journal.count()).events == 5


async def test_a_home_whose_process_was_killed_is_backed_up_with_its_log(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    async with opened(made.home.journal) as journal:
        await begun(journal, "in the log alone")
        for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
            (tmp_path / name).write_bytes((made.home.path / name).read_bytes())
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (made.home.path / name).write_bytes((tmp_path / name).read_bytes())
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    assert backup.manifest.head.journal is not None
    assert backup.manifest.head.journal.turns == 4


async def test_settings_behind_a_link_are_copied_as_what_they_say(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    (tmp_path / "dotfiles.toml").write_text("# elsewhere\n")
    made.home.config.unlink()
    made.home.config.symlink_to(tmp_path / "dotfiles.toml")
    (made.home.path / "nowhere").symlink_to(tmp_path / "absent")
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    assert [line for line in backup.manifest.left_out if line.startswith("nowhere")]
    restore.restore(backup.path, there := Home(tmp_path / "there"), CLOCK)
    assert (there.config.is_symlink(), there.config.read_text()) == (False, "# elsewhere\n")


def packed_names(file: Path, name: str) -> tuple[list[str], bytes]:
    with gzip.open(file) as packed, tarfile.open(fileobj=packed) as tar:
        found = tar.extractfile(name)
        assert found is not None
        return tar.getnames(), found.read()


async def test_any_tar_can_unpack_it(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    backup = backed_up(made.home, tmp_path / "b.tar.gz", Scope(workspaces=False))
    names, text = packed_names(backup.path, "home/daimon.toml")
    assert (names[0], names[1], names[-1]) == ("daimon-backup.json", "home", "manifest.json")
    assert text == made.home.config.read_bytes()


def scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(os.urandom(4096 * 20))


async def test_a_damaged_journal_is_not_backed_up_as_if_it_were_good(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    before = sorted(os.listdir(tmp_path))
    scribble(made.home.journal)
    with pytest.raises(JournalDamaged, match="damaged"):
        backed_up(made.home, tmp_path / "b.tar.gz")
    assert sorted(os.listdir(tmp_path)) == before, "a failure leaves nothing behind"
    assert not (made.home.path / SCRATCH).exists()


async def test_a_damaged_memory_is_left_out_and_the_rest_is_good(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    made.home.memory.write_bytes(b"no database at all" * 1_000)
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    assert [line for line in backup.manifest.left_out if line.startswith("memory.db: ")]
    assert "memory.db" not in {entry.path for entry in backup.manifest.entries}
    restore.restore(backup.path, there := Home(tmp_path / "there"), CLOCK)
    assert there.journal.exists()
    assert not there.memory.exists()


async def test_no_file_is_written_over_and_no_place_is_invented(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    (tmp_path / "b.tar.gz").write_text("mine")
    with pytest.raises(BadInput, match="never written over"):
        backed_up(made.home, tmp_path / "b.tar.gz")
    assert (tmp_path / "b.tar.gz").read_text() == "mine"
    with pytest.raises(Misconfigured, match="is no directory"):
        backed_up(made.home, tmp_path / "not mounted" / "b.tar.gz")
    with pytest.raises(NotFound, match="nothing in"):
        backed_up(Home(tmp_path / "none"), tmp_path / "c.tar.gz")


async def test_two_backups_of_one_home_are_not_made_at_once(tmp_path: Path) -> None:
    import fcntl

    made = await furnish(tmp_path / "home")
    with (made.home.path / LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(HomeBusy, match="another backup"):
            backed_up(made.home, tmp_path / "b.tar.gz")
    backed_up(made.home, tmp_path / "b.tar.gz")


async def test_backups_that_lie_in_the_home_are_not_in_later_ones(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    own = made.home.path / "own place"
    own.mkdir()
    first = backed_up(made.home, own / shelf.name_for(CLOCK.now()))
    second = backed_up(made.home, own / "second.tar.gz")
    assert len(second.manifest.entries) == len(first.manifest.entries)


async def test_layers_that_the_index_does_not_name_stay_out(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    stray = made.home.path / "workspaces" / "f1" / "l999" / "tree"
    stray.mkdir(parents=True)
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    assert not [entry for entry in backup.manifest.entries if "l999" in entry.path]


async def test_a_home_in_which_nothing_happened_has_the_same_state(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    first = state.of(made.home)
    backed_up(made.home, tmp_path / "b.tar.gz")
    assert state.of(made.home) == first
    await forget(made.home, made.turns[0])
    second = state.of(made.home)
    made.home.config.write_text("# changed\n")
    assert len({first, second, state.of(made.home)}) == 3


async def test_the_estimate_is_no_less_than_what_it_takes(tmp_path: Path) -> None:
    made = await furnish(tmp_path / "home")
    backup = backed_up(made.home, tmp_path / "b.tar.gz")
    assert Inventory(made.home.path).estimate() >= backup.manifest.bytes
