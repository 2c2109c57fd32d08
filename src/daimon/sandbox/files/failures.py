"""What the system says when something with a file fails, in words for the model."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from daimon.abi.errors import ToolFailed
from daimon.abi.files import shown

_WORDS = {
    errno.ENOENT: ("not_found", "there is no such file or directory"),
    errno.ENOTDIR: ("not_found", "a part of the path is a file, not a directory"),
    errno.EISDIR: ("is_directory", "it is a directory; list it instead"),
    errno.EACCES: ("not_permitted", "its permissions do not allow it"),
    errno.EPERM: ("not_permitted", "the system does not allow it"),
    errno.EROFS: ("read_only", "it is read-only here: it would run by itself on the owner's machine, or the workspace is closed"),
    errno.ENOSPC: ("disk_full", "there is no space left; nothing was changed"),
    errno.EDQUOT: ("disk_full", "there is no space left for this user; nothing was changed"),
    errno.EFBIG: ("too_large", "it is larger than a file may be"),
    errno.ENAMETOOLONG: ("bad_path", "a name is longer than 255 bytes, or the path than 4,096"),
    errno.EEXIST: ("exists", "there is something at this path already"),
    errno.ENOTEMPTY: ("exists", "the directory is not empty"),
    errno.ENXIO: ("not_a_file", "it is a socket or a device, not a file"),
    errno.ENODEV: ("not_a_file", "it is a device, not a file"),
    errno.ELOOP: ("unstable", "links on the way keep changing; try again"),
    errno.EMFILE: ("busy", "too many files are open; try again"),
}


def told(error: OSError, path: str, doing: str) -> ToolFailed:
    reason, words = _WORDS.get(error.errno or 0, ("failed", error.strerror or str(error)))
    return ToolFailed(reason, f"cannot {doing} {named(path)}: {words}")


@contextmanager
def telling(path: str, doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise told(error, path, doing) from error


def named(path: str) -> str:
    """As it is said in a sentence: cut, on one line."""
    text = shown(path or ".")
    text = text if len(text) <= 200 else f"{text[:199]}…"
    return repr(text) if any(not sign.isprintable() for sign in text) else text
