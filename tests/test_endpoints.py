"""From an entry of the settings to the endpoint and the price that it stands for."""

from decimal import Decimal

import pytest

from daimon import config
from daimon.abi.money import FixedPrice, Usage, worst
from daimon.endpoints import price_of

WRITTEN = Usage(100_000, 0, cache_write_tokens=100_000)


def priced(vendor: str, model: str, **more: Decimal) -> FixedPrice:
    own = config.Price(input=Decimal(3), output=Decimal(15), **more)
    price = price_of(config.ModelEntry(vendor=vendor, model=model, price=own))
    assert isinstance(price, FixedPrice)
    return price


@pytest.mark.parametrize(("vendor", "model"), [("anthropic", "claude-sonnet-5-5"), ("openrouter", "anthropic/claude-sonnet-5.5")])
def test_what_anthropics_cache_is_to_keep_costs_a_quarter_more_unless_said_otherwise(vendor: str, model: str) -> None:
    price = priced(vendor, model)
    assert price.cost(WRITTEN) == Decimal("0.375")
    assert worst(price, 100_000, 0).cost == Decimal("0.375")
    assert price.cost(Usage(100_000)) == Decimal("0.3")
    assert priced(vendor, model, cache_write=Decimal(6)).cost(WRITTEN) == Decimal("0.6")


@pytest.mark.parametrize(("vendor", "model"), [("openai", "gpt-6.1-terra"), ("openrouter", "openai/gpt-4.1"), ("compatible", "m")])
def test_others_ask_nothing_for_it(vendor: str, model: str) -> None:
    assert priced(vendor, model).cost(WRITTEN) == Decimal("0.3")
