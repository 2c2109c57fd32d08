"""The two pipes of a process as the two streams of a session: a message a line, each way.

The other side is not trusted. A line is held up to the longest message and no further; lines that are no messages are counted; whoever
talks too fast is read more slowly, so that the pipe fills and it has to wait; whoever does not stop is not heard any more. What ended it
is in `why`. When it ends, the session sees the end of its stream, and whoever waits for an answer is told.

This knows nothing of what the messages mean.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from daimon.mcp.bounds import Bounds
from daimon.mcp.words import shown

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

PIECE = 64 * 1024
_COSTS = 16 * 1024
"""So many bytes of a message count as one more."""


class _Stop(Exception):
    """It is not heard any more."""


class Pipes:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bounds: Bounds) -> None:
        self._reader, self._writer, self._bounds = reader, writer, bounds
        self._pace = Pace(bounds)
        self.over = asyncio.Event()
        """Nothing more will be heard."""
        self.why = ""
        self.garbage = 0
        self.first = ""
        """Of the lines that were no messages."""

    @property
    def is_at_end(self) -> bool:
        """Did the other side close its end?"""
        return self._reader.at_eof()

    def hang_up(self) -> None:
        """It hears no more."""
        self._writer.close()

    @asynccontextmanager
    async def streams(self) -> "AsyncIterator[TransportStreams]":
        import anyio
        from mcp.shared.message import SessionMessage

        heard, hears = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        says, said = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._hear, heard)
            tasks.start_soon(self._say, said, heard)
            try:
                yield hears, says
            finally:
                tasks.cancel_scope.cancel()
                for each in (heard, hears, says, said):
                    each.close()

    async def _hear(self, heard: "MemoryObjectSendStream[Any]") -> None:
        import anyio
        from mcp.shared.message import SessionMessage

        async with heard:
            try:
                async for line in self._lines():
                    await self._paced(len(line))
                    if (message := self._message(line)) is not None:
                        await heard.send(SessionMessage(message))
            except _Stop as stop:
                self.why = self.why or str(stop)
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return
            finally:
                self.over.set()

    async def _lines(self) -> AsyncIterator[bytes]:
        held = bytearray()
        while data := await self._reader.read(PIECE):
            *ended, rest = data.split(b"\n")
            for end in ended:
                line, held = bytes(held) + end, bytearray()
                if line.strip():
                    yield line
            held += rest
            if len(held) > self._bounds.message_bytes:
                raise _Stop(f"it said something longer than {self._bounds.message_bytes:,} bytes, and was stopped")

    def _message(self, line: bytes) -> Any:
        import mcp_types as types

        try:
            return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self.garbage += 1
            self.first = self.first or shown(line[:200].decode(errors="replace"), 200)
            if self.garbage > self._bounds.garbage:
                raise _Stop(f"it wrote {self.garbage} lines that are no messages, and was stopped; the first: {self.first}") from None
            return None

    async def _paced(self, size: int) -> None:
        wait_s = self._pace.wait_s(1 + size / _COSTS, asyncio.get_running_loop().time())
        if self._pace.is_flood:
            raise _Stop(f"it said more than {self._bounds.per_s:g} things in a second for {self._bounds.flood_s:g} s, and was stopped")
        if wait_s:
            await asyncio.sleep(wait_s)

    async def _say(self, said: "MemoryObjectReceiveStream[Any]", heard: "MemoryObjectSendStream[Any]") -> None:
        try:
            async with said:
                async for message in said:
                    data = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    self._writer.write(data)
                    async with asyncio.timeout(self._bounds.write_s):
                        await self._writer.drain()
        except TimeoutError:
            self.why = self.why or f"it did not take a message within {self._bounds.write_s:g} s, and was stopped"
        except OSError:
            pass  # it has ended; what it said before may still be read
        else:
            return
        if self.why:
            heard.close()


class Pace:
    """A bucket that fills at a rate: what does not fit has to wait."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._left, self._at = float(bounds.burst), -1.0
        self._full_since: float | None = None
        """Since then it has not been quiet for long enough to count as a pause."""
        self.is_flood = False

    def wait_s(self, cost: float, now: float) -> float:
        if self._at >= 0:
            self._left = min(float(self._bounds.burst), self._left + (now - self._at) * self._bounds.per_s)
        self._at = now
        self._left -= cost
        if self._left >= self._bounds.burst / 2:
            self._full_since = None
        elif self._left < 0 and self._full_since is None:
            self._full_since = now
        self.is_flood = self._full_since is not None and now - self._full_since >= self._bounds.flood_s
        return max(0.0, -self._left / self._bounds.per_s)
