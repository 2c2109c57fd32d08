"""Reads commands in a process of its own: the outside, in the gateway. `child.py` is the inside.

The process is started with the first command and kept. Each question is one exchange, under a lock, with a bound on its time:

    the answer comes           it counts
    the process died           asked once more if the process had served before (it may have died of something else, unseen), else: unread
    no answer in time          killed; unread
    it cannot be started       unread

Invariant: a process with which anything went wrong is never asked again, so an answer always belongs to its question. Nothing here keeps or
logs what was asked: a command may hold a secret. It does not know what the program does; whoever puts the parts together says that.
"""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from daimon.machine.child import HEAD, MOST_ASKED, MOST_TOLD, framed

PATIENCE_S = 2.0
START_S = 20.0
"""Of its own, and longer: a busy machine that starts it slowly says nothing about the command."""
REAP_S = 10.0
_PATHS = "import sys\nsys.path += sys.argv[1:]\n"
_LOG = logging.getLogger(__name__)


class ChildReader:
    """A `ShellReader`. May be used from several threads."""

    def __init__(self, program: str, patience_s: float = PATIENCE_S) -> None:
        """`program`: Python that ends in `daimon.machine.child.serve`."""
        self._program = program
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """Of the process, while one is there."""
        child = self._child
        return child.process.pid if child else None

    def read(self, command: str | Sequence[str], never: Sequence[tuple[str, ...]]) -> str | None:
        asked = json.dumps([command, never]).encode()  # in ASCII, so half of a surrogate pair passes as it is
        if len(asked) > MOST_ASKED:
            return None
        with self._lock:
            return self._answer(framed(asked))

    def close(self) -> None:
        """Ends the process. The next command would start another."""
        with self._lock:
            self._end()

    def _answer(self, asked: bytes) -> str | None:
        has_served = self._child is not None
        try:
            return self._ask(asked)
        except ConnectionError:
            return self._answer(asked) if has_served else None
        except (OSError, ValueError):
            return None

    def _ask(self, asked: bytes) -> str:
        """Raises ConnectionError if it died, TimeoutError, another OSError if it cannot be started, ValueError if it talks nonsense."""
        try:
            child = self._child = self._child or _Child(self._program)
            return child.ask(asked, self._patience_s)
        except BaseException as failure:  # an interruption too: else its late answer would be taken for that of the next command
            how = self._end()
            _LOG.warning("the process that reads commands failed (%s, %s); the next command starts another", type(failure).__name__, how)
            raise

    def _end(self) -> str:
        child, self._child = self._child, None
        return child.end() if child else "not started"


class _Child:
    def __init__(self, program: str) -> None:
        self._line, theirs = socket.socketpair()
        try:
            with theirs:
                self.process = _started(program, theirs)
        except BaseException:
            self._line.close()
            raise
        try:
            self._hear(time.monotonic() + START_S)
        except BaseException:
            self.end()
            raise

    def ask(self, asked: bytes, patience_s: float) -> str:
        until = time.monotonic() + patience_s
        self._line.settimeout(patience_s)
        self._line.sendall(asked)
        return self._hear(until)

    def end(self) -> str:
        """Returns how it ended."""
        self._line.close()
        self.process.kill()
        try:
            code = self.process.wait(REAP_S)
        except subprocess.TimeoutExpired:  # the kernel holds it; it is nobody's any more
            return "still ending"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    def _hear(self, until: float) -> str:
        length = int.from_bytes(self._exactly(HEAD, until), "big")
        if length > MOST_TOLD:
            raise ValueError(f"an answer of {length} bytes, at most {MOST_TOLD} are taken")
        return self._exactly(length, until).decode("utf-8", "replace")

    def _exactly(self, size: int, until: float) -> bytes:
        data = b""
        while len(data) < size:
            self._line.settimeout(max(until - time.monotonic(), 0.001))
            part = self._line.recv(size - len(data))
            if not part:
                raise ConnectionResetError("it ended")
            data += part
        return data


def _started(program: str, line: socket.socket) -> "subprocess.Popen[bytes]":
    """It finds what this process finds, and inherits nothing else: no environment, no descriptor, no terminal."""
    paths = [os.path.abspath(path) for path in sys.path if path]
    return subprocess.Popen(  # noqa: S603 - our own interpreter with a program of the package
        [sys.executable, "-I", "-S", "-c", _PATHS + program, *paths],
        stdin=line.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={}, cwd="/", start_new_session=True,
    )  # fmt: skip
