"""The watcher: what a box takes that the kernel does not limit by itself. Standard library only; it runs in the holder, outside the box.

Resource limits count for one process or one file. A box could still spread memory over many processes, or fill the disk with many small
files. So while anything runs in it, somebody looks, every few milliseconds: how many its processes are, what they hold, what lies in its
file systems in memory, and how much less room there is on the owner's disk. What is cheap to ask may blame the wrong one: memory that
processes share is counted for each of them, and room on the disk is taken by anybody. So before a box is blamed, it is counted exactly;
where that clears it, it is not counted again before ten times the time that it took. A fast writer overshoots by what it manages between
two looks. Not seen: what the kernel keeps for a box without a process holding it, which are full buffers of its sockets where no control
group counts them, and files without a name that are on their way through a socket.
"""

import errno
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from daimon.sandbox import mounts
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


class _Sparing:
    """Counts at most a tenth of the time, however much there is to count, unless the cheap sign has grown by much since."""

    def __init__(self, much: int) -> None:
        self._much = much
        self._not_before, self._sign = 0.0, 0

    def asked(self, sign: int, count: Callable[[], int]) -> int:
        """0: it was counted a moment ago."""
        begun = time.monotonic()
        if begun < self._not_before and sign < self._sign + self._much:
            return 0
        found = count()
        ended = time.monotonic()
        self._not_before, self._sign = ended + 9 * (ended - begun), sign
        return found


class Watch:
    def __init__(self, pid: int, tree: tuple[str, int | None], scratch: tuple[str, ...], bounds: Bounds) -> None:
        """`tree`: its path, and a directory of the file system that it takes room on, if that is another than its own."""
        root = f"/proc/{pid}/root"
        self._processes = os.open(f"{root}/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._scratch = [os.open(root + path, os.O_PATH | os.O_CLOEXEC) for path in scratch]
        self._path, self._disk = tree
        """Opened anew at each count: the tree may be exchanged for another, and whoever has the old one open holds it."""
        self._bounds = bounds
        self._start = time.time()
        self._free, self._files = self._room()
        self._gone, self._others = 0, 0
        """All that ever went from the file system, and how much of it was not the tree's when that was last counted."""
        self._allowed = bounds.disk
        self._exact_memory, self._exact_disk = _Sparing(bounds.memory // 10), _Sparing(bounds.disk // 10)
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
            counted = self._counted()
            self._exactly(counted, [name for name in os.listdir(self._processes) if name.isdigit()])
            self._allowed = max(self._bounds.disk, counted) + SLACK

    def end(self) -> None:
        self._commands -= 1
        self._is_alone = False  # until somebody looks: it may have been too short for that, and have left something running

    def look(self) -> Over | None:
        processes = [name for name in os.listdir(self._processes) if name.isdigit()]
        self._is_alone = len(processes) <= 1
        states = [self._state(pid) for pid in processes]
        threads, scratch = sum(state.threads for state in states), sum(map(_used, self._scratch))
        if threads > self._bounds.processes - RESERVE:
            return Over("processes", threads, self._bounds.processes)
        if (seen := sum(state.memory for state in states) + scratch) > self._bounds.memory:
            memory = self._exact_memory.asked(seen, lambda: sum(map(self._share, processes)) + scratch)
            if memory > self._bounds.memory:
                return Over("memory", memory, self._bounds.memory)
        if self._taken() > self._allowed:
            disk = self._exact_disk.asked(self._gone, lambda: self._exactly(self._counted(), processes))
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
        """What the tree took when it was last counted, and what is gone since then, whoever took it. What is given back is not subtracted:
        it may be others', and would hide what the box takes. So this may be too much, and then it is counted."""
        free, files = self._room()
        self._gone += max(0, self._free - free, (self._files - files) * BYTES_A_FILE)
        self._free, self._files = free, files
        return self._gone - self._others

    def _exactly(self, counted: int, processes: list[str]) -> int:
        found = counted + self._held(processes)
        self._others = self._gone - found
        return found

    def _room(self) -> tuple[int, int]:
        found = os.statvfs(self._path if self._disk is None else self._disk)
        return found.f_bavail * found.f_frsize, found.f_favail

    def _counted(self) -> int:
        """What was written below the tree since the start. All of what is gone, if somebody built deeper than can be counted."""
        top = os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return self._counted_below(top)
        finally:
            os.close(top)

    def _counted_below(self, top: int) -> int:
        total = 0
        pending = ["."]
        while pending:
            where = pending.pop()
            try:
                entries = _entries(top, where)
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    return self._taken()
                continue
            for name, found in entries:
                if stat.S_ISDIR(found.st_mode):
                    pending.append(f"{where}/{name}")
                if found.st_ctime >= self._start - 1:
                    total += max(found.st_blocks * 512, BYTES_A_FILE)
        return total

    def _held(self, processes: list[str]) -> int:
        """What has no name any more and takes room all the same, because somebody has it open."""
        devices, sizes = {os.stat(place).st_dev for place in (self._path, self._disk) if place is not None}, {}
        for pid in processes:
            with suppress(OSError):
                for name in self._opened_by(pid):
                    with suppress(OSError):
                        found = os.stat(f"{pid}/fd/{name}", dir_fd=self._processes)
                        if found.st_dev in devices and found.st_nlink == 0:
                            sizes[found.st_ino] = found.st_blocks * 512
        return sum(sizes.values())

    def _opened_by(self, pid: str) -> list[str]:
        directory = os.open(f"{pid}/fd", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._processes)
        try:
            return os.listdir(directory)
        finally:
            os.close(directory)


def _used(place: int) -> int:
    found = os.fstatvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _entries(top: int, where: str) -> list[tuple[str, os.stat_result]]:
    """Of a directory, to which no link leads: a box could lead the one who counts over the whole machine."""
    place = mounts.open_below(top, where)
    try:
        directory = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(place)
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                with suppress(OSError):
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
    finally:
        os.close(directory)
    return found
