"""Bodies as they were before they were packed, and no more of them than was asked for.

A few kilobytes can hold gigabytes of zeros. So the unpacker is never asked for more than what is left of the limit, and what it has not
taken in by then stays packed.
"""

import zlib

from daimon.net.refusal import Malformed

PACKED = frozenset({b"gzip", b"x-gzip", b"deflate"})
_EITHER = 32 + zlib.MAX_WBITS
"""gzip or zlib, by what it begins with."""


class Plain:
    def __init__(self, most: int) -> None:
        self._most = most
        self.data = bytearray()
        self.is_cut = False

    def feed(self, data: bytes) -> None:
        self.data += data
        if len(self.data) > self._most:
            del self.data[self._most :]
            self.is_cut = True

    def end(self) -> None:
        return


class Unpacked:
    def __init__(self, most: int) -> None:
        self._most = most
        self._unpacker = zlib.decompressobj(_EITHER)
        self._has_begun = False
        self.data = bytearray()
        self.is_cut = False

    def feed(self, data: bytes) -> None:
        """Raises Malformed."""
        while data and not self.is_cut:
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(_EITHER)  # one packed piece may follow another
            self._has_begun = True
            data = self._take(data)

    def end(self) -> None:
        """Raises Malformed where the end is missing."""
        if self._has_begun and not self.is_cut and not self._unpacker.eof:
            raise Malformed("the packed body breaks off")

    def _take(self, data: bytes) -> bytes:
        """What is left for the next piece."""
        room = self._most - len(self.data) + 1
        try:
            self.data += self._unpacker.decompress(data, room)
        except zlib.error as broken:
            raise Malformed("the body is not packed as it says") from broken
        if len(self.data) > self._most:
            del self.data[self._most :]
            self.is_cut = True
        return self._unpacker.unused_data or self._unpacker.unconsumed_tail


Taken = Plain | Unpacked


def taking(codings: set[bytes], most: int) -> Taken:
    """Raises Malformed for what cannot be unpacked here."""
    codings = codings - {b"identity"}
    if not codings:
        return Plain(most)
    if len(codings) > 1 or not codings <= PACKED:
        raise Malformed(f"the body is packed as {b', '.join(sorted(codings)).decode('latin-1')[:80]}, which was not asked for")
    return Unpacked(most)
