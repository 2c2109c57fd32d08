"""A process that dies at any moment leaves a store that goes on from before or after what it was doing."""

import asyncio
import json
import os
import random
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.workspace.hand import Hand, Tree, shown

from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock

ROOT = Path(__file__).parents[3]
VICTIM = Path(__file__).with_name("victim.py")
DEADLINE_S = 600
"""One process dies hundreds of times."""


@pytest.mark.parametrize("seed", range(8))
async def test_a_store_whose_process_was_killed_is_consistent(tmp_path: Path, seed: int) -> None:
    root, base = tmp_path / "store", tmp_path / "base"
    (base / "d0").mkdir(parents=True)
    (base / "d0/f0").write_text("begin\n")
    await killed(root, base, seed)

    store = await Store.open(root, ManualClock())
    for made in await store.list():
        hand = Hand(store, made.id, base)
        await every_checkpoint_is_whole(store, hand)
        known = {name for each in await store.list() for name in Hand(store, each.id, base).names()}
        assert hand.names() <= known
    assert not [path for path in base.rglob("*") if path.name.endswith(".part")]
    assert_whole(shown([base]))
    for made in await store.list():
        await store.discard(made.id)
    assert [path.name for path in root.iterdir() if path.is_dir()] == []
    hand = Hand(store, (await store.new(str(base))).id, base)
    hand.write("after", "x")
    done = await store.apply(hand.workspace)
    assert not done.conflicts
    assert shown([base]) == hand.seen()
    await store.close()


async def every_checkpoint_is_whole(store: Store, hand: Hand) -> None:
    """It can be gone to, and shows what its own list of files says."""
    for point in (await store.checkpoints(hand.workspace))[:8]:
        await store.restore(hand.workspace, point.id)
        assert_whole(hand.seen())


def assert_whole(tree: Tree) -> None:
    """Each file is one that was written as it is: none is half of one."""
    for path, content in tree.items():
        if content not in ("/", "begin\n") and path != "forked":
            assert len(lines := content.splitlines()) == 50, path
            assert len({*lines}) == 1, path


async def killed(root: Path, base: Path, seed: int) -> None:
    """Works there for a while that is different each time, then dies without a word."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(VICTIM), str(root), str(base), str(seed), stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    chance = random.Random(seed)
    steps = chance.randrange(3, 25)
    async with asyncio.timeout(DEADLINE_S):
        for _ in range(steps):
            assert await process.stdout.readline(), "it ended by itself"
        with suppress(TimeoutError):
            await asyncio.wait_for(process.stdout.readline(), chance.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        await process.wait()


@pytest.mark.parametrize(
    "operation", ["checkpoint", "checkpoint held", "restore", "undo", "undo held", "merge", "apply", "undo apply", "discard"]
)
async def test_whatever_an_operation_was_doing_when_it_was_killed_it_was_done_or_not(tmp_path: Path, operation: str) -> None:
    seen = await looks(operation, tmp_path)
    assert len(seen) > 3
    first, last = seen[0], seen[-1]
    for look in seen:
        assert look["strays"] == []
        assert look["base"] in (first["base"], last["base"])
        for id, tree in look["trees"].items():
            assert tree in (first["trees"][id], last["trees"].get(id)), f"{id} at {look['at']}"
        for id, tree in look["points"].items():
            assert tree in (first["points"].get(id, tree), last["points"].get(id, tree)), f"{id} at {look['at']}"
    if operation in ("apply", "undo apply"):
        assert first["base"] != last["base"]


async def looks(operation: str, place: Path) -> list[dict[str, Any]]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(VICTIM.with_name("deaths.py")), operation, str(place), stdout=asyncio.subprocess.PIPE, env=environment
    )
    async with asyncio.timeout(DEADLINE_S):
        out, _ = await process.communicate()
    assert process.returncode == 0
    return [json.loads(line) for line in out.splitlines()]
