"""Claim: going back costs next to nothing. A checkpoint and a fork take less than 20 ms, and no more with ten times the files.

A tree of 20,000 files and 500 MB, made on the spot, opened in layers as agents have it. Before each checkpoint 50 files are changed
through the open tree. Beside it, in the same run, what one would do otherwise: `cp -a`, and git (add and commit of the same 50 changes).

    checkpoint_ms   freeze what changed, with the exchange of layers under the open tree
    fork_ms         another workspace on the same layers; discard_ms removes it
    restore_ms      go to another checkpoint, under the open tree
    diff_ms         which of the files changed since a checkpoint
    merge_ms        three-way, 50 changes on each side
    copies_ms       a checkpoint where there is no overlayfs; copies_open_ms: the first opening there, copies_again_ms: a later one
    cp_ms, git_ms   the same by copying; by git
    growth          checkpoint_ms with all files, by that with a tenth of them
    depth_growth    checkpoint_ms of the last fifty of a thousand checkpoints, by that of the first fifty
"""

import asyncio
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab import forest, report

from daimon.abi.workspace import WorkspaceId
from daimon.machine.clock import SystemClock
from daimon.sandbox.files.rights import Rights
from daimon.sandbox.overlay import OverlayGround, open_overlay
from daimon.sandbox.plan import UID
from daimon.sandbox.workspace.store import Store

AIM_MS, AIM_GROWTH = 20.0, 2.0
CHANGES = 50


