"""Contestant: the floor. The same bytes as the journal's step, written in groups by a thread that does nothing else (`floor.py`)."""

import asyncio
import sys
import time
from pathlib import Path

import uvloop

from lab import bout
from lab.floor import Floor
from lab.record import BYTES


async def main(place: Path) -> None:
    floor = Floor(place / "floor.db")

    async def write(steps: int) -> None:
        for _ in range(steps):
            await floor.write(BYTES)

    async def run(conversations: int, steps: int) -> float:
        begun = time.perf_counter()
        await asyncio.gather(*(write(steps) for _ in range(conversations)))
        return time.perf_counter() - begun

    await bout.serve(run)


if __name__ == "__main__":
    uvloop.run(main(Path(sys.argv[1])))
