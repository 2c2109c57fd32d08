"""`[budget]`: what models may cost."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator

from daimon.config.branch import Branch, Cost, Tokens

NONE = "none"


def _or_none(value: object) -> object:
    return None if value == NONE else value


TokenLimit = Annotated[Tokens | None, BeforeValidator(_or_none)]
CostLimit = Annotated[Cost | None, BeforeValidator(_or_none)]


class Purse(Branch):
    """A limit; "none" is as much as it takes."""

    tokens: TokenLimit = None
    cost: CostLimit = None
    """US dollars."""


class TaskPurse(Purse):
    tokens: TokenLimit = 2_000_000


class DayPurse(Purse):
    cost: CostLimit = Decimal(5)
    """US dollars."""


class MonthPurse(Purse):
    cost: CostLimit = Decimal(50)
    """US dollars."""


class PersonPurse(Purse):
    cost: CostLimit = Decimal(1)
    """US dollars."""


class Budget(Branch):
    """What models may cost. Every call is charged to all of these, and happens only if its worst case fits into each."""

    turn: TaskPurse = TaskPurse()
    """One task, with all that it starts."""
    conversation: Purse = Purse()
    """One conversation, a day."""
    job: Purse = Purse()
    """One automation, a day."""
    agent: Purse = Purse()
    """One agent, a day."""
    person: PersonPurse = PersonPurse()
    """One person who is not you, one group, or one program of others, a day."""
    day: DayPurse = DayPurse()
    month: MonthPurse = MonthPurse()
    unknown_price: Literal["ask", "allow"] = "ask"
    """A call whose price nobody knows, where a limit in money stands."""
