"""The Unix socket in the home directory, on both ends.

The kernel takes socket paths of about a hundred bytes only. A longer one is reached through a descriptor of its directory,
where the system has /proc.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daimon.abi.errors import Misconfigured

LONGEST_PATH = 100


def bind(path: Path) -> socket.socket:
    """Listens there, for the owner of the directory only. A stale socket is replaced: whoever calls holds the home."""
    path.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        with short(path) as address:
            sock.bind(address)
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    finally:
        os.umask(before)
    return sock


def connect(path: Path, timeout_s: float | None) -> socket.socket:
    """Raises OSError if nobody listens."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(timeout_s)
    try:
        with short(path) as address:
            sock.connect(address)
    except OSError:
        sock.close()
        raise
    return sock


@contextmanager
def short(path: Path) -> Iterator[str]:
    """The path as sockets take it, for as long as this is open."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield str(path)
        return
    if not Path("/proc/self/fd").is_dir():
        raise Misconfigured(f"the path {path} is too long for a socket; choose a shorter --home")
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
