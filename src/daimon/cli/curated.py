"""How a command reaches memory: through the running gateway, else in the home itself, which is held meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from daimon import homes
from daimon.abi.curator import Curator
from daimon.abi.errors import BadInput
from daimon.abi.memory import KINDS, Kind
from daimon.cli.awake import is_awake
from daimon.gateway.remote_memory import RemoteCurator

T = TypeVar("T")


def done(given: Path | None, do: Callable[[Curator], Awaitable[T]]) -> T:
    """For what can begin in an empty home, too."""
    return asyncio.run(_done(homes.home_at(given), do, may_begin=True))


def looked(given: Path | None, do: Callable[[Curator], Awaitable[T]]) -> T:
    """For what needs something to be there. Raises NotFound in an empty home, and leaves it empty."""
    return asyncio.run(_done(homes.home_at(given), do, may_begin=False))


def kinds_of(given: tuple[str, ...]) -> tuple[Kind, ...]:
    for kind in given:
        if kind not in KINDS:
            raise BadInput(f"--kind {kind[:20]!r} is none of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in given)


async def _done(home: homes.Home, do: Callable[[Curator], Awaitable[T]], may_begin: bool) -> T:
    async with _curator(home, may_begin) as curator:
        return await do(curator)


@asynccontextmanager
async def _curator(home: homes.Home, may_begin: bool) -> AsyncIterator[Curator]:
    if is_awake(home):
        yield RemoteCurator(home.socket)
        return
    from daimon.offline.memory import curating
    from daimon.offline.reading import reading

    if not may_begin:
        async with reading(home):
            pass
    async with curating(home) as curator:
        yield curator
