"""What all layers take on the disk has a limit: old checkpoints go for it, the newest never."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Recorder

from daimon.abi.errors import ToolFailed
from daimon.sandbox.workspace import bulk
from daimon.sandbox.workspace.store import Store
from daimon.sandbox.workspace.thin import KEPT
from daimon.testing.clock import ManualClock

MIB = 1 << 20
LIMIT = 16 * MIB


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    made = await Store.open(tmp_path / "workspaces", clock, limit=LIMIT)
    yield made
    await made.close()


def on_disk(place: Path) -> int:
    """As `du` counts, apart from what is tested."""
    files = {(seen.st_dev, seen.st_ino): seen.st_blocks * 512 for path in place.rglob("*") if not (seen := path.lstat()).st_mode & 0o040000}
    return sum(files.values())


async def called(store: Store, hand: Hand, why: str = "a call") -> str:
    """As before each call that changes something."""
    made = await store.checkpoint(hand.workspace, why)
    await store.make_room()
    return made.id


@pytest.mark.parametrize("is_open", [True, False])
async def test_files_that_are_written_and_removed_again_and_again_stay_within_the_limit(store: Store, hand: Hand, is_open: bool) -> None:
    if is_open:
        store.attach(hand.workspace, Recorder())
    most = 0
    for number in range(40):
        hand.write(f"large{number}", os.urandom(MIB))
        await called(store, hand)
        hand.delete(f"large{number}")
        await called(store, hand)
        await store.settle()
        most = max(most, on_disk(hand.place))
    assert most <= LIMIT + 2 * MIB
    assert {path for path in hand.seen() if path.startswith("large")} == set()
    assert len(await store.checkpoints(hand.workspace)) >= KEPT


async def test_honest_work_of_the_same_size_goes_on_and_its_newest_checkpoints_show_what_they_did(
    store: Store, hand: Hand, clock: ManualClock
) -> None:
    store.attach(hand.workspace, Recorder())
    made = []
    for number in range(60):
        hand.write("result", os.urandom(MIB // 2))
        hand.write(f"notes/{number}", str(number))
        clock.jump(60)
        made.append((await called(store, hand), hand.seen()))
    await store.settle()
    assert on_disk(hand.place) <= LIMIT + MIB
    assert len([path for path in hand.seen() if path.startswith("notes/")]) == 60
    await store.undo(hand.workspace)
    assert hand.seen() == made[-2][1]
    for id, tree in made[-KEPT + 2 :]:
        await store.restore(hand.workspace, id)
        assert hand.seen() == tree


async def test_what_cannot_fit_is_refused_with_what_to_do_and_goes_on_when_there_is_room(store: Store, hand: Hand, tmp_path: Path) -> None:
    for number in range(15):
        hand.write(f"kept{number}", os.urandom(MIB))
        await called(store, hand)
    hand.write("more", os.urandom(2 * MIB))
    with pytest.raises(ToolFailed, match=r"take 17 MB, 16 MB are allowed \(sandbox.layers_mb\).*discard workspaces, or allow more"):
        await called(store, hand)
    with pytest.raises(ToolFailed):
        await called(store, hand)
    outcome = await store.apply(hand.workspace)
    assert "kept14" in {change.path for change in outcome.changes}
    await store.discard(hand.workspace)
    await store.make_room()


async def test_what_layers_share_by_links_counts_once(store: Store, hand: Hand) -> None:
    hand.write("large", os.urandom(6 * MIB))
    store.attach(hand.workspace, Recorder(is_sealed=False))
    for number in range(4):  # something holds the tree: each checkpoint is a copy, by links
        hand.write(f"small{number}", str(number))
        await called(store, hand)
    assert len(await store.checkpoints(hand.workspace)) == 5


def test_nothing_is_hidden_behind_a_way_that_is_too_long(tmp_path: Path) -> None:
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=at)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    file = os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.write(file, os.urandom(MIB))
    os.fsync(file)
    os.close(file)
    os.close(at)
    assert bulk.taken(str(tmp_path), set()) >= MIB
