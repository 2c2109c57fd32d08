"""How far a home is set up, for the first run."""

import asyncio
from decimal import Decimal

from daimon import config, lines
from daimon.gateway.room.setup import Standing
from daimon.setup import REFLEX
from daimon.steward.estate import Estate


async def standing(estate: Estate) -> Standing:
    settings = await asyncio.to_thread(estate.settings)
    day, month = _said(settings.budget.day.cost), _said(settings.budget.month.cost)
    has_model = bool(settings.models) or set(settings.model.use) != {REFLEX}
    channels = tuple(lines.all_wanted(settings))
    return Standing(settings.model.use, has_model, channels, day, month, settings.owner.name, str(config.zone(settings)))


def _said(cost: Decimal | None) -> str:
    return "" if cost is None else f"{cost.normalize():f}"
