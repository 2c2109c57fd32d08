"""Files for their owner alone: read only if nobody else can read or exchange them."""

import os
import stat
from pathlib import Path

from daimon.abi.errors import Misconfigured


def read(path: Path, most_bytes: int, what: str) -> tuple[bytes, os.stat_result]:
    """Raises FileNotFoundError, and Misconfigured for one that others may read, that is another user's, or that is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            _check(path, found, what)
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > most_bytes:
        raise Misconfigured(f"{path} is longer than {most_bytes:,} bytes, so it is not {what}")
    return data, found


def _check(path: Path, found: os.stat_result, what: str) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISREG(found.st_mode):
        raise Misconfigured(f"{path} is no file; it must be one, since it is {what}")
    if found.st_uid not in (os.geteuid(), 0):
        raise Misconfigured(f"{path} belongs to another user; it must be yours, since it is {what}")
    if mode & 0o077:
        raise Misconfigured(
            f"{path} is {what}, and others may read it (mode {mode:04o}); close it with `chmod 600 {path}`, "
            "and if others use this machine, make new secrets at their services"
        )
