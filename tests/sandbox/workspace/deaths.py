"""Dies at the n-th thing that an operation does to the disk, for one n after the other: deaths.py OPERATION PLACE

The interpreter announces what changes the disk (audit events): a child counts those and kills itself at the n-th. Then another child opens
the store again and says what it sees, as a line of JSON. Ends when the operation came to its end before it was killed.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tests.sandbox.workspace.hand import Hand, shown
from tests.sandbox.workspace.holders import Holder

from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

CHANGES = {"os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.chmod", "os.chown", "os.utime"}
MOST = 400


async def prepare(top: Path) -> None:
    """A workspace with a fork, and work in both that does not conflict."""
    base = top / "base"
    (base / "d").mkdir(parents=True)
    for name in ("a", "b", "d/c", "d/e"):
        (base / name).write_text(f"{name}\n1\n2\n3\n")
    store = await Store.open(top / "store", ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    hand.write("first", "x")
    fork = Hand(store, (await store.fork(hand.workspace)).id, base)
    fork.write("forked", "y")
    fork.delete("b")
    hand.write("a", "changed\n1\n2\n3\n")
    hand.delete("d")
    hand.write("d", "a file now")
    hand.write("new/deep", "x")
    await store.close()


async def undo_apply(store: Store, hand: Hand) -> object:
    return await store.undo(hand.workspace)


async def work_held(store: Store, hand: Hand) -> None:
    """A checkpoint under a program, so that the next one has something to link."""
    store.attach(hand.workspace, Holder())
    await store.checkpoint(hand.workspace, "one")
    hand.write("new/deep", "y")
    hand.delete("first")


async def checkpoint_held(store: Store, hand: Hand) -> object:
    store.attach(hand.workspace, Holder())
    return await store.checkpoint(hand.workspace, "two")


async def undo_held(store: Store, hand: Hand) -> object:
    store.attach(hand.workspace, Holder())
    return await store.undo(hand.workspace)


OPERATIONS: dict[str, Callable[[Store, Hand], Coroutine[Any, Any, object]]] = {
    "checkpoint": lambda store, hand: store.checkpoint(hand.workspace, "x"),
    "work held": work_held,
    "checkpoint held": checkpoint_held,
    "undo held": undo_held,
    "restore": lambda store, hand: _restore(store, hand),
    "undo": lambda store, hand: store.undo(hand.workspace),
    "merge": lambda store, hand: _merge(store, hand),
    "apply": lambda store, hand: store.apply(hand.workspace),
    "undo apply": undo_apply,
    "discard": lambda store, hand: store.discard(hand.workspace),
}


async def _restore(store: Store, hand: Hand) -> object:
    return await store.restore(hand.workspace, (await store.checkpoints(hand.workspace))[-1].id)


async def _merge(store: Store, hand: Hand) -> object:
    return await store.merge((await store.list())[1].id, hand.workspace)


async def perform(top: Path, operation: str, at: int) -> None:
    store = await Store.open(top / "store", ManualClock())
    hand = Hand(store, (await store.list())[0].id, top / "base")
    seen = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if event in CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT):
            seen += 1
            if seen > at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    await OPERATIONS[operation](store, hand)
    await store.settle()


async def look(top: Path, at: int) -> None:
    store = await Store.open(top / "store", ManualClock())
    trees = {made.id: Hand(store, made.id, top / "base").seen() for made in await store.list()}
    house, points = store._house, {}
    for room in house.index.rooms():
        for point in house.index.points(room.id):
            layers = [top / "store" / room.family / name / "tree" for name in house.layers(room.family, point)]
            points[point.id] = shown([*layers, top / "base"])
    needed = {name for room in house.index.rooms() for name in house.index.layers(room.family)}
    there = {path.name for family in (top / "store").glob("f*") for path in family.iterdir()}
    found = {"at": at, "trees": trees, "points": points, "base": shown([top / "base"]), "strays": sorted(there - needed)}
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    await store.close()


def child(work: Coroutine[Any, Any, None]) -> int:
    """How it ended."""
    if (id := os.fork()) == 0:
        asyncio.run(work)
        os._exit(0)
    work.close()
    return os.waitstatus_to_exitcode(os.waitpid(id, 0)[1])


def main(operation: str, place: Path) -> None:
    top, kept = place / "top", place / "kept"
    assert child(prepare(top)) == 0
    before = {"undo apply": "apply", "checkpoint held": "work held", "undo held": "work held"}
    if operation in before:
        assert child(perform(top, before[operation], 10**9)) == 0
    top.rename(kept)
    for at in range(MOST):
        subprocess.run(["cp", "-a", str(kept), str(top)], check=True)
        ended = child(perform(top, operation, at))
        assert child(look(top, at)) == 0
        if ended == 0:
            return
        shutil.rmtree(top)
    raise SystemExit(f"{operation} does more than {MOST} things to the disk")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
