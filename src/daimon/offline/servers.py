"""The MCP servers of a home that nobody runs: connected for as long as somebody looks at them. Their tools are offered to nobody."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon import config, keeper, workshop
from daimon.machine.home import Home
from daimon.mcp.desk import Desk
from daimon.mcp.hooking import signing_only
from daimon.mcp.servers import Around, Servers
from daimon.offline.held import holding


@asynccontextmanager
async def connecting(home: Home, ask: keeper.Ask = keeper.nobody) -> AsyncIterator[Desk]:
    """Raises HomeBusy, Misconfigured."""
    async with holding(home) as held:
        settings, vault = config.settings_of(home), keeper.opened(home, os.environ, ask)
        try:
            shop = workshop.Workshop(workshop.sandboxes_of(settings, home), vault, held.clock)
            hooks = signing_only(home.path, vault, shop.web(), held.clock)
            servers = Servers(
                Around(shop=shop, clock=held.clock, blobs=held.journal, hooks=hooks), lambda _, __: None, lambda _: frozenset()
            )
            await servers.change(settings.mcp)
            try:
                yield Desk(servers, held.clock)
            finally:
                await servers.close()
                shop.close()
        finally:
            vault.close()
