"""Grounds for tests: a base, a store with layers, and boxes that stand on them."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.sandbox.boxes import WORKER

from daimon.abi.box import Role
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.ground import Stack
from daimon.sandbox.overlay import OverlayGround, open_overlay
from daimon.sandbox.plan import UID, Wanted

NAME = "work"


@dataclass(frozen=True, slots=True)
class Layers:
    """A base and a store on the disk."""

    base: Path
    store: Path

    def layer(self, name: str, **files: str) -> str:
        for path in ("tree", "work"):
            (self.store / name / path).mkdir(parents=True)
        for file, text in files.items():
            self.write(self.tree(name) / file, text)
        return name

    def write(self, path: Path, text: str) -> None:
        """As the owner of the base."""
        path.write_text(text)
        self.give(path)

    def give(self, path: Path) -> None:
        about = self.base.stat()
        if os.getuid() == 0:
            os.chown(path, about.st_uid, about.st_gid)

    def tree(self, name: str) -> Path:
        return self.store / name / "tree"


def made(place: Path, owner: int | None = None) -> Layers:
    found = Layers(place / "base", place / "store")
    for path in (found.base, found.store):
        path.mkdir()
    found.store.chmod(0o700)
    if owner is not None:
        os.chown(found.base, owner, owner)
    found.write(found.base / "a", "base\n")
    found.layer("one")
    return found


@asynccontextmanager
async def ground_of(layers: Layers, stack: Stack | None = None, pins: tuple[str, ...] = ()) -> AsyncIterator[OverlayGround]:
    ground = await open_overlay(layers.base, layers.store, NAME, stack or Stack("one"), uid=UID, pins=pins)
    try:
        yield ground
    finally:
        await ground.close()


@asynccontextmanager
async def box_on(ground: OverlayGround, layers: Layers, role: Role = WORKER) -> AsyncIterator[RunningBox]:
    box = await start(Wanted(role, layers.base, {}, ground=ground))
    try:
        yield box
    finally:
        await box.close()
