"""The webhooks of a home that nobody runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon.abi.hook import Hooks
from daimon.machine.home import Home
from daimon.offline.held import holding


@asynccontextmanager
async def hooking(home: Home) -> AsyncIterator[Hooks]:
    async with holding(home) as held:
        yield held.journal
