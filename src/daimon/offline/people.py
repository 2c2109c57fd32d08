"""Who may talk to the agent of a home that nobody runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon.gateway.introductions import Introductions
from daimon.gateway.parting import Parting
from daimon.machine.home import Home
from daimon.offline.held import holding


@asynccontextmanager
async def introducing(home: Home) -> AsyncIterator[Introductions]:
    async with holding(home) as held:
        parting = Parting(held.journal, held.journal.accept, held.clock, held.ids)
        yield Introductions(held.journal, held.clock, held.random, parting)
