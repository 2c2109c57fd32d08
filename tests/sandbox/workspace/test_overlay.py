"""What the store makes of layers is what the kernel makes of them."""

import json
import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, Tree

from daimon.abi.workspace import Change, CheckpointId
from daimon.sandbox.workspace.rows import Point
from daimon.sandbox.workspace.store import Store

SCRIPT = Path(__file__).with_name("overlay.py")
NAMESPACE = ("--mount",) if os.geteuid() == 0 else ("--user", "--map-root-user", "--mount")
NAMES = ("a", "b", "a/b", "a/c", "a/b/c", "src", "src/main.py", "src/deep", "src/deep/data", "readme", "src/deep/more")


def mounted(hand: Hand, do: list[tuple[str, ...]] | None = None) -> Tree:
    layers = [str(path) for path in hand.layers()]
    task = json.dumps({"layers": layers, "work": str(hand.live.parent / "work"), "do": do or []})
    done = subprocess.run(
        ["unshare", *NAMESPACE, sys.executable, str(SCRIPT), task], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode and "Operation not permitted" in done.stderr:
        pytest.skip(f"no overlay can be mounted here: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def random_work(chance: random.Random) -> list[tuple[str, ...]]:
    kinds = ("write", "write", "delete", "delete", "mkdir", "link", "move")
    return [(chance.choice(kinds), chance.choice(NAMES), chance.choice(NAMES)) for _ in range(12)]


def seen_by_store(store: Store, hand: Hand, id: CheckpointId) -> Tree:
    house = store._house
    point: Point = house.point(id)
    with house.view(house.room(hand.workspace).family, point) as view:
        found: Tree = {}
        for path in view.below(""):
            entry = view.entry(path)
            assert entry is not None
            if entry.kind == "file":
                with view.file(path) as file:
                    found[path] = file.read().decode()
            else:
                found[path] = "/" if entry.kind == "directory" else f"->{entry.hash}"
    return found


def applied(before: Tree, changes: tuple[Change, ...], after: Tree) -> Tree:
    """A tree with what a diff says, and only that, taken from another."""
    made = dict(before)
    for change in changes:
        made.pop(change.path, None)
        if change.after is not None:
            made[change.path] = after[change.path]
    return made


@pytest.mark.parametrize("seed", range(6))
async def test_layers_that_the_kernel_wrote_are_read_as_the_kernel_reads_them(store: Store, hand: Hand, seed: int) -> None:
    chance = random.Random(seed)
    history: list[tuple[CheckpointId, Tree]] = []
    for number in range(5):
        tree = mounted(hand, random_work(chance))
        assert hand.seen() == tree
        made = await store.checkpoint(hand.workspace, str(number))
        assert seen_by_store(store, hand, made.id) == tree
        history.append((made.id, tree))
    for (old, before), (new, after) in [*pairwise(history), (history[-1], history[0]), (history[0], history[-1])]:
        changes = await store.diff(hand.workspace, old, new)
        assert applied(before, changes, after) == after
        assert all((change.path in before) == (change.before is not None) for change in changes)
    for id, tree in history:
        await store.restore(hand.workspace, id)
        assert mounted(hand) == tree


@pytest.mark.parametrize("seed", range(3))
async def test_a_squashed_layer_shows_the_same_to_the_kernel(store: Store, hand: Hand, seed: int) -> None:
    chance = random.Random(seed)
    tree: Tree = {}
    for number in range(6):
        tree = mounted(hand, random_work(chance))
        await store.checkpoint(hand.workspace, str(number))
    house, room = store._house, store._house.room(hand.workspace)
    before = store.stack_of(hand.workspace).frozen
    house.squash(room.family, before)
    (hand.live / "one more").write_text("x")
    await store.checkpoint(hand.workspace, "shorter")
    assert len(store.stack_of(hand.workspace).frozen) == 2 < len(before)
    assert mounted(hand) == hand.seen() == tree | {"one more": "x"}


@pytest.mark.parametrize("seed", range(3))
async def test_a_merge_and_an_apply_show_the_same_to_the_kernel(store: Store, hand: Hand, base: Path, seed: int) -> None:
    chance = random.Random(seed)
    mounted(hand, random_work(chance))
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    mounted(fork, random_work(chance))
    (hand.live / "mine").write_text("x")
    done = await store.merge(fork.workspace, hand.workspace)
    assert not done.conflicts
    wanted = mounted(fork) | {"mine": "x"}
    assert mounted(hand) == wanted
    start = (await store.checkpoints(hand.workspace))[-1].id
    at_start = seen_by_store(store, hand, start)
    assert not (await store.apply(hand.workspace)).conflicts
    assert mounted(hand) == wanted
    assert seen_by_store(store, hand, start) == at_start
    await store.restore(hand.workspace, start)
    assert mounted(hand) == at_start
