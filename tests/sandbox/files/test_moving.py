"""Moving, deleting, making directories."""

import os
import stat
from pathlib import Path

import pytest
from tests.sandbox.files.grounds import driver_on

from daimon.abi.box import Role
from daimon.abi.errors import ToolFailed
from daimon.abi.files import Deleted, Moved
from daimon.sandbox.files import moving
from daimon.sandbox.files.driver import Driver


async def failing(work: object) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await work  # type: ignore[misc]
    return failed.value


async def test_a_file_is_moved_into_directories_that_are_made(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x")
    assert await driver.move("a", "new/folder/b") == Moved("a", "new/folder/b")
    assert (tree / "new/folder/b").read_text() == "x"
    assert not (tree / "a").exists()


async def test_nothing_is_replaced_unless_that_is_said(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("a")
    (tree / "b").write_text("b")
    assert (await failing(driver.move("a", "b"))).reason == "exists"
    assert (tree / "b").read_text() == "b"
    await driver.move("a", "b", overwrite=True)
    assert (tree / "b").read_text() == "a"


async def test_a_link_is_moved_and_deleted_as_what_it_is(driver: Driver, tree: Path) -> None:
    (tree / "link").symlink_to("../outside")
    await driver.move("link", "moved")
    assert os.readlink(tree / "moved") == "../outside"
    assert await driver.delete("moved", recursive=True) == Deleted("moved", 1)
    assert (tree.parent / "outside/secret").exists()


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("none", "b", "not_found"),
        ("d", "d/e", "bad_path"),
        ("d", "d", "bad_path"),
        (".", "b", "bad_path"),
        ("d", "..", "bad_path"),
        ("d", "../x", "outside"),
    ],
)
async def test_what_cannot_be_moved_is_said(driver: Driver, tree: Path, source: str, target: str, reason: str) -> None:
    (tree / "d").mkdir()
    assert (await failing(driver.move(source, target))).reason == reason


async def test_the_session_knows_what_it_moved_under_the_new_name(driver: Driver, tree: Path) -> None:
    (tree / "d").mkdir()
    (tree / "d/a").write_text("x")
    await driver.read("d/a")
    await driver.move("d", "e")
    assert [handle.path for handle in driver.open_files()] == ["e/a"]
    assert driver.changed() == ()


async def test_both_ends_of_a_move_must_be_granted(tree: Path) -> None:
    (tree / "open").mkdir()
    (tree / "open/a").touch()
    (tree / "b").touch()
    with driver_on(tree, Role(name="scribe", write=("open",))) as driver:
        assert (await failing(driver.move("open/a", "a"))).reason == "not_allowed"
        assert (await failing(driver.move("b", "open/b"))).reason == "not_allowed"
        assert (await failing(driver.delete("b"))).reason == "not_allowed"
        assert (await failing(driver.make_directory("x"))).reason == "not_allowed"
        await driver.move("open/a", "open/b")


def test_what_cannot_be_renamed_is_copied_with_all_that_it_is(tree: Path) -> None:
    (tree / "d/deep").mkdir(parents=True)
    (tree / "d/deep/a").write_text("x" * 3_000_000)
    (tree / "d/deep/a").chmod(0o755)
    os.utime(tree / "d/deep/a", ns=(5, 7))
    (tree / "d/link").symlink_to("../../secret")
    (tree / "d/deep").chmod(0o750)
    top = os.open(tree, os.O_RDONLY)
    try:
        moving.by_copy((top, "d"), (top, "e"), False, "d")
    finally:
        os.close(top)
    about = (tree / "e/deep/a").stat()
    assert (about.st_size, stat.S_IMODE(about.st_mode), about.st_mtime_ns) == (3_000_000, 0o755, 7)
    assert stat.S_IMODE((tree / "e/deep").stat().st_mode) == 0o750
    assert os.readlink(tree / "e/link") == "../../secret"
    assert sorted(os.listdir(tree)) == ["e"]


def test_a_copy_that_fails_leaves_everything_as_it_was(tree: Path) -> None:
    (tree / "d").mkdir()
    (tree / "d/a").write_text("x")
    os.mkfifo(tree / "d/pipe")
    top = os.open(tree, os.O_RDONLY)
    try:
        with pytest.raises(ToolFailed, match="cannot be copied"):
            moving.by_copy((top, "d"), (top, "e"), False, "d")
    finally:
        os.close(top)
    assert sorted(os.listdir(tree)) == ["d"]
    assert sorted(os.listdir(tree / "d")) == ["a", "pipe"]


def test_a_directory_with_a_huge_file_is_not_copied(tree: Path) -> None:
    (tree / "d").mkdir()
    with (tree / "d/sparse").open("wb") as file:
        file.truncate(1 << 40)
    top = os.open(tree, os.O_RDONLY)
    try:
        with pytest.raises(ToolFailed, match="move it with a command in the box"):
            moving.by_copy((top, "d"), (top, "e"), False, "d")
    finally:
        os.close(top)
    assert os.listdir(tree) == ["d"]


async def test_a_directory_with_something_in_it_is_deleted_only_if_that_is_said(driver: Driver, tree: Path) -> None:
    (tree / "d/deep").mkdir(parents=True)
    (tree / "d/deep/a").touch()
    (tree / "d/out").symlink_to("../../outside")
    assert (await failing(driver.delete("d"))).reason == "not_empty"
    assert await driver.delete("d", recursive=True) == Deleted("d", 4)
    assert (tree.parent / "outside/secret").exists()
    (tree / "empty").mkdir()
    assert await driver.delete("empty") == Deleted("empty", 1)
    assert (await failing(driver.delete("empty"))).reason == "not_found"
    assert (await failing(driver.delete("."))).reason == "bad_path"


async def test_a_directory_is_made_with_those_above_it_once_or_twice(driver: Driver, tree: Path) -> None:
    await driver.make_directory("a/b/c")
    await driver.make_directory("a/b/c")
    assert (tree / "a/b/c").is_dir()
    (tree / "file").touch()
    assert (await failing(driver.make_directory("file/x"))).reason == "not_found"
    assert (await failing(driver.make_directory("file"))).reason == "not_found"
