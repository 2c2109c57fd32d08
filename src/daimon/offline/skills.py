"""The skills of a home that nobody runs."""

import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from daimon import config, keeper, workshop
from daimon.abi.skill import Librarian
from daimon.filing import Filing
from daimon.library.lessons import HomeLessons
from daimon.library.librarian import HomeLibrarian
from daimon.library.library import open_library
from daimon.library.removal import Removing, Surroundings
from daimon.library.sources import Sources
from daimon.library.trying import Trying
from daimon.machine.home import Home
from daimon.memory.curator import StoreCurator
from daimon.memory.store import MemoryStore
from daimon.offline.held import Held, holding
from daimon.vault.redact import SecretRedactor


@asynccontextmanager
async def keeping(home: Home) -> AsyncIterator[Librarian]:
    async with AsyncExitStack() as stack:
        held = await stack.enter_async_context(holding(home))
        settings, clock = config.settings_of(home), held.clock
        sandboxes = workshop.sandboxes_of(settings, home)
        sites = await workshop.sites_of(sandboxes, clock, settings.sandbox, 0.0)
        stack.push_async_callback(sites.close)
        vault = keeper.opened(home, os.environ, keeper.nobody)
        stack.callback(vault.close)
        shop = workshop.Workshop(sandboxes, vault, clock, sites)
        stack.callback(shop.close)
        filing = Filing(sites, sandboxes.role_of)
        stack.callback(filing.close)
        library = await open_library(home.skills, clock)
        curator = await _curator(stack, home, held)
        lessons = HomeLessons(home.lessons, library, held.journal, clock, curator.redactor.clean)
        around = Surroundings(curator, held.journal, filing, sites, clock, others=(lessons.forget_skill,))
        yield HomeLibrarian(library, Sources(shop, shop.web()), Removing(library, around), Trying(library, shop, clock))


async def _curator(stack: AsyncExitStack, home: Home, held: Held) -> StoreCurator:
    memory, _ = await MemoryStore.open(home.memory, held.journal)
    stack.push_async_callback(memory.close)
    return StoreCurator(memory, held.journal, held.clock, held.ids, SecretRedactor(keeper.found(home, os.environ).known))
