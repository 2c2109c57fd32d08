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
    root, base = top / "root", top / "base"
    for path in (root, base):
        path.mkdir()
        mount(path)
    store = await Store.open(root / "store", ManualClock())
    hand = Hand(store, (await store.new(str(base))).id, base)
    await the_store_is_full(store, hand, root)
    await the_owners_disk_is_full(store, hand, base)
    await store.close()


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


def fill(path: Path, leave: int = 0) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096) == 4096:
                pass
        except OSError:
            file.truncate(file.tell() - leave)


async def refused(work) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ToolFailed) as refusal:
        await work
    assert refusal.value.reason == "disk_full"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
