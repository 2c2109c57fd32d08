"""A plain tree is made to be what layers show: what differs is removed, and made anew. No file is written in place, and none is linked:
programs write into the tree, and layers must not notice.

Whether a file differs is told by its content; where nothing can have gone wrong, by size and time of modification, which copies keep.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from daimon.abi.workspace import Entry
from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.build import Builder, Piece
from daimon.sandbox.workspace.footprint import Stamp
from daimon.sandbox.workspace.merge import mode_in, piece_of
from daimon.sandbox.workspace.stack import View

ASIDE = ".gone"
"""Beside the tree: a directory that is on its way out."""


@dataclass(slots=True)
class Tree:
    """One that is being compared with a view, and made like it."""

    path: str
    top: int
    owner: tuple[int, int] | None
    _layers: dict[str, int] = field(default_factory=dict)

    def is_same(self, view: View, path: str) -> bool:
        """A file that cannot be read is like no other."""
        mine, other = self.entry(path), view.source(path)
        if mine is None or other is None:
            return mine is None and other is None
        if replace(other.entry, hash="" if other.entry.kind == "file" else other.entry.hash) != mine:
            return False
        if mine.kind != "file":
            return True
        found = layer.hash_of(self.top, path)
        return bool(found) and found == view.hashed(path, other).hash

    def is_surely_same(self, view: View, path: str, seen: Stamp | None) -> bool:
        """By its looks. False: it must be compared."""
        other = view.source(path)
        if seen is None or other is None or other.entry.kind != seen[0]:
            return seen is None and other is None
        if seen[0] == "link":
            return other.entry == self.entry(path)
        if other.entry.mode != seen[1]:
            return False
        if seen[0] != "file":
            return True
        top = view.top if other.sheet is None else self._layers[other.sheet.name]
        about = place.about(top, path)
        return about is not None and (about.st_size, about.st_mtime_ns) == seen[2:4]

    @contextmanager
    def beside(self, view: View) -> Iterator[None]:
        """While what is in layers is looked at."""
        try:
            for sheet in view.sheets:
                self._layers[sheet.name] = os.open(sheet.tree, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            yield
        finally:
            for descriptor in self._layers.values():
                os.close(descriptor)
            self._layers.clear()

    def entry(self, path: str) -> Entry | None:
        """Without the hash of a file."""
        seen = place.about(self.top, path)
        if seen is None:
            return None
        kind = place.kind_of(seen)
        if kind == "link":
            with suppress(OSError):
                return Entry(kind, 0o777, hash=place.target(self.top, path))
            return None
        return Entry(kind, seen.st_mode & 0o7777, seen.st_size if kind == "file" else 0)

    def rewrite(self, view: View, paths: set[str]) -> set[str]:
        """Says which of them were different."""
        different = {path for path in paths if not self.is_same(view, path)}
        for path in sorted(different, reverse=True):
            self._clear(view, path)
        builder = Builder(self.path, mode_in(view), self.owner)
        for path in sorted(different):
            if (piece := piece_of(view, path)) is not None:
                builder.put(self.top, path, Piece(piece.entry, piece.tree, piece.path))
        if os.fstat(self.top).st_mode & 0o7777 != (mode := view.top_mode()):
            os.chmod(f"/proc/self/fd/{self.top}", mode)
        return different

    def _clear(self, view: View, path: str) -> None:
        now, wanted = self.entry(path), view.source(path)
        if now is None or (wanted is not None and now.kind == wanted.entry.kind == "directory"):
            return
        with place.above(self.top, path) as (inner, name):
            if now.kind != "directory":
                os.unlink(name, dir_fd=inner)
                return
            try:
                os.rmdir(name, dir_fd=inner)
            except OSError as failure:
                if failure.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                self._remove(inner, name)

    def _remove(self, inner: int, name: str) -> None:
        """With what nobody knew of: a program is still at it, or a way in it is too long."""
        aside = str(Path(self.path).with_name(ASIDE))
        layer.remove(aside)
        os.rename(name, aside, src_dir_fd=inner)
        layer.remove(aside)
