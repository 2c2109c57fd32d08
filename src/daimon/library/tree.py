"""A directory of this machine as a bundle. Links, devices and pipes are neither followed nor opened; what is too much is not read."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from daimon.abi.errors import BadInput, TooLarge
from daimon.skills.bundle import MOST_FILE_BYTES, MOST_FILES, Bundle, File, Packing, shown

MOST_ENTRIES = 4 * MOST_FILES
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
IsLeftOut = Callable[[str], bool]


def read_tree(top: Path, is_left_out: IsLeftOut = lambda path: False) -> Bundle:
    """Raises BadInput, TooLarge, OSError."""
    packing = Packing(str(top))
    for path in _paths(top, is_left_out):
        descriptor = os.open(top / path, _READ)
        with open(descriptor, "rb") as file:
            seen = os.fstat(descriptor)
            if not stat.S_ISREG(seen.st_mode):
                raise BadInput(f"{top} holds {shown(path)}, which is no plain file; take it out")
            packing.admit(path, seen.st_size)
            packing.add(path, File(file.read(MOST_FILE_BYTES + 1), bool(seen.st_mode & stat.S_IXUSR)))
    return packing.files


def _paths(top: Path, is_left_out: IsLeftOut) -> Iterator[str]:
    """Sorted within each directory."""
    pending, seen = [""], 0
    while pending:
        where = pending.pop()
        for entry in sorted(os.scandir(top / where), key=lambda entry: entry.name):
            path = f"{where}/{entry.name}" if where else entry.name
            if is_left_out(path):
                continue
            if (seen := seen + 1) > MOST_ENTRIES:
                raise TooLarge(f"{top} holds more than {MOST_ENTRIES:,} files and directories; a skill is smaller")
            if entry.is_symlink():
                raise BadInput(f"{top} holds {shown(path)}, a link; a skill must be whole in itself, so put the file there instead")
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
            else:
                yield path
