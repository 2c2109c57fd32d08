"""What comes out of one command: kept on disk, kept in memory at both ends for the model, and shown while it comes.

Showing is for eyes: of a flood they get a beginning and, a few times a second, what is newest. Nothing is left out for the files.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from daimon.sandbox.terminal.kept import Keeping
from daimon.sandbox.terminal.plain import Plain, rendered

Show = Callable[[str], None]
HALF = 128 * 1024
"""Bytes in memory of the beginning, and of the end."""
EVERY_S = 0.1
AT_ONCE = 8_192
SKIPPED = "\n…\n"


def unseen(_: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class Text:
    """For the model."""

    text: str
    is_cut: bool = False


class Printing:
    def __init__(self, keeping: Keeping, show: Show = unseen) -> None:
        self.keeping = keeping
        self._show, self._plain = show, Plain()
        self._head, self._tail, self.size = bytearray(), bytearray(), 0
        self._new = bytearray()
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def nowhere(cls) -> "Printing":
        return cls(Keeping("", None, 1))

    def add(self, data: bytes) -> None:
        if not data:
            return
        self.size += len(data)
        self.keeping.add(data)
        room = HALF - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 4 * HALF:
            del self._tail[:-HALF]
        self._new += data
        if len(self._new) > 4 * AT_ONCE:
            del self._new[:-AT_ONCE]
            self._new[:0] = SKIPPED.encode()
        if self._timer is None and self._show is not unseen:
            self._timer = asyncio.get_running_loop().call_later(EVERY_S, self._tell)

    def since(self, start: int) -> bytes:
        """What came after so many bytes, as far as it is in memory."""
        if start < len(self._head):
            return bytes(self._head[start:]) + bytes(self._tail[-HALF:])
        return bytes(self._tail[-min(HALF, max(self.size - start, 0)) :]) if self.size > start else b""

    def text(self, most: int) -> Text:
        """Rendered first and cut then: a long line that was written over again and again is short."""
        tail = bytes(self._tail[-HALF:])
        missing = self.size - len(self._head) - len(tail)
        if not missing:
            return cut(rendered(bytes(self._head) + tail), most)
        head, end = rendered(bytes(self._head)), rendered(tail)
        return Text(f"{head[: most // 2]}\n… {self.size:,} bytes in all, the middle is left out …\n{end[-(most // 2) :]}", is_cut=True)

    def finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._new:
            self._tell()

    def _tell(self) -> None:
        self._timer = None
        text = self._plain.shown(bytes(self._new))
        self._new.clear()
        if text:
            self._show(text)


def cut(text: str, most: int) -> Text:
    if len(text) <= most:
        return Text(text)
    half = most // 2
    return Text(f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}", is_cut=True)
