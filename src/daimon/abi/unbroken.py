"""Work that must not be left half done, such as closing something: whoever is cancelled during it waits for it, and is cancelled then."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def unbroken(work: Awaitable[T]) -> T:
    """It goes on in a task of its own, also for who is cancelled a second time and waits no longer."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise
