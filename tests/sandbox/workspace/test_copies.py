"""Where there is no overlayfs: the same store over a plain copy of the tree."""

import os
import random
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Tree, is_whiteout, shown
from tests.sandbox.workspace.test_overlay import mounted

from daimon.abi.workspace import WorkspaceId
from daimon.sandbox.workspace import footprint
from daimon.sandbox.workspace.copies import CopiesGround
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

NAMES = ("a", "b", "a/b", "a/c", "a/b/c", "src", "src/main.py", "src/deep", "src/deep/data", "readme", "src/deep/more")


class Opened:
    def __init__(self, store: Store, hand: Hand, ground: CopiesGround) -> None:
        self.store, self.hand, self.ground = store, hand, ground
        self.tree = hand.place / hand.workspace / ground.name

    def seen(self) -> Tree:
        return shown([self.tree])


async def opened(store: Store, hand: Hand) -> Opened:
    return Opened(store, hand, await store.copied(hand.workspace, "work"))


async def test_the_copy_is_the_owners_tree_and_changes_stay_in_it(store: Store, hand: Hand, base: Path) -> None:
    work = await opened(store, hand)
    before = shown([base])
    assert work.seen() == before
    (work.tree / "readme").write_text("mine\n")
    shutil.rmtree(work.tree / "src/deep")
    assert {change.path: change.what for change in await store.live_changes(hand.workspace)} == {"readme": "changed", "src/deep": "removed"}
    made = await store.checkpoint(hand.workspace, "one")
    assert made.is_sealed
    assert hand.seen() == work.seen()
    assert shown([base]) == before
    assert await store.checkpoint(hand.workspace, "two") == made
    assert os.stat(work.ground.name, dir_fd=work.ground.place).st_ino == work.tree.stat().st_ino
    await work.ground.close()


@pytest.mark.parametrize("seed", range(5))
async def test_random_work_is_kept_and_gone_back_to(store: Store, hand: Hand, seed: int) -> None:
    chance = random.Random(seed)
    work = await opened(store, hand)
    history = []
    for number in range(6):
        for _ in range(8):
            with suppress(OSError):
                change(chance, work.tree)
        tree = work.seen()
        made = await store.checkpoint(hand.workspace, str(number))
        assert hand.seen() == tree == work.seen()
        history.append((made.id, tree))
        if number == 3:
            await store.undo(hand.workspace)
            assert hand.seen() == work.seen()
    for id, tree in history:
        await store.restore(hand.workspace, id)
        assert work.seen() == tree == hand.seen()
    await work.ground.close()


def change(chance: random.Random, tree: Path) -> None:
    path = tree / chance.choice(NAMES)
    match chance.randrange(4):
        case 0 | 1:
            path.write_text(str(chance.random()))
        case 2:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        case 3:
            path.mkdir() if chance.random() < 0.5 else path.symlink_to("readme")


async def test_what_was_not_frozen_is_there_after_a_restart(tmp_path: Path, base: Path) -> None:
    store = await Store.open(tmp_path / "workspaces", ManualClock(), "copies")
    hand = Hand(store, (await store.new(str(base))).id, base)
    assert (await store.list())[0].engine == "copies"
    work = await opened(store, hand)
    (work.tree / "new").write_text("x")
    (work.tree / "readme").unlink()
    tree = work.seen()
    await work.ground.close()
    await store.close()
    hand.store = again = await Store.open(tmp_path / "workspaces", ManualClock(), "copies")
    work = await opened(again, hand)
    assert work.seen() == tree
    await again.apply(hand.workspace)
    assert shown([base]) == tree == work.seen()
    await work.ground.close()
    await again.detach(hand.workspace)
    await again.discard(hand.workspace)
    assert not work.tree.exists()
    await again.close()


