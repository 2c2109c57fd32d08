"""Where there is no overlayfs: the same store over a plain copy of the tree."""

import os
import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Tree, shown

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
