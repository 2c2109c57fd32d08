"""A contest: each contestant is a process that records steps when it is told to and says how long that took.

    in    CONVERSATIONS STEPS      so many conversations at once, so many steps in each
    out   seconds

Only the standard library is used here, because the peers live in an environment of their own.
"""

import asyncio
import os
import random
import string
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

Run = Callable[[int, int], Awaitable[float]]
PAYLOAD = "".join(random.Random(1).choices(string.ascii_letters + " " * 12, k=1_000))
"""What a step has to say: about a kilobyte."""


async def serve(run: Run) -> None:
    """The contestant's side."""
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        conversations, steps = map(int, line.split())
        print(await run(conversations, steps), flush=True)


class Contestant:
    """The referee's side."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._process = process

    @classmethod
    async def start(cls, name: str, python: str, module: str, place: Path) -> "Contestant":
        """Raises RuntimeError if it does not get ready."""
        process = await asyncio.create_subprocess_exec(
            python, "-m", module, str(place),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        if await process.stdout.readline() != b"ready\n":
            said = (await process.stderr.read()).decode(errors="replace").strip().splitlines()
            raise RuntimeError(said[-1] if said else "it said nothing")
        return cls(name, process)

    async def step_us(self, conversations: int, steps: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{conversations} {steps}\n".encode())
        seconds = float(await self._process.stdout.readline())
        return seconds * 1e6 / (conversations * steps)

    async def close(self) -> None:
        self._process.kill()
        await self._process.wait()
