"""The memory of a home that nobody runs. Reading it may mean to catch up with the journal first, so the home is held either way."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial

from daimon import config, keeper, workshop
from daimon.abi.curator import Curator
from daimon.abi.ids import HOME_SPACE
from daimon.filing import Filing
from daimon.library.removal import SERVER, Surroundings, leave
from daimon.machine.home import Home
from daimon.memory.curator import StoreCurator
from daimon.memory.store import MemoryStore
from daimon.offline.held import Held, holding
from daimon.vault.redact import SecretRedactor


@asynccontextmanager
async def curating(home: Home) -> AsyncIterator[Curator]:
    async with holding(home) as held:
        memory, _ = await MemoryStore.open(home.memory, held.journal)
        try:
            # Where the vault does not open, no text is shown: it may hold what became known later.
            redactor = SecretRedactor(keeper.found(home, os.environ).known)
            bare = StoreCurator(memory, held.journal, held.clock, held.ids, redactor)
            yield replace(bare, leaving=partial(_leave, home, held, bare))
        finally:
            await memory.close()


async def _leave(home: Home, held: Held, curator: Curator, source: str) -> None:
    """As a gateway that runs would do it."""
    if not source.startswith(SERVER):
        return
    async with AsyncExitStack() as stack:
        settings = config.settings_of(home)
        sandboxes = workshop.sandboxes_of(settings, home)
        sites = await workshop.sites_of(sandboxes, held.clock, settings.sandbox, 0.0)
        stack.push_async_callback(sites.close)
        filing = Filing(sites, sandboxes.role_of)
        stack.callback(filing.close)
        granted = await held.journal.grants(HOME_SPACE, held.clock.now())
        await leave(Surroundings(curator, held.journal, filing, sites, held.clock), source, (each.tool for each in granted))
