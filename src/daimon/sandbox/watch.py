"""The watcher: what a box takes that the kernel does not limit by itself. Standard library only; it runs in the holder, outside the box.

Resource limits count for one process or one file. A box could still spread memory over many processes, or fill the disk with many small
files. So while anything runs in it, somebody looks, every few milliseconds: how many its processes are, what they hold, what lies in its
file systems in memory, and how much less room there is on the owner's disk. What is cheap to ask may blame the wrong one: memory that
processes share is counted for each of them, and room on the disk is taken by anybody. So before a box is blamed, it is counted exactly. A
fast writer overshoots by what it manages between two looks.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from daimon.sandbox.spec import Bounds

INTERVAL_S = 0.025
SLACK = 1 << 20
BYTES_A_FILE = 20_480
"""So many bytes of the disk limit allow one file: many empty ones fill a disk too."""
RESERVE = 2
"""Processes of the box itself that count towards its limit where the kernel counts, but are not seen in it."""


@dataclass(frozen=True, slots=True)
class Over:
    what: Literal["memory", "disk", "processes"]
    used: int
    limit: int


class _State(NamedTuple):
    threads: int
    memory: int


class Watch:
    def __init__(self, pid: int, tree: str, scratch: tuple[str, ...], bounds: Bounds) -> None:
        root = f"/proc/{pid}/root"
        self._processes = os.open(f"{root}/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._scratch = [os.open(root + path, os.O_PATH | os.O_CLOEXEC) for path in scratch]
        self._tree, self._bounds = tree, bounds
        self._start = time.time()
        self._free, self._files = self._room()
        self._allowed = bounds.disk
        self._commands = 0
        self._is_alone = True

    @property
    def is_busy(self) -> bool:
        """Does a command run, or did anything but the supervisor run at the last look?"""
        return self.has_commands or not self._is_alone

    @property
    def has_commands(self) -> bool:
        return self._commands > 0

    def begin(self) -> None:
        """A command begins: what the tree took before is not its doing, so that it may also clean up."""
        self._commands += 1
        self._allowed = self._bounds.disk
        if self._taken() > self._bounds.disk:
            self._allowed = max(self._bounds.disk, self._counted()) + SLACK

    def end(self) -> None:
        self._commands -= 1

    def look(self) -> Over | None:
        processes = [name for name in os.listdir(self._processes) if name.isdigit()]
        self._is_alone = len(processes) <= 1
        states = [self._state(pid) for pid in processes]
        threads, scratch = sum(state.threads for state in states), sum(map(_used, self._scratch))
        if threads > self._bounds.processes - RESERVE:
            return Over("processes", threads, self._bounds.processes)
        if sum(state.memory for state in states) + scratch > self._bounds.memory:
            memory = sum(map(self._share, processes)) + scratch
            if memory > self._bounds.memory:
                return Over("memory", memory, self._bounds.memory)
        if self._taken() > self._allowed:
            disk = self._counted()
            if disk > self._allowed:
                return Over("disk", disk, self._bounds.disk)
        return None

    def _state(self, pid: str) -> "_State":
        """Quickly; what several processes share is counted for each."""
        found = self._fields(f"{pid}/status")
        return _State(found.get(b"Threads", 0), (found.get(b"RssAnon", 0) + found.get(b"RssShmem", 0)) * 1024)

    def _share(self, pid: str) -> int:
        """Exactly, which takes the kernel a while."""
        found = self._fields(f"{pid}/smaps_rollup")
        return (found.get(b"Pss_Anon", 0) + found.get(b"Pss_Shmem", 0)) * 1024

    def _fields(self, path: str) -> dict[bytes, int]:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        except OSError:
            return {}  # it has ended
        try:
            rows = (line.partition(b":") for line in os.read(descriptor, 8192).splitlines())
            return {name: int(word) for name, _, value in rows if (word := (value.split() or [b""])[0]).isdigit()}
        except OSError:
            return {}
        finally:
            os.close(descriptor)

    def _taken(self) -> int:
        """What is gone from the file system since the start, whoever took it."""
        free, files = self._room()
        return max(self._free - free, (self._files - files) * BYTES_A_FILE)

    def _room(self) -> tuple[int, int]:
        found = os.statvfs(self._tree)
        return found.f_bavail * found.f_frsize, found.f_favail

    def _counted(self) -> int:
        """What was written below the tree since the start, or is held open without a name there."""
        total = self._nameless()
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

    def _nameless(self) -> int:
        """A file that was removed takes its room as long as somebody has it open."""
        device, held = os.stat(self._tree).st_dev, {}
        for pid in (name for name in os.listdir(self._processes) if name.isdigit()):
            with suppress(OSError):
                directory = os.open(f"{pid}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._processes)
                try:
                    for name in os.listdir(directory):
                        with suppress(OSError):
                            found = os.stat(name, dir_fd=directory)
                            if not found.st_nlink and found.st_dev == device:
                                held[found.st_ino] = found.st_blocks * 512
                finally:
                    os.close(directory)
        return sum(held.values())


def _used(place: int) -> int:
    found = os.fstatvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize
