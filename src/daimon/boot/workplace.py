"""Where commands run: the boxes, the workspaces that they stand on, the files driver beside them, and services that keep running."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from daimon import workshop
from daimon.boot.ground import Ground
from daimon.filing import Filing
from daimon.sandbox.pool import Pool
from daimon.sandbox.services import KeptServices
from daimon.sites import Sites


@dataclass(frozen=True, slots=True)
class Workplace:
    sandboxes: workshop.Sandboxes
    sites: Sites
    filing: Filing
    shop: workshop.Workshop
    boxes: Pool[workshop.WiredBox]
    services: KeptServices

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.sandboxes.warnings, *self.services.warnings, *self.sites.warnings)


async def open_workplace(stack: AsyncExitStack, ground: Ground) -> Workplace:
    wanted, clock = ground.settings.sandbox, ground.clock
    sandboxes = workshop.sandboxes_of(ground.settings, ground.home)
    sites = await workshop.sites_of(sandboxes, clock, wanted, wanted.idle_minutes * 60)
    stack.push_async_callback(sites.close)
    filing = Filing(sites, sandboxes.role_of)
    stack.callback(filing.close)
    shop = workshop.Workshop(sandboxes, ground.vault, clock, sites)
    stack.callback(shop.close)
    boxes = shop.pool(wanted.idle_minutes * 60, wanted.most)
    stack.push_async_callback(boxes.close)
    services = KeptServices(ground.home.path / "services.json", boxes, clock, shop.outputs)
    stack.push_async_callback(services.close)
    sites.moved = services.begin_anew
    return Workplace(sandboxes, sites, filing, shop, boxes, services)
