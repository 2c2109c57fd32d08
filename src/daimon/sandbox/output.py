"""One stream of a command: read to its end, kept at its beginning and its end, however long it is."""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress

from daimon.abi.box import Output

AT_ONCE = 1 << 20
PLENTY = 16 << 20
BREATH_S = 0.005
"""Between two readings of somebody who has written plenty: others are to be heard too."""
Sink = Callable[[bytes], None]
"""Gets every piece as it comes. One that raises OSError takes no more, and the command learns it from its next write."""


def nowhere(_: bytes) -> None:
    return


class Stream:
    """A pipe whose write end goes to the command. Reads while there is something, so that nobody ever waits for us."""

    def __init__(self, most: int, sink: Sink = nowhere) -> None:
        self._sink = sink
        self._read, self._write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._read, False)
        with suppress(OSError):  # the user's pipes may hold enough already
            fcntl.fcntl(self._read, fcntl.F_SETPIPE_SZ, AT_ONCE)
        self._head_room, self._tail_room = most - most // 2, most // 2
        self._head, self._tail, self._size = bytearray(), bytearray(), 0
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self._breath: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._read, self._hear)

    def _hear(self) -> None:
        self._take()
        if self._size > PLENTY and self._is_open:
            self._loop.remove_reader(self._read)
            self._breath = self._loop.call_later(BREATH_S, self._loop.add_reader, self._read, self._hear)

    def give(self) -> int:
        """The write end: whoever takes it closes it."""
        given, self._write = self._write, -1
        return given

    def _take(self) -> None:
        try:
            data = os.read(self._read, AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(self._read)
            self._is_open = False
            return
        self.add(data)

    def add(self, data: bytes) -> None:
        """What came, or what there is to say about the command in its place."""
        self._size += len(data)
        try:
            self._sink(data)
        except OSError:  # whoever listened has gone: so does the reading end, as in any pipe
            self.close()
        room = self._head_room - len(self._head)
        self._head += data[:room]
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 2 * self._tail_room + AT_ONCE:
            del self._tail[: len(self._tail) - self._tail_room]

    def finish(self) -> Output:
        """The command is over: what it wrote is in the pipe. What it left running may still hold the other end, and is not waited for."""
        with suppress(OSError):
            os.set_blocking(self._read, False)
        for _ in range(64):
            if not self._is_open:
                break
            before = self._size
            self._take()
            if self._size == before:
                break
        self.close()
        if len(self._tail) > self._tail_room:
            del self._tail[: len(self._tail) - self._tail_room]
        return Output(bytes(self._head), bytes(self._tail), self._size - len(self._head) - len(self._tail))

    def close(self) -> None:
        if self._breath is not None:
            self._breath.cancel()
        if self._is_open:
            self._loop.remove_reader(self._read)
            self._is_open = False
        for descriptor in (self._read, self._write):
            if descriptor >= 0:
                os.close(descriptor)
        self._read = self._write = -1
