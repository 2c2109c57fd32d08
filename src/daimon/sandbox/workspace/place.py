"""Ways into a tree that somebody hostile may have made, and may be changing.

No link is followed, not even on the way; nothing but a plain file is opened, so that no pipe makes anybody wait; a name may be any bytes.
Everything goes through descriptors of directories, from one that was opened by whoever trusts it. A way longer than the kernel takes at
once is not gone: what lies there stays in its layer, and is in no list.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO

from daimon.abi.workspace import Kind
from daimon.sandbox import mounts

LONGEST = 3_500
"""Bytes of a path; the kernel takes 4,096."""
_libc = ctypes.CDLL(None, use_errno=True)
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A directory that is ours or the owner's, to go on from."""
    descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def directory(top: int, path: str) -> Iterator[int]:
    """One below another. Raises NotADirectoryError where the way leads over a link."""
    try:
        descriptor = _opened(top, path or ".")
    except OSError as failure:
        if failure.errno == errno.ELOOP:
            raise NotADirectoryError(errno.ENOTDIR, "a link, no directory", path) from failure
        raise
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "no directory", path)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def above(top: int, path: str) -> Iterator[tuple[int, str]]:
    """The directory in which something is, and its name there."""
    place, _, name = path.rpartition("/")
    with directory(top, place) as descriptor, _unlocked(descriptor, stat.S_IXUSR):
        yield descriptor, name


def about(top: int, path: str) -> os.stat_result | None:
    """None: nothing is there, or no way that leads over directories alone."""
    if not path:
        return os.fstat(top)
    with suppress(FileNotFoundError, NotADirectoryError, OSError), above(top, path) as (place, name):
        return os.lstat(name, dir_fd=place)
    return None


def sync(top: int, path: str) -> None:
    """Brings a directory to the disk, without what is in it."""
    with directory(top, path) as place, _unlocked(place, stat.S_IRUSR | stat.S_IXUSR), _readable(place) as descriptor:
        os.fsync(descriptor)


def sync_all(top: int) -> None:
    """Brings all that was written on the file system of a directory to the disk: for many files that is faster than each by itself."""
    with _readable(top) as descriptor:
        if _libc.syncfs(descriptor):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def listed(top: int, path: str) -> list[tuple[str, os.stat_result]]:
    """What is in a directory, by name. One that its owner has closed to himself is opened for the moment."""
    with directory(top, path) as place, _unlocked(place, stat.S_IRWXU), _readable(place) as descriptor, os.scandir(descriptor) as entries:
        found = []
        for entry in entries:
            try:
                found.append((entry.name, entry.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue
        return sorted(found)


def mark(top: int, path: str, name: str) -> bytes:
    """An attribute of a directory; empty if it has none."""
    with suppress(OSError), directory(top, path) as place, _unlocked(place, stat.S_IRUSR):
        return os.getxattr(f"/proc/self/fd/{place}", name)
    return b""


@contextmanager
def file(top: int, path: str) -> Iterator[FileIO]:
    """A plain file, to read in large pieces. Raises OSError for anything else."""
    with above(top, path) as (place, name):
        descriptor = _look(place, name)
    with open(descriptor, "rb", buffering=0, closefd=True) as found:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(path)
        yield found


def target(top: int, path: str) -> str:
    """Where a link points."""
    with above(top, path) as (place, name):
        return os.readlink(name, dir_fd=place)


def kind_of(seen: os.stat_result) -> Kind:
    if stat.S_ISREG(seen.st_mode):
        return "file"
    if stat.S_ISDIR(seen.st_mode):
        return "directory"
    return "link" if stat.S_ISLNK(seen.st_mode) else "other"


def _opened(top: int, path: str) -> int:
    """Where somebody has closed a directory on the way to himself, step by step."""
    try:
        return mounts.open_below(top, path)
    except PermissionError:
        if os.geteuid() == 0:
            raise
    at = os.dup(top)
    for name in path.split("/"):
        try:
            with _unlocked(at, stat.S_IXUSR):
                inner = mounts.open_below(at, name)
        finally:
            os.close(at)
        at = inner
    return at


def _look(place: int, name: str) -> int:
    try:
        return os.open(name, _LOOK, dir_fd=place)
    except PermissionError:
        pinned = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
        try:
            if not stat.S_ISREG(os.fstat(pinned).st_mode):
                raise
            with _unlocked(pinned, stat.S_IRUSR):
                return os.open(name, _LOOK, dir_fd=place)
        finally:
            os.close(pinned)


@contextmanager
def _unlocked(place: int, bits: int) -> Iterator[None]:
    """Only the owner of a file can do this, and only he needs it: root reads whatever it likes."""
    mode = stat.S_IMODE(os.fstat(place).st_mode)
    if os.geteuid() == 0 or mode & bits == bits or os.fstat(place).st_uid != os.geteuid():
        yield
        return
    os.chmod(f"/proc/self/fd/{place}", mode | bits)
    try:
        yield
    finally:
        os.chmod(f"/proc/self/fd/{place}", mode)


@contextmanager
def _readable(place: int) -> Iterator[int]:
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
