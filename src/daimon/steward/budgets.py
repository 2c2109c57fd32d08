"""Budgets, for the page: the limits of daimon.toml, each on its own line there, and what was spent of them."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from daimon import config, settings_file
from daimon.abi.ids import HOME_SPACE
from daimon.abi.money import Account
from daimon.abi.ports import Ledger
from daimon.gateway.room import settings_budget as shown
from daimon.gateway.room.settings_budget import NewLimits, Purse
from daimon.gateway.room.settings_changed import Changed
from daimon.steward.estate import Estate

PURSES = ("turn", "conversation", "job", "agent", "person", "day", "month")


class HomeBudgets:
    def __init__(self, estate: Estate, ledger: Ledger, accounts: Callable[[], tuple[Account, ...]]) -> None:
        self._estate, self._ledger, self._accounts = estate, ledger, accounts

    async def view(self) -> shown.BudgetView:
        budget = self._estate.settings().budget
        purses = {name: Purse(cost=getattr(budget, name).cost, tokens=getattr(budget, name).tokens) for name in PURSES}
        limits = shown.Limits(**purses, unknown_price=budget.unknown_price)
        return shown.BudgetView(self._estate.version, limits, await self._ledger.balances(HOME_SPACE, self._accounts()))

    async def change(self, new: NewLimits) -> Changed:
        said = {name: purse for name in PURSES if (purse := getattr(new.limits, name)) is not None}
        changes = [settings_file.put_budget(name, _written(name, purse)) for name, purse in said.items()]
        if new.limits.unknown_price is not None:
            changes.append(settings_file.set_value("budget", "unknown_price", new.limits.unknown_price))
        return await self._estate.edit(new.version, *changes)


def _written(name: str, purse: Purse) -> dict[str, Any]:
    """No limit is said in so many words where there is one by default, and left out elsewhere."""
    usual = getattr(config.Budget(), name)
    values: tuple[tuple[str, Decimal | int | None], ...] = (("cost", purse.cost), ("tokens", purse.tokens))
    return {key: value if value is not None else (config.NONE if getattr(usual, key) is not None else None) for key, value in values}
