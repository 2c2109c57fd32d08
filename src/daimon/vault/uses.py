"""Who used which secret, towards which host, and when: lines that are only ever added.

    vault.uses      {"name": …, "by": …, "host": …, "at": …, "count": …}     vault.uses.old    the half before

The first use of a minute is written at once, those after it are counted and written as one line when that minute is over or at the
end. So a crash loses numbers, never the fact, and a thousand calls write a few lines. When the file is full it becomes the old half and
the old half before it goes.

A use that cannot be written stops nobody; it is said once, stands in `warning` until writing works again, and is written then.
"""

import errno
import fcntl
import json
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from daimon.abi.ports import Clock

WINDOW_S = 60.0
MOST_BYTES = 1024 * 1024
_LOG = logging.getLogger(__name__)
_MOST_UNWRITTEN = 1_000
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Use:
    name: str
    by: str
    host: str
    first: datetime
    last: datetime
    count: int


@dataclass(slots=True)
class _Window:
    until: float
    last: datetime
    waiting: int = 0


class Uses:
    def __init__(self, path: Path, clock: Clock, most_bytes: int = MOST_BYTES) -> None:
        self._path = path
        self._old = path.with_name(f"{path.name}.old")
        self._clock = clock
        self._most_bytes = most_bytes
        self._windows: dict[_Key, _Window] = {}
        self._turn = threading.Lock()
        self._unwritten: list[bytes] = []
        self.warning = ""

    def note(self, name: str, by: str, host: str) -> None:
        key, now, at = (name, by, host), self._clock.monotonic(), self._clock.now()
        with self._turn:
            lines = list(self._over(now))
            window = self._windows.get(key)
            if window is None:
                self._windows[key] = _Window(now + WINDOW_S, at)
                lines.append(_line(key, at, 1))
            else:
                window.waiting, window.last = window.waiting + 1, at
            self._append(lines)

    def close(self) -> None:
        """What was only counted is written."""
        with self._turn:
            self._append(list(self._over(float("inf"))))

    def of(self, name: str) -> tuple[Use, ...]:
        """By whom and where to, the newest first. What this process has only counted so far is in it, what another has is not."""
        with self._turn:
            waiting = [(key, window.last, window.waiting) for key, window in self._windows.items() if window.waiting]
        found: dict[_Key, Use] = {}
        for key, at, count in (*_read(self._old), *_read(self._path), *waiting):
            if key[0] == name:
                before = found.get(key, Use(*key, at, at, 0))
                found[key] = Use(*key, min(before.first, at), max(before.last, at), before.count + count)
        return tuple(sorted(found.values(), key=lambda use: use.last, reverse=True))

    def _over(self, now: float) -> Iterator[bytes]:
        for key in [key for key, window in self._windows.items() if window.until <= now]:
            window = self._windows.pop(key)
            if window.waiting:
                yield _line(key, window.last, window.waiting)

    def _append(self, lines: list[bytes]) -> None:
        self._unwritten = [*self._unwritten, *lines][-_MOST_UNWRITTEN:]
        if not self._unwritten:
            return
        try:
            self._write(b"".join(self._unwritten))
        except OSError as error:
            if not self.warning:
                self.warning = f"uses of secrets cannot be written to {self._path}: {error.strerror}"
                _LOG.warning("%s", self.warning)
        else:
            self._unwritten, self.warning = [], ""

    def _write(self, data: bytes) -> None:
        descriptor = os.open(self._path, _APPENDING, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(data) > self._most_bytes:
                self._put_aside(descriptor)
        finally:
            os.close(descriptor)
        descriptor = os.open(self._path, _APPENDING, 0o600)
        try:
            start = b"\n" if self.warning else b""  # half a line may be there from when there was no room
            if os.write(descriptor, start + data) != len(start) + len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)

    def _put_aside(self, descriptor: int) -> None:
        """Unless another process does it at this moment, or has done it: nobody waits for that, the next one looks again."""
        with suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), self._path.stat()):
                self._path.replace(self._old)


def _line(key: _Key, at: datetime, count: int) -> bytes:
    name, by, host = key
    return json.dumps({"name": name, "by": by, "host": host, "at": at.isoformat(), "count": count}).encode() + b"\n"


def _read(path: Path) -> Iterator[tuple[_Key, datetime, int]]:
    """A line that a crash cut is left out."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            said = json.loads(line)
            at, count = datetime.fromisoformat(said["at"]), int(said["count"])
            yield (str(said["name"]), str(said["by"]), str(said["host"])), at, count
