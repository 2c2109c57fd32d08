"""The watcher: what a box takes that the kernel does not limit by itself. Standard library only; it runs in the holder, outside the box.

Resource limits count for one process or one file. A box could still spread memory over many processes, or fill the disk with many small
files. So while anything runs in it, somebody looks, every few milliseconds: what its processes hold for themselves, what lies in its file
systems in memory, and how much less room there is on the owner's disk. The last is cheap to ask and says only *something* took it; before a
box is blamed, its tree is counted. A fast writer overshoots by what it manages between two looks.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from daimon.sandbox.spec import Bounds

INTERVAL_S = 0.025
SLACK = 1 << 20
BYTES_A_FILE = 20_480
"""So many bytes of the disk limit allow one file: many empty ones fill a disk too."""
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Over:
    what: Literal["memory", "disk"]
    used: int
    limit: int


class Watch:
    def __init__(self, pid: int, tree: str, scratch: tuple[str, ...], bounds: Bounds) -> None:
        root = f"/proc/{pid}/root"
        self._processes = os.open(f"{root}/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._scratch = [os.open(root + path, os.O_PATH | os.O_CLOEXEC) for path in scratch]
        self._tree, self._bounds = tree, bounds
        self._start = time.time()
        self._free, self._files = self._room()
        self._allowed = bounds.disk
        self.is_busy = False
        """Did anything but the supervisor run at the last look?"""

    def begin(self) -> None:
        """A command begins: what the tree took before is not its doing, so that it may also clean up."""
        self.is_busy = True
        if self._taken() > self._bounds.disk:
            self._allowed = max(self._bounds.disk, self._counted()) + SLACK

    def look(self) -> Over | None:
        memory = self._memory()
        if memory > self._bounds.memory:
            return Over("memory", memory, self._bounds.memory)
        if self._taken() > self._allowed:
            disk = self._counted()
            if disk > self._allowed:
                return Over("disk", disk, self._bounds.disk)
        return None

    def _memory(self) -> int:
        pids = [name for name in os.listdir(self._processes) if name.isdigit()]
        self.is_busy = len(pids) > 1
        own = sum(self._private(pid) for pid in pids)
        return own + sum(_used(place) for place in self._scratch)

    def _private(self, pid: str) -> int:
        with suppress(OSError, ValueError):
            descriptor = os.open(f"{pid}/statm", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
            try:
                fields = os.read(descriptor, 256).split()
            finally:
                os.close(descriptor)
            return (int(fields[1]) - int(fields[2])) * _PAGE if len(fields) > 2 else 0
        return 0

    def _taken(self) -> int:
        """What is gone from the file system since the start, whoever took it."""
        free, files = self._room()
        return max(self._free - free, (self._files - files) * BYTES_A_FILE)

    def _room(self) -> tuple[int, int]:
        found = os.statvfs(self._tree)
        return found.f_bavail * found.f_frsize, found.f_favail

    def _counted(self) -> int:
        """What was written below the tree since the start."""
        total = 0
        pending = [self._tree]
        while pending:
            with suppress(OSError), os.scandir(pending.pop()) as entries:
                for entry in entries:
                    with suppress(OSError):
                        found = entry.stat(follow_symlinks=False)
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        if found.st_ctime >= self._start - 1:
                            total += max(found.st_blocks * 512, BYTES_A_FILE)
        return total


def _used(place: int) -> int:
    found = os.fstatvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize
