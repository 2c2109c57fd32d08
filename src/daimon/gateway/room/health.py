"""Costs and health on one screen: `GET /v1/health`.

Spending, budgets, figures of the stretch and how things are at this moment, read side by side. Days are the owner's, as limits count them;
the stretch ends with today. It computes nothing that the journal or the running parts do not say, and keeps nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.figures import Figures, Measured
from daimon.abi.ids import HOME_SPACE
from daimon.abi.money import NOTHING, Account, Scope
from daimon.abi.ports import Balance, Grouping, Ledger, Mailing, Overview, Spending
from daimon.gateway.answers import Letter, Status
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry

GROUPS: tuple[Grouping, ...] = ("day", "job", "model", "agent", "conversation")
MOST_KEYS = 12
"""So many of a group are told by name; the rest is summed up."""
MOST_DAYS = 90
SOME = 10
"""Of messages in trouble, and of letters."""
SHOWN = 500
"""Characters of a letter."""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Period:
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 7


@dataclass(frozen=True, slots=True)
class Spent:
    by: Grouping
    rows: tuple[Spending, ...]
    others: int = 0
    """So many more keys there are,"""
    others_cost: Decimal = NOTHING
    """with this together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    first_day: str
    last_day: str
    spent: tuple[Spent, ...]
    balances: tuple[Balance, ...]
    """Of the day and the month."""
    figures: Figures
    status: Status
    unsure: tuple[Mailing, ...]
    """Messages of which nobody knows whether they arrived, the newest."""
    undelivered: tuple[Mailing, ...]
    """Messages that could not be delivered, the newest."""
    letters: tuple[Letter, ...]
    """Input that could not be used, the newest."""


@dataclass(frozen=True, slots=True)
class HealthRoutes:
    measured: Measured
    ledger: Ledger
    overview: Overview
    accounts: Callable[[], tuple[Account, ...]]
    """Those of today and this month."""
    status: Callable[[], Awaitable[Status]]

    def all(self) -> tuple[Entry, ...]:
        return (
            Entry("GET", "/v1/health", self._health, Health, "Costs, figures and states of a stretch of days", Right.READ, query=Period),
        )

    async def _health(self, call: Call[Period, None]) -> Health:
        last, since = self._stretch(call.query.days)
        first = str(date.fromisoformat(last) - timedelta(days=call.query.days - 1))
        figures, spent, status, unsure, undelivered, letters = await asyncio.gather(
            self.measured.figures(HOME_SPACE, since),
            self._spent(first),
            self.status(),
            self.overview.mailings(SOME, state="unknown"),
            self.overview.mailings(SOME, state="failed"),
            self._letters(),
        )
        return Health(
            first_day=first, last_day=last, spent=spent, balances=status.balances, figures=figures, status=status, unsure=unsure,
            undelivered=undelivered, letters=letters,
        )  # fmt: skip

    def _stretch(self, days: int) -> tuple[str, datetime]:
        """Today, and the moment at which the first day began, on the owner's clock: midnights, however long the days were."""
        today = next(each for each in self.accounts() if each.scope is Scope.DAY)
        assert today.until is not None
        return today.key, today.until - timedelta(days=days)

    async def _spent(self, first: str) -> tuple[Spent, ...]:
        return tuple([_cut(by, await self.ledger.spending(HOME_SPACE, by, first)) for by in GROUPS])

    async def _letters(self) -> tuple[Letter, ...]:
        found = await self.overview.letters(SOME)
        return tuple(Letter(each.source, each.reason, each.at, each.body[:SHOWN].decode("utf-8", "backslashreplace")) for each in found)


def _cut(by: Grouping, rows: tuple[Spending, ...]) -> Spent:
    if by == "day":
        return Spent(by, rows)
    rest = rows[MOST_KEYS:]
    return Spent(by, rows[:MOST_KEYS], len(rest), sum((each.cost for each in rest), NOTHING))
