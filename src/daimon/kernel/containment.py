"""Third-party code at arm's length: whatever it raises becomes an ordinary exception.

A `CancelledError` that nobody here asked for (an inner scope, a cancelled future) would end the turn in silence, and
`SystemExit` (argparse in a tool) the process. Only a cancellation of the task that runs the work passes through.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
CANCEL_GRACE_S = 1.0
MOST_AHEAD = 256
"""So many items of a stream may wait to be taken."""


async def contained(work: Awaitable[T]) -> T:
    try:
        return await work
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise RuntimeError("it cancelled itself") from cancelled
    except Exception:
        raise
    except GeneratorExit:
        raise
    except BaseException as end:
        raise RuntimeError(f"it tried to end the process: {end!r}") from end


async def within(seconds: float, work: Awaitable[T]) -> T:
    """The result of third-party work, or TimeoutError. Work that ignores its cancellation is left behind."""
    task = asyncio.ensure_future(contained(work))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await abandon(task)
        raise
    if done:
        return _result(task)
    await abandon(task)
    raise TimeoutError


async def drawn(start: Callable[[], AsyncIterator[T]], first_s: float, next_s: float) -> AsyncGenerator[T, None]:
    """The items of a third-party stream, each within its time; TimeoutError else. The stream runs whole in one task of its own."""
    items: asyncio.Queue[T | _End] = asyncio.Queue(MOST_AHEAD)

    is_over = False

    async def pump() -> None:
        try:
            async for item in start():
                if is_over:
                    return
                await items.put(item)  # a stream that never waits waits here, and lets others run
        finally:
            if not is_over:
                await items.put(_End())

    task = asyncio.ensure_future(contained(pump()))
    patience = first_s
    try:
        while True:
            async with asyncio.timeout(patience):
                item = await items.get()
            patience = next_s
            if isinstance(item, _End):
                await asyncio.wait({task})
                _result(task)
                return
            yield item
    finally:
        is_over = True
        task.add_done_callback(_heard)
        if not task.done():
            await abandon(task)


class _End:
    """Nothing more comes."""


def _result(task: "asyncio.Future[T]") -> T:
    if task.cancelled():  # nobody here did: whoever is cancelled here does not come this far
        raise RuntimeError("it cancelled itself")
    return task.result()


async def abandon(task: "asyncio.Future[T]") -> None:
    """Cancels it and gives it a moment; what does not end by then is left to itself."""
    task.cancel()
    await asyncio.wait({task}, timeout=CANCEL_GRACE_S)
    task.add_done_callback(_heard)


def _heard(task: "asyncio.Future[T]") -> None:
    if not task.cancelled():
        task.exception()
