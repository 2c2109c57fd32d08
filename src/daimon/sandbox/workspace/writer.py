"""Writes into the owner's directory, so that each path is the old thing or the new one, and nothing outside is ever touched.

Each way is gone from the top without any link (`place.py`), so neither a link of the layer nor one that the owner has made since leads
elsewhere. A file is written beside its place, brought to the disk and moved onto it. What must go goes first, from below; what is to be
comes then, from above. A path that is already as wanted is left, one that is neither that nor as it was before is left and said: so all
of it can be done again after a crash.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from daimon.abi.workspace import Entry
from daimon.sandbox.workspace import build, place
from daimon.sandbox.workspace.build import Piece
from daimon.sandbox.workspace.diff import is_same
from daimon.sandbox.workspace.stack import Base
from daimon.sandbox.workspace.trouble import FULL

PERMISSIONS = 0o777
"""Nothing that is applied runs with the rights of another user."""


@dataclass(frozen=True, slots=True)
class Step:
    path: str
    before: Entry | None
    piece: Piece | None


@dataclass(slots=True)
class Writer:
    base: Base
    top: int
    temporary: str
    """A name that nobody else uses; a file of that name is left by a crash."""
    skipped: list[str] = field(default_factory=list)
    _places: set[str] = field(default_factory=set)

    def write(self, steps: list[Step]) -> None:
        ordered = sorted(steps, key=lambda step: step.path)
        for step in reversed(ordered):
            with self._minded(step):
                self._remove(step)
        for step in ordered:
            with self._minded(step):
                self._put(step)
        for path in self._places:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                place.sync(self.top, path)

    @contextmanager
    def _minded(self, step: Step) -> Iterator[None]:
        """One path that cannot be written must not hold up all others for ever. Only for room on the disk it is worth while to wait."""
        try:
            yield
        except OSError as failure:
            if failure.errno in FULL:
                raise
            self.skipped.append(step.path)

    def _remove(self, step: Step) -> None:
        now = self.base.entry(self.top, step.path)
        wanted = plain(step.piece.entry if step.piece else None)
        if now is None or is_same(plain(now), wanted):
            return
        if not is_same(plain(now), plain(step.before)):
            self.skipped.append(step.path)
            return
        if wanted is not None and "directory" not in (now.kind, wanted.kind):
            return  # it is replaced in one go
        with place.above(self.top, step.path) as (inner, name):
            if now.kind != "directory":
                os.unlink(name, dir_fd=inner)
            elif wanted is None or wanted.kind != "directory":
                try:
                    os.rmdir(name, dir_fd=inner)
                except OSError:
                    self.skipped.append(step.path)
        self._places.add(step.path.rpartition("/")[0])

    def _put(self, step: Step) -> None:
        if step.piece is None or step.path in self.skipped:
            return
        now = self.base.entry(self.top, step.path)
        if is_same(plain(now), plain(step.piece.entry)):
            return
        self._places.add(step.path.rpartition("/")[0])
        mode = _mode(step.piece.entry)
        with place.above(self.top, step.path) as (inner, name):
            if step.piece.entry.kind == "directory":
                self._directory(inner, name, mode)
                return
            try:
                self._replace(inner, name, step.piece, mode)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(self.temporary, dir_fd=inner)

    def _replace(self, inner: int, name: str, piece: Piece, mode: int) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.temporary, dir_fd=inner)
        if piece.entry.kind == "link":
            os.symlink(piece.entry.hash, self.temporary, dir_fd=inner)
        else:
            self._file(inner, piece, mode)
        self._own(inner, name, self.temporary)
        os.rename(self.temporary, name, src_dir_fd=inner, dst_dir_fd=inner)

    def _directory(self, inner: int, name: str, mode: int) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=inner)
            self._own(inner, "", name)
        with place.directory(inner, name) as made:
            kept = stat.S_IMODE(os.fstat(made).st_mode) & ~PERMISSIONS
            os.chmod(f"/proc/self/fd/{made}", kept | mode)

    def _file(self, inner: int, piece: Piece, mode: int) -> None:
        build.write(piece, inner, self.temporary, mode)
        descriptor = os.open(self.temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=inner)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _own(self, inner: int, name: str, made: str) -> None:
        """It belongs to whom the old one did, or the whole directory does."""
        if os.geteuid() != 0:
            return
        old = place.about(inner, name) if name else None
        owner = old or os.fstat(self.top)
        os.chown(made, owner.st_uid, owner.st_gid, dir_fd=inner, follow_symlinks=False)


def plain(entry: Entry | None) -> Entry | None:
    """As it is compared: permissions that are never applied do not count."""
    return None if entry is None else replace(entry, mode=_mode(entry))


def _mode(entry: Entry) -> int:
    """Whoever is not root could not fill a directory that is closed to himself, nor empty it again: it stays open to him."""
    is_open = entry.kind == "directory" and os.geteuid() != 0
    return entry.mode & PERMISSIONS | (stat.S_IRWXU if is_open else 0)


def ways(path: str) -> Iterator[str]:
    """The directories on the way to a path, from the top."""
    parts = path.split("/")
    return ("/".join(parts[:number]) for number in range(1, len(parts)))
