"""Checkpoints, going back, forks: what the owner sees of them."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Recorder

from daimon.abi.errors import BadInput, NotFound, ToolFailed
from daimon.abi.workspace import CheckpointId, WorkspaceId
from daimon.sandbox.workspace import course, layer
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


def what(changes: tuple[object, ...]) -> dict[str, str]:
    return {change.path: change.what for change in changes}  # type: ignore[attr-defined]


async def test_a_directory_has_one_workspace_and_keeps_it(store: Store, base: Path) -> None:
    first = await store.new(str(base))
    assert (await store.new(str(base / "../project"))).id == first.id
    assert first.base == str(base)
    assert not first.is_changed
    assert (await store.list()) == (first,)


async def test_what_is_no_directory_or_holds_the_store_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no directory"):
        await store.new(str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match="lie in each other"):
        await store.new(str(tmp_path))


async def test_what_is_not_there_is_not_found(store: Store, hand: Hand) -> None:
    with pytest.raises(NotFound):
        await store.checkpoints(WorkspaceId("w99"))
    for name in ("c99", "nonsense", "c", "c٣"):
        with pytest.raises(NotFound):
            await store.restore(hand.workspace, CheckpointId(name))


async def test_a_checkpoint_without_changes_is_the_one_before(store: Store, hand: Hand) -> None:
    first = await store.checkpoint(hand.workspace, "one")
    assert await store.checkpoint(hand.workspace, "two") == first
    hand.write("new", "x")
    second = await store.checkpoint(hand.workspace, "three")
    assert second.parent == first.id
    assert await store.checkpoint(hand.workspace, "four") == second
    assert [each.id for each in await store.checkpoints(hand.workspace)] == [second.id, first.id]


async def test_a_state_that_differs_is_kept_even_if_no_file_does(store: Store, hand: Hand) -> None:
    hand.write("new", "x")
    first = await store.checkpoint(hand.workspace, "one", {"shell": "/a"})
    second = await store.checkpoint(hand.workspace, "two", {"shell": "/b"})
    assert (first.state, second.state) == ({"shell": "/a"}, {"shell": "/b"})
    assert await store.checkpoint(hand.workspace, "three", {"shell": "/b"}) == second
    assert await store.diff(hand.workspace, first.id, second.id) == ()


async def test_going_back_shows_what_was_there_and_loses_nothing(store: Store, hand: Hand, base: Path) -> None:
    beginning = hand.seen()
    hand.write("readme", "changed\n")
    hand.delete("src/deep")
    one = await store.checkpoint(hand.workspace, "one")
    at_one = hand.seen()
    hand.write("src/deep/again", "y")
    hand.delete("src/main.py")
    at_two = hand.seen()

    back = await store.restore(hand.workspace, one.id)
    assert hand.seen() == at_one
    assert what(back.changes) == {"src/deep": "removed", "src/deep/again": "removed", "src/main.py": "added"}
    await store.restore(hand.workspace, back.before)
    assert hand.seen() == at_two
    first = (await store.checkpoints(hand.workspace))[-1]
    await store.restore(hand.workspace, first.id)
    assert hand.seen() == beginning
    assert (base / "readme").read_text() == "one\ntwo\nthree\nfour\nfive\n"


async def test_undo_goes_back_change_by_change_and_what_it_left_can_be_had_again(store: Store, hand: Hand) -> None:
    states = [hand.seen()]
    for number in range(3):
        hand.write(f"file{number}", "x")
        states.append(hand.seen())
        if number < 2:
            await store.checkpoint(hand.workspace, str(number))
    first = await store.undo(hand.workspace)
    assert hand.seen() == states[2]
    await store.undo()
    assert hand.seen() == states[1]
    await store.undo(hand.workspace)
    assert hand.seen() == states[0]
    with pytest.raises(BadInput, match="nothing is left"):
        await store.undo(hand.workspace)
    await store.restore(hand.workspace, first.before)
    assert hand.seen() == states[3]
    await store.undo(hand.workspace)
    assert hand.seen() == states[0]


async def test_undo_without_a_name_takes_the_workspace_that_changed_last(store: Store, hand: Hand, base: Path) -> None:
    other = Hand(store, (await store.fork(hand.workspace)).id, base)
    hand.write("here", "x")
    await store.checkpoint(hand.workspace, "here")
    other.write("there", "x")
    assert (await store.undo()).workspace == other.workspace
    assert (await store.undo()).workspace == hand.workspace
    with pytest.raises(BadInput):
        await store.undo()


async def test_a_fork_begins_where_its_source_is_and_goes_its_own_way(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "mine\n")
    made = await store.fork(hand.workspace, "try")
    other = Hand(store, made.id, base)
    assert (made.name, made.forked_from) == ("try", (await store.list())[0].head)
    assert other.seen() == hand.seen()
    other.write("only here", "x")
    assert "only here" not in hand.seen()
    assert (await store.list())[1].is_changed


async def test_a_fork_can_begin_at_an_old_checkpoint(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "one\n")
    old = await store.checkpoint(hand.workspace, "one", {"here": 1})
    hand.write("readme", "two\n")
    other = Hand(store, (await store.fork(hand.workspace, at=old.id)).id, base)
    assert other.seen()["readme"] == "one\n"
    assert hand.seen()["readme"] == "two\n"
    assert (await store.checkpoints(other.workspace))[0].state == {"here": 1}


async def test_discarding_removes_the_layers_that_nobody_else_needs(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "one\n")
    other = Hand(store, (await store.fork(hand.workspace)).id, base)
    other.write("more", "x")
    await store.checkpoint(other.workspace, "more")
    place, seen = hand.place, other.seen()
    await store.discard(hand.workspace)
    assert other.seen() == seen
    assert other.names() == {(stack := store.stack_of(other.workspace)).live, *stack.frozen}
    await store.discard(other.workspace)
    assert not place.exists()
    assert await store.list() == ()
    assert (await store.new(str(base))).id not in (hand.workspace, other.workspace)


async def test_an_open_workspace_is_not_discarded(store: Store, hand: Hand) -> None:
    store.attach(hand.workspace, Recorder())
    with pytest.raises(BadInput, match="is open"):
        await store.discard(hand.workspace)
    await store.detach(hand.workspace)
    await store.discard(hand.workspace)


async def test_the_ground_is_told_before_a_move_counts(store: Store, hand: Hand) -> None:
    ground = Recorder()
    store.attach(hand.workspace, ground)
    before = store.stack_of(hand.workspace)
    hand.write("new", "x")
    made = await store.checkpoint(hand.workspace, "one")
    assert made.is_sealed
    assert ground.stacks == [store.stack_of(hand.workspace)]
    assert ground.stacks[0].frozen == (before.live,)


async def test_a_move_that_the_ground_refuses_changes_nothing(store: Store, hand: Hand) -> None:
    store.attach(hand.workspace, Recorder(failure=OSError(16, "busy")))
    hand.write("new", "x")
    before = store.stack_of(hand.workspace)
    with pytest.raises(Exception, match="nothing was changed"):
        await store.checkpoint(hand.workspace, "one")
    assert store.stack_of(hand.workspace) == before
    assert hand.names() == {before.live}


async def test_what_is_written_after_a_checkpoint_is_seen_and_said(store: Store, hand: Hand) -> None:
    ground = Recorder(is_sealed=False)
    store.attach(hand.workspace, ground)
    hand.write("log", "1")
    old = hand.live
    first = (await store.list())[0].head
    back = await store.restore(hand.workspace, first)
    assert course.STILL in back.notes
    await store.settle()
    (old / "log").write_text("12")
    hand.write("more", "x")
    again = await store.restore(hand.workspace, back.before)
    assert any("log" in note for note in again.notes)
    assert hand.seen()["log"] == "12"


async def test_a_store_is_the_same_after_it_was_closed_and_strays_are_gone(hand: Hand, store: Store, tmp_path: Path) -> None:
    hand.write("new", "x")
    made = await store.checkpoint(hand.workspace, "one", {"a": 1})
    hand.write("newer", "y")
    seen, place = hand.seen(), hand.place
    await store.close()
    for stray in (place / "l999/tree/a", place.parent / "f99/l1/tree"):
        stray.mkdir(parents=True)
    again = await Store.open(tmp_path / "workspaces", ManualClock())
    assert Hand(again, hand.workspace, hand.base).seen() == seen
    assert (await again.checkpoints(hand.workspace))[0] == made
    assert not (place / "l999").exists()
    assert not (place.parent / "f99").exists()
    await again.close()


@pytest.mark.parametrize("left", [".1.gone", ".1.gone/x", ".2.gone/x/y"])
async def test_a_stray_whose_removal_was_interrupted_is_removed_at_the_next_start(
    hand: Hand, store: Store, tmp_path: Path, left: str
) -> None:
    stray = hand.place / "l999"
    await store.close()
    for path in (left, "tree/a/b", "tree/c/d", "tree/e/f", "work/work/g"):
        (stray / path).mkdir(parents=True)
    again = await Store.open(tmp_path / "workspaces", ManualClock())
    assert not stray.exists()
    await again.close()


async def test_an_edit_of_the_owner_underneath_is_noticed(store: Store, hand: Hand, base: Path) -> None:
    hand.write("readme", "mine\n")
    hand.delete("src")
    made = await store.checkpoint(hand.workspace, "one")
    await store.settle()
    assert await store.underneath(hand.workspace) == ()
    (base / "readme").write_text("yours, and longer\n")
    (base / "src/deep/data").unlink()
    (base / "untouched").write_text("x")
    assert await store.underneath(hand.workspace) == ("readme", "src/deep/data")
    hand.write("x", "x")
    assert any("readme" in note for note in (await store.restore(hand.workspace, made.id)).notes)


async def test_the_live_layer_is_listed_quickly(store: Store, hand: Hand) -> None:
    hand.write("src/main.py", "print(2)\n")
    hand.write("src/new/file", "x")
    hand.delete("readme")
    assert what(await store.live_changes(hand.workspace)) == {
        "readme": "removed", "src/main.py": "changed", "src/new": "added", "src/new/file": "added",
    }  # fmt: skip


async def test_the_store_is_closed_to_others(store: Store, hand: Hand, tmp_path: Path) -> None:
    for path in (tmp_path / "workspaces", hand.place, hand.live.parent):
        assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
async def test_a_live_layer_belongs_to_whom_the_base_belongs(store: Store, tmp_path: Path) -> None:
    (theirs := tmp_path / "theirs").mkdir(mode=0o750)
    os.chown(theirs, 12345, 12346)
    made = await store.new(str(theirs))
    seen = Hand(store, made.id, theirs).live.stat()
    assert (seen.st_uid, seen.st_gid, seen.st_mode & 0o777) == (12345, 12346, 0o750)


async def test_a_workspace_whose_directory_is_gone_says_so_and_can_be_discarded(store: Store, hand: Hand, base: Path) -> None:
    hand.write("new", "x")
    os.rename(base, base.with_name("elsewhere"))
    with pytest.raises(ToolFailed, match="project"):
        await store.diff(hand.workspace)
    assert len(await store.list()) == 1
    await store.discard(hand.workspace)
    assert await store.list() == ()


async def test_who_goes_away_does_not_stop_what_has_begun(store: Store, hand: Hand) -> None:
    hand.write("new", "x")
    asking = asyncio.create_task(store.checkpoint(hand.workspace, "one"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await store.settle()
    assert (await store.checkpoints(hand.workspace))[0].why == "one"
    assert hand.seen()["new"] == "x"


async def test_what_a_program_closed_to_its_own_user_stops_nobody(store: Store, hand: Hand, base: Path) -> None:
    hand.write("closed/inner/file", "x")
    hand.write("secret", "y", 0o000)
    (hand.live / "closed/inner").chmod(0o000)
    (hand.live / "closed").chmod(0o555)
    hand.live.chmod(0o000)
    made = await store.checkpoint(hand.workspace, "one")
    assert {"closed", "closed/inner", "secret"} <= {change.path for change in await store.diff(hand.workspace)}
    fork = await store.fork(hand.workspace)
    hand.write("readme", "more\n")
    await store.restore(hand.workspace, made.id)
    await store.merge(fork.id, hand.workspace)
    await store.discard(fork.id)
    await store.discard(hand.workspace)
    assert await store.list() == ()


async def test_a_layer_of_many_files_is_settled_as_one_of_few(store: Store, hand: Hand) -> None:
    for number in range(layer.MANY + 36):
        hand.write(f"d{number % 3}/{number}", str(number))
    tree = hand.seen()
    await store.checkpoint(hand.workspace, "many")
    await store.settle()
    assert hand.seen() == tree
    assert (hand.place / store.stack_of(hand.workspace).frozen[0] / "manifest").exists()