async def abandoned(root: Path, base: Path) -> tuple[WorkspaceId, Tree]:
    """Work in a copy whose process was killed before any of it was in a layer."""
    store = await Store.open(root, ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    work = await opened(store, hand)
    (work.tree / "before").write_text("x")
    await store.checkpoint(hand.workspace, "one")
    await store.settle()  # a process that is killed does nothing in the background any more
    (work.tree / "new").write_text("x")
    (work.tree / "readme").unlink()
    store._house.index.close()
    return hand.workspace, work.seen()


async def test_a_killed_process_s_work_is_a_checkpoint_before_the_workspace_moves(tmp_path: Path, base: Path) -> None:
    id, tree = await abandoned(tmp_path / "workspaces", base)
    store = await Store.open(tmp_path / "workspaces", ManualClock())
    hand = Hand(store, id, base)
    assert hand.seen() == tree
    moved = await store.restore(id, (await store.checkpoints(id))[-1].id)
    assert hand.seen() == shown([base])
    work = await opened(store, hand)
    assert work.seen() == shown([base])
    await store.restore(id, moved.before)
    assert work.seen() == tree
    await store.close()


async def test_a_layer_that_was_being_exchanged_is_whole_again(tmp_path: Path, base: Path) -> None:
    id, tree = await abandoned(tmp_path / "workspaces", base)
    store = await Store.open(tmp_path / "workspaces", ManualClock())
    live = Hand(store, id, base).live
    await store.close()
    footprint = live.parents[1] / id / ".footprint"
    footprint.write_text(footprint.read_text().replace('"closed": true', '"closed": false'))
    live.rename(live.with_name("tree.new"))
    store = await Store.open(tmp_path / "workspaces", ManualClock())
    assert Hand(store, id, base).seen() == tree
    assert sorted(path.name for path in live.parent.iterdir()) == ["tree", "work"]
    await store.close()


async def test_a_file_that_was_made_to_look_as_before_is_noticed(store: Store, hand: Hand) -> None:
    work = await opened(store, hand)
    file = work.tree / "src/main.py"
    before = file.stat()
    file.write_text("print(2)\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [change.path for change in await store.diff(hand.workspace)] == ["src/main.py"]
    await work.ground.close()


async def test_a_program_that_makes_and_removes_files_all_the_time_is_in_nobody_s_way(store: Store, hand: Hand) -> None:
    work = await opened(store, hand)
    is_over = threading.Event()

    def program() -> None:
        while not is_over.is_set():
            for name in "abcdefgh":
                shutil.rmtree(work.tree / name, ignore_errors=True)
                (work.tree / name).mkdir()
                (work.tree / name / "file").write_text(name)
                (work.tree / name / "file").unlink()

    thread = threading.Thread(target=program)
    thread.start()
    try:
        for number in range(20):
            (work.tree / "steady").write_text(str(number))
            await store.checkpoint(hand.workspace, str(number))
            assert hand.seen()["steady"] == str(number)
    finally:
        is_over.set()
        thread.join(60)
    await store.checkpoint(hand.workspace, "the last")
    assert hand.seen() == work.seen()
    await work.ground.close()


async def test_a_file_that_was_away_only_while_it_was_looked_for_does_not_stay_for_ever(
    store: Store, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There, gone when the tree is walked, there again when it is compared, gone for good."""
    work = await opened(store, hand)
    (file := work.tree / "blinking").write_text("1")
    await store.checkpoint(hand.workspace, "there")
    file.unlink()
    walked = footprint.stamps

    def walk_and_back(top: int) -> footprint.Seen:
        found = walked(top)
        file.write_text("2")
        return found

    with monkeypatch.context() as during:
        during.setattr(footprint, "stamps", walk_and_back)
        await store.checkpoint(hand.workspace, "blinks")
    file.unlink()
    await store.checkpoint(hand.workspace, "gone")
    assert "blinking" not in hand.seen()
    assert hand.seen() == work.seen()
    await work.ground.close()


async def test_the_owner_s_edits_show_when_it_is_opened_again_and_are_not_taken_for_work(store: Store, hand: Hand, base: Path) -> None:
    work = await opened(store, hand)
    (work.tree / "mine").write_text("x")
    await store.closed(hand.workspace, work.ground)
    (base / "readme").write_text("edited\n")
    (base / "src/deep/data").unlink()
    (base / "added").write_text("y")
    work = await opened(store, hand)
    assert work.seen() == shown([base]) | {"mine": "x"}
    assert [change.path for change in await store.diff(hand.workspace)] == ["mine"]
    await work.ground.close()


@pytest.mark.parametrize("seed", range(3))
async def test_layers_that_copies_made_are_mounted_and_the_other_way_round(store: Store, hand: Hand, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        work = await opened(store, hand)
        assert (await store.list())[0].engine == "copies"
        for _ in range(12):
            with suppress(OSError):
                change(chance, work.tree)
        await store.checkpoint(hand.workspace, "by copies")
        with suppress(OSError):
            change(chance, work.tree)
        tree = work.seen()
        await store.closed(hand.workspace, work.ground)
        for layer in hand.layers()[:-1]:
            as_on_an_overlay(layer)
        await store.layered(hand.workspace)
        assert (await store.list())[0].engine == "overlay"
        assert not work.tree.exists()
        tree = mounted(hand, [("write", "by the kernel", "x"), ("delete", "src")])
        assert tree == hand.seen()
        work = await opened(store, hand)
        assert work.seen() == tree
        await store.closed(hand.workspace, work.ground)


def as_on_an_overlay(tree: Path) -> None:
    """There is no whiteout; sockets stand for them."""
    for path in [path for path in tree.rglob("*") if is_whiteout(path)]:
        path.unlink()
        os.mknod(path, stat.S_IFSOCK | 0o600)
        (tree.parent / "sockets").touch()
