"""A copy of a layer that is being written, as a layer of its own.

While something holds the tree of a workspace, its live layer stays in place, and a checkpoint is a copy of it. A file that has not changed
since the last copy of the same layer is a link to that one, so a copy costs what changed. What changes while it is copied is copied again,
three times at most; then the copy is kept, and said to be not whole. It is one moment of each file, not of all of them.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.build import Builder, Piece
from daimon.sandbox.workspace.shelf import Shelf
from daimon.sandbox.workspace.stamps import Stamps, TooMuch, different, taken

TRIES = 3


@dataclass(frozen=True, slots=True)
class Most:
    """Of what is copied at all: it is waited for."""

    entries: int = 50_000
    size: int = 2 << 30
    """Bytes that are not links."""


@dataclass(frozen=True, slots=True)
class Last:
    """The last copy of the same layer."""

    tree: str
    stamps: Stamps


@dataclass(frozen=True, slots=True)
class Copied:
    stamps: Stamps
    is_whole: bool
    """False: something was written all the time, and may be half of it here."""


def copied(shelf: Shelf, live: str, name: str, last: Last | None, most: Most) -> Copied:
    """Raises OSError where it cannot be done: TooMuch, or what the disk says. Nothing is left then."""
    source = shelf.tree(live)
    shelf.make(name, os.stat(source).st_mode & 0o7777)
    try:
        made: Stamps = {}
        for _ in range(TRIES):
            now = taken(source, most.entries)
            if not (changed := different(made, now)):
                return Copied(made, is_whole=True)
            Copying(shelf, (source, name), last, most).bring(made, now, changed)
            made = now
        return Copied(made, is_whole=not different(made, taken(source, most.entries)))
    except OSError:
        shelf.remove(name)
        raise


class Copying:
    """One round."""

    def __init__(self, shelf: Shelf, way: tuple[str, str], last: Last | None, most: Most) -> None:
        self._source, self._tree, self._last, self._most = way[0], shelf.tree(way[1]), last, most
        self._builder = Builder(self._tree, lambda _: 0o755, shelf.owner())

    def bring(self, made: Stamps, now: Stamps, changed: set[str]) -> None:
        """What cannot be found any more has no stamp, and so is looked for again."""
        with place.opened(self._source) as source, place.opened(self._tree) as top:
            self._check(source, now, changed)
            for path in sorted(changed & made.keys(), reverse=True):
                _clear(top, path, stays=_is_directory(now, path))
            pending = sorted(changed & now.keys())
            files = [path for path in pending if self._is_known(path, now) and not _is_directory(now, path)]
            for path in sorted({*pending}.difference(files)):
                self._try_to_put(source, top, path, now)
            for where, names in groupby(sorted(path.rpartition("/")[::2] for path in files), itemgetter(0)):
                for path in self._not_linked(top, where, [name for _, name in names]):
                    self._try_to_put(source, top, path, now)

    def _not_linked(self, top: int, where: str, names: list[str]) -> list[str]:
        """Links what is in a directory as the last copy has it. Returns paths that must be copied: too many links, or no way there."""
        assert self._last is not None
        done = 0
        with (
            suppress(OSError),
            place.opened(self._last.tree) as last,
            place.directory(last, where) as old,
            place.directory(top, where) as new,
        ):
            for name in names:
                os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
                done += 1
        return [f"{where}/{name}" if where else name for name in names[done:]]

    def _try_to_put(self, source: int, top: int, path: str, now: Stamps) -> None:
        try:
            self._put(source, top, path)
        except (FileNotFoundError, NotADirectoryError):
            now[path] = None
            _clear(top, path, stays=False)

    def _check(self, source: int, now: Stamps, changed: set[str]) -> None:
        files = (place.about(source, path) for path in changed if not self._is_known(path, now))
        if sum(seen.st_blocks * 512 for seen in files if seen is not None) > self._most.size:
            raise TooMuch(f"more than {self._most.size} bytes")

    def _is_known(self, path: str, now: Stamps) -> bool:
        stamp = now.get(path)
        return self._last is not None and stamp is not None and self._last.stamps.get(path) == stamp

    def _put(self, source: int, top: int, path: str) -> None:
        seen = place.about(source, path)
        if seen is None:
            raise FileNotFoundError(path)
        item = layer.item_at(source, path, seen, is_hashed=False)
        if item.kind == "whiteout":
            self._builder.whiteout(top, path)
        elif item.kind == "directory":
            self._builder.directory(top, path, item.mode, is_opaque=item.is_opaque)
        else:
            self._builder.put(top, path, Piece(item.entry(), self._source, path))


def _is_directory(now: Stamps, path: str) -> bool:
    stamp = now.get(path)
    return stamp is not None and stamp[0] == "directory"


def _clear(top: int, path: str, *, stays: bool) -> None:
    """`stays`: a directory that shall be one again. What is in it is cleared by itself, if it changed."""
    seen = place.about(top, path)
    if seen is None:
        return
    with place.above(top, path) as (inner, name):
        if place.kind_of(seen) != "directory":
            os.unlink(name, dir_fd=inner)
        elif not stays:
            os.rmdir(name, dir_fd=inner)
        else:
            with place.directory(inner, name) as made, suppress(OSError):
                os.removexattr(f"/proc/self/fd/{made}", layer.OPAQUE)
