"""Claim: a command in a running box costs less than 3 ms, and what a box costs at its start is paid once for a conversation.

`/bin/true`, in a box as an agent has it, with its system-call filter, Landlock rules, limits and the look for what would run by itself;
beside it a plain asyncio subprocess, in turns in the same run, so that whatever else the machine does slows both. Boxes are started one
after the other.

    start_ms    from nothing to a box that takes commands; start_p95_ms, 95 of 100
    command_ms  a command in a running box; command_p95_ms, 95 of 100
    plain_ms    the same without a box; plain_p95_ms, 95 of 100
    ratio       how many times dearer than without a box
    floor_ms    the fastest of the commands: what is left when nobody takes the core away
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from lab import report

from daimon.abi.box import Command, Limits, Role
from daimon.sandbox.box import RunningBox, start
from daimon.sandbox.plan import Wanted

AIM_MS = 3.0
TRUE = "/bin/true"
ROLE = Role(name="worker", write=(".",), limits=Limits())


async def timed_ms(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return (time.perf_counter() - begun) * 1000


async def plain() -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(TRUE, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    await process.communicate()
    assert process.returncode == 0


async def boxed(box: RunningBox) -> None:
    assert (await box.run(Command(argv=(TRUE,)))).code == 0


async def starts(place: Path, times: int) -> list[float]:
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        box = await start(Wanted(ROLE, place, {}))
        took.append((time.perf_counter() - begun) * 1000)
        await box.close()
    return took


async def commands(place: Path, times: int) -> tuple[list[float], list[float]]:
    """In a box and without one, in turns. The first few only warm up."""
    box = await start(Wanted(ROLE, place, {}))
    try:
        pairs = [(await timed_ms(lambda: boxed(box)), await timed_ms(plain)) for _ in range(times + 10)][10:]
    finally:
        await box.close()
    return [inside for inside, _ in pairs], [outside for _, outside in pairs]


async def measured(place: Path, times: int, boxes: int) -> dict[str, float]:
    begun = await starts(place, boxes)
    inside, outside = await commands(place, times)
    command, bare = report.median(inside), report.median(outside)
    return {
        "start_ms": report.median(begun),
        "start_p95_ms": report.percentile(begun, 0.95),
        "command_ms": command,
        "command_p95_ms": report.percentile(inside, 0.95),
        "plain_ms": bare,
        "plain_p95_ms": report.percentile(outside, 0.95),
        "ratio": command / bare,
        "floor_ms": min(inside),
    }


async def main() -> int:
    asked = report.options(__doc__)
    times, boxes = (100, 20) if asked.quick else (1000, 50)
    with tempfile.TemporaryDirectory(prefix="daimon-box-") as name:
        found = await measured(Path(name), times, boxes)
    return report.finish(asked, found, aims={f"a command under {AIM_MS:g} ms": found["command_ms"] < AIM_MS})


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
