"""Events for a home that nobody runs: they are on disk at once and answered at the next start."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon import config, keeper
from daimon.gateway.inbox import Inbox
from daimon.machine.home import Home
from daimon.offline.held import Asleep, holding


@asynccontextmanager
async def taking(home: Home, settings: config.Settings) -> AsyncIterator[Inbox]:
    async with holding(home) as held:
        yield Inbox(held.journal, Asleep(), held.clock, held.ids, keeper.redactor_of(home), settings.gateway.max_event_bytes)
