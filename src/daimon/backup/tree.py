"""The place that an archive is unpacked into: a new directory of ours, which nobody else can enter.

Files are made anew, never opened; a directory on the way is entered only if it is one. A directory is open to us until all is in it, and
gets its own mode and date at the end, innermost first.
"""

import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from daimon.backup.inventory import LAYER
from daimon.backup.pack import XATTR
from daimon.sandbox.workspace import layer, place

KEPT_BITS = 0o1777
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Tree:
    """A sink of `unpack.read`. `finish` when all is in it."""

    def __init__(self, path: Path) -> None:
        path.mkdir(mode=0o700)
        self._path = path
        self._top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._directories: list[tuple[str, tarfile.TarInfo]] = []
        self._last: tuple[str, int] | None = None
        self._gives_back = os.geteuid() == 0

    def close(self) -> None:
        self._leave()
        os.close(self._top)

    def directory(self, path: str, info: tarfile.TarInfo) -> None:
        if path:
            with self._above(path) as (above, name):
                os.mkdir(name, 0o700, dir_fd=above)
        self._directories.append((path, info))

    def file(self, path: str, info: tarfile.TarInfo, pieces: Iterator[bytes]) -> None:
        with self._above(path) as (above, name):
            descriptor = os.open(name, _NEW, 0o600, dir_fd=above)
            with open(descriptor, "wb", buffering=0) as file:
                for piece in pieces:
                    left = memoryview(piece)
                    while left:
                        left = left[file.write(left) :]
                self._dress(descriptor, info)

    def hard_link(self, path: str, to: str) -> None:
        source, _, first = to.rpartition("/")
        with place.directory(self._top, source) as where, self._above(path) as (above, name):
            os.link(first, name, src_dir_fd=where, dst_dir_fd=above, follow_symlinks=False)

    def link(self, path: str, info: tarfile.TarInfo) -> None:
        with self._above(path) as (above, name):
            os.symlink(info.linkname, name, dir_fd=above)
            if self._gives_back:
                os.chown(name, info.uid, info.gid, dir_fd=above, follow_symlinks=False)
            os.utime(name, ns=(_date(info), _date(info)), dir_fd=above, follow_symlinks=False)

    def whiteout(self, path: str, info: tarfile.TarInfo) -> None:
        match = LAYER.fullmatch(path)
        assert match is not None
        with self._above(path) as (above, name):
            layer.put_whiteout(str(self._path / f"workspaces/{match[1]}/{match[2]}/tree"), above, name)

    def finish(self) -> None:
        """Modes and dates of directories."""
        self._leave()
        for path, info in reversed(self._directories):
            with place.directory(self._top, path) as found:
                readable = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=found)
            try:
                self._dress(readable, info)
            finally:
                os.close(readable)
        os.fchmod(self._top, 0o700)

    def force(self) -> None:
        """All of it to the disk, for good."""
        place.sync_all(self._top)

    def _dress(self, descriptor: int, info: tarfile.TarInfo) -> None:
        for key, value in info.pax_headers.items():
            if key.startswith(f"{XATTR}user."):
                with suppress(OSError):  # a file system without them: layers are kept by copies there
                    os.setxattr(descriptor, key.removeprefix(XATTR), value.encode("utf-8", "surrogateescape"))
        if self._gives_back:
            os.fchown(descriptor, info.uid, info.gid)
        os.fchmod(descriptor, info.mode & KEPT_BITS)
        os.utime(descriptor, ns=(_date(info), _date(info)))

    @contextmanager
    def _above(self, path: str) -> Iterator[tuple[int, str]]:
        """The directory of this path. It is kept open, since the next one is likely to be in it too."""
        where, _, name = path.rpartition("/")
        if self._last is None or self._last[0] != where:
            self._leave()
            with place.directory(self._top, where) as found:
                self._last = where, os.dup(found)
        yield self._last[1], name

    def _leave(self) -> None:
        if self._last is not None:
            os.close(self._last[1])
            self._last = None


def _date(info: tarfile.TarInfo) -> int:
    """In nanoseconds; one that is none is the beginning of time."""
    seconds, _, rest = str(info.pax_headers.get("mtime", int(info.mtime))).partition(".")
    if not seconds.lstrip("-").isdigit() or len(seconds) > 11:
        return 0
    return int(seconds) * 10**9 + int((rest + "0" * 9)[:9]) if (rest or "0").isdigit() else int(seconds) * 10**9


def remove(path: Path) -> None:
    """A tree of ours, whatever is in it and however deep."""
    layer.remove(str(path))
