"""A file that is replaced as a whole: whoever reads it finds the old words or the new ones, never half of each.

The new words go to a file beside it, are forced to disk and take its name. A name that is a link stays one: what it points to is
replaced. A reader who is not the owner never sees the draft, whatever mode the file itself has.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path


def replace(path: Path, data: bytes, mode: int | None = None) -> None:
    """Mode left out: the one that it has, or 0600. Raises OSError, and then nothing has changed."""
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".{place.name}.{os.getpid()}.new")
    try:
        _write(draft, data, _mode_of(place) if mode is None else mode)
        draft.replace(place)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    force(place.parent)


def force(directory: Path) -> None:
    """Which names are in it is on disk for good."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mode_of(place: Path) -> int:
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except FileNotFoundError:
        return 0o600


def _write(draft: Path, data: bytes, mode: int) -> None:
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
