"""Files are written whole or not at all, and nobody's change is written over unseen."""

import os
import stat
from pathlib import Path

import pytest
from tests.sandbox.files.grounds import driver_on

from daimon.abi.box import Role
from daimon.abi.errors import ToolFailed
from daimon.sandbox.files.content import MOST, version
from daimon.sandbox.files.driver import Driver


async def refused(driver: Driver, path: str, content: str = "x", expects: str = "") -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await driver.write(path, content, expects)
    return failed.value


def names(tree: Path) -> list[str]:
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*"))


async def test_a_new_file_is_made_with_the_directories_above_it(driver: Driver, tree: Path) -> None:
    done = await driver.write("a/b/c.txt", "hello\n")
    assert (done.path, done.what, done.version, done.diff) == ("a/b/c.txt", "added", version(b"hello\n"), "")
    assert (tree / "a/b/c.txt").read_text() == "hello\n"
    assert stat.S_IMODE((tree / "a/b/c.txt").stat().st_mode) == 0o644
    assert names(tree) == ["a", "a/b", "a/b/c.txt"]


async def test_what_changed_is_told_and_the_mode_stays(driver: Driver, tree: Path) -> None:
    (tree / "run.sh").write_text("one\ntwo\nthree\n")
    (tree / "run.sh").chmod(0o750)
    done = await driver.write("run.sh", "one\n2\nthree\n")
    assert (done.what, done.diff) == ("changed", "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three")
    assert stat.S_IMODE((tree / "run.sh").stat().st_mode) == 0o750
    assert names(tree) == ["run.sh"]


async def test_the_same_content_again_changes_nothing(driver: Driver, tree: Path) -> None:
    await driver.write("a", "x")
    before = (tree / "a").stat()
    assert (await driver.write("a", "x", "0123456789ab")).what == "unchanged"
    assert (tree / "a").stat() == before


async def test_a_version_that_is_expected_must_be_there(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("old\n")
    failed = await refused(driver, "a", "new\n", expects="0123456789ab")
    assert failed.reason == "changed"
    assert "changed under you" in str(failed)
    assert "1 lines added, 1 removed" in str(failed)
    assert (await refused(driver, "none", expects="0123456789ab")).reason == "changed"
    assert (await driver.write("a", "new\n", version(b"old\n"))).what == "changed"


async def test_a_change_by_somebody_else_since_it_was_read_is_not_written_over(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("old\n")
    await driver.read("a")
    (tree / "a").write_text("theirs\n")
    assert (await refused(driver, "a", "mine\n")).reason == "changed"
    assert (tree / "a").read_text() == "theirs\n"
    assert (await driver.write("a", "mine\n", overwrite=True)).what == "changed"


async def test_after_reading_it_again_it_can_be_written(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("old\n")
    await driver.read("a")
    (tree / "a").write_text("theirs\n")
    await driver.read("a")
    await driver.write("a", "mine\n")
    await driver.write("a", "mine again\n")
    assert (tree / "a").read_text() == "mine again\n"


async def test_a_hard_link_keeps_the_old_content_and_that_is_said(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("old")
    os.link(tree / "a", tree / "b")
    done = await driver.write("a", "new")
    assert done.notes == ("it had 2 names; the others keep the old content",)
    assert (tree / "b").read_text() == "old"


async def test_a_link_stays_and_what_it_leads_to_is_written(driver: Driver, tree: Path) -> None:
    (tree / "real").mkdir()
    (tree / "real/a").write_text("old")
    (tree / "way").symlink_to("real")
    (tree / "to").symlink_to("/workspace/work (1)/way/a")
    assert (await driver.write("to", "new")).path == "real/a"
    assert (await driver.write("way/fresh", "new")).path == "real/fresh"
    assert (tree / "to").is_symlink()
    assert (tree / "real/a").read_text() == "new"


async def test_a_large_file_is_written_by_a_thread_all_the_same(driver: Driver, tree: Path) -> None:
    await driver.write("a", "x" * 3_000_000)
    assert (await driver.write("a", "x" * 2_999_999)).what == "changed"
    assert (tree / "a").stat().st_size == 2_999_999


async def test_more_than_a_file_may_have_is_refused(driver: Driver, tree: Path) -> None:
    assert (await refused(driver, "a", "x" * (MOST + 1))).reason == "too_large"
    assert names(tree) == []


async def test_a_huge_file_is_not_read_to_be_replaced(driver: Driver, tree: Path) -> None:
    with (tree / "a").open("wb") as file:
        file.truncate(1 << 40)
    assert (await refused(driver, "a")).reason == "too_large"


async def test_half_a_character_is_refused(driver: Driver, tree: Path) -> None:
    assert (await refused(driver, "a", "x\ud800")).reason == "bad_text"


@pytest.mark.parametrize("path", [".", "", "folder", "folder/.."])
async def test_a_directory_is_no_file_to_write(driver: Driver, tree: Path, path: str) -> None:
    (tree / "folder").mkdir()
    assert (await refused(driver, path)).reason == "is_directory"


async def test_below_a_file_nothing_is_made(driver: Driver, tree: Path) -> None:
    (tree / "a").write_text("x")
    assert (await refused(driver, "a/b")).reason == "not_found"


async def test_only_what_the_role_grants_is_written_and_the_role_is_named(tree: Path) -> None:
    with driver_on(tree, Role(name="scribe", write=("notes", "src/*.md"))) as driver:
        for path in ("notes/a/b", "notes", "src/a.md"):
            assert (await driver.write(path, "x")).what == "added" if path != "notes" else True
        for path in ("a", "src/a.py", "src", "notes.txt", "src/deep/a.md"):
            failed = await refused(driver, path)
            assert failed.reason == "not_allowed"
            assert "the role scribe may not write" in str(failed)


async def test_a_role_that_may_write_nothing_says_so(tree: Path) -> None:
    with driver_on(tree, Role(name="reader")) as driver:
        assert "the role reader may not write a" in str(await refused(driver, "a"))


async def test_a_link_into_what_is_granted_is_granted_and_one_out_of_it_is_not(tree: Path) -> None:
    (tree / "open").mkdir()
    (tree / "closed").mkdir()
    (tree / "closed/in").symlink_to("../open")
    (tree / "open/out").symlink_to("../closed")
    with driver_on(tree, Role(name="scribe", read=("open",), write=("open",))) as driver:
        assert (await driver.write("closed/in/a", "x")).path == "open/a"
        assert (await refused(driver, "open/out/a")).reason == "not_allowed"
        (tree / "closed/a").write_text("x")
        with pytest.raises(ToolFailed, match="may not read closed/a"):
            await driver.read("open/out/a")
