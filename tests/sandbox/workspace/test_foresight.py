"""What is foreseen is what then happens, and looking changes nothing."""

from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, shown

from daimon.abi.errors import BadInput
from daimon.abi.workspace import Applying, Deed, Merging, Outcome, Restoring, Undoing, WorkspaceId
from daimon.sandbox.workspace.store import Store


def told(outcome: Outcome) -> list[tuple[str, str]]:
    return [(change.what, change.path) for change in outcome.changes]


async def looked(store: Store, workspace: WorkspaceId, deed: Deed) -> Outcome:
    """Twice, with a look whether it left anything behind."""
    before = (await store.checkpoints(workspace), await store.diff(workspace), store.stack_of(workspace))
    found = await store.foresee(workspace, deed)
    assert await store.foresee(workspace, deed) == found
    assert (await store.checkpoints(workspace), await store.diff(workspace), store.stack_of(workspace)) == before
    return found


async def test_an_apply_does_what_was_foreseen(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "mine\n")
    await store.checkpoint(hand.workspace, "half way")
    hand.write("new", "x")
    hand.delete("src/main.py")
    hand.write(".envrc", "runs by itself")
    before = shown([base])
    foreseen = await looked(store, hand.workspace, Applying())
    assert shown([base]) == before
    done = await store.apply(hand.workspace)
    assert told(foreseen) == told(done) == [("added", "new"), ("changed", "readme"), ("removed", "src/main.py")]
    assert (foreseen.where, foreseen.left_out) == (done.where, done.left_out) == (str(base), (".envrc",))


async def test_of_an_apply_some_paths_are_foreseen_alone(store: Store, hand: Hand) -> None:
    hand.write("readme", "mine\n")
    hand.write("new", "x")
    assert told(await looked(store, hand.workspace, Applying(("new",)))) == [("added", "new")]
    with pytest.raises(BadInput, match="nothing changed at"):
        await store.foresee(hand.workspace, Applying(("src",)))


async def test_what_forbids_an_apply_is_foreseen(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "mine\n")
    await store.live_changes(hand.workspace)  # the call ends, and what the directory had is noted
    (base / "readme").write_text("the owner's\n")
    foreseen = await looked(store, hand.workspace, Applying())
    done = await store.apply(hand.workspace)
    assert foreseen.conflicts == done.conflicts
    assert [each.path for each in foreseen.conflicts] == ["readme"]


async def test_a_restore_does_what_was_foreseen(store: Store, hand: Hand) -> None:
    start = (await store.checkpoints(hand.workspace))[-1]
    hand.write("readme", "mine\n")
    hand.write("new", "x")
    foreseen = await looked(store, hand.workspace, Restoring(start.id))
    assert told(foreseen) == told(await store.restore(hand.workspace, start.id)) == [("removed", "new"), ("changed", "readme")]


async def test_each_undo_is_foreseen_with_what_it_takes_back(store: Store, hand: Hand, base: Path) -> None:
    hand.write("new", "x")
    await store.apply(hand.workspace)
    hand.write("readme", "mine\n")
    foreseen = await looked(store, hand.workspace, Undoing())
    assert (foreseen.of, foreseen.where, told(foreseen)) == ("work", "", [("changed", "readme")])
    await store.undo(hand.workspace)
    foreseen = await looked(store, hand.workspace, Undoing())
    assert (foreseen.of, foreseen.where, told(foreseen)) == ("apply", str(base), [("removed", "new")])
    await store.undo(hand.workspace)
    assert not (base / "new").exists()
    assert (await looked(store, hand.workspace, Undoing())).of == "work"
    await store.undo(hand.workspace)
    with pytest.raises(BadInput, match="nothing is left to undo"):
        await store.foresee(hand.workspace, Undoing())


async def test_an_undo_that_would_meet_the_owners_edit_is_foreseen_as_a_conflict(store: Store, hand: Hand, base: Path) -> None:
    hand.write("new", "x")
    await store.apply(hand.workspace)
    (base / "new").write_text("edited since")
    assert [each.path for each in (await looked(store, hand.workspace, Undoing())).conflicts] == ["new"]


@pytest.mark.parametrize("is_frozen", [True, False])
async def test_a_merge_does_what_was_foreseen(store: Store, hand: Hand, base: Path, is_frozen: bool) -> None:
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("readme", "ONE\ntwo\nthree\nfour\nfive\n")
    fork.write("theirs", "x")
    first = await looked(store, fork.workspace, Merging(hand.workspace))
    assert told(first) == [("changed", "readme"), ("added", "theirs")]
    hand.write("readme", "one\ntwo\nthree\nfour\nFIVE\n")
    if is_frozen:
        await store.checkpoint(hand.workspace, "here")
        await store.checkpoint(fork.workspace, "there")
    foreseen = await looked(store, fork.workspace, Merging(hand.workspace))
    assert told(foreseen) == told(await store.merge(fork.workspace, hand.workspace)) == [("changed", "readme"), ("added", "theirs")]
    assert "has nothing" in (await looked(store, fork.workspace, Merging(hand.workspace))).notes[0]


async def test_conflicts_of_a_merge_are_foreseen(store: Store, hand: Hand, base: Path) -> None:
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("readme", "theirs\n")
    hand.write("readme", "ours\n")
    foreseen = await looked(store, fork.workspace, Merging(hand.workspace))
    assert foreseen.conflicts == (await store.merge(fork.workspace, hand.workspace)).conflicts
    assert [each.path for each in foreseen.conflicts] == ["readme"]


async def test_a_merge_leaves_its_other_parent_in_the_tree(store: Store, hand: Hand, base: Path) -> None:
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("theirs", "x")
    done = await store.merge(fork.workspace, hand.workspace)
    made = next(each for each in await store.checkpoints(hand.workspace) if each.id == done.after)
    assert made.merged in {each.id for each in await store.checkpoints(fork.workspace)}


async def test_checkpoints_of_other_directories_are_not_gone_to(store: Store, hand: Hand, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = await store.new(str(tmp_path / "other"))
    with pytest.raises(BadInput, match="another directory"):
        await store.foresee(hand.workspace, Restoring(other.head))
    with pytest.raises(BadInput, match="nothing to merge"):
        await store.foresee(hand.workspace, Merging(other.id))


async def test_by_copies_what_is_foreseen_is_what_happens_too(store: Store, hand: Hand, base: Path) -> None:
    ground = await store.copied(hand.workspace, "work")
    tree = hand.place / hand.workspace / ground.name
    (tree / "readme").write_text("mine\n")
    (tree / "new").write_text("x")
    foreseen = await looked(store, hand.workspace, Applying())
    assert told(foreseen) == [("added", "new"), ("changed", "readme")]
    assert (await looked(store, hand.workspace, Undoing())).of == "work"
    assert told(await store.apply(hand.workspace)) == told(foreseen)
    assert (base / "new").read_text() == "x"
    await ground.close()
