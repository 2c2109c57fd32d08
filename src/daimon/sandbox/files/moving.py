"""Moving, deleting, making directories. A link is moved or deleted as what it is, never what it points to.

A directory that lies in a lower layer of the workspace cannot be renamed (the kernel says EXDEV): it is copied under another name beside
the target, the copy is renamed, then the source is deleted. Who dies between has left a directory whose name begins with `.daimon-`, or
both; nothing is lost.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Deleted, Moved
from daimon.sandbox.files.failures import named, told
from daimon.sandbox.files.opening import rename_new
from daimon.sandbox.files.tree import Tree
from daimon.sandbox.files.walking import must_be_shallow
from daimon.sandbox.files.writing import TEMPORARY, fill

CHUNK = 1024 * 1024
MOST_COPIED, MOST_COPIED_BYTES = 200_000, 2 * 1024**3
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Entry = tuple[int, str]
"""A directory and a name in it."""


def move(tree: Tree, source: str, target: str, overwrite: bool) -> Moved:
    old, new = tree.grant_write(tree.entry(source)), tree.grant_write(tree.entry(target))
    if new == old or new.startswith(f"{old}/"):
        raise ToolFailed("bad_path", f"{named(old)} cannot be moved to {named(new)}: that is itself, or in itself")
    if tree.kind(old) is None:
        raise ToolFailed("not_found", f"there is nothing at {named(old)} to move")
    folders = list[int]()
    try:
        for real, open_ in ((old, tree.folder), (new, tree.made)):
            folders.append(open_(real.split("/")[:-1]))
        was_copied = _moved((folders[0], old.rpartition("/")[2]), (folders[1], new.rpartition("/")[2]), overwrite, old)
    except FileExistsError:
        raise ToolFailed("exists", f"there is something at {named(new)} already; say overwrite, or choose another name") from None
    except OSError as error:
        raise told(error, source, f"move to {named(new)}") from error
    finally:
        for folder in folders:
            os.close(folder)
    return Moved(old, new, was_copied)


def _moved(source: Entry, target: Entry, overwrite: bool, path: str) -> bool:
    try:
        _renamed(source, target, overwrite)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        by_copy(source, target, overwrite, path)
        return True
    return False


def _renamed(source: Entry, target: Entry, overwrite: bool) -> None:
    if overwrite:
        os.rename(source[1], target[1], src_dir_fd=source[0], dst_dir_fd=target[0])
    else:
        rename_new(source, target)


def by_copy(source: Entry, target: Entry, overwrite: bool, path: str) -> None:
    beside = target[0], f"{TEMPORARY}{secrets.token_hex(6)}"
    try:
        _Copy(path).entry(source, beside)
        _renamed(beside, target, overwrite)
    except BaseException:
        with suppress(OSError, ToolFailed):
            remove(beside, path)
        raise
    remove(source, path)


class _Copy:
    def __init__(self, path: str) -> None:
        self._path, self._count, self._bytes = path, 0, 0

    def entry(self, source: Entry, target: Entry, depth: int = 0) -> None:
        must_be_shallow(depth, self._path)
        about = os.stat(source[1], dir_fd=source[0], follow_symlinks=False)
        self._count, self._bytes = self._count + 1, self._bytes + about.st_size
        if self._count > MOST_COPIED or self._bytes > MOST_COPIED_BYTES:
            most = f"more than {MOST_COPIED:,} entries or {MOST_COPIED_BYTES:,} bytes"
            raise ToolFailed("too_large", f"{named(self._path)} has {most}; move it with a command in the box")
        if stat.S_ISDIR(about.st_mode):
            self._directory(source, target, about, depth)
        elif stat.S_ISLNK(about.st_mode):
            os.symlink(os.readlink(source[1], dir_fd=source[0]), target[1], dir_fd=target[0])
        elif stat.S_ISREG(about.st_mode):
            self._file(source, target)
        else:
            raise ToolFailed("not_a_file", f"{named(self._path)} has a pipe, socket or device in it, which cannot be copied")

    def _directory(self, source: Entry, target: Entry, about: os.stat_result, depth: int) -> None:
        os.mkdir(target[1], 0o700, dir_fd=target[0])
        into = os.open(target[1], _FOLDER, dir_fd=target[0])
        try:
            from_ = os.open(source[1], _FOLDER, dir_fd=source[0])
            try:
                for name in os.listdir(from_):
                    self.entry((from_, name), (into, name), depth + 1)
            finally:
                os.close(from_)
            _same_looks(into, about)
        finally:
            os.close(into)

    def _file(self, source: Entry, target: Entry) -> None:
        from_ = os.open(source[1], _READ, dir_fd=source[0])
        try:
            about = os.fstat(from_)
            if not stat.S_ISREG(about.st_mode):
                raise ToolFailed("unstable", f"something in {named(self._path)} changed while it was moved; try again", retryable=True)
            into = os.open(target[1], _NEW, 0o600, dir_fd=target[0])
            try:
                for start in range(0, about.st_size, CHUNK):  # no more than was counted, however it grows
                    fill(into, os.pread(from_, min(CHUNK, about.st_size - start), start))
                _same_looks(into, about)
            finally:
                os.close(into)
        finally:
            os.close(from_)


def _same_looks(made: int, about: os.stat_result) -> None:
    os.fchmod(made, about.st_mode & 0o777)
    os.utime(made, ns=(about.st_atime_ns, about.st_mtime_ns))
    with suppress(PermissionError):
        os.fchown(made, about.st_uid, about.st_gid)


def delete(tree: Tree, path: str, recursive: bool) -> Deleted:
    real = tree.grant_write(tree.entry(path))
    about = tree.kind(real)
    if about is None:
        raise ToolFailed("not_found", f"there is nothing at {named(real)} to delete")
    try:
        folder = tree.folder(real.split("/")[:-1])
        try:
            entry = folder, real.rpartition("/")[2]
            if stat.S_ISDIR(about.st_mode) and not recursive:
                return _empty_directory(entry, real)
            return Deleted(real, remove(entry, real))
        finally:
            os.close(folder)
    except OSError as error:
        raise told(error, path, "delete") from error


def _empty_directory(entry: Entry, path: str) -> Deleted:
    try:
        os.rmdir(entry[1], dir_fd=entry[0])
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        raise ToolFailed("not_empty", f"{named(path)} is a directory with something in it; say recursive to delete all of it") from error
    return Deleted(path, 1)


def remove(entry: Entry, path: str, depth: int = 0) -> int:
    """An entry with all below it; how many there were. What appears meanwhile makes it fail with ENOTEMPTY."""
    must_be_shallow(depth, path)
    folder, name = entry
    try:
        deeper = os.open(name, _FOLDER, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        os.unlink(name, dir_fd=folder)
        return 1
    try:
        count = sum(remove((deeper, each), path, depth + 1) for each in os.listdir(deeper))
    finally:
        os.close(deeper)
    os.rmdir(name, dir_fd=folder)
    return count + 1


def make_directory(tree: Tree, path: str) -> str:
    real = tree.resolve(path)
    if not real:
        return ""
    tree.grant_write("/".join(real))
    try:
        os.close(tree.made(real))
    except OSError as error:
        raise told(error, path, "make the directory") from error
    return "/".join(real)
