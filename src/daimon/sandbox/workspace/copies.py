"""A ground without overlayfs: the tree is a plain directory, a copy of what the layers show.

What was done there is found by looking at everything: each path whose time, size or inode is not what it was when the layers were last put
in place is compared, and what differs is written into the live layer (`gather`). To put other layers in place is to rewrite what differs.
So a checkpoint costs a walk through the tree, and the first opening a copy of it. The owner's edits do not show through until it is opened
again. Nothing holds the old tree when it is exchanged, there is only one: every checkpoint is sealed.

`STORE/WORKSPACE/NAME` is the tree; while it is open that is the truth, and the live layer is brought to it. It is made like the layers when
it is opened, so whoever ends without `close` loses what was not gathered.
"""

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from daimon.sandbox.ground import Stack
from daimon.sandbox.workspace import diff, layer, place
from daimon.sandbox.workspace.build import Builder, Piece, mode_in, piece_of
from daimon.sandbox.workspace.manifest import Identity, identity, walked
from daimon.sandbox.workspace.rows import Layer
from daimon.sandbox.workspace.shelf import Shelf
from daimon.sandbox.workspace.stack import Base, Sheet, View

Seen = dict[str, tuple[Identity, int]]


class CopiesGround:
    """Made by `Store.copied`."""

    def __init__(self, shelf: Shelf, directory: str, name: str, stack: Stack) -> None:
        self._shelf, self._stack, self._name = shelf, stack, name
        self._tree = f"{directory}/{name}"
        self._copy = Base(self._tree)
        self._place = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._seen: Seen = {}
        """Each path as it was when the frozen layers were put in place, or as the live layer has it."""

    @classmethod
    async def open(cls, shelf: Shelf, workspace: str, name: str, stack: Stack) -> "CopiesGround":
        def opened() -> CopiesGround:
            directory = shelf.path(workspace)
            os.makedirs(f"{directory}/{name}", mode=0o700, exist_ok=True)
            made = cls(shelf, directory, name, stack)
            made._fill()
            return made

        return await asyncio.to_thread(opened)

    @property
    def place(self) -> int:
        return self._place

    @property
    def name(self) -> str:
        return self._name

    @property
    def user(self) -> int | None:
        owner = self._shelf.owner()
        return owner[0] if owner is not None and owner[0] != 0 else None

    async def gather(self) -> None:
        """Brings what was done into the live layer."""
        await asyncio.to_thread(self._gather)

    async def rotate(self, stack: Stack) -> bool:
        await asyncio.to_thread(self._rotate, stack)
        return True

    async def try_rotate(self, stack: Stack) -> bool:
        return await self.rotate(stack)

    async def close(self) -> None:
        await self.gather()
        os.close(self._place)

    # looking

    def _now(self) -> Seen:
        with place.opened(self._tree) as top:
            return {path: (about, stat.S_IMODE(seen.st_mode)) for path, seen in walked(top, "") if (about := identity(seen))}

    def _sheets(self, names: tuple[str, ...]) -> tuple[Sheet, ...]:
        return tuple(self._shelf.sheet(Layer(name, "")) for name in names)

    def _gather(self) -> None:
        now = self._now()
        changed = {path for path in now.keys() | self._seen.keys() if now.get(path) != self._seen.get(path)}
        if not changed:
            return
        live = self._shelf.tree(self._stack.live)
        changed |= self._shelf.live(self._stack.live, is_hashed=False).manifest.items.keys()
        with self._shelf.view(self._sheets(self._stack.frozen)) as below, place.opened(self._tree) as top:
            wanted = dict(self._wanted(below, top, changed))
            _empty(live)
            Builder(live, mode_in(below), self._shelf.owner()).build(wanted)
        self._seen = now

    def _wanted(self, below: View, top: int, changed: set[str]) -> Iterator[tuple[str, Piece | None]]:
        for path in changed:
            entry = self._copy.entry(top, path)
            if not diff.is_same(below.entry(path), entry):
                yield path, None if entry is None else Piece(entry, self._tree, path)

    # putting in place

    def _rotate(self, stack: Stack) -> None:
        if stack.frozen == (self._stack.live, *self._stack.frozen):
            self._stack = stack
            self._seen = self._now()
            return
        old = (self._shelf.live(self._stack.live, is_hashed=True), *self._sheets(self._stack.frozen))
        with self._shelf.view(old) as before, self._shelf.view(self._sheets(stack.frozen)) as after:
            self._rewrite(after, diff.touched(before, after))
        self._stack = stack
        self._seen = self._now()

    def _fill(self) -> None:
        """All of it, from whatever is there."""
        live = self._shelf.live(self._stack.live, is_hashed=True)
        with self._shelf.view((live, *self._sheets(self._stack.frozen))) as after:
            self._rewrite(after, {*self._now(), *after.below("")})
            os.chmod(self._tree, after.top_mode())
        self._seen = self._now()

    def _rewrite(self, after: View, paths: set[str]) -> None:
        builder = Builder(self._tree, mode_in(after), self._shelf.owner())
        with place.opened(self._tree) as top:
            for path in sorted(paths, reverse=True):
                self._clear(top, path, after)
            for path in sorted(paths):
                piece = piece_of(after, path)
                if piece is not None and not diff.is_same(self._copy.entry(top, path), piece.entry):
                    with suppress(PermissionError):  # what may not be read is not there, and is not missed
                        builder.put(top, path, Piece(piece.entry, piece.tree, piece.path))

    def _clear(self, top: int, path: str, after: View) -> None:
        """What is not to be there, and files that are to be others."""
        now, wanted = self._copy.entry(top, path), after.source(path)
        if now is None or (wanted is not None and now.kind == wanted.entry.kind == "directory"):
            return
        if wanted is not None and diff.is_same(now, after.hashed(path, wanted)):
            return
        with place.above(top, path) as (inner, name):
            (os.rmdir if now.kind == "directory" else os.unlink)(name, dir_fd=inner)


def _empty(tree: str) -> None:
    for name in os.listdir(tree):
        path = f"{tree}/{name}"
        if os.path.isdir(path) and not os.path.islink(path):
            layer.remove(path)
        else:
            os.unlink(path)
