"""The automations of a home that nobody runs. What is run by hand waits for the next start."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon import config, extension, keeper, lines, mind
from daimon.abi.automation import Clerk
from daimon.gateway.forwarding import Forwarding
from daimon.heartbeat.clerk import LocalClerk
from daimon.heartbeat.looking import Looking
from daimon.heartbeat.prospects import Setup, setup_of
from daimon.heartbeat.ticking import Around, Ticking
from daimon.machine.home import Home
from daimon.offline.held import Asleep, holding


@asynccontextmanager
async def automating(home: Home) -> AsyncIterator[Clerk]:
    async with holding(home) as held:
        around = Around(Asleep().wake, keeper.redactor_of(home).clean_known, {}, Forwarding(held.journal).whom)
        ticking = Ticking(held.journal, Looking({}, held.clock), around, held.clock, held.ids)
        settings = config.settings_of(home)

        async def setup() -> Setup:
            kit = extension.load(settings.extensions)
            channels, models = lines.names_of(settings, kit.channels), mind.names_of(settings, kit.models)
            return await setup_of(held.journal, channels, models, has_only_built_in=mind.has_only_built_in(settings))

        yield LocalClerk(held.journal, ticking, held.clock, str(config.zone(settings)), setup)
