"""What models cost, as the library genai-prices has it on disk. It is never asked to update itself: no call leaves the machine.

Its own calculation is used, so that tiers and dated prices count. Some vendors have hours at which they cost more, and a call that
begins before such an hour may be billed within it: so there is also the price at the worst hour. What the library does not know, or
knows only in part, is unknown: a model without a price is not free, except where its name says that it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

from daimon.abi.money import Usage, exact
from daimon.models.vendors import VENDORS

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider

_FREE = ":free"
NEWEST_ON = {"0.2.1": "2026-11-15"}
"""The library does not say of when its prices are. Of the release that is pinned: the day on which it was the newest."""


@dataclass(frozen=True, slots=True)
class LibraryPrice:
    provider: str
    """As the library calls it."""
    model: str
    source: str
    turns: tuple[time, ...] = ()
    """Of the day, in UTC: when the price may change. Empty: it does not."""

    def cost(self, usage: Usage) -> Decimal:
        return self._at(usage, datetime.now(UTC))

    def dearest(self, usage: Usage) -> Decimal:
        """The most that this usage can cost at any time of the day."""
        now = datetime.now(UTC)
        return max(self._at(usage, moment) for moment in (now, *(datetime.combine(now, turn) for turn in self.turns)))

    def _at(self, usage: Usage, moment: datetime) -> Decimal:
        from genai_prices import Usage as Units
        from genai_prices import calc_price

        units = Units(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        return exact(calc_price(units, self.model, provider_id=self.provider, genai_request_timestamp=moment).total_price)


def find(vendor: str, model: str) -> LibraryPrice | None:
    """Reads the library's data from disk the first time, which takes a while. None: unknown."""
    import genai_prices

    known = _look_up(vendor, model)
    if known is None:
        return None
    provider, info = known
    price = LibraryPrice(provider.id, model, source(genai_prices.__version__), tuple(sorted(set(_turns(info)))))
    is_priced = all(price.cost(usage) > 0 for usage in (Usage(input_tokens=1_000), Usage(output_tokens=1_000)))
    return price if is_priced or model.endswith(_FREE) else None


def _turns(model: "ModelInfo") -> Iterator[time]:
    from genai_prices.types import TimeOfDateConstraint

    for price in model.prices if isinstance(model.prices, list) else ():
        if isinstance(price.constraint, TimeOfDateConstraint):
            for turn in (price.constraint.start_time, price.constraint.end_time):
                yield turn if turn.tzinfo else turn.replace(tzinfo=UTC)


def source(version: str) -> str:
    return f"genai-prices {version}" + (f", {NEWEST_ON[version]}" if version in NEWEST_ON else "")


def context_tokens(vendor: str, model: str) -> int | None:
    known = _look_up(vendor, model)
    return known[1].context_window if known else None


def _look_up(vendor: str, model: str) -> "tuple[Provider, ModelInfo] | None":
    from genai_prices.data_snapshot import get_snapshot

    provider = VENDORS[vendor].prices
    if provider is None:
        return None
    try:
        return get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
