"""What a session has read or written, and in which version: so that it is told when somebody else changes it, and does not write over it.

The kernel says where something stirred (`watches.py`); only those files are looked at, first by size, time and number, then by content.
A change is told once. It stays a change until the session reads the file again or writes it.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from daimon.abi.files import Handle, Version
from daimon.sandbox.files.content import Stamp

MOST = 512
RACY_NS = 50_000_000
"""A file that was changed so shortly before it was looked at may be changed again without a new time."""


@dataclass(frozen=True, slots=True)
class Held:
    version: Version
    """The one that the session knows."""
    stamp: Stamp
    latest: str
    """The version that was found last: another one than the known was told already."""
    looked_ns: int

    @property
    def is_racy(self) -> bool:
        return self.looked_ns - self.stamp.changed_ns < RACY_NS


@dataclass(frozen=True, slots=True)
class Look:
    """What is at a path now; no stamp: nothing. No version: the stamp was enough."""

    stamp: Stamp | None = None
    version: str = ""


Looks = Callable[[str, Held], Look]
"""Looks at a path, to compare it with what is held."""


class Handles:
    def __init__(self) -> None:
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._under: dict[str, set[str]] = {}
        """Of each directory on the way to one, those that lie below it."""

    def hold(self, path: str, version: Version, stamp: Stamp) -> None:
        self._put(path, Held(version, stamp, version, time.time_ns()))
        self._held.move_to_end(path)
        if len(self._held) > MOST:
            self._take(next(iter(self._held)))

    def drop(self, path: str) -> None:
        """With all below it: they were moved or deleted by the session itself."""
        for each in self.below(frozenset({path})):
            self._take(each)

    def moved(self, source: str, target: str) -> None:
        """The session moved something: it knows it under its new name."""
        for path in self.below(frozenset({source})):
            self._put(target + path[len(source) :], self._take(path))

    def known(self, path: str) -> str:
        """The version that the session knows; empty: none."""
        held = self._held.get(path)
        return "" if held is None else held.version

    def open_files(self) -> tuple[Handle, ...]:
        return tuple(Handle(path, held.version) for path, held in self._held.items())

    def below(self, stirred: frozenset[str]) -> list[str]:
        """Those that may have changed when something stirred at these paths."""
        found = {path for path in stirred if path in self._held}
        return sorted(found.union(*(self._under.get(path, ()) for path in stirred)))

    def paths(self) -> list[str]:
        return list(self._held)

    def changed(self, paths: Iterable[str], look: Looks) -> tuple[str, ...]:
        """Those of them that changed and were not told yet."""
        return tuple(path for path in paths if self._is_news(path, look))

    def stale(self) -> tuple[str, ...]:
        """Those that are not as the session knows them, as far as somebody looked."""
        return tuple(path for path, held in self._held.items() if held.latest != held.version)

    def _put(self, path: str, held: Held) -> None:
        if path not in self._held:
            for above in _above(path):
                self._under.setdefault(above, set()).add(path)
        self._held[path] = held

    def _take(self, path: str) -> Held:
        for above in _above(path):
            self._under[above].discard(path)
            if not self._under[above]:
                del self._under[above]
        return self._held.pop(path)

    def _is_news(self, path: str, look: Looks) -> bool:
        held = self._held[path]
        found = look(path, held)
        if found.stamp == held.stamp and not found.version:
            return False
        is_news = found.version not in (held.latest, held.version)
        self._held[path] = replace(held, latest=found.version, stamp=found.stamp or held.stamp, looked_ns=time.time_ns())
        return is_news


def _above(path: str) -> Iterable[str]:
    at = path.rfind("/")
    while at > 0:
        yield path[:at]
        at = path.rfind("/", 0, at)
    yield ""
