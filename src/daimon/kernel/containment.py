"""Third-party code at arm's length: whatever it raises becomes an ordinary exception.

A `CancelledError` that nobody here asked for (an inner scope, a cancelled future) would end the turn in silence, and
`SystemExit` (argparse in a tool) the process. Only a cancellation of the task that runs the work passes through.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def contained(work: Awaitable[T]) -> T:
    try:
        return await work
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise RuntimeError("it cancelled itself") from cancelled
    except (SystemExit, KeyboardInterrupt) as end:
        raise RuntimeError(f"it tried to end the process: {end!r}") from end
