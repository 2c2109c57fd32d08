"""One layer on disk: `LAYER/tree` in the form of overlayfs, `LAYER/work` for the kernel while it is live, `LAYER/manifest` once frozen,
`LAYER/stamps` if it is a copy of one that stayed live.

In a tree a whiteout (a character device 0/0) hides what lies below it, and an opaque directory (`user.overlay.opaque` is "y") hides what
the layers below have in it. A layer that is frozen and sealed is never written again, which is why its files may be linked into others.
What is read here was written by a box: see `place.py`.

A directory that lies on an overlay itself, as in a container, takes no whiteouts. There a socket stands for one, and the file
`LAYER/sockets` says so: only this store writes such a layer, and never a socket for anything else. Before the kernel sees it, it is mended.
"""

import errno
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from io import FileIO
from types import MappingProxyType
from typing import Literal

from daimon.abi.workspace import Entry, Kind
from daimon.sandbox.workspace import place

OPAQUE = "user.overlay.opaque"
PIECE = 1 << 20
MANY = 64
"""More files than that are not brought to the disk one by one."""
Hashes = Mapping[int, str]
"""By inode, of files that nobody writes any more."""
UNKNOWN: Hashes = MappingProxyType({})
_NO_WHITEOUTS = (errno.EPERM, errno.EACCES, errno.EINVAL, errno.EOPNOTSUPP)
SOCKETS = "sockets"


@dataclass(frozen=True, slots=True)
class Item:
    """What a layer has at one path."""

    kind: Kind | Literal["whiteout"]
    mode: int = 0
    size: int = 0
    hash: str = ""
    is_opaque: bool = False

    @property
    def covers(self) -> bool:
        """Does it hide what is below a directory of the layers underneath?"""
        return self.kind != "directory" or self.is_opaque

    def entry(self) -> Entry:
        assert self.kind != "whiteout"
        return Entry(self.kind, self.mode, self.size, self.hash)


def make(directory: str, mode: int, owner: tuple[int, int] | None) -> None:
    """An empty one. `owner`: of its tree, where that is not whoever runs this."""
    os.mkdir(directory, 0o700)
    for name in ("tree", "work"):
        path = f"{directory}/{name}"
        os.mkdir(path, 0o700)
        if owner is not None:
            os.chown(path, *owner)
    os.chmod(f"{directory}/tree", mode)


def is_empty(directory: str) -> bool:
    """A program may have closed the top of its tree, so that nobody could look; it is opened again for good."""
    tree = f"{directory}/tree"
    mode = stat.S_IMODE(os.lstat(tree).st_mode)
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(tree, mode | stat.S_IRWXU)
    with os.scandir(tree) as found:
        return next(found, None) is None


def scan(top: int, *, is_hashed: bool, known: Hashes = UNKNOWN) -> Iterator[tuple[str, Item]]:
    """Everything in a tree, each directory before what is in it. `known`: of files that need not be read."""
    pending = [""]
    while pending:
        where = pending.pop()
        for name, seen in listed(top, where):
            path = f"{where}/{name}" if where else name
            if len(os.fsencode(path)) > place.LONGEST:
                continue
            item = item_at(top, path, seen, is_hashed=is_hashed and seen.st_ino not in known)
            if item.kind == "file" and seen.st_ino in known:
                item = replace(item, hash=known[seen.st_ino])
            yield path, item
            if item.kind == "directory":
                pending.append(path)


def listed(top: int, where: str) -> list[tuple[str, os.stat_result]]:
    try:
        return place.listed(top, where)
    except (FileNotFoundError, NotADirectoryError):
        return []  # it has gone since, or is something else, in a layer that somebody still holds


def is_whiteout(seen: os.stat_result) -> bool:
    return stat.S_ISCHR(seen.st_mode) and seen.st_rdev == 0


def _stands_for_one(top: int, seen: os.stat_result) -> bool:
    if not stat.S_ISSOCK(seen.st_mode):
        return False
    with suppress(FileNotFoundError):
        os.lstat(f"../{SOCKETS}", dir_fd=top)
        return True
    return False


