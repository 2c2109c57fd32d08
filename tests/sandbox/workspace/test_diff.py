"""What is said about differences."""

import os
from pathlib import Path

from tests.sandbox.workspace.hand import Hand

from daimon.abi.workspace import Entry
from daimon.sandbox.workspace import diff
from daimon.sandbox.workspace.store import Store


async def test_a_diff_names_what_was_added_changed_and_removed_since_the_base(store: Store, hand: Hand) -> None:
    hand.write("readme", "one\nTWO\nthree\nfour\nfive\n")
    hand.delete("src/deep")
    hand.link("link", "readme")
    await store.checkpoint(hand.workspace, "one")
    hand.write("src/new", "x", 0o755)
    found = {change.path: change for change in await store.diff(hand.workspace)}
    assert {path: change.what for path, change in found.items()} == {
        "link": "added", "readme": "changed", "src/deep": "removed", "src/deep/data": "removed", "src/new": "added",
    }  # fmt: skip
    assert found["link"].after == Entry("link", 0o777, hash="readme")
    new = found["src/new"].after
    assert new is not None
    assert (new.kind, new.mode, new.size, new.hash[:8]) == ("file", 0o755, 1, "2d711642")
    assert list(found) == sorted(found)


async def test_what_was_written_and_is_the_same_is_no_change(store: Store, hand: Hand) -> None:
    hand.write("readme", "one\ntwo\nthree\nfour\nfive\n")
    hand.delete("src/main.py")
    hand.write("src/main.py", "print(1)\n")
    assert await store.diff(hand.workspace) == ()


async def test_a_mode_alone_is_a_change(store: Store, hand: Hand) -> None:
    hand.write("src/main.py", "print(1)\n", 0o755)
    assert [change.path for change in await store.diff(hand.workspace)] == ["src/main.py"]
    assert "mode of src/main.py: 644 -> 755" in await store.text(hand.workspace, ())


async def test_text_is_a_unified_diff_of_the_paths_that_were_asked_for(store: Store, hand: Hand) -> None:
    hand.write("readme", "one\nTWO\nthree\nfour\nfive")
    hand.write("src/new", "x\n")
    hand.delete("src/main.py")
    assert await store.text(hand.workspace, ("readme",)) == (
        "--- a/readme\n+++ b/readme\n@@ -1,5 +1,5 @@\n one\n-two\n+TWO\n three\n four\n-five\n+five\n\\ No newline at end of file\n"
    )
    assert await store.text(hand.workspace, ("src",)) == (
        "--- a/src/main.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-print(1)\n--- /dev/null\n+++ b/src/new\n@@ -0,0 +1 @@\n+x\n"
    )


async def test_what_is_not_shown_is_said(store: Store, hand: Hand) -> None:
    hand.write("binary", b"\0\1")
    hand.write("large", "x" * (diff.LARGEST_FILE + 1))
    hand.write("many", "\n" * (diff.MOST_LINES + 1))
    hand.fifo("pipe")
    hand.link("link", "/etc/passwd")
    hand.write(os.fsdecode(b"no text \xff"), b"\xff\n")
    text = await store.text(hand.workspace, ())
    for said in ("binary\n[not shown: binary]", "262145 bytes", "5001 lines", "added: pipe (other", "added: link (link to /etc/passwd)"):
        assert said in text
    assert "root:" not in text
    assert "+\udcff\n" in text


async def test_a_pipe_in_a_layer_makes_nobody_wait(store: Store, hand: Hand) -> None:
    hand.fifo("pipe")
    made = await store.checkpoint(hand.workspace, "one")
    assert [change.path for change in await store.diff(hand.workspace)] == ["pipe"]
    assert hand.seen()["pipe"] == "?"
    hand.delete("pipe")
    await store.restore(hand.workspace, made.id)


async def test_a_tree_that_is_deeper_than_a_path_is_long_is_kept_and_removed(store: Store, hand: Hand, tmp_path: Path) -> None:
    place = os.open(hand.live, os.O_DIRECTORY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=place)
        deeper = os.open("d" * 200, os.O_DIRECTORY, dir_fd=place)
        os.close(place)
        place = deeper
    os.close(place)
    await store.checkpoint(hand.workspace, "deep")
    assert 10 < len(await store.diff(hand.workspace)) < 60
    await store.discard(hand.workspace)
    assert [each.name for each in (tmp_path / "workspaces").iterdir() if each.is_dir()] == []
