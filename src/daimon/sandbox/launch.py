"""Starts a process of Daimon's own that holds something: a box, or mounts. It gets one socket, and nothing of the gateway besides."""

import asyncio
import socket
import sys
from contextlib import suppress
from pathlib import Path

from daimon.abi.errors import Misconfigured
from daimon.sandbox.refusal import explained

SOURCES = str(Path(__file__).resolve().parent.parent.parent)


async def launched(module: str, control: socket.socket, last_words: int) -> asyncio.subprocess.Process:
    """`module` has a `main` that finds the number of its socket as its only argument. What it says in the end goes to `last_words`."""
    hold = f"import sys; sys.path.insert(0, {SOURCES!r}); from daimon.sandbox.{module} import main; main()"
    making = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", hold, str(control.fileno())),
            pass_fds=[control.fileno()],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=last_words,
            env={},
        )
    )
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        with suppress(OSError):  # it may be there by now, and nobody would know of it
            process = await making
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        raise
    except OSError as error:
        raise Misconfigured(explained(error.errno or 0, f"its holder cannot be started: {error.strerror}")) from None
