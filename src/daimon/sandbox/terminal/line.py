"""The descriptors of one shell: its terminal's master, the pipe to it and the pipe from it. Whoever opens it closes it.

The terminal is 160 columns by 50 lines, does not repeat what is typed, and leaves what is printed as it is. Programs may set it otherwise
while they run; `tidy` sets it back.
"""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable
from contextlib import suppress

ROWS, COLUMNS = 50, 160
AT_ONCE = 1 << 16
TURNS = 32
"""Readings in a row; then others are heard."""
PLENTY, BREATH_S = 1 << 20, 0.002
"""After so much, a pause: whoever writes without end does not get all of the gateway's time."""
_INPUT, _OUTPUT, _LOCAL = 0, 1, 3


class Line:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._master, self._slave = os.openpty()
        commands, self._commands = os.pipe2(os.O_CLOEXEC)
        self._reports, reports = os.pipe2(os.O_CLOEXEC)
        self._settings = _set_up(self._slave)
        for descriptor in (self._master, self._commands, self._reports):
            os.set_blocking(descriptor, False)
        self._given = (os.dup(self._slave), commands, reports)
        self._is_open = True
        self._taken = 0

    def give(self) -> tuple[int, int, int]:
        """Terminal, commands, reports: for the shell. Whoever takes them closes them."""
        given, self._given = self._given, (-1, -1, -1)
        return given

    def listen(self, printed: Callable[[bytes], None], reported: Callable[[bytes], None]) -> None:
        self._listen(self._master, printed)
        self._listen(self._reports, reported)

    def _listen(self, descriptor: int, hearer: Callable[[bytes], None]) -> None:
        if self._is_open:
            self._loop.add_reader(descriptor, self._heard, descriptor, hearer)

    def _heard(self, descriptor: int, hearer: Callable[[bytes], None]) -> None:
        if not self._hear(descriptor, hearer):
            self._loop.remove_reader(descriptor)
        elif self._taken > PLENTY:
            self._taken = 0
            self._loop.remove_reader(descriptor)
            self._loop.call_later(BREATH_S, self._listen, descriptor, hearer)

    def drain(self, printed: Callable[[bytes], None]) -> None:
        """What is there already."""
        if self._is_open:
            self._hear(self._master, printed)

    async def command(self, data: bytes) -> None:
        """Raises OSError when nobody reads it any more."""
        await self._write(self._commands, data)

    async def type(self, data: bytes) -> None:
        await self._write(self._master, data)

    def type_now(self, data: bytes) -> None:
        with suppress(OSError):
            os.write(self._master, data)

    def tidy(self) -> None:
        with suppress(termios.error, OSError):
            termios.tcflow(self._slave, termios.TCOON)
            termios.tcflush(self._slave, termios.TCIFLUSH)
            termios.tcsetattr(self._slave, termios.TCSANOW, self._settings)

    def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        for descriptor in (self._master, self._reports):
            self._loop.remove_reader(descriptor)
        for descriptor in (self._master, self._commands):
            self._loop.remove_writer(descriptor)
        for descriptor in (self._master, self._slave, self._commands, self._reports, *self._given):
            if descriptor >= 0:
                os.close(descriptor)

    def _hear(self, descriptor: int, hearer: Callable[[bytes], None]) -> bool:
        """May more come?"""
        for _ in range(TURNS):
            try:
                data = os.read(descriptor, AT_ONCE)
            except BlockingIOError:
                return True
            except OSError:
                data = b""
            if not data:
                return False
            self._taken += len(data)
            hearer(data)
        return True

    async def _write(self, descriptor: int, data: bytes) -> None:
        left = memoryview(data)
        while left:
            if not self._is_open:
                raise BrokenPipeError
            try:
                left = left[os.write(descriptor, left[:AT_ONCE]) :]
            except BlockingIOError:
                await self._writable(descriptor)

    async def _writable(self, descriptor: int) -> None:
        ready = asyncio.Event()
        self._loop.add_writer(descriptor, ready.set)
        try:
            await ready.wait()
        finally:
            if self._is_open:
                self._loop.remove_writer(descriptor)


def _set_up(slave: int) -> list[int | list[bytes | int]]:
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    settings = termios.tcgetattr(slave)
    settings[_OUTPUT] &= ~termios.OPOST
    settings[_LOCAL] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    return settings
