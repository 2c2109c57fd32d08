"""A program that reads a directory for us: with the rights of the tree's owner, an empty environment, limits, a deadline, bounded output.

It is started and listened to by a thread, since not every event loop can start a program as another user. Whoever stops waiting ends it.
"""

import asyncio
import resource
import selectors
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

MOST_OUTPUT, MOST_LINES, MOST_ERRORS = 4 * 1024 * 1024, 5_000, 4_096
_CHUNK = 65_536
_LIMITS = (
    (resource.RLIMIT_AS, 4 * 1024**3),
    (resource.RLIMIT_CPU, 60),
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_CORE, 0),
)


@dataclass(frozen=True, slots=True)
class Said:
    output: bytes
    errors: bytes
    code: int
    is_late: bool

    @property
    def is_cut(self) -> bool:
        return len(self.output) >= MOST_OUTPUT or self.output.count(b"\n") >= MOST_LINES


class Program:
    def __init__(self, words: list[str], folder: int, user: int | None, longest_s: float) -> None:
        """`folder` is open until `run` returned; the program runs in it."""
        self._words, self._folder, self._user, self._longest_s = words, folder, user, longest_s
        self._running: subprocess.Popen[bytes] | None = None
        self._is_stopped = threading.Event()

    async def run(self) -> Said:
        work = asyncio.ensure_future(asyncio.to_thread(self._run))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            self._is_stopped.set()
            if self._running is not None:
                self._running.kill()
            await asyncio.wait([work])
            raise

    def _run(self) -> Said:
        until = time.monotonic() + self._longest_s
        with subprocess.Popen(
            self._words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=f"/proc/self/fd/{self._folder}",
            pass_fds=(self._folder,),
            env={"PWD": "/"},  # ripgrep asks where it is; a tree in another namespace is nowhere, and then it takes this
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else (),
        ) as running:
            self._running = running
            try:
                _limit(running.pid)
                output, errors, is_late = self._listen(running, until)
            finally:
                if running.poll() is None and (self._is_stopped.is_set() or not _ends(running)):
                    running.kill()
        return Said(output, errors, running.returncode, is_late)

    def _listen(self, running: subprocess.Popen[bytes], until: float) -> tuple[bytes, bytes, bool]:
        assert running.stdout is not None
        assert running.stderr is not None
        got = {running.stdout.fileno(): bytearray(), running.stderr.fileno(): bytearray()}
        output, errors = got.values()
        lines = 0
        with selectors.DefaultSelector() as waiting:
            for stream in (running.stdout, running.stderr):
                waiting.register(stream, selectors.EVENT_READ)
            while waiting.get_map() and len(output) < MOST_OUTPUT and lines < MOST_LINES and not self._is_stopped.is_set():
                left = until - time.monotonic()
                if left <= 0:
                    return bytes(output), bytes(errors), True
                for key, _ in waiting.select(left):
                    chunk = key.fileobj.read1(_CHUNK)  # type: ignore[union-attr]
                    if not chunk:
                        waiting.unregister(key.fileobj)
                    got[key.fd] += chunk if key.fd == running.stdout.fileno() else chunk[: MOST_ERRORS - len(errors)]
                    lines += chunk.count(b"\n")
        return bytes(output), bytes(errors), False


def _ends(running: subprocess.Popen[bytes]) -> bool:
    """One that has closed its streams is about to."""
    with suppress(subprocess.TimeoutExpired):
        running.wait(0.2)
    return running.poll() is not None


def _limit(pid: int) -> None:
    for what, most in _LIMITS:
        with suppress(ProcessLookupError, PermissionError):
            resource.prlimit(pid, what, (most, most))
