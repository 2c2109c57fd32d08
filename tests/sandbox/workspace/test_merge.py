"""Two workspaces become one, or it is said why not."""

from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand

from daimon.abi.errors import BadInput
from daimon.sandbox.workspace.lines import merged
from daimon.sandbox.workspace.store import Store


@pytest.fixture
async def fork(store: Store, hand: Hand, base: Path) -> Hand:
    hand.write("shared", "a\nb\nc\nd\ne\n")
    return Hand(store, (await store.fork(hand.workspace, "try")).id, base)


async def test_where_nothing_moved_the_forks_layers_are_taken(store: Store, hand: Hand, fork: Hand) -> None:
    fork.write("new", "x")
    fork.delete("src")
    fork.write("src", "a file now")
    done = await store.merge(fork.workspace, hand.workspace)
    assert not done.conflicts
    assert hand.seen() == fork.seen()
    assert store.stack_of(hand.workspace).frozen == store.stack_of(fork.workspace).frozen
    await store.undo(hand.workspace)
    assert "new" not in hand.seen()


async def test_changes_at_different_places_come_together_in_one_layer(store: Store, hand: Hand, fork: Hand, base: Path) -> None:
    hand.write("mine", "x")
    hand.write("shared", "A\nb\nc\nd\ne\n")
    hand.delete("src/main.py")
    fork.write("theirs/deep/file", "y")
    fork.write("shared", "a\nb\nc\nd\nE\n")
    fork.delete("src/deep")
    before = len(store.stack_of(hand.workspace).frozen)
    done = await store.merge(fork.workspace, hand.workspace)
    assert done.conflicts == ()
    assert hand.seen() == {
        "mine": "x", "shared": "A\nb\nc\nd\nE\n", "readme": (base / "readme").read_text(),
        "src": "/", "theirs": "/", "theirs/deep": "/", "theirs/deep/file": "y",
    }  # fmt: skip
    assert len(store.stack_of(hand.workspace).frozen) == before + 2
    assert {change.path for change in done.changes} == {"shared", "src/deep", "src/deep/data", "theirs", "theirs/deep", "theirs/deep/file"}


async def test_a_second_merge_brings_only_what_is_new(store: Store, hand: Hand, fork: Hand) -> None:
    hand.write("mine", "x")
    fork.write("theirs", "1\n2\n3\n")
    await store.merge(fork.workspace, hand.workspace)
    hand.write("theirs", "1\n2\nthree\n")
    fork.write("theirs", "one\n2\n3\n")
    again = await store.merge(fork.workspace, hand.workspace)
    assert again.conflicts == ()
    assert hand.seen()["theirs"] == "one\n2\nthree\n"
    assert "nothing that is not here" in (await store.merge(fork.workspace, hand.workspace)).notes[0]


@pytest.mark.parametrize(
    ("here", "there", "path", "why"),
    [
        (lambda hand: hand.write("shared", "A\n"), lambda hand: hand.write("shared", "B\n"), "shared", "same lines"),
        (lambda hand: hand.write("shared", b"\0a"), lambda hand: hand.write("shared", "B\n"), "shared", "binary"),
        (lambda hand: hand.delete("shared"), lambda hand: hand.write("shared", "B\n"), "shared", "removed here, changed there"),
        (lambda hand: hand.write("shared", "B\n"), lambda hand: hand.delete("shared"), "shared", "changed here, removed there"),
        (lambda hand: hand.write("new", "1"), lambda hand: hand.write("new", "2"), "new", "made in both"),
        (lambda hand: hand.link("new", "1"), lambda hand: hand.link("new", "2"), "new", "a link"),
        (lambda hand: hand.write("new", "1"), lambda hand: hand.put_directory("new"), "new", "a file here, a directory there"),
        (lambda hand: hand.write("src/more", "1"), lambda hand: hand.delete("src"), "src", "src/more changed here"),
        (lambda hand: hand.delete("src"), lambda hand: hand.write("src/more", "1"), "src/more", "src is removed here"),
        (lambda hand: hand.write("new", "1"), lambda hand: hand.write("new/file", "2"), "new/file", "new is a file here"),
        (lambda hand: hand.write("shared", "a\nb\nc\nd\ne\n", 0o700), lambda hand: hand.write("shared", "a\nb\nc\nd\ne\n", 0o600), "shared",
         "permissions"),
    ],
)  # fmt: skip
async def test_a_conflict_is_named_and_changes_nothing(store: Store, hand: Hand, fork: Hand, here, there, path: str, why: str) -> None:  # type: ignore[no-untyped-def]
    here(hand)
    there(fork)
    hand.write("other", "kept")
    fork.write("another", "x")
    seen = hand.seen()
    done = await store.merge(fork.workspace, hand.workspace)
    assert why in {conflict.path: conflict.why for conflict in done.conflicts}[path]
    assert done.before == done.after
    assert hand.seen() == seen


async def test_the_same_on_both_sides_is_no_conflict(store: Store, hand: Hand, fork: Hand) -> None:
    for each in (hand, fork):
        each.write("new/same", "1")
        each.delete("src")
    fork.write("more", "x")
    done = await store.merge(fork.workspace, hand.workspace)
    assert [change.path for change in done.changes] == ["more"]
    assert hand.seen() == fork.seen()


async def test_two_forks_merge_even_when_their_origin_is_discarded(store: Store, hand: Hand, fork: Hand, base: Path) -> None:
    other = Hand(store, (await store.fork(hand.workspace)).id, base)
    await store.discard(hand.workspace)
    fork.write("one", "1")
    other.write("two", "2")
    assert not (await store.merge(fork.workspace, other.workspace)).conflicts
    assert {"one", "two", "shared"} < other.seen().keys()


async def test_workspaces_of_different_directories_do_not_merge(store: Store, hand: Hand, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    other = await store.new(str(tmp_path / "else"))
    with pytest.raises(BadInput):
        await store.merge(other.id, hand.workspace)
    with pytest.raises(BadInput):
        await store.merge(hand.workspace, hand.workspace)


def test_edits_that_touch_are_not_merged_and_others_are() -> None:
    assert merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n") == "A\nb\nC\n"
    assert merged("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n") is None
    assert merged("a\nb\nc\n", "x\na\nb\nc\n", "a\nb\nc\ny") == "x\na\nb\nc\ny"
    assert merged("a\n", "a\nb\n", "a\nb\n") == "a\nb\n"
    assert merged("a\n", "a\nb\n", "a\nc\n") is None
    assert merged("", "a", "") == "a"
