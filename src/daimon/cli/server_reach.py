"""The servers of a home: through the running gateway, else connected from here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from daimon import homes
from daimon.abi.server import Connectors
from daimon.cli import hidden
from daimon.cli.awake import is_awake
from daimon.cli.reloading import News
from daimon.gateway.remote_servers import RemoteConnectors

T = TypeVar("T")
CHANGED = News("the running gateway has it", "the next start (`daimon up`) has it")


def ask(home: homes.Home, work: Callable[[Connectors], Awaitable[T]]) -> T:
    async def asked() -> T:
        async with _connectors(home) as connectors:
            return await work(connectors)

    return asyncio.run(asked())


@asynccontextmanager
async def _connectors(home: homes.Home) -> AsyncIterator[Connectors]:
    if is_awake(home):
        yield RemoteConnectors(home.socket)
        return
    from daimon.offline.servers import connecting

    async with connecting(home, hidden.passphrase_ahead(home)) as desk:
        yield desk
