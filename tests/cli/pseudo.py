"""A pseudo-terminal with a command in it, a chat for one, and somebody who types. Every wait has a deadline."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.processes import DEADLINE_S, Daimon

CTRL_C, CTRL_D, UP, ENTER = b"\x03", b"\x04", b"\x10", b"\r"
PASTE, PASTED = b"\x1b[200~", b"\x1b[201~"
TAKEN_BACK = re.compile(r"[^\n]*\r\x1b\[K")
"""A sign of life, which comes whenever nothing else did for a while, and is wiped away by what comes next."""
STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x01\x02]")


class Terminal:
    def __init__(self, daimon: Daimon, *words: str, kind: str = "dumb", columns: int = 80) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
        self.process = subprocess.Popen(
            daimon.command(*words or ("chat",)),
            env={**daimon.environment, "TERM": kind},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self._seen = b""

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def press(self, key: bytes, text: str) -> None:
        """Once: it is noticed whenever it comes."""
        self.type(key)
        self.wait_for(text)

    def wait_for(self, text: str) -> str:
        """Returns what came before it."""
        deadline = time.monotonic() + DEADLINE_S
        while text.encode() not in self._seen:
            is_there = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))[0]
            assert is_there, f"{text!r} did not come; seen: {self._seen!r}"
            self._seen += self._read(text)
        before, _, self._seen = self._seen.partition(text.encode())
        return before.decode(errors="replace")

    def _read(self, text: str) -> bytes:
        try:
            return os.read(self._master, 65536)
        except OSError:  # nobody is at the other end any more
            raise AssertionError(f"it ended, and {text!r} did not come; seen: {self._seen!r}") from None

    def shown_until(self, text: str) -> list[str]:
        """The lines up to it, without what was taken back and what steers the terminal."""
        return STEERING.sub("", TAKEN_BACK.sub("", self.wait_for(text))).replace("\r", "").split("\n")

    def close(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE_S)
        os.close(self._master)


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def sitting_at(daimon: Daimon, *words: str, kind: str = "dumb", columns: int = 80) -> Iterator[Terminal]:
    """With words: one message. Without: a chat, at its first prompt."""
    made = Terminal(daimon, "chat", *words, kind=kind, columns=columns)
    try:
        if not words:
            made.wait_for("› ")
        yield made
    finally:
        made.close()
