"""The workspaces of a home that nobody runs."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from daimon import config, workshop
from daimon.abi.workspace import Trials, Workspaces
from daimon.machine.clock import SystemClock
from daimon.machine.home import Home
from daimon.offline.held import take


@asynccontextmanager
async def arranging(home: Home) -> AsyncIterator[tuple[Workspaces, Trials]]:
    async with AsyncExitStack() as stack:
        take(stack, home)
        settings, clock = config.settings_of(home), SystemClock()
        sandboxes = workshop.sandboxes_of(settings, home)
        sites = await workshop.sites_of(sandboxes, clock, settings.sandbox, 0.0)
        stack.push_async_callback(sites.close)
        shop = workshop.Workshop(sandboxes, workshop.NoSecrets(), clock, sites)
        stack.callback(shop.close)
        yield sites, shop


def own_workspace(home: Home) -> str:
    """The directory that agents work in."""
    return str(workshop.sandboxes_of(config.settings_of(home), home).workspace.resolve())
