"""The bytes of a file, all of them as they were at one moment, and the version that they are.

A file that changes while it is read is read again, a few times; then what was read is taken, and that is said. Nothing is mapped into
memory: who cuts such a file short would end the gateway.
"""

import hashlib
import os
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Version
from daimon.sandbox.files.failures import named

INLINE = 256 * 1024
"""What is larger is read and written by a thread of its own."""
MOST = 64 * 1024 * 1024
"""What is larger is never read whole."""
TRIES = 3
UNSTABLE = "it changed while it was read, again and again; this may be half old and half new"


class Large(Exception):
    """More than may be done in the thread of the event loop; do it again in another one."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file was when it was read. Another stamp may still be the same content; the same stamp hardly ever another one."""

    size: int
    changed_ns: int
    inode: int

    @classmethod
    def of(cls, about: os.stat_result) -> "Stamp":
        return cls(about.st_size, about.st_mtime_ns, about.st_ino)


@dataclass(frozen=True, slots=True)
class Content:
    data: bytes
    about: os.stat_result
    is_stable: bool = True

    @property
    def version(self) -> Version:
        return version(self.data)


def version(data: bytes) -> Version:
    return Version(hashlib.sha256(data).hexdigest()[:12])


def version_by_stat(about: os.stat_result) -> Version:
    words = f"{about.st_size} {about.st_mtime_ns} {about.st_ino}"
    return Version(f"~{hashlib.sha256(words.encode()).hexdigest()[:11]}")


def whole(opened: int, about: os.stat_result, path: str, most: int = MOST) -> Content:
    """Raises Large for more than `most`, if that is less than what may ever be read."""
    data = b""
    for _ in range(TRIES):
        if about.st_size > MOST:
            raise ToolFailed("too_large", f"{named(path)} has {about.st_size:,} bytes; only files of up to {MOST:,} can be changed here")
        if about.st_size > most:
            raise Large
        data = read_at(opened, 0, about.st_size + 1)  # one more, to see that there is no more
        after = os.fstat(opened)
        if _same(about, after) and len(data) == after.st_size:
            return Content(data, after)
        about = after
    return Content(data[: about.st_size], about, is_stable=False)


def read_at(opened: int, start: int, size: int) -> bytes:
    """As much of it as there is."""
    data = os.pread(opened, size, start)
    if len(data) >= size - 1 or not data:
        return data
    chunks, got = [data], len(data)
    while got < size and (chunk := os.pread(opened, size - got, start + got)):
        chunks.append(chunk)
        got += len(chunk)
    return b"".join(chunks)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_mtime_ns, one.st_size, one.st_ctime_ns) == (other.st_mtime_ns, other.st_size, other.st_ctime_ns)