async def timed_ms(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return (time.perf_counter() - begun) * 1000


@dataclass(slots=True)
class Bench:
    """One tree with its store."""

    store: Store
    base: Path
    files: int
    chance: random.Random
    took: dict[str, list[float]] = field(default_factory=dict)

    async def time(self, name: str, work: Callable[[], Awaitable[object]]) -> None:
        self.took.setdefault(name, []).append(await timed_ms(work))

    def median(self, name: str) -> float:
        return report.median(self.took[name])

    @asynccontextmanager
    async def open(self, workspace: WorkspaceId) -> AsyncIterator[OverlayGround]:
        layers = Path(self.store.store_of(workspace))
        ground = await open_overlay(self.base, layers, "tree", self.store.stack_of(workspace), uid=UID, pins=())
        self.store.attach(workspace, ground)
        try:
            yield ground
        finally:
            await ground.close()
            await self.store.detach(workspace)

    def change(self, ground: OverlayGround, number: int) -> None:
        with Rights(ground.user):
            forest.change(Path(f"/proc/self/fd/{ground.place}/{ground.name}"), self.files, number, self.chance)


async def checkpoints(bench: Bench, times: int, changes: int, name: str = "checkpoint") -> None:
    workspace = (await bench.store.new(str(bench.base))).id
    async with bench.open(workspace) as ground:
        for n in range(times):
            bench.change(ground, changes)
            await bench.time(name, lambda n=n: bench.store.checkpoint(workspace, f"number {n}"))
            await bench.store.settle()


async def the_rest(bench: Bench, times: int) -> None:
    workspace = (await bench.store.new(str(bench.base))).id
    points = [point.id for point in await bench.store.checkpoints(workspace)]
    for _ in range(times):
        forks: list[WorkspaceId] = []

        async def fork(into: list[WorkspaceId] = forks) -> None:
            into.append((await bench.store.fork(workspace)).id)

        await bench.time("fork", fork)
        await bench.time("discard", lambda made=forks: bench.store.discard(made[0]))
    async with bench.open(workspace) as ground:
        for _ in range(times):
            await bench.time("restore", lambda: bench.store.restore(workspace, bench.chance.choice(points)))
            bench.change(ground, CHANGES)
            await bench.time("diff", lambda: bench.store.diff(workspace, points[0]))
        for _ in range(max(2, times // 5)):
            await merged(bench, workspace, ground)


async def by_copies(bench: Bench, times: int) -> None:
    workspace = (await bench.store.fork((await bench.store.new(str(bench.base))).id)).id
    for name, rounds in (("copies_open", times), ("copies_again", 0)):
        begun = time.perf_counter()
        ground = await bench.store.copied(workspace, "tree")
        bench.took.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
        for n in range(rounds):
            forest.change(Path(ground.tree), bench.files, CHANGES, bench.chance)
            await bench.time("copies", lambda n=n: bench.store.checkpoint(workspace, f"number {n}"))
            await bench.store.settle()
        await bench.store.closed(workspace, ground)
    await bench.store.discard(workspace)


async def merged(bench: Bench, workspace: WorkspaceId, ground: OverlayGround) -> None:
    fork = (await bench.store.fork(workspace)).id
    async with bench.open(fork) as other:
        _append(other, bench, range(CHANGES))
    _append(ground, bench, range(CHANGES, 2 * CHANGES))
    conflicts: list[object] = []

    async def merge() -> None:
        conflicts.extend((await bench.store.merge(fork, workspace)).conflicts)

    await bench.time("merge", merge)
    assert not conflicts
    await bench.store.discard(fork)


def _append(ground: OverlayGround, bench: Bench, numbers: range) -> None:
    with Rights(ground.user):
        top = Path(f"/proc/self/fd/{ground.place}/{ground.name}")
        for n in numbers:
            with (top / f"d{n // forest.PER_DIRECTORY:04}" / f"f{n:06}.txt").open("ab") as file:
                file.write(b"merged\n")


def copied_ms(base: Path, place: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(["cp", "-a", str(base), str(place / "copy")], check=True)
    took = (time.perf_counter() - begun) * 1000
    shutil.rmtree(place / "copy")
    return took


def git_ms(base: Path, bench: Bench, place: Path) -> float:
    """A commit of as many changes, after the first one, which holds all."""
    settings = ("user.name=x", "user.email=x@localhost", "gc.auto=0")
    git = ["git", f"--git-dir={place / 'git'}", f"--work-tree={base}", *(word for each in settings for word in ("-c", each))]
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(place)}

    def run(*words: str) -> None:
        subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL, env=environment)

    run("init", "-q")
    run("add", "-A")
    run("commit", "-qm", "all")
    forest.change(base, bench.files, CHANGES, bench.chance)
    begun = time.perf_counter()
    run("add", "-A")
    run("commit", "-qm", "changes")
    return (time.perf_counter() - begun) * 1000


@asynccontextmanager
async def planted(place: Path, files: int, size_mb: int, chance: random.Random) -> AsyncIterator[Bench]:
    base = place / f"base-{files}"
    forest.plant(base, files, size_mb, chance)
    store = await Store.open(place / f"store-{files}", SystemClock())
    try:
        yield Bench(store, base, files, chance)
    finally:
        await store.close()


async def measured(place: Path, chance: random.Random, scale: tuple[int, int, int, int]) -> dict[str, float]:
    files, size_mb, times, deep = scale
    async with planted(place, files // 10, size_mb // 10, chance) as small:
        await checkpoints(small, times, CHANGES)
        await checkpoints(small, deep, 1, "deep")
    async with planted(place, files, size_mb, chance) as bench:
        await checkpoints(bench, times, CHANGES)
        await the_rest(bench, times)
        await by_copies(bench, times)
        by_copy, by_git = copied_ms(bench.base, place), git_ms(bench.base, bench, place)
    ends = max(2, min(50, deep // 4))
    return {
        **{f"{name}_ms": bench.median(name) for name in ("checkpoint", "fork", "restore", "diff", "merge", "discard")},
        **{f"{name}_ms": bench.median(name) for name in ("copies", "copies_open", "copies_again")},
        "checkpoint_p95_ms": report.percentile(bench.took["checkpoint"], 0.95),
        "cp_ms": by_copy,
        "git_ms": by_git,
        "growth": bench.median("checkpoint") / small.median("checkpoint"),
        "depth_growth": report.median(small.took["deep"][-ends:]) / report.median(small.took["deep"][:ends]),
    }


async def main() -> int:
    asked = report.options(__doc__)
    scale = (4_000, 100, 10, 100) if asked.quick else (20_000, 500, 30, 1_000)
    with tempfile.TemporaryDirectory(prefix="daimon-workspace-") as name:
        found = await measured(Path(name), random.Random(asked.seed), scale)
    aims = {
        f"a checkpoint under {AIM_MS:g} ms": found["checkpoint_ms"] < AIM_MS,
        f"a fork under {AIM_MS:g} ms": found["fork_ms"] < AIM_MS,
        f"ten times the files cost less than {AIM_GROWTH:g} times": found["growth"] < AIM_GROWTH,
    }
    return report.finish(asked, found, aims=aims)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