def put_whiteout(tree: str, inner: int, name: str) -> None:
    """Into a directory of this tree."""
    try:
        os.mknod(name, stat.S_IFCHR, 0, dir_fd=inner)
    except OSError as failure:
        if failure.errno not in _NO_WHITEOUTS:
            raise
        os.close(os.open(f"{tree}/../{SOCKETS}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.mknod(name, stat.S_IFSOCK | 0o600, dir_fd=inner)


def mend(directory: str, owner: tuple[int, int] | None) -> None:
    """Puts whiteouts where sockets stand for them. Where they still cannot be, they stay: nothing is mounted there either."""
    if not os.path.lexists(mark := f"{directory}/{SOCKETS}"):
        return
    try:
        _replace(directory, owner)
    except OSError as failure:
        if failure.errno not in _NO_WHITEOUTS:
            raise
        return
    sync(directory)
    os.unlink(mark)


def _replace(directory: str, owner: tuple[int, int] | None) -> None:
    new = f"{directory}/whiteout"
    with place.opened(f"{directory}/tree") as top:
        for path in [path for path, item in scan(top, is_hashed=False) if item.kind == "whiteout"]:
            with suppress(FileNotFoundError):
                os.unlink(new)
            os.mknod(new, stat.S_IFCHR, 0)
            if owner is not None:
                os.chown(new, *owner)
            with place.above(top, path) as (inner, name):
                os.rename(new, name, dst_dir_fd=inner)


def item_at(top: int, path: str, seen: os.stat_result, *, is_hashed: bool) -> Item:
    if is_whiteout(seen) or _stands_for_one(top, seen):
        return Item("whiteout")
    kind, mode = place.kind_of(seen), stat.S_IMODE(seen.st_mode)
    match kind:
        case "directory":
            return Item(kind, mode, is_opaque=place.mark(top, path, OPAQUE) == b"y")
        case "link":
            return Item(kind, 0o777, hash=_target(top, path))
        case "file":
            return Item(kind, mode, seen.st_size, hash_of(top, path) if is_hashed else "")
        case "other":
            return Item(kind, mode)


def hash_of(top: int, path: str) -> str:
    """Empty: it cannot be read, and is like no other."""
    with suppress(OSError), place.file(top, path) as file:
        return digest(file)
    return ""


def digest(file: FileIO) -> str:
    """SHA-256 of a small file. Of a large one that of all that is not zero, with where it is, and of the size: a box makes a hole of any
    size for nothing, and nobody could read that. Whether zeros are written down or are a hole makes no difference."""
    size = os.fstat(file.fileno()).st_size
    if size <= PIECE:
        return hashlib.sha256(file.read(PIECE)).hexdigest()
    found = hashlib.sha256(size.to_bytes(8))
    at = 0
    while (at := _data_from(file, at)) < size and (piece := file.read(PIECE)):
        if piece.count(0) != len(piece):
            found.update(at.to_bytes(8) + piece)
        at += PIECE
    return found.hexdigest()


def _data_from(file: FileIO, at: int) -> int:
    """The beginning of the next piece in which there may be something; the file is there then."""
    try:
        data = os.lseek(file.fileno(), at, os.SEEK_DATA)
    except OSError as failure:
        if failure.errno == errno.ENXIO:
            return sys.maxsize
        data = at  # a file system that does not know
    return os.lseek(file.fileno(), data - data % PIECE, os.SEEK_SET)


def _target(top: int, path: str) -> str:
    with suppress(OSError):
        return place.target(top, path)
    return ""


def remove(directory: str) -> None:
    """A directory with whatever is in it, however deep: what is a directory is moved up first, so that no way becomes long."""
    if not os.path.lexists(directory):
        return
    mark, number = secrets.token_hex(8), 0  # whoever filled it must not have the names that are needed here
    with place.opened(directory) as top:
        _unlock(top)
        pending = [name for name, seen in place.listed(top, "") if not _removed(top, name, seen)]
        while pending:
            name = pending.pop()
            with place.directory(top, name) as inner:
                _unlock(inner)
                for child, seen in place.listed(inner, ""):
                    if _removed(inner, child, seen):
                        continue
                    number += 1
                    moved = f".{mark}-{number}.gone"
                    with place.directory(inner, child) as deeper:
                        _unlock(deeper)
                    os.rename(child, moved, src_dir_fd=inner, dst_dir_fd=top)
                    pending.append(moved)
            os.rmdir(name, dir_fd=top)
    os.rmdir(directory)


def _removed(inner: int, name: str, seen: os.stat_result) -> bool:
    """False: it is a directory."""
    if stat.S_ISDIR(seen.st_mode):
        return False
    os.unlink(name, dir_fd=inner)
    return True


def _unlock(inner: int) -> None:
    if stat.S_IMODE(os.fstat(inner).st_mode) & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(f"/proc/self/fd/{inner}", stat.S_IRWXU)


def sync(directory: str) -> None:
    """Brings everything of a layer to the disk; many files at once, with whatever else waits on that file system."""
    with place.opened(f"{directory}/tree") as top:
        found = [("", Item("directory")), *scan(top, is_hashed=False)]
        if len(found) > MANY:
            place.sync_all(top)
            return
        for path, item in found:
            with suppress(FileNotFoundError, PermissionError):
                if item.kind == "file":
                    with place.file(top, path) as file:
                        os.fsync(file.fileno())
                elif item.kind == "directory":
                    place.sync(top, path)
