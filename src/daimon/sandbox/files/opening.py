"""Opening below a directory, by openat2: no link on the way, none at the end, never above. And the renames that Python does not have.

Mounts may be crossed: what is pinned in a workspace is one.
"""

import ctypes
import os

_OPENAT2, _NO_MAGIC, _NO_LINKS, _BENEATH = 437, 0x02, 0x04, 0x08
_ALWAYS = os.O_CLOEXEC | os.O_NOFOLLOW
READ = os.O_RDONLY | os.O_NONBLOCK | _ALWAYS
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | _ALWAYS
PLACE = os.O_PATH | _ALWAYS
FOLDER = os.O_PATH | os.O_DIRECTORY | _ALWAYS
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NONBLOCK | _ALWAYS

_NO_REPLACE = 1
_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
_syscall.restype = ctypes.c_long
_How = ctypes.c_uint64 * 3
_SIZE = ctypes.sizeof(_How)
_HOW = {flags: _How(flags, 0, _BENEATH | _NO_LINKS | _NO_MAGIC) for flags in (READ, DIRECTORY, PLACE, FOLDER)}
_NEW_HOW = _How(NEW, 0o600, _BENEATH | _NO_LINKS | _NO_MAGIC)


def open_below(top: int, path: str, flags: int) -> int:
    """`flags` is one of those above. Raises OSError: ELOOP for a link on the way."""
    return _opened(top, path, _HOW[flags])


def create_below(top: int, name: str) -> int:
    """A new file, closed to others, open for writing."""
    return _opened(top, name, _NEW_HOW)


def rename_new(source: tuple[int, str], target: tuple[int, str]) -> None:
    """Renames from (directory, name) to (directory, name). Raises FileExistsError rather than replace anything."""
    if _libc.renameat2(source[0], os.fsencode(source[1]), target[0], os.fsencode(target[1]), _NO_REPLACE):
        raise _failure(target[1])


def _opened(top: int, path: str, how: ctypes.Array[ctypes.c_uint64]) -> int:
    found: int = _syscall(_OPENAT2, top, path.encode("utf-8", "surrogateescape"), how, _SIZE)
    if found < 0:
        raise _failure(path)
    return found


def _failure(path: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), path)
