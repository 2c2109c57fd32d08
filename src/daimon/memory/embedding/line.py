"""The pipes to the process that makes vectors: how it is started, asked and ended. It does not know what is asked."""

import asyncio
import os
import sys
from contextlib import suppress

from daimon.memory.embedding.child import HEAD

_REAP_S = 5.0
_PATHS = "import sys\nsys.path += sys.argv[1:-2]\n"
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_ONE_THREAD = dict.fromkeys(_THREADS, "1")
"""Threads of a matrix library wait for each other in busy loops: on a machine with other work two are many times slower than one."""


class Broken(Exception):
    """What went wrong, in words."""


class Gone(Broken):
    pass


class Line:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @property
    def pid(self) -> int | None:
        """None: it has ended."""
        return self._process.pid if self._process.returncode is None else None

    async def ask(self, asked: bytes, most: int, patience_s: float) -> bytes:
        assert self._process.stdin
        try:
            self._process.stdin.write(asked)
            async with asyncio.timeout(patience_s):
                await self._process.stdin.drain()
        except (OSError, RuntimeError):  # a deadline is the first; uvloop raises the second where a pipe is closed
            raise Gone("its process ended") from None
        return await self.hear(most, patience_s)

    async def hear(self, most: int, patience_s: float) -> bytes:
        assert self._process.stdout
        try:
            async with asyncio.timeout(patience_s):
                length = int.from_bytes(await self._process.stdout.readexactly(HEAD), "big")
                if length > most:
                    raise Broken(f"it answered with {length} bytes, at most {most} are taken")
                return await self._process.stdout.readexactly(length)
        except TimeoutError:
            raise Broken(f"it did not answer within {patience_s:g} s") from None
        except (asyncio.IncompleteReadError, OSError):
            raise Gone("its process ended") from None

    async def end(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        with suppress(TimeoutError):  # the kernel holds it; it is nobody's any more
            async with asyncio.timeout(_REAP_S):
                await self._process.wait()


async def start(program: str, idle_s: float, stamp: str) -> Line:
    """It finds what this process finds, and inherits nothing else: no environment, no descriptor, no terminal."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", _PATHS + program, *_paths(), str(idle_s), stamp,
            stdin=pipe, stdout=pipe, stderr=nothing, env=_ONE_THREAD, cwd="/", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise Broken(f"its process cannot be started: {error}") from None
    return Line(process)


def _paths() -> list[str]:
    return [os.path.abspath(path) for path in sys.path if path]
