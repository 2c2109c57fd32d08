"""Fills the disks that a store is on: full.py PLACE. In a mount namespace of its own, since it mounts small ones there."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand, shown

from daimon.abi.errors import ToolFailed
from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


async def main(top: Path) -> None:
    root, base, other, empty = (top / name for name in ("root", "base", "other", "empty"))
    for path in (root, base, other, empty):
        path.mkdir()
        mount(path)
    store = await Store.open(root / "store", ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    await the_store_is_full(store, hand, root)
    await the_owners_disk_is_full(store, hand, base)
    await store.close()
    await a_copy_does_not_fit(other, empty)


def mount(path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(path)], check=True)


async def the_store_is_full(store: Store, hand: Hand, root: Path) -> None:
    hand.write("work", "x" * 1000)
    seen = hand.seen()
    fill(root / "ballast")
    await refused(store.checkpoint(hand.workspace, "one"))
    assert hand.seen() == seen
    (root / "ballast").unlink()
    made = await store.checkpoint(hand.workspace, "one")
    assert hand.seen() == seen
    assert made.parent is not None


async def the_owners_disk_is_full(store: Store, hand: Hand, base: Path) -> None:
    for number in range(6):
        hand.write(f"large{number}", str(number) * 100_000)
    seen = hand.seen()
    fill(base / "ballast", leave=300_000)
    await refused(store.apply(hand.workspace))
    assert {"ballast"} < shown([base]).keys() < {*seen, "ballast"}, "some of it is written"
    assert hand.seen() == seen | {"ballast": hand.seen()["ballast"]}
    await refused(store.apply(hand.workspace))
    (base / "ballast").unlink()
    await store.checkpoint(hand.workspace, "carries it on")
    assert shown([base]) == seen == hand.seen()
    await store.undo(hand.workspace)
    assert shown([base]) == {}


async def a_copy_does_not_fit(root: Path, base: Path) -> None:
    store = await Store.open(root / "store", ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    ground = await store.copied(hand.workspace, "work")
    tree = Path(ground.tree)
    (tree / "large").write_text("x" * 300_000)
    large = await store.checkpoint(hand.workspace, "large")
    (tree / "large").unlink()
    for number in range(3):
        (tree / f"small{number}").write_text("y")
    await store.checkpoint(hand.workspace, "small")
    await store.settle()
    seen = shown([tree])
    fill(root / "ballast", leave=100_000)
    await refused(store.restore(hand.workspace, large.id), "workspace")
    assert shown([tree]) == seen == hand.seen()
    assert ground.is_alive
    (root / "ballast").unlink()
    await store.restore(hand.workspace, large.id)
    assert len(shown([tree])["large"]) == 300_000
    await store.closed(hand.workspace, ground)
    await store.close()


def fill(path: Path, leave: int = 0) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096) == 4096:
                pass
        except OSError:
            file.truncate(file.tell() - leave)


async def refused(work, reason: str = "disk_full") -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ToolFailed) as refusal:
        await work
    assert refusal.value.reason == reason


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
