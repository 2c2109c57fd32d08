"""`daimon costs`: what models cost, added up by what one asks for, and how much of the limits is left.

The numbers come from a running gateway, else from the journal itself, read-only. Days are those of the owner's time zone, as the ledger
counts them. Nothing is added up as zero that nobody knows: such calls are said beside the sum.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import get_args

from rich.table import Table
from rich.text import Text

from daimon import config, homes
from daimon.abi.codec import encode
from daimon.abi.errors import BadInput
from daimon.abi.ids import HOME_SPACE
from daimon.abi.money import NOTHING, dollars
from daimon.abi.ports import Balance, Grouping, Spending
from daimon.cli import screen
from daimon.gateway.answers import Costs
from daimon.gateway.client import Client
from daimon.kernel import words
from daimon.kernel.budget import NAMES

GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
USUAL_DAYS = 30
USUAL_MONTHS = 12
BAR = 20
ROOM_FOR_BAR = 100
"""A terminal with fewer columns gets no bars."""


@dataclass(frozen=True, slots=True)
class Asked:
    by: Grouping
    since: str = ""
    until: str = ""
    """Days such as 2026-11-15, both included; empty: no bound."""

    def __str__(self) -> str:
        return f"since {self.since}" if not self.until else f"from {self.since} to {self.until}"


def costs(given: Path | None, by: str, since: str | None, until: str | None, as_json: bool) -> None:
    home = homes.home_at(given)
    settings = config.load(home.config, os.environ)
    asked = read(by, since, until, datetime.now(config.zone(settings)).date())
    found = asyncio.run(_costs(home, settings, asked))
    if as_json:
        screen.emit(encode(Costs, found))
        return
    if found.rows:
        screen.remark(f"by {asked.by}, {asked}")
        screen.out().print(_table(asked.by, found.rows))
    else:
        was_used = asyncio.run(_costs(home, settings, Asked("month"))).rows
        screen.say(f"no model was asked {asked}" if was_used else "no model has been paid for yet")
    screen.say("")
    _show_balances(found.balances)


async def _costs(home: homes.Home, settings: config.Settings, asked: Asked) -> Costs:
    client = Client(home.socket)
    if client.is_there():
        return client.costs(asked.by, asked.since, asked.until)
    from daimon.mind import budget_of
    from daimon.offline.reading import reading

    accounts = budget_of(settings).shared(datetime.now(UTC))
    async with reading(home) as journal:
        rows = await journal.spending(HOME_SPACE, asked.by, asked.since, asked.until)
        return Costs(asked.by, rows, await journal.balances(HOME_SPACE, accounts))


# -- what was asked for ------------------------------------------------------------------------------------------------


def read(by: str, since: str | None, until: str | None, today: date) -> Asked:
    """Raises BadInput. Left out: the last 30 days; by month, the last 12 months."""
    grouping = next((known for known in GROUPINGS if known == by), None)
    if grouping is None:
        raise BadInput(f"--by {by[:20]!r} is none of {', '.join(GROUPINGS)}")
    last = None if until is None else _day(until, today, "--until")
    first = _usual(grouping, last or today) if since is None else _since(since, today)
    if last is not None and first > last:
        raise BadInput(f"--since {first} is after --until {last}; give the earlier day to --since")
    return Asked(grouping, str(first), "" if last is None else str(last))


def _usual(by: Grouping, last: date) -> date:
    if by != "month":
        return _back(last, USUAL_DAYS)
    months = max(last.year * 12 + last.month - USUAL_MONTHS, 12)
    return date(months // 12, months % 12 + 1, 1)


def _since(text: str, today: date) -> date:
    if text == "month":
        return today.replace(day=1)
    if found := re.fullmatch(r"([1-9]\d{0,4})d", text):
        return _back(today, int(found[1]))
    return _day(text, today, "--since")


def _back(last: date, days: int) -> date:
    """The first of so many days that end with the last one."""
    return date.fromordinal(max(last.toordinal() - days + 1, 1))


def _day(text: str, today: date, option: str) -> date:
    if text == "today":
        return today
    try:
        return date.fromisoformat(text)
    except ValueError:
        forms = "2026-11-15, `today`, `7d` or `month`" if option == "--since" else "2026-11-15 or `today`"
        raise BadInput(f"{option} {text[:20]!r} is not a day; write it as {forms}") from None


# -- the table ---------------------------------------------------------------------------------------------------------


def _table(by: Grouping, rows: Sequence[Spending]) -> Table:
    made = screen.table(by, "calls", "fresh in", "cached in", "out", "cost", "")
    for column in made.columns[1:-1]:
        column.justify = "right"
    for row in rows:
        made.add_row(*map(Text, _cells(row)))
    made.add_row(*(Text(cell, "bold") for cell in _cells(_total(rows))))
    return made


def _cells(row: Spending) -> tuple[str, ...]:
    cached = f"{row.cached_tokens:,} ({words.share(row.cached_tokens, row.input_tokens)})" if row.cached_tokens else "0"
    return (
        screen.plain(row.key) or "-", f"{row.calls:,}", f"{words.fresh(row.input_tokens, row.cached_tokens):,}", cached,
        f"{row.output_tokens:,}", "unknown" if row.unpriced and not row.cost else dollars(row.cost), "; ".join(_remarks(row)),
    )  # fmt: skip


def _remarks(row: Spending) -> Iterator[str]:
    if row.unpriced:
        yield f"cost unknown for {words.count(row.unpriced, 'call')}"
    if row.assumed:
        yield f"of which {dollars(row.assumed)} assumed"
    if row.under_way:
        yield f"under way: {row.under_way}" + (f", up to {dollars(row.held)}" if row.held else "")


def _total(rows: Sequence[Spending]) -> Spending:
    return Spending(
        key="total",
        calls=sum(row.calls for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        cached_tokens=sum(row.cached_tokens for row in rows),
        cache_write_tokens=sum(row.cache_write_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cost=sum((row.cost for row in rows), start=NOTHING),
        assumed=sum((row.assumed for row in rows), start=NOTHING),
        unpriced=sum(row.unpriced for row in rows),
        under_way=sum(row.under_way for row in rows),
        held=sum((row.held for row in rows), start=NOTHING),
    )


# -- the limits --------------------------------------------------------------------------------------------------------


def _show_balances(balances: Sequence[Balance]) -> None:
    made = screen.table("limits", "spent", "held", "limit", "left", "", "")
    for column in made.columns[1:5]:
        column.justify = "right"
    has_bars = screen.out().width >= ROOM_FOR_BAR
    for balance in balances:
        for n, purse in enumerate(_purses(balance)):
            waiting = f"{words.count(balance.waiting, 'turn')} waiting for money" if balance.waiting and n == 0 else ""
            made.add_row(NAMES[balance.account.scope], *purse.cells(), Text(purse.bar() if has_bars else ""), Text(waiting, "yellow"))
    screen.out().print(made)
    if any(balance.waiting for balance in balances):
        screen.remark("`daimon questions` shows what is being asked")


@dataclass(frozen=True, slots=True)
class _Purse:
    """One limit, in money or in tokens."""

    spent: Decimal
    held: Decimal
    limit: Decimal | None
    say: Callable[[Decimal], str]

    def cells(self) -> tuple[str, ...]:
        spent, held = self.say(self.spent), self.say(self.held)
        return (spent, held, "none", "") if self.limit is None else (spent, held, self.say(self.limit), self.say(self.left))

    @property
    def left(self) -> Decimal:
        return max(NOTHING, (self.limit or NOTHING) - self.spent - self.held)

    def bar(self) -> str:
        """`#` is spent, `+` is held by calls under way."""
        if self.limit is None:
            return ""
        spent, taken = (BAR if not self.limit else min(BAR, int(BAR * part / self.limit)) for part in (self.spent, self.spent + self.held))
        return f"[{'#' * spent}{'+' * (taken - spent)}{'.' * (BAR - taken)}]"


def _purses(balance: Balance) -> Iterator[_Purse]:
    limit, spent, held = balance.account.limit, balance.spent, balance.held
    if limit.cost is not None or limit.tokens is None:
        yield _Purse(spent.cost or NOTHING, held.cost or NOTHING, limit.cost, dollars)
    if limit.tokens is not None:
        yield _Purse(Decimal(spent.tokens), Decimal(held.tokens), Decimal(limit.tokens), lambda tokens: f"{tokens:,} tokens")
