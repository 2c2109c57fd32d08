"""A plain tree is made to be what layers show: what differs is removed, and made anew. No file is written in place, and none is linked:
programs write into the tree, and layers must not notice.

Whether a file differs is told by its content; where nothing can have gone wrong, by size and time of modification, which copies keep.
"""

import errno
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from daimon.abi.workspace import Entry
from daimon.sandbox.workspace import footprint, layer, place
from daimon.sandbox.workspace.build import Builder, Piece, mode_in
from daimon.sandbox.workspace.footprint import Seen, Stamp
from daimon.sandbox.workspace.stack import Sheet, View

ASIDE = ".gone"
"""Beside the tree: a directory that is on its way out."""


@dataclass(slots=True)
class Tree:
    """One that is being compared with a view, and made like it."""

    path: str
    top: int
    owner: tuple[int, int] | None

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

    def unlike(self, view: View) -> set[str]:
        """What looks different, and must be compared."""
        now, shown = footprint.stamps(self.top), looks(view)
        return {path for path in now.keys() | shown.keys() if not self._is_like(view, path, now.get(path), shown.get(path))}

    def _is_like(self, view: View, path: str, now: Stamp | None, shown: Stamp | None) -> bool:
        if now is None or shown is None or now[0] != shown[0]:
            return False
        if now[0] == "link":
            found = view.source(path)
            return found is not None and found.entry == self.entry(path)
        return now[1] == shown[1] and (now[0] != "file" or now[2:4] == shown[2:4])

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
            if (found := view.source(path)) is not None:
                builder.put(self.top, path, Piece(found.entry, found.sheet.tree if found.sheet else view.base.path, path))
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


def looks(view: View) -> Seen:
    """All that a view shows, as it looks where it lies."""
    found = footprint.stamps(view.top, is_ours=False)
    for sheet in reversed(view.sheets):
        found = _over(sheet, found)
    return found


def _over(sheet: Sheet, below: Seen) -> Seen:
    items = sheet.manifest.items
    hidden = {path for path, item in items.items() if item.covers and path in below and below[path][0] == "directory"}
    found = {path: about for path, about in below.items() if not _is_in(path, hidden)} if hidden else below
    with place.opened(sheet.tree) as top:
        for path, item in items.items():
            seen = None if item.kind == "whiteout" else place.about(top, path)
            if seen is None:
                found.pop(path, None)
            else:
                found[path] = footprint.stamp(seen)
    return found


def _is_in(path: str, directories: set[str]) -> bool:
    at = path.find("/")
    while at >= 0:
        if path[:at] in directories:
            return True
        at = path.find("/", at + 1)
    return False
