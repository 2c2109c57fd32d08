"""Checkpoints while a program holds the tree: the tree stays where it is, and each of them is what was there then."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Tree, shown
from tests.sandbox.workspace.holders import Holder

from daimon.abi.workspace import CheckpointId
from daimon.sandbox.workspace import course
from daimon.sandbox.workspace.snapshot import Most
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


@pytest.fixture
def holder(store: Store, hand: Hand) -> Holder:
    store.attach(hand.workspace, made := Holder())
    return made


def top_of(hand: Hand, id: str) -> Path:
    """The topmost layer of a checkpoint."""
    return hand.place / hand.store._house.point(id).stack[0] / "tree"


def shown_at(hand: Hand, id: str) -> Tree:
    house = hand.store._house
    names = house.layers(house.room(hand.workspace).family, house.point(id))
    return shown([*(hand.place / name / "tree" for name in names), hand.base])


async def kept(store: Store, hand: Hand) -> tuple[CheckpointId, Tree]:
    return (await store.checkpoint(hand.workspace, "x")).id, hand.seen()


async def work(store: Store, hand: Hand) -> list[tuple[CheckpointId, Tree]]:
    """Three different checkpoints, with all that a layer can have."""
    hand.write("log", "1")
    hand.write("src/main.py", "print(2)\n", 0o755)
    hand.link("link", "log")
    points = [await kept(store, hand)]
    hand.write("log", "12")
    hand.delete("src/deep")
    hand.write("new/file", "x")
    points.append(await kept(store, hand))
    hand.delete("log")
    hand.write("src/deep/other", "y")
    hand.delete("new")
    return [*points, await kept(store, hand)]


async def test_the_tree_stays_and_each_checkpoint_is_what_was_there(store: Store, hand: Hand, holder: Holder) -> None:
    live = hand.live
    points = await work(store, hand)
    assert holder.stacks == []
    assert hand.live == live
    assert len({id for id, _ in points}) == 3
    assert [shown_at(hand, id) for id, _ in points] == [tree for _, tree in points]
    shown_points = await store.checkpoints(hand.workspace)
    assert all(point.is_sealed for point in shown_points)
    assert [point.parent for point in shown_points[:2]] == [points[1][0], points[0][0]]
    for id, tree in [*points, points[1]]:
        await store.restore(hand.workspace, id)
        assert hand.seen() == tree


async def test_once_nothing_holds_it_the_live_layer_is_frozen_again(store: Store, hand: Hand, holder: Holder) -> None:
    before = hand.live
    points = await work(store, hand)
    holder.is_held = False
    hand.write("last", "z")
    points.append(await kept(store, hand))
    assert len(holder.stacks) == 1
    assert top_of(hand, points[-1][0]) == before
    assert hand.live != before
    assert not any(hand.live.iterdir())
    assert (await store.checkpoints(hand.workspace))[0].parent == points[-2][0]
    for id, tree in points:
        await store.restore(hand.workspace, id)
        assert hand.seen() == tree


async def test_a_checkpoint_without_changes_is_the_one_before(store: Store, hand: Hand, holder: Holder) -> None:
    hand.write("new", "x")
    first = await store.checkpoint(hand.workspace, "one")
    assert await store.checkpoint(hand.workspace, "two") == first
    assert not (await store.list())[0].is_changed
    state = await store.checkpoint(hand.workspace, "three", {"here": 1})
    assert state.id != first.id
    hand.write("new", "y")
    assert (await store.list())[0].is_changed
    assert (await store.checkpoint(hand.workspace, "four")).parent == state.id


async def test_a_write_in_the_same_moment_and_of_the_same_size_is_noticed(store: Store, hand: Hand, holder: Holder) -> None:
    hand.write("new", "0")
    for number in range(1, 30):
        id, _ = await kept(store, hand)
        (hand.live / "new").write_text(str(number % 10))
        assert (await store.list())[0].is_changed
        assert shown_at(hand, id)["new"] == str((number - 1) % 10)


async def test_what_did_not_change_is_not_copied_again(store: Store, hand: Hand, holder: Holder) -> None:
    hand.write("large", "x" * 100_000)
    hand.write("small", "x")
    first, _ = await kept(store, hand)
    hand.write("small", "y")
    second, _ = await kept(store, hand)
    files = [top_of(hand, id) / "large" for id in (first, second)]
    assert files[0].stat().st_ino == files[1].stat().st_ino != (hand.live / "large").stat().st_ino
    assert (top_of(hand, first) / "small").read_text() == "x"
    await store.settle()
    assert {change.path for change in await store.diff(hand.workspace, first, second)} == {"small"}


async def test_only_what_was_done_since_is_listed(store: Store, hand: Hand, holder: Holder) -> None:
    hand.write("one", "1")
    hand.write("src/main.py", "print(2)\n")
    first, _ = await kept(store, hand)
    assert await store.live_changes(hand.workspace) == ()
    hand.write("two", "2")
    hand.delete("one")
    hand.delete("readme")
    wanted = {"two": "added", "one": "removed", "readme": "removed"}
    assert {change.path: change.what for change in await store.live_changes(hand.workspace)} == wanted
    assert {change.path: change.what for change in await store.diff(hand.workspace, first)} == wanted
    assert {change.path for change in await store.diff(hand.workspace)} == {"two", "readme", "src/main.py"}
    assert "+print(2)" in await store.text(hand.workspace, ("src",))


async def test_undo_goes_back_under_whoever_holds_it_and_says_so(store: Store, hand: Hand, holder: Holder) -> None:
    start = hand.seen()
    points = await work(store, hand)
    hand.write("more", "x")
    done = await store.undo(hand.workspace)
    assert hand.seen() == points[2][1]
    assert course.STILL in done.notes
    for tree in (points[1][1], points[0][1], start):
        holder.is_held = True
        done = await store.undo(hand.workspace)
        assert hand.seen() == tree
        assert course.STILL in done.notes
    await store.restore(hand.workspace, points[2][0])
    assert hand.seen() == points[2][1]


async def test_undo_right_after_a_copy_goes_to_the_one_before(store: Store, hand: Hand, holder: Holder) -> None:
    points = await work(store, hand)
    assert (await store.undo()).after == points[1][0]
    assert hand.seen() == points[1][1]


async def test_a_fork_is_merged_and_all_is_applied(store: Store, hand: Hand, holder: Holder, base: Path) -> None:
    hand.write("mine", "1")
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    assert fork.seen() == hand.seen()
    fork.write("theirs", "1")
    hand.write("mine", "2")
    done = await store.merge(fork.workspace, hand.workspace)
    assert not done.conflicts
    assert course.STILL in done.notes
    assert (hand.seen()["mine"], hand.seen()["theirs"]) == ("2", "1")
    holder.is_held = True
    hand.write("mine", "3")
    before = hand.seen()
    applied = await store.apply(hand.workspace)
    assert not applied.conflicts
    assert course.STILL in applied.notes
    assert shown([base]) == hand.seen() == before
    await store.undo(hand.workspace)
    assert hand.seen() == before
    assert "mine" not in shown([base])


async def test_it_is_the_same_after_a_restart_whether_or_not_the_copy_is_settled(store: Store, hand: Hand, holder: Holder) -> None:
    points = await work(store, hand)
    hand.write("later", "x")
    seen, place = hand.seen(), hand.place
    await store.close()
    for number in range(2):
        again = await Store.open(place.parent, ManualClock())
        new = Hand(again, hand.workspace, hand.base)
        assert new.seen() == seen
        assert {change.path for change in await again.diff(hand.workspace, points[-1][0])} == {"later"}
        if number == 0:
            (top_of(new, points[-1][0]).parent / "stamps").unlink()
            await again.close()
    for id, tree in [await kept(again, new), *points]:
        await again.restore(hand.workspace, id)
        assert new.seen() == tree
    await again.close()


async def test_a_file_that_is_written_whenever_it_is_copied_is_said_and_copied_again_the_next_time(
    store: Store, hand: Hand, holder: Holder
) -> None:
    hand.write("log", "x")
    hand.write("calm", "y")
    with (hand.live / "log").open("ab", buffering=0) as log, each_time_it_is_read("log", lambda: log.write(b"x")):
        made = await store.checkpoint(hand.workspace, "one")
    assert not made.is_sealed
    assert (await store.list())[0].is_changed
    assert set(shown_at(hand, made.id)["log"]) == {"x"}
    assert shown_at(hand, made.id)["calm"] == "y"
    second = await store.checkpoint(hand.workspace, "two")
    assert second.is_sealed
    assert shown_at(hand, second.id) == hand.seen()


@contextmanager
def each_time_it_is_read(name: str, work: Callable[[], object]) -> Iterator[None]:
    """The interpreter announces each opening of a file. Nobody can stop listening, so it is done without effect afterwards."""
    is_on = True

    def heard(event: str, arguments: tuple[object, ...]) -> None:
        if is_on and event == "open" and arguments[0] == name and isinstance(arguments[2], int) and not arguments[2] & os.O_CREAT:
            work()

    sys.addaudithook(heard)
    yield
    is_on = False


async def test_files_that_come_and_go_meanwhile_do_no_harm(store: Store, hand: Hand, holder: Holder) -> None:
    hand.write("calm", "y")
    hand.put_directory("busy")
    ended = threading.Event()

    def write() -> None:
        at = hand.live / "busy"
        while not ended.is_set():
            for number in range(20):
                (at / f"d{number}").mkdir()
                (at / f"d{number}/f").write_text("x" * 5_000)
            for number in range(20):
                (at / f"d{number}/f").unlink()
                (at / f"d{number}").rmdir()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        points = [await store.checkpoint(hand.workspace, str(number)) for number in range(5)]
    finally:
        ended.set()
        writer.join(60)
    assert holder.stacks == []
    assert all(shown_at(hand, point.id)["calm"] == "y" for point in points)
    last, tree = await kept(store, hand)
    assert shown_at(hand, last) == tree


async def test_what_lies_too_deep_is_not_copied_but_frozen_and_the_checkpoint_says_so(store: Store, hand: Hand, holder: Holder) -> None:
    live = hand.live
    inner = os.open(live, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(20):
        os.mkdir("n" * 200, dir_fd=inner)
        deeper = os.open("n" * 200, os.O_RDONLY | os.O_DIRECTORY, dir_fd=inner)
        os.close(inner)
        inner = deeper
    os.close(inner)
    made = await store.checkpoint(hand.workspace, "one")
    assert not made.is_sealed
    assert "could not be copied" in made.why
    assert top_of(hand, made.id) == live != hand.live
    assert len(holder.stacks) == 1


@pytest.mark.parametrize("most", [Most(entries=3), Most(size=50_000)], ids=["files", "bytes"])
async def test_a_layer_with_too_much_in_it_is_frozen_and_nothing_is_left_of_the_copy(
    store: Store, hand: Hand, holder: Holder, most: Most
) -> None:
    store._house.most = most
    with (hand.live / "sparse").open("wb") as file:
        file.truncate(1 << 26)
    assert (await store.checkpoint(hand.workspace, "holes are nothing")).is_sealed
    for number in range(3):
        hand.write(f"f{number}", os.urandom(20_000))
    before = hand.names()
    made = await store.checkpoint(hand.workspace, "one")
    assert not made.is_sealed
    assert "more than" in made.why
    assert hand.names() - before == {store.stack_of(hand.workspace).live}
    assert shown_at(hand, made.id) == hand.seen()


async def test_old_copies_are_thinned_out_and_what_lies_under_stays(store: Store, hand: Hand, holder: Holder, clock: ManualClock) -> None:
    hand.write("first", "x")
    holder.is_held = False
    under, _ = await kept(store, hand)
    holder.is_held = True
    points = await work(store, hand)
    await store.settle()
    hand.write("later", "x")
    seen = hand.seen()
    clock.jump(200 * 86_400)
    await store.thin()
    left = {point.id for point in await store.checkpoints(hand.workspace)}
    assert left == {under, points[1][0], points[2][0]}
    tops = {top_of(hand, id).parent.name for id in left}
    assert hand.names() == {store.stack_of(hand.workspace).live, *tops}
    assert hand.seen() == seen
    for id, tree in points[1:]:
        await store.restore(hand.workspace, id)
        assert hand.seen() == tree
