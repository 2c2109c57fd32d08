"""What changes in directories, told by the kernel (inotify) instead of looked for.

Every directory on the way to a file is watched, so that a change of the file, and of any directory above it, is heard. Events only say
where to look: `stirred` hands out paths at which, or below which, something may have changed. When events were lost, a watch went or there
are none to be had, it says so, and everything must be looked at. The oldest watches are dropped where there are too many; what lay there
must then be looked at too.
"""

import ctypes
import os
import struct
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass

MOST = 512
_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_MODIFY, _ATTRIB, _CLOSE_WRITE, _FROM, _TO, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_WANTED = _MODIFY | _CLOSE_WRITE | _FROM | _TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_ONLY_DIRECTORIES = 0x01000000
_GONE = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
_HEAD = struct.Struct("iIII")
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Stirred:
    paths: frozenset[str] = frozenset()
    everything: bool = False


class Watches:
    def __init__(self, most: int = MOST) -> None:
        self._opened: int = _libc.inotify_init1(_NONBLOCK_CLOEXEC)  # negative: none to be had
        self._most = most
        self._by_place: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._by_number: dict[int, set[tuple[str, str]]] = {}
        self._dropped = self._opened < 0

    def has(self, side: str, path: str) -> bool:
        """`side` tells trees apart that have the same paths."""
        return (side, path) in self._by_place

    def add(self, side: str, path: str, opened: int) -> None:
        """Watches a directory that is open."""
        if self._opened < 0:
            return
        number = _libc.inotify_add_watch(self._opened, f"/proc/self/fd/{opened}".encode(), _WANTED | _ONLY_DIRECTORIES)
        if number < 0:
            self._dropped = True
            return
        self._by_place[side, path] = number
        self._by_number.setdefault(number, set()).add((side, path))
        if len(self._by_place) > self._most:
            self._drop()

    def stirred(self) -> Stirred:
        everything, self._dropped = self._dropped, self._opened < 0
        paths: set[str] = set()
        while data := self._events():
            at = 0
            while at < len(data):
                number, mask, _, size = _HEAD.unpack_from(data, at)
                name = os.fsdecode(data[at + _HEAD.size : at + _HEAD.size + size].rstrip(b"\0"))
                at += _HEAD.size + size
                everything = everything or bool(mask & _OVERFLOW)
                paths |= self._heard(number, mask, name)
        return Stirred(frozenset(paths), everything)

    def forget(self) -> None:
        """All of them, as when another tree took the place of this one."""
        for number in self._by_number:
            _libc.inotify_rm_watch(self._opened, number)
        self._by_place.clear()
        self._by_number.clear()
        self._dropped = True

    def close(self) -> None:
        if self._opened >= 0:
            os.close(self._opened)
            self._opened = -1

    def _events(self) -> bytes:
        if self._opened >= 0:
            with suppress(BlockingIOError):
                return os.read(self._opened, 65_536)
        return b""

    def _heard(self, number: int, mask: int, name: str) -> set[str]:
        places = self._by_number.get(number, set())
        if mask & _GONE:
            self._by_number.pop(number, None)
            for place in places:
                self._by_place.pop(place, None)
            return {path for _, path in places}
        return {f"{path}/{name}" if path else name for _, path in places}

    def _drop(self) -> None:
        place, number = self._by_place.popitem(last=False)
        self._dropped = True
        others = self._by_number.get(number, set())
        others.discard(place)
        if not others:
            self._by_number.pop(number, None)
            _libc.inotify_rm_watch(self._opened, number)
