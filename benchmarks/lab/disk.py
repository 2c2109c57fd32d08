"""A disk that fails, as SQLite sees it: a VFS that keeps every write in memory until it is synced, and that can be told to fail.

Made the default of the process, so that it lies under every database that anybody opens there. Locks and shared memory are those of
the real files; contents are read from memory, and reach the real file at a sync, so that a power cut is just to stop:

    CUT    nothing that was not synced is on the disk
    TEAR   of what was not synced, any sectors are on the disk and any are not, whatever their order was

The other faults answer as SQLite's own unix VFS does for that error of the system: EIO and ENOSPC of a write are IOERR_WRITE and
FULL, any error of an fsync is IOERR_FSYNC. A failed fsync drops what it should have written, as Linux does. Errors strike the
journal's files, cuts strike all.

What is not modelled: directory entries, whose changes last at once; and that SQLite keeps errors to itself while it closes a file,
which it cannot when they are raised in Python.
"""

import os
import random
import signal
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from lab.dial import Dial

WELL, CUT, TEAR, WRITE_FAILS, SYNC_FAILS, WRITE_FULL, SYNC_FULL = range(7)
"""Places of the dial: which fault, after how many writes and syncs, and the seed of what is torn."""
SECTOR = 512
JOURNAL = "journal.db"
CODES = {
    WRITE_FAILS: apsw.SQLITE_IOERR_WRITE,
    WRITE_FULL: apsw.SQLITE_FULL,
    SYNC_FAILS: apsw.SQLITE_IOERR_FSYNC,
    SYNC_FULL: apsw.SQLITE_IOERR_FSYNC,
}


@dataclass(frozen=True, slots=True)
class Write:
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    size: int


@dataclass(slots=True)
class Platter:
    """One file: what its readers see, and what of it is not on the disk yet."""

    seen: bytearray
    pending: list[Write | Truncate] = field(default_factory=list)
    files: list["File"] = field(default_factory=list)

    def do(self, change: Write | Truncate) -> None:
        self.pending.append(change)
        if isinstance(change, Truncate):
            del self.seen[change.size :]
            return
        end = change.offset + len(change.data)
        if len(self.seen) < end:
            self.seen.extend(bytes(end - len(self.seen)))
        self.seen[change.offset : end] = change.data


class Disk(apsw.VFS):
    def __init__(self, dial: Dial) -> None:
        self.dial = dial
        self.platters: dict[str, Platter] = {}
        super().__init__("lab-disk", "unix", makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if name is None:
            return apsw.VFSFile("unix", name, flags)
        return File(self, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        self.platters.pop(name, None)
        super().xDelete(name, sync)

    def strike(self, path: str, is_sync: bool) -> None:
        """One write or sync comes. The fault, if it is its turn."""
        fault, left, seed, _ = self.dial.get()
        if fault == WELL:
            return
        if left > 1:
            self.dial.set(fault, left - 1, seed)
        elif fault in (CUT, TEAR):
            self._cut(random.Random(seed) if fault == TEAR else None)
        elif is_sync == (fault in (SYNC_FAILS, SYNC_FULL)) and Path(path).name.startswith(JOURNAL):
            raise apsw.exception_for(CODES[fault])

    def _cut(self, torn: random.Random | None) -> None:
        if torn is not None:
            for platter in self.platters.values():
                if platter.files:
                    platter.files[0].tear(torn)
        os.kill(os.getpid(), signal.SIGKILL)


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        self._path = path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path not in disk.platters:
            disk.platters[path] = Platter(bytearray(super().xRead(super().xFileSize(), 0)) if super().xFileSize() else bytearray())
        self._platter = disk.platters[path]
        if not flags[0] & apsw.SQLITE_OPEN_READONLY:
            self._platter.files.append(self)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        return bytes(self._platter.seen[offset : offset + amount])

    def xFileSize(self) -> int:  # noqa: N802
        return len(self._platter.seen)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.strike(self._path, is_sync=False)
        self._platter.do(Write(offset, bytes(data)))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.strike(self._path, is_sync=False)
        self._platter.do(Truncate(size))

    def xSync(self, flags: int) -> None:  # noqa: N802
        try:
            self._disk.strike(self._path, is_sync=True)
        except apsw.IOError:
            self._platter.pending.clear()
            raise
        for change in self._platter.pending:
            self._last(change)
        self._platter.pending.clear()

    def xClose(self) -> None:  # noqa: N802
        if self in self._platter.files:
            self._platter.files.remove(self)
        super().xClose()

    def tear(self, chance: random.Random) -> None:
        for change in self._platter.pending:
            if isinstance(change, Truncate):
                if chance.random() < 0.5:
                    self._last(change)
                continue
            for at in range(0, len(change.data), SECTOR):
                if chance.random() < 0.5:
                    self._last(Write(change.offset + at, change.data[at : at + SECTOR]))

    def _last(self, change: Write | Truncate) -> None:
        """Onto the real file."""
        if isinstance(change, Truncate):
            super().xTruncate(change.size)
        else:
            super().xWrite(change.data, change.offset)


_mounted: list[Disk] = []
"""SQLite holds no reference to a VFS that was written in Python."""


def mount(path: Path) -> None:
    _mounted.append(Disk(Dial(path)))
