"""Bodies, piece by piece. Chunks are read strictly and written anew: sizes in plain hex, no extensions, no trailers."""

import re

from daimon.net.framing import Body, Chunked, Exactly, Nothing, UntilClose
from daimon.net.refusal import Malformed
from daimon.net.stream import Source, Stream
from daimon.net.swap import Swap

_PIECE = 64 * 1024
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})(?:;[\t\x20-\x7e]*)?")
_MOST_LINE = 256
"""Extensions longer than this are nobody's honest work. Shorter ones mean nothing to us, and are dropped."""


class Reader:
    def __init__(self, source: Source, body: Body) -> None:
        self._source = source
        self._body = body
        self._left = body.size if isinstance(body, Exactly) else 0
        self.is_done = isinstance(body, Nothing) or body == Exactly(0)

    async def next(self) -> bytes:
        """Empty when the body is complete. Raises Malformed, also for one that breaks off."""
        if self.is_done:
            return b""
        match self._body:
            case UntilClose():
                data = await self._source.some(_PIECE)
                self.is_done = not data
                return data
            case Chunked() if not self._left:
                return await self._chunk()
            case _:
                return await self._counted()

    async def _chunk(self) -> bytes:
        line = await self._source.line(_MOST_LINE)
        found = _CHUNK.fullmatch(line)
        if found is None:
            raise Malformed("a chunk does not begin with its size")
        self._left = int(found[1], 16)
        if self._left:
            return await self._counted()
        if await self._source.line(_MOST_LINE):
            raise Malformed("there are trailers behind the last chunk")
        self.is_done = True
        return b""

    async def _counted(self) -> bytes:
        data = await self._source.some(min(self._left, _PIECE))
        if not data:
            raise Malformed("the body breaks off")
        self._left -= len(data)
        if not self._left:
            await self._ended()
        return data

    async def _ended(self) -> None:
        if isinstance(self._body, Exactly):
            self.is_done = True
        elif await self._source.line(2):
            raise Malformed("a chunk is longer than its size says")


async def relay(body: Reader, to: Stream, swap: Swap, is_chunked: bool) -> None:
    """Until the body is complete. Nothing is kept but what may be the beginning of something to swap."""
    while data := await body.next():
        if data := swap.feed(data):
            await to.write(_framed(data, is_chunked))
    if data := swap.end():
        await to.write(_framed(data, is_chunked))
    if is_chunked:
        await to.write(b"0\r\n\r\n")


def _framed(data: bytes, is_chunked: bool) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if is_chunked else data
