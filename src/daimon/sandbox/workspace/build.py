"""Writes a new layer, out of pieces of others.

What it is told is what shall be at certain paths; what is not named stays as the layers below have it. A path that shall be empty becomes
a whiteout, unless a directory above it is gone anyway. Directories on the way are made as they are seen below. Files of sealed layers are
linked, others copied with their holes. Nothing here is on disk for good until `layer.sync`.
"""

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO

from daimon.abi.workspace import Entry
from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.layer import PIECE
from daimon.sandbox.workspace.stack import View

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is to be in the layer: as it is at a path of a tree, or these bytes."""

    entry: Entry
    tree: str = ""
    path: str = ""
    may_link: bool = False
    data: bytes | None = None


def mode_in(view: View) -> Callable[[str], int]:
    """How directories are there that a new layer needs on the way."""

    def mode(path: str) -> int:
        found = view.source(path)
        return found.entry.mode if found is not None and found.entry.kind == "directory" else 0o755

    return mode


def piece_of(view: View, path: str) -> Piece | None:
    """What a view has there, to build from."""
    found = view.source(path)
    if found is None:
        return None
    if found.sheet is None:
        return Piece(view.hashed(path, found), view.base.path, path)
    return Piece(found.entry, found.sheet.tree, path, may_link=found.sheet.is_sealed)


class Builder:
    def __init__(self, tree: str, mode_below: Callable[[str], int], owner: tuple[int, int] | None) -> None:
        self._tree = tree
        self._mode_below = mode_below
        """Of a directory that lies below the new layer."""
        self._owner = owner

    def build(self, wanted: Mapping[str, Piece | None]) -> None:
        """None: nothing is to be there."""
        with place.opened(self._tree) as top:
            for path in sorted(wanted):
                piece = wanted[path]
                if not self._has_way(top, path, wanted):
                    continue
                if piece is None:
                    self.whiteout(top, path)
                else:
                    self.put(top, path, piece)

    def _has_way(self, top: int, path: str, wanted: Mapping[str, Piece | None]) -> bool:
        """Makes the directories on the way. False: one of them is gone, or is none any more."""
        parts = path.split("/")[:-1]
        for number in range(1, len(parts) + 1):
            way = "/".join(parts[:number])
            if way in wanted and ((piece := wanted[way]) is None or piece.entry.kind != "directory"):
                return False
            if place.about(top, way) is None:
                self.directory(top, way, self._mode_below(way))
        return True

    def whiteout(self, top: int, path: str) -> None:
        with place.above(top, path) as (inner, name):
            os.mknod(name, stat.S_IFCHR, 0, dir_fd=inner)
            self._own(inner, name)

    def directory(self, top: int, path: str, mode: int, *, is_opaque: bool = False) -> None:
        with place.above(top, path) as (inner, name):
            if place.about(inner, name) is None:
                os.mkdir(name, 0o700, dir_fd=inner)
            with place.directory(inner, name) as made:
                if is_opaque:
                    os.setxattr(f"/proc/self/fd/{made}", layer.OPAQUE, b"y")
                self._own(inner, name)
                # Whoever is not root could not fill a directory that is closed to himself: it becomes open to him.
                os.chmod(f"/proc/self/fd/{made}", mode if os.geteuid() == 0 else mode | stat.S_IRWXU)

    def put(self, top: int, path: str, piece: Piece) -> None:
        if piece.entry.kind == "directory":
            self.directory(top, path, piece.entry.mode)
            return
        with place.above(top, path) as (inner, name):
            if piece.may_link and self._linked(piece, inner, name):
                return
            self._made(piece, inner, name)
            self._own(inner, name)

    def _linked(self, piece: Piece, inner: int, name: str) -> bool:
        """False: it must be copied; too many links, or another file system."""
        with suppress(OSError), place.opened(piece.tree) as tree, place.above(tree, piece.path) as (source, old):
            os.link(old, name, src_dir_fd=source, dst_dir_fd=inner, follow_symlinks=False)
            return True
        return False

    def _made(self, piece: Piece, inner: int, name: str) -> None:
        match piece.entry.kind:
            case "link":
                os.symlink(piece.entry.hash, name, dir_fd=inner)
            case "file":
                write(piece, inner, name, piece.entry.mode)
            case _:
                os.mkfifo(name, piece.entry.mode, dir_fd=inner)  # something that no program can use stands for all of its kind

    def _own(self, inner: int, name: str) -> None:
        if self._owner is not None:
            os.chown(name, *self._owner, dir_fd=inner, follow_symlinks=False)


def write(piece: Piece, inner: int, name: str, mode: int) -> None:
    """A new file with this content, and its time of change."""
    descriptor = os.open(name, _NEW, 0o600, dir_fd=inner)
    with open(descriptor, "wb", buffering=0):
        if piece.data is not None:
            _all(descriptor, piece.data)
        else:
            with place.opened(piece.tree) as tree, place.file(tree, piece.path) as source:
                copy(source, descriptor)
                times = os.fstat(source.fileno())
                os.utime(descriptor, ns=(times.st_atime_ns, times.st_mtime_ns))
        os.fchmod(descriptor, mode)


def copy(source: FileIO, to: int) -> None:
    """Holes stay holes."""
    end = os.fstat(source.fileno()).st_size
    at = 0
    while at < end:
        try:
            at = os.lseek(source.fileno(), at, os.SEEK_DATA)
        except OSError:
            break
        hole = os.lseek(source.fileno(), at, os.SEEK_HOLE)
        os.lseek(source.fileno(), at, os.SEEK_SET)
        os.lseek(to, at, os.SEEK_SET)
        while at < hole and (piece := source.read(min(PIECE, hole - at))):
            at += _all(to, piece)
        if at < hole:
            break  # it became shorter meanwhile
    os.ftruncate(to, end)


def _all(to: int, data: bytes) -> int:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(to, rest) :]
    return len(data)
