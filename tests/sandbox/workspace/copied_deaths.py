"""Dies at the n-th thing that an operation on a copied tree does to the disk, for some n: copied_deaths.py OPERATION PLACE SEED

As `deaths.py`; but what works is programs in the copy, and what is seen afterwards is the copy, opened again. Every other time whoever
opens it dies too, while doing so. Prints lines of JSON: the first is of nothing done, the last of all.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.sandbox.workspace.deaths import CHANGES, child
from tests.sandbox.workspace.hand import Hand, shown

from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

NAME, MOMENTS, NEVER = "work", 16, 10**9


async def prepare(top: Path) -> None:
    """A checkpoint, a fork with work in it, and work since, a part of it already in the live layer."""
    base = top / "base"
    (base / "d").mkdir(parents=True)
    for name in ("a", "b", "d/c", "d/e"):
        (base / name).write_text(f"{name}\n1\n2\n3\n")
    store = await Store.open(top / "store", ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    ground = await store.copied(hand.workspace, NAME)
    tree = Path(ground.tree)
    (tree / "first").write_text("x")
    (tree / "d/c").unlink()
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("forked", "y")
    fork.delete("b")
    (tree / "a").write_text("changed\n1\n2\n3\n")
    await store.live_changes(hand.workspace)
    await store.closed(hand.workspace, ground)
    ground = await store.copied(hand.workspace, NAME)
    shutil.rmtree(tree / "d")
    (tree / "d").write_text("a file now")
    (tree / "new").mkdir()
    (tree / "new/deep").write_text("x")
    (tree / "way").symlink_to("new")
    os._exit(0)  # as if killed: nothing of this is in a layer


OPERATIONS: dict[str, Callable[[Store, Hand], Coroutine[Any, Any, object]]] = {
    "look": lambda store, hand: store.live_changes(hand.workspace),
    "checkpoint": lambda store, hand: store.checkpoint(hand.workspace, "x"),
    "restore": lambda store, hand: _restore(store, hand),
    "undo": lambda store, hand: store.undo(hand.workspace),
    "merge": lambda store, hand: _merge(store, hand),
    "apply": lambda store, hand: store.apply(hand.workspace),
}


async def _restore(store: Store, hand: Hand) -> object:
    return await store.restore(hand.workspace, (await store.checkpoints(hand.workspace))[-1].id)


async def _merge(store: Store, hand: Hand) -> object:
    return await store.merge((await store.list())[1].id, hand.workspace)


class Fate:
    """Ends this process at a moment."""

    def __init__(self, at: int) -> None:
        self.seen, self._at = 0, at
        sys.addaudithook(self._count)

    def _count(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT):
            self.seen += 1
            if self.seen > self._at:
                os.kill(os.getpid(), signal.SIGKILL)


async def perform(top: Path, operation: str, at: int) -> None:
    """The opening may die too: what was left is gathered then."""
    fate = Fate(at)
    store = await Store.open(top / "store", ManualClock())
    hand = Hand(store, (await store.list())[0].id, top / "base")
    await store.copied(hand.workspace, NAME)
    await OPERATIONS[operation](store, hand)
    await store.settle()
    (top / "count").write_text(str(fate.seen))
    os._exit(0)


async def look(top: Path, at: int) -> None:
    store = await Store.open(top / "store", ManualClock())
    hand = Hand(store, (await store.list())[0].id, top / "base")
    ground = await store.copied(hand.workspace, NAME)
    tree, house = shown([Path(ground.tree)]), store._house
    points = []
    for point in house.index.points(hand.workspace):
        layers = [top / "store" / "f1" / name / "tree" for name in house.layers("f1", point)]
        points.append(shown([*layers, top / "base"]))
    found = {"at": at, "tree": tree, "layers": hand.seen(), "points": points, "base": shown([top / "base"])}
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    await store.closed(hand.workspace, ground)
    await store.close()


def main(operation: str, place: Path, seed: int) -> None:
    top, kept, chance = place / "top", place / "kept", random.Random(seed)
    assert child(prepare(top)) == 0
    top.rename(kept)

    def once(at: int, *, dies_again: bool) -> int:
        subprocess.run(["cp", "-a", str(kept), str(top)], check=True)
        child(perform(top, operation, at))
        if dies_again:
            child(perform(top, "look", chance.randrange(40)))
        assert child(look(top, at)) == 0
        with suppress(FileNotFoundError):
            at = int((top / "count").read_text())
        shutil.rmtree(top)
        return at

    once(0, dies_again=False)
    count = once(NEVER, dies_again=False)
    assert count < NEVER
    for number, at in enumerate(chance.sample(range(1, count), min(MOMENTS, count - 1))):
        once(at, dies_again=number % 2 == 1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
