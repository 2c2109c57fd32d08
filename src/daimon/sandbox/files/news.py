"""Which of the files that a session knows somebody else changed: the watches say where to look, and here it is looked.

A directory is watched after the file in it was read, so such a file is looked at once more. When another tree took the place of the one
that was watched (its root is another directory), all is watched and looked at anew.
"""

import os
from contextlib import suppress

from daimon.abi.errors import ToolFailed
from daimon.sandbox.files.content import INLINE, Stamp, version_by_stat, whole
from daimon.sandbox.files.handles import Handles, Held, Look
from daimon.sandbox.files.opening import FOLDER, open_below
from daimon.sandbox.files.tree import Tree
from daimon.sandbox.files.watches import Watches

_TREE, _BASE = "tree", "base"


class News:
    def __init__(self, base: str) -> None:
        self._watches = Watches()
        self._base = os.open(base, FOLDER & ~os.O_NOFOLLOW) if base else -1
        self._identity = (0, 0)
        self._unsure: set[str] = set()

    def is_watched(self, path: str) -> bool:
        return self._watches.has(_TREE, path.rpartition("/")[0])

    def watch(self, tree: Tree, path: str) -> None:
        self._unsure.add(path)
        self._identity = self._identity if self._identity != (0, 0) else _identity(tree)
        self._watch_above(_TREE, tree.top, path)
        if self._base >= 0:
            self._watch_above(_BASE, self._base, path)

    def changed(self, tree: Tree, handles: Handles) -> tuple[str, ...]:
        if self._identity != (now := _identity(tree)):
            self._watches.forget()
            self._identity = now
        stirred = self._watches.stirred()
        unsure, self._unsure = self._unsure, set()
        if not stirred.everything and not stirred.paths and not unsure:
            return ()
        paths = handles.paths() if stirred.everything else handles.below(stirred.paths | unsure)
        for path in paths:
            if not self.is_watched(path):
                self.watch(tree, path)
        self._unsure -= set(paths)  # they are looked at now, after they are watched
        return handles.changed(paths, lambda path, held: _look(tree, path, held))

    def close(self) -> None:
        self._watches.close()
        if self._base >= 0:
            os.close(self._base)
            self._base = -1

    def _watch_above(self, side: str, top: int, path: str) -> None:
        parts = path.split("/")[:-1]
        for size in range(len(parts) + 1):
            above = "/".join(parts[:size])
            if self._watches.has(side, above):
                continue
            with suppress(OSError):
                opened = open_below(top, above or ".", FOLDER)
                try:
                    self._watches.add(side, above, opened)
                finally:
                    os.close(opened)


def _identity(tree: Tree) -> tuple[int, int]:
    about = os.fstat(tree.top)
    return about.st_dev, about.st_ino


def _look(tree: Tree, path: str, held: Held) -> Look:
    """Held paths have no links; what is a link now, or no file, is another thing than it was. Of large files the stamp alone counts."""
    try:
        opened, about, real = tree.open_file(path)
    except ToolFailed:
        return Look()
    try:
        if real != path:
            return Look()
        stamp, is_large = Stamp.of(about), about.st_size > INLINE
        if stamp == held.stamp and (is_large or not held.is_racy):
            return Look(stamp)
        return Look(stamp, version_by_stat(about) if is_large else whole(opened, about, path).version)
    finally:
        os.close(opened)
