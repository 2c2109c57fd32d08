"""Replaces byte strings in a stream by others of the same length, wherever the stream is cut.

Invariant: of what came in, all goes out, but for the longest end that may be the beginning of something to replace. So a stream of events
is not held up, and a Content-Length stays true.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    name: str
    """Whose it is."""
    old: bytes
    new: bytes


class Swap:
    def __init__(self, pairs: Sequence[Pair] = ()) -> None:
        self._pairs = pairs
        self._held = b""
        self.found: set[str] = set()

    def feed(self, data: bytes) -> bytes:
        if not self._pairs:
            return data
        data = self.all(self._held + data)
        keep = max(_beginning(data, pair.old) for pair in self._pairs)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def all(self, data: bytes) -> bytes:
        """In a whole."""
        for pair in self._pairs:
            if pair.old in data:
                data = data.replace(pair.old, pair.new)
                self.found.add(pair.name)
        return data


def _beginning(data: bytes, needle: bytes) -> int:
    """How many of the last bytes may be the beginning of the needle."""
    end = data[-(len(needle) - 1) :]
    start = end.find(needle[:1])
    while start >= 0:
        if needle.startswith(end[start:]):
            return len(end) - start
        start = end.find(needle[:1], start + 1)
    return 0
