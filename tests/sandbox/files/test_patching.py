"""Unified diffs: exact context wherever it has gone, all files or none, and a hunk that does not fit is named."""

from pathlib import Path

import pytest

from daimon.abi.errors import ToolFailed
from daimon.sandbox.files.driver import Driver
from daimon.sandbox.files.patching import applied, parsed, trace

TEN = "".join(f"line {n}\n" for n in range(1, 11))
FIVE = "--- a/x\n+++ b/x\n@@ -4,3 +4,3 @@\n line 4\n-line 5\n+LINE 5\n line 6\n"


async def refused(driver: Driver, patch: str) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await driver.patch(patch)
    return failed.value


def one(patch: str, text: str) -> str:
    [change] = parsed(patch)
    return applied(change, text)


async def test_a_hunk_is_applied_and_the_diff_told(driver: Driver, tree: Path) -> None:
    (tree / "x").write_text(TEN)
    [done] = await driver.patch(FIVE)
    assert (tree / "x").read_text() == TEN.replace("line 5", "LINE 5")
    assert (done.path, done.what) == ("x", "changed")
    assert "+LINE 5" in done.diff


def test_a_hunk_is_found_where_its_context_has_gone() -> None:
    assert one(FIVE, "more\n" * 50 + TEN) == "more\n" * 50 + TEN.replace("line 5", "LINE 5")


def test_of_several_places_the_nearest_is_taken() -> None:
    assert one(FIVE, TEN * 3) == TEN.replace("line 5", "LINE 5") + TEN * 2


def test_counts_and_positions_that_are_wrong_do_not_matter() -> None:
    assert one(FIVE.replace("@@ -4,3 +4,3 @@", "@@ -9,99 +1,1 @@ def x"), TEN) == TEN.replace("line 5", "LINE 5")
    assert one(FIVE.replace("@@ -4,3 +4,3 @@", "@@ @@"), TEN) == TEN.replace("line 5", "LINE 5")


def test_several_hunks_are_applied_in_their_order() -> None:
    patch = "--- x\n+++ x\n@@ -1,2 +1,4 @@\n line 1\n+a\n+b\n line 2\n@@ -9,2 +11,1 @@\n line 9\n-line 10\n"
    assert one(patch, TEN) == TEN.replace("line 1\n", "line 1\na\nb\n", 1).replace("line 10\n", "")


@pytest.mark.parametrize(
    ("old", "patch", "new"),
    [
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "b"),
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n"),
        ("a\n", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a"),
        ("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\r\nc\r\n"),
        ("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nc\n"),
    ],
)
def test_ends_of_lines_and_of_files_are_kept_or_changed_as_said(old: str, patch: str, new: str) -> None:
    assert one(f"--- a/x\n+++ b/x\n{patch}", old) == new


async def test_files_are_made_and_removed(driver: Driver, tree: Path) -> None:
    (tree / "old").write_text("a\nb\n")
    made = "diff --git a/d/new b/d/new\nnew file mode 100644\n--- /dev/null\n+++ b/d/new\n@@ -0,0 +1,2 @@\n+one\n+two\n"
    done = await driver.patch(f"{made}--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n")
    assert {each.path: each.what for each in done} == {"d/new": "added", "old": "removed"}
    assert (tree / "d/new").read_text() == "one\ntwo\n"
    assert not (tree / "old").exists()
    assert driver.changed() == ()


async def test_if_one_hunk_does_not_fit_no_file_is_changed_and_it_is_named(driver: Driver, tree: Path) -> None:
    (tree / "x").write_text(TEN)
    (tree / "y").write_text("other\n")
    failed = await refused(driver, f"{FIVE}--- a/y\n+++ b/y\n@@ -1 +1 @@\n-other\n+new\n@@ -7 +7 @@\n-not there\n+x\n")
    assert failed.reason == "no_match"
    assert "hunk 2 of 2 for y (its line 7)" in str(failed)
    assert (tree / "x").read_text() == TEN
    assert (tree / "y").read_text() == "other\n"


async def test_if_a_write_fails_what_was_written_is_put_back(driver: Driver, tree: Path) -> None:
    (tree / "x").write_text(TEN)
    (tree / "y").mkdir()
    (tree / "y/z").write_text("a\n")
    failed = await refused(
        driver, f"{FIVE}--- /dev/null\n+++ b/{'n' * 255}/new\n@@ -0,0 +1 @@\n+a\n--- /dev/null\n+++ b/{'n' * 256}\n@@ -0,0 +1 @@\n+a\n"
    )
    assert failed.reason == "bad_path"
    assert (tree / "x").read_text() == TEN


@pytest.mark.parametrize(
    "patch",
    [
        "", "hello", "@@ -1 +1 @@\n-a\n+b\n", "--- a/x\n+++ b/x\n", "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", f"{FIVE}{FIVE}",
        "--- a/x\n+++ b/x\n@@ nonsense\n-a\n", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n!b\n", "rename from a\nrename to b\n",
    ],
)  # fmt: skip
async def test_what_is_no_patch_is_refused(driver: Driver, tree: Path, patch: str) -> None:
    (tree / "x").write_text(TEN)
    assert (await refused(driver, patch)).reason == "bad_patch"


async def test_a_patch_cannot_make_what_is_there_nor_change_what_is_not_nor_lead_out(driver: Driver, tree: Path) -> None:
    assert (await refused(driver, FIVE)).reason == "not_found"
    (tree / "x").write_text(TEN)
    assert (await refused(driver, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n")).reason == "exists"
    assert (await refused(driver, FIVE.replace("/x", "/../secret"))).reason == "outside"


@pytest.mark.parametrize(
    ("text", "expected"), [(TEN, "not done"), (TEN.replace("line 5", "LINE 5"), "done"), ("else", "unclear"), (None, "unclear")]
)
def test_whether_a_patch_was_applied_is_told_from_the_text(text: str | None, expected: str) -> None:
    [change] = parsed(FIVE)
    assert trace(change, text) == expected


def test_a_patch_next_to_whose_lines_somebody_else_worked_since_is_unclear() -> None:
    [change] = parsed("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n+mine\n end\n")
    assert trace(change, "theirs\nend\n") == "not done"
    assert trace(change, "mine\ntheirs\nend\n") == "unclear"


async def test_a_patch_of_two_files_that_was_applied_to_one_is_unclear(driver: Driver, tree: Path) -> None:
    (tree / "x").write_text(TEN)
    (tree / "y").write_text(TEN)
    both = FIVE + FIVE.replace("/x", "/y")
    assert await driver.was_patched(both) == "not done"
    await driver.patch(FIVE)
    assert await driver.was_patched(both) == "unclear"
    await driver.patch(FIVE.replace("/x", "/y"))
    assert await driver.was_patched(both) == "done"
