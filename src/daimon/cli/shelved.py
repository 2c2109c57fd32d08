"""How a command reaches the skills: through the running gateway, else in the home itself, which is held meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from daimon import homes
from daimon.abi.skill import Librarian
from daimon.cli.awake import is_awake
from daimon.gateway.remote_skills import RemoteLibrarian

T = TypeVar("T")


def done(given: Path | None, do: Callable[[Librarian], Awaitable[T]]) -> T:
    return asyncio.run(_done(homes.home_at(given), do))


def named(source: str) -> str:
    """What is meant from anywhere: the gateway stands elsewhere than whoever typed it. The name of a skill stays one."""
    path, sign, below = source.partition("#")
    if "://" in source or not ("/" in path or path.startswith((".", "~")) or Path(path).exists()):
        return source
    return f"{Path(path).expanduser().absolute()}{sign}{below}"


async def _done(home: homes.Home, do: Callable[[Librarian], Awaitable[T]]) -> T:
    async with _librarian(home) as librarian:
        return await do(librarian)


@asynccontextmanager
async def _librarian(home: homes.Home) -> AsyncIterator[Librarian]:
    if is_awake(home):
        yield RemoteLibrarian(home.socket)
        return
    from daimon.offline.skills import keeping

    async with keeping(home) as librarian:
        yield librarian
