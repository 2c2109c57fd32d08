"""A session is told, once, what somebody else changed of the files that it knows."""

import os
from pathlib import Path

from tests.sandbox.files.grounds import driver_on

from daimon.abi.files import Handle, Replacement
from daimon.sandbox.files.content import Stamp, version
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.files.handles import MOST, Handles
from daimon.sandbox.files.watches import Watches


async def test_what_was_read_and_written_is_known_with_its_version(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x")
    await driver.read("a")
    await driver.write("b", "y")
    await driver.edit("b", [Replacement("y", "z")])
    assert driver.open_files() == (Handle("a", version(b"x")), Handle("b", version(b"z")))
    assert driver.changed() == ()


async def test_a_change_by_somebody_else_is_told_once(driver: Driver, tree: Path) -> None:
    (tree / "d").mkdir()
    (tree / "d/a").write_text("x")
    (tree / "d/b").write_text("x")
    await driver.read("d/a")
    await driver.read("d/b")
    (tree / "d/a").write_text("y")
    assert driver.changed() == ("d/a",)
    assert driver.changed() == ()
    (tree / "d/a").write_text("z")
    assert driver.changed() == ("d/a",)


async def test_what_is_stale_stays_so_until_it_is_read_again_and_is_still_told(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x")
    await driver.read("a")
    assert driver.stale() == ()
    (tree / "a").write_text("y")
    assert driver.stale() == ("a",)
    assert driver.stale() == ("a",)
    assert driver.changed() == ("a",)
    assert driver.changed() == ()
    assert driver.stale() == ("a",)
    await driver.read("a")
    assert driver.stale() == ()


async def test_a_change_back_to_what_is_known_is_no_change(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x")
    await driver.read("a")
    (tree / "a").write_text("y")
    (tree / "a").write_text("x")
    assert driver.changed() == ()


async def test_what_is_deleted_replaced_or_moved_away_with_its_directory_is_told(driver: Driver, tree: Path) -> None:
    for path in ("one/a", "two/a", "three/deep/a", "four/a"):
        (tree / path).parent.mkdir(parents=True)
        (tree / path).write_text("x")
        await driver.read(path)
    assert driver.changed() == ()
    (tree / "one/a").unlink()
    (tree / "two/new").write_text("y")
    (tree / "two/new").rename(tree / "two/a")
    (tree / "three").rename(tree / "3")
    (tree / "four/a").unlink()
    (tree / "four/a").symlink_to("../two/a")
    assert set(driver.changed()) == {"one/a", "two/a", "three/deep/a", "four/a"}
    assert driver.changed() == ()


async def test_what_the_session_does_itself_is_no_news(driver: Driver, tree: Path) -> None:
    (tree / "d").mkdir()
    (tree / "d/a").write_text("x")
    await driver.read("d/a")
    await driver.write("d/a", "y")
    await driver.write("d/large", "z" * 3_000_000)
    assert driver.changed() == ()
    await driver.delete("d", recursive=True)
    assert driver.changed() == ()


async def test_a_large_file_that_changes_is_told_too(driver: Driver, tree: Path) -> None:
    (tree / "a").write_bytes(b"x" * 3_000_000)
    await driver.read("a")
    with (tree / "a").open("ab") as file:
        file.write(b"y")
    assert driver.changed() == ("a",)
    assert driver.changed() == ()


async def test_another_session_of_the_same_tree_is_somebody_else(driver: Driver, tree: Path) -> None:
    await driver.write("a", "mine")
    with driver_on(tree) as other:
        await other.read("a")
        await other.write("a", "theirs")
        assert other.changed() == ()
    assert driver.changed() == ("a",)


async def test_a_change_in_the_base_makes_it_look(tree: Path, tmp_path: Path) -> None:
    (base := tmp_path / "base").mkdir()
    (base / "a").write_text("x")
    os.link(base / "a", tree / "a")  # what is changed there shows here, and no event comes from here
    with driver_on(tree, base=str(base)) as driver:
        await driver.read("a")
        assert driver.changed() == ()
        (base / "a").write_text("y")
        assert driver.changed() == ("a",)


def test_only_so_many_files_are_known() -> None:
    handles = Handles()
    for number in range(MOST + 5):
        handles.hold(f"{number}", version(b""), Stamp(0, 0, 0))
    assert len(handles.open_files()) == MOST
    assert handles.known("0") == ""


def test_of_too_many_watches_the_oldest_is_dropped_and_everything_is_looked_at(tmp_path: Path) -> None:
    watches = Watches(most=3)
    for number in range(4):
        (tmp_path / str(number)).mkdir()
        opened = os.open(tmp_path / str(number), os.O_RDONLY)
        watches.add("tree", str(number), opened)
        os.close(opened)
    assert [watches.has("tree", str(number)) for number in range(4)] == [False, True, True, True]
    assert watches.stirred().everything
    assert not watches.stirred().everything
    (tmp_path / "3/a").touch()
    assert watches.stirred().paths == {"3/a"}
    watches.close()


def test_a_watched_directory_that_goes_is_told_and_watched_no_more(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    watches = Watches()
    opened = os.open(tmp_path / "d", os.O_RDONLY)
    watches.add("tree", "d", opened)
    os.close(opened)
    (tmp_path / "d").rmdir()
    assert watches.stirred().paths == {"d"}
    assert not watches.has("tree", "d")
    watches.close()
