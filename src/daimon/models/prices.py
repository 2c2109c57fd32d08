"""What models cost, as the library genai-prices has it on disk. It is never asked to update itself: no call leaves the machine.

Its own calculation is used, so that tiers and dated prices count. What it does not know, or knows only in part, is unknown: a
model without a price is not free, except where its name says that it is.
"""

from dataclasses import dataclass
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

    def cost(self, usage: Usage) -> Decimal:
        from genai_prices import Usage as Units
        from genai_prices import calc_price

        units = Units(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        return exact(calc_price(units, self.model, provider_id=self.provider).total_price)


def find(vendor: str, model: str) -> LibraryPrice | None:
    """Reads the library's data from disk the first time, which takes a while. None: unknown."""
    import genai_prices

    known = _look_up(vendor, model)
    if known is None:
        return None
    price = LibraryPrice(known[0].id, model, source(genai_prices.__version__))
    is_priced = all(price.cost(usage) > 0 for usage in (Usage(input_tokens=1_000), Usage(output_tokens=1_000)))
    return price if is_priced or model.endswith(_FREE) else None


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
