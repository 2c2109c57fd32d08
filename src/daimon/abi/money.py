"""What a call may cost, what it did cost, and whom it is charged to.

Money is in US dollars, as providers bill it, in whole billionths, so that sums are exact. Unknown is `None`, never zero: a model
whose price nobody knows is not free. An account is one limit's purse: a task with all that it started, a day, a month; every call
is charged to all of its accounts at once.
"""

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from enum import StrEnum
from typing import ClassVar, Protocol

from daimon.abi.plain import Moment

NOTHING = Decimal(0)
LEAST = Decimal("0.000000001")
"""The unit in which money is counted."""
MILLION = Decimal(1_000_000)
MOST_COST = Decimal(1_000_000)
MOST_TOKENS = 10**12


def exact(cost: Decimal) -> Decimal:
    """In whole units, rounded against us."""
    return cost.quantize(LEAST, ROUND_UP)


def dollars(cost: Decimal | None) -> str:
    """For people: two digits from a cent up, more below it."""
    if cost is None:
        return "an unknown amount"
    if cost == 0 or abs(cost) >= LEAST.scaleb(7):
        return f"${cost:.2f}"
    return f"${cost.quantize(Decimal('0.000001'), ROUND_UP).normalize():f}"


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int = 0
    """All of them, cached ones too."""
    output_tokens: int = 0
    cached_tokens: int = 0
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int = 0
    """Of the input: written into it."""
    cost: Decimal | None = NOTHING
    """None means unknown, never zero."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def is_sane(self) -> bool:
        """Nobody gives money or tokens back, and no call takes a trillion of them."""
        counts = (self.input_tokens, self.output_tokens, self.cached_tokens, self.cache_write_tokens)
        is_cost_sane = self.cost is None or (self.cost.is_finite() and 0 <= self.cost < MOST_COST)
        return is_cost_sane and all(0 <= count < MOST_TOKENS for count in counts)


class Scope(StrEnum):
    """What a limit is about. A task is a turn with all the turns that it started."""

    TURN = "turn"
    CONVERSATION = "conversation"
    JOB = "job"
    AGENT = "agent"
    PERSON = "person"
    """Somebody else than the owner, or a group."""
    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Limit:
    """None: as much as it takes."""

    NONE: ClassVar["Limit"]

    tokens: int | None = None
    cost: Decimal | None = None


Limit.NONE = Limit()


@dataclass(frozen=True, slots=True)
class Amount:
    tokens: int = 0
    cost: Decimal | None = NOTHING


@dataclass(frozen=True, slots=True)
class Account:
    scope: Scope
    key: str
    limit: Limit = Limit.NONE
    until: Moment | None = None
    """When it begins anew, with nothing spent. None: never."""


class Price(Protocol):
    @property
    def source(self) -> str:
        """Where it comes from and of when it is: `genai-prices 2026-11-01`, `daimon.toml`."""
        ...

    def cost(self, usage: Usage) -> Decimal:
        """What this usage costs now; its own `cost` is not looked at."""
        ...

    def dearest(self, usage: Usage) -> Decimal:
        """What it costs at the dearest hour of the day: a call may end at another hour than it began."""
        ...


@dataclass(frozen=True, slots=True)
class FixedPrice:
    """Dollars a million tokens."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    """None: as fresh input."""
    cache_write: Decimal | None = None
    """None: as fresh input."""
    source: str = "daimon.toml"

    def cost(self, usage: Usage) -> Decimal:
        fresh = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        total = fresh * self.input + usage.cached_tokens * read + usage.cache_write_tokens * write + usage.output_tokens * self.output
        return exact(total / MILLION)

    def dearest(self, usage: Usage) -> Decimal:
        return self.cost(usage)


FREE = FixedPrice(NOTHING, NOTHING, source="free")
"""Said to be free by whoever owns the hardware."""


def worst(price: Price | None, input_tokens: int, output_tokens: int) -> Amount:
    """The most that a call of this size can cost: nothing cached, or all of it written into the cache, whichever is dearer."""
    tokens = input_tokens + output_tokens
    if price is None:
        return Amount(tokens, None)
    fresh = Usage(input_tokens, output_tokens)
    written = Usage(input_tokens, output_tokens, cache_write_tokens=input_tokens)
    return Amount(tokens, max(price.dearest(fresh), price.dearest(written)))
