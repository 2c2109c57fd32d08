"""What models cost: known, or unknown, and never free by accident."""

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices import Usage as Units
from genai_prices import calc_price

from daimon.abi.money import Usage, worst
from daimon.models.prices import LibraryPrice, context_tokens, find
from daimon.models.vendors import VENDORS


def test_every_suggested_model_has_a_price_and_a_size():
    for vendor in VENDORS.values():
        if vendor.model:
            assert find(vendor.name, vendor.model) is not None
            assert (context_tokens(vendor.name, vendor.model) or 0) > 100_000


@pytest.mark.parametrize(("vendor", "model"), [("openai", "gpt-99"), ("openai", "whisper-1"), ("google", "gemma-3"), ("ollama", "qwen3")])
def test_what_the_library_does_not_know_is_unknown(vendor, model):
    assert find(vendor, model) is None


def test_a_model_that_calls_itself_free_is_free():
    price = find("openrouter", "deepseek/deepseek-r1:free")
    assert price is not None
    assert price.cost(Usage(1_000, 1_000)) == 0


def test_cached_tokens_cost_less_and_written_ones_more():
    price = find("anthropic", "claude-sonnet-5-5")
    assert price is not None
    fresh, read, written = (price.cost(Usage(1_000, 0, cached, wrote)) for cached, wrote in ((0, 0), (1_000, 0), (0, 1_000)))
    assert read < fresh < written
    assert price.cost(Usage(1_000, 1_000)) > fresh


def test_long_prompts_are_priced_by_their_tier():
    price = find("openai", "gpt-6.1-terra")
    assert price is not None
    short, long = price.cost(Usage(100_000)), price.cost(Usage(1_000_000))
    assert long > short * 10


def test_a_price_says_where_it_comes_from_and_bounds_a_call():
    price = find("openai", "gpt-4.1-2025-04-14")
    assert isinstance(price, LibraryPrice)
    assert price.source.startswith("genai-prices 0.")
    most = worst(price, 1_000, 500)
    assert most.cost is not None
    assert most.cost >= price.cost(Usage(1_000, 500, 300, 200))
    assert most.cost == most.cost.quantize(Decimal("0.000000001"))


@pytest.mark.parametrize("model", ["deepseek-flash", "deepseek-reasoner"])
def test_a_call_is_bounded_by_the_dearest_hour_of_the_day(model):
    price = find("deepseek", model)
    assert price is not None
    usage, units = Usage(30_000, 8_192), Units(input_tokens=30_000, output_tokens=8_192)
    day = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [day.replace(hour=hour, minute=minute) for hour in range(24) for minute in (0, 29, 30, 59)]
    costs = [calc_price(units, model, provider_id="deepseek", genai_request_timestamp=hour).total_price for hour in hours]
    assert min(costs) < max(costs)
    assert price.dearest(usage) == max(costs)


def test_a_price_without_hours_is_the_dearest_itself():
    price = find("anthropic", "claude-sonnet-5-5")
    assert price is not None
    assert price.turns == ()
    assert price.dearest(Usage(1_000, 1_000)) == price.cost(Usage(1_000, 1_000))


def test_looking_up_a_price_asks_nobody():
    code = """
import asyncio, sys

def refuse(event, _):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise AssertionError(event)

sys.addaudithook(refuse)
from daimon.models.credential import Given
from daimon.models.endpoint import Endpoint
from daimon.models.provider import ProviderModel

async def main():
    return await ProviderModel(Endpoint(name="m", vendor="google", model="gemini-3.8-flash", key=Given("k")), None).profile()

assert asyncio.run(main()).price
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
