"""Mounts, by the system calls that work on descriptors: a tree is cloned, changed while nobody can see it, then put in its place.

What is opened is what is mounted, whatever happens to the path meanwhile. Standard library only: the holder runs this in a process of
its own, before anything of Daimon is loaded. The numbers of these calls are the same on every architecture.
"""

import ctypes
import os
from collections.abc import Iterable

OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, OPENAT2, MOUNT_SETATTR = 428, 429, 430, 431, 432, 437, 442
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, IDMAP = 0x1, 0x2, 0x4, 0x8, 0x100000
HARMLESS = NO_SUID | NO_DEVICES
NEW_NAMESPACE, NEW_USERS = 0x20000, 0x10000000

_CLONE, _CLOEXEC, _EMPTY_PATH, _RECURSIVE = 0x1, 0o2000000, 0x1000, 0x8000
_FROM_EMPTY, _TO_EMPTY, _HERE = 0x4, 0x40, -100
_BENEATH, _NO_SYMLINKS = 0x08, 0x04
_REC, _PRIVATE, _SLAVE, _SHARED = 0x4000, 1 << 18, 1 << 19, 1 << 20
_DETACH, _NO_FOLLOW = 2, 8
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6
_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "users")]


def clone(path: str) -> int:
    """A detached copy of the tree of mounts at a path."""
    return _call(path, OPEN_TREE, _HERE, path.encode(), _CLONE | _CLOEXEC | _RECURSIVE)


def clone_of(place: int) -> int:
    """The same, of what a descriptor stands for."""
    return _call("", OPEN_TREE, place, b"", _CLONE | _CLOEXEC | _RECURSIVE | _EMPTY_PATH)


def open_below(top: int, path: str, *, may_follow: bool = False) -> int:
    """What is there below a directory, wherever somebody moves it meanwhile. Raises OSError for a way that leads over a symbolic link, or
    with `may_follow` over one that leads out."""
    flags, resolve = (0, _BENEATH) if may_follow else (os.O_NOFOLLOW, _BENEATH | _NO_SYMLINKS)
    how = (ctypes.c_uint64 * 3)(os.O_PATH | os.O_CLOEXEC | flags, 0, resolve)
    return _call(path, OPENAT2, top, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))


def change(tree: int, attributes: int, users: int = 0) -> None:
    """Sets attributes of a detached tree. `users` is a descriptor of the user namespace whose mapping it gets, with IDMAP."""
    wanted = _Attributes(attributes, 0, 0, users)
    _call("", MOUNT_SETATTR, tree, b"", _EMPTY_PATH | _RECURSIVE, ctypes.byref(wanted), ctypes.sizeof(wanted))


def tmpfs(attributes: int, **options: str) -> int:
    """A detached file system in memory."""
    return made("tmpfs", attributes, list(options.items()))


def made(kind: str, attributes: int, options: Iterable[tuple[str, str | None]]) -> int:
    """A detached file system, by its options in this order; one without a value is a flag."""
    fs = _call(kind, FSOPEN, kind.encode(), 1)
    try:
        for key, value in options:
            how, word = (_SET_FLAG, None) if value is None else (_SET_STRING, os.fsencode(value))
            _call(f"{kind} {key}={value}", FSCONFIG, fs, how, key.encode(), word, 0)
        _call(kind, FSCONFIG, fs, _CREATE, None, None, 0)
        return _call(kind, FSMOUNT, fs, 1, attributes)
    finally:
        os.close(fs)


def made_at(kind: str, path: str, options: str) -> None:
    """The same by the old call, which takes all options as one text of less than a page."""
    if _libc.mount(kind.encode(), path.encode(), kind.encode(), HARMLESS, os.fsencode(options)):
        raise _failure(f"{kind} at {path}")


def attach(tree: int, path: str) -> None:
    """Puts a detached tree in its place and closes its descriptor."""
    try:
        _call(path, MOVE_MOUNT, tree, b"", _HERE, path.encode(), _FROM_EMPTY)
    finally:
        os.close(tree)


def attach_at(tree: int, place: int) -> None:
    """The same, where a descriptor says."""
    try:
        _call("", MOVE_MOUNT, tree, b"", place, b"", _FROM_EMPTY | _TO_EMPTY)
    finally:
        os.close(tree)


def move(path: str, to: str) -> None:
    """What is mounted at a path, with all below it, at once."""
    _call(path, MOVE_MOUNT, _HERE, path.encode(), _HERE, to.encode(), 0)


def remove(path: str, *, at_once: bool = False) -> None:
    """Unmounts, here and wherever it appeared. Raises EBUSY if somebody uses it. `at_once`: it goes from the tree now, and when its last
    user lets go of it for good."""
    if _libc.umount2(path.encode(), _NO_FOLLOW | (_DETACH if at_once else 0)):
        raise _failure(path)


def receive(tree: int) -> None:
    """What is mounted where this tree was cloned from appears in it too; nothing goes the other way."""
    wanted = _Attributes(0, 0, _SLAVE, 0)
    _call("", MOUNT_SETATTR, tree, b"", _EMPTY_PATH | _RECURSIVE, ctypes.byref(wanted), ctypes.sizeof(wanted))


def keep_to_oneself() -> None:
    """From here on no mount reaches another namespace, and none of theirs comes here."""
    _mount("/", _REC | _PRIVATE)


def share(path: str) -> None:
    """What is mounted below this path from now on also appears in copies of it that others made."""
    _mount(path, _SHARED)


def seal(path: str) -> None:
    """Makes a mount read-only, but nothing that is mounted below it, now or later."""
    wanted = _Attributes(READ_ONLY, 0, 0, 0)
    _call(path, MOUNT_SETATTR, _HERE, path.encode(), 0, ctypes.byref(wanted), ctypes.sizeof(wanted))


def unshare(flags: int) -> None:
    if _libc.unshare(flags):
        raise _failure("a new namespace")


def _mount(path: str, flags: int) -> None:
    if _libc.mount(None, path.encode(), None, flags, None):
        raise _failure(path)


def _call(what: str, number: int, *arguments: object) -> int:
    found = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if found < 0:
        raise _failure(what)
    return found


def _failure(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
