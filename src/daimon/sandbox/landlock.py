"""Landlock: which files a process may use, said by itself, for itself and all that it starts, and never taken back.

This file imports nothing but the standard library: the supervisor inside a box loads it as it stands, and calls `restrict` between fork and
exec. That process must have one thread, for the restriction is the thread's.

    restrict([("/usr", READ | EXECUTE), ("/workspace", READ | WRITE)])

A rule is on a file or on a directory and all below; what no rule grants is refused. What was opened before stays open. A rule belongs to
the directory that was found under its name at that moment, not to the name: a mount that later covers the directory is not covered by the
rule. Where mounts come and go, the rule goes on the directory *above* the mount point, which stays; whatever is mounted below it counts.

The newest rules that the kernel knows are used, and older kernels enforce less: before 6.2 files may be cut short without the right to
write, before 5.19 nothing may move between directories, before 6.10 devices can be controlled, before 6.12 abstract sockets can be reached,
before 5.13 there is nothing at all. Signals are left alone: each command has a domain of its own, and one must be able to end what an
earlier one left running. Reading what a name means (stat, access) and changing modes and times is nothing that Landlock sees.
"""

import ctypes
import os
import struct
from collections.abc import Iterable
from stat import S_ISDIR
from typing import NamedTuple

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REMOVE_DIR = 1 << 4
REMOVE_FILE = 1 << 5
MAKE_CHAR = 1 << 6
MAKE_DIR = 1 << 7
MAKE_REG = 1 << 8
MAKE_SOCK = 1 << 9
MAKE_FIFO = 1 << 10
MAKE_BLOCK = 1 << 11
MAKE_SYM = 1 << 12
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15

READ = READ_FILE | READ_DIR
WRITE = WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER
"""Devices cannot be made by anybody."""
CONTROL = IOCTL_DEV
"""Of devices that are opened afterwards, such as terminals."""

_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_SINCE = ((1, (1 << 13) - 1), (2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
_ABI_OF_NET, _ABI_OF_SCOPES = 4, 6
_SCOPE_ABSTRACT_SOCKETS = 1

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Younger than 5.1, so the same on all machines."""
_ASK_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS, _PR_GET_NO_NEW_PRIVS = 38, 39
_libc = ctypes.CDLL(None, use_errno=True)


class Restricted(NamedTuple):
    abi: int
    """What the kernel offers. 0: it has no Landlock, and nothing was restricted."""
    missing: tuple[str, ...]
    """Paths of rules that could not be opened. Nothing is granted there, even if they come to be later."""


def abi_version() -> int:
    """0: none, because the kernel is too old or does not use it."""
    try:
        return _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    except OSError:
        return 0


def restrict(rules: Iterable[tuple[str | os.PathLike[str], int]], *, scoped: bool = True) -> Restricted:
    """From here on, for good. `scoped`: no abstract socket of anybody outside can be reached. Raises OSError when the kernel refuses."""
    abi = abi_version()
    if not abi:
        return Restricted(0, ())
    ruleset, missing = make(rules, abi, scoped=scoped)
    try:
        enforce(ruleset)
    finally:
        os.close(ruleset)
    return Restricted(abi, missing)


def make(rules: Iterable[tuple[str | os.PathLike[str], int]], abi: int, *, scoped: bool = True) -> tuple[int, tuple[str, ...]]:
    """A ruleset, as a descriptor that can serve several processes, and the paths that could not be opened."""
    handled = _handled(abi)
    ruleset = _make_ruleset(abi, handled, scoped)
    try:
        return ruleset, tuple(os.fspath(path) for path, access in rules if not _is_added(ruleset, path, access & handled))
    except BaseException:
        os.close(ruleset)
        raise


def enforce(ruleset: int) -> None:
    if _prctl(_PR_GET_NO_NEW_PRIVS, 0) != 1:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _call(_RESTRICT_SELF, ruleset, 0)


def _handled(abi: int) -> int:
    return sum(rights for since, rights in _SINCE if abi >= since)


def _make_ruleset(abi: int, handled: int, scoped: bool) -> int:
    """The attribute is as long as the kernel's version of it; an older one refuses what it does not know."""
    words = [handled]
    if abi >= _ABI_OF_NET:
        words.append(0)
    if abi >= _ABI_OF_SCOPES:
        words.append(_SCOPE_ABSTRACT_SOCKETS if scoped else 0)
    attribute = struct.pack(f"={len(words)}Q", *words)
    return _call(_CREATE_RULESET, attribute, len(attribute), 0)


def _is_added(ruleset: int, path: str | os.PathLike[str], access: int) -> bool:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        rights = access if S_ISDIR(os.fstat(place).st_mode) else access & _OF_FILES
        if rights:  # the kernel calls a rule that grants nothing an error
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)
    return True


def _call(number: int, *arguments: bytes | int | None) -> int:
    words = [argument if isinstance(argument, bytes) else ctypes.c_long(argument or 0) for argument in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *words))


def _prctl(option: int, value: int) -> int:
    return _checked(_libc.prctl(option, *(ctypes.c_ulong(word) for word in (value, 0, 0, 0))))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
