"""One tree out of several directories: overlayfs, with what it may and may not do said in one place.

All paths are relative to the directory one is in: they are short, and what an option may hold is little. Marks are `user.overlay.*`
(userxattr), so that an ordinary user can mount it; with them the kernel does not follow renamed directories (redirect) and does not split
data from names (metacopy), and it hides those marks from whoever looks at the tree.

Whoever mounts it lends it his rights for good: what overlayfs does below (copy up, whiteouts, its work directory) is done as him. Root's
number is no number in a directory that is mapped to the box's user, and what cannot be written down cannot be made. So root mounts as
the box's user for files, with the capabilities that this takes away raised again. Standard library only.
"""

import ctypes
import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from daimon.sandbox import mounts

MOST = 500
"""Directories below the live one; the kernel has no more."""
SHORT = "short"
"""Where names of one or two letters lead to the directories, for kernels that take them all in one option."""
_OPTIONS: list[tuple[str, str | None]] = [("userxattr", None), ("index", "off"), ("xino", "off")]
_VERSION = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)


class _Head(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Capabilities(ctypes.Structure):
    _fields_ = [(f"{name}{n}", ctypes.c_uint32) for n in (0, 1) for name in ("effective", "permitted", "inheritable")]


def overlay(lowers: Sequence[str], upper: str, work: str, user: int | None) -> int:
    """A detached mount. `user`: as whom root makes files in it; None: as oneself."""
    if len(lowers) > MOST:
        raise OSError(errno.E2BIG, f"{len(lowers)} layers lie on each other, and the kernel takes {MOST}; put some of them together", upper)
    rest: list[tuple[str, str | None]] = [("upperdir", upper), ("workdir", work)]
    with _as_user(user):
        try:
            made = mounts.made("overlay", mounts.HARMLESS, [*_OPTIONS, *(("lowerdir+", path) for path in lowers), *rest])
        except OSError as error:
            if error.errno != errno.EINVAL or _takes_one_by_one():
                raise
            made = by_one_option(lowers, upper, work)
    if os.fstatvfs(made).f_flag & os.ST_RDONLY:  # the kernel's way to say that it cannot use the work directory
        os.close(made)
        raise OSError(errno.EROFS, "overlayfs cannot write there", upper)
    return made


def _takes_one_by_one() -> bool:
    """An older kernel only says that something is wrong with the options."""
    major, minor = (int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
    return (major, minor) >= (6, 5)


def by_one_option(lowers: Sequence[str], upper: str, work: str) -> int:
    """Before Linux 6.5."""
    os.mkdir(SHORT, 0o700)
    try:
        for n, path in enumerate(lowers):
            os.symlink(f"../{path}", f"{SHORT}/{n:x}")
        os.mkdir(f"{SHORT}/at")
        here = os.getcwd()
        os.chdir(SHORT)
        try:
            words = [key if value is None else f"{key}={value}" for key, value in _OPTIONS]
            words += [f"lowerdir={':'.join(f'{n:x}' for n in range(len(lowers)))}", f"upperdir=../{upper}", f"workdir=../{work}"]
            mounts.made_at("overlay", "at", ",".join(words))
            try:
                return mounts.clone("at")
            finally:
                mounts.remove("at", at_once=True)
        finally:
            os.chdir(here)
    finally:
        for name in os.listdir(SHORT):
            with suppress(OSError):
                os.rmdir(f"{SHORT}/{name}") if name == "at" else os.unlink(f"{SHORT}/{name}")
        os.rmdir(SHORT)


@contextmanager
def _as_user(user: int | None) -> Iterator[None]:
    if user is None:
        yield
        return
    before = _capabilities()
    _libc.setfsgid(user)
    _libc.setfsuid(user)
    try:
        _raise(before)
        yield
    finally:
        _libc.setfsuid(0)
        _libc.setfsgid(0)
        _raise(before)


def _capabilities() -> _Capabilities:
    found = _Capabilities()
    _check(_libc.capget(ctypes.byref(_Head(_VERSION, 0)), ctypes.byref(found)))
    return found


def _raise(wanted: _Capabilities) -> None:
    """To be somebody else for files takes the capabilities for files out of force; they stay permitted."""
    _check(_libc.capset(ctypes.byref(_Head(_VERSION, 0)), ctypes.byref(wanted)))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "capabilities")
