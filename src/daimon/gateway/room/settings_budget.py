"""Budgets as the page sets them: what models may cost a task, a day, a month. What was spent stands beside each limit."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.ports import Balance
from daimon.gateway.entry import Call, Entry
from daimon.gateway.room.settings_changed import Changed

_CHECKED = ConfigDict(extra="forbid")
Cost = Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=6)]
Tokens = Annotated[int, Field(ge=1, le=10**15)]


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Purse:
    """None: as much as it takes."""

    cost: Cost | None = None
    """US dollars."""
    tokens: Tokens | None = None


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class Limits:
    """What is left out stays as it is."""

    turn: Purse | None = None
    conversation: Purse | None = None
    job: Purse | None = None
    agent: Purse | None = None
    person: Purse | None = None
    day: Purse | None = None
    month: Purse | None = None
    unknown_price: Literal["ask", "allow"] | None = None


@checked(frozen=True, slots=True, kw_only=True, config=_CHECKED)
class NewLimits:
    version: Annotated[str, Field(max_length=64)]
    limits: Limits


@dataclass(frozen=True, slots=True)
class BudgetView:
    version: str
    """Of the settings."""
    limits: Limits
    balances: tuple[Balance, ...]
    """Of the day and the month."""


class Budgets(Protocol):
    async def view(self) -> BudgetView: ...

    async def change(self, new: NewLimits) -> Changed: ...


@dataclass(frozen=True, slots=True)
class BudgetRoutes:
    budgets: Budgets

    def all(self) -> tuple[Entry, ...]:
        path = "/v1/settings/budget"
        return (
            Entry("GET", path, self._view, BudgetView, "What models may cost, and did", Right.READ),
            Entry("PUT", path, self._change, Changed, "Change what models may cost", Right.ADMIN, body=NewLimits, is_act=True),
        )

    async def _view(self, call: Call[None, None]) -> BudgetView:
        return await self.budgets.view()

    async def _change(self, call: Call[None, NewLimits]) -> Changed:
        return await self.budgets.change(call.body)
