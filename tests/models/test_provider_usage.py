"""What a provider says that a call took and cost, believed as far as it can be."""

from decimal import Decimal

import pytest
from tests.models.serving import Shelf, ask, endpoint
from tests.models.website import chunk, events, website

from daimon.abi.model import Reply
from daimon.abi.money import FixedPrice
from daimon.models.provider import ProviderModel

LISTED = Decimal("0.000045000")
"""Of ten tokens in and one out."""
NAMED = {"openrouter": "openai/m"}


async def said(vendor: str, usage: dict, name: str = "m") -> Reply:
    counted = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11, **usage}
    more = {"provider": "x", "model": name}
    page = events(
        chunk({"role": "assistant", "content": "ok"}, **more),
        chunk({}, "stop", **more),
        chunk({}, None, usage=counted, **more),
        b"data: [DONE]\n\n",
    )
    async with website({}, page) as site:
        model = ProviderModel(endpoint(site.url, vendor, model=NAMED.get(vendor, "m"), price=FixedPrice(Decimal(3), Decimal(15))), Shelf())
        try:
            return await ask(model)
        finally:
            await model.close()


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25, "is_byok": False}, Decimal("0.25")),
        ({"cost": 0.25, "is_byok": False, "cost_details": {"upstream_inference_cost": 1.5}}, Decimal("0.25")),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 1.5}}, Decimal("1.51")),
        ({"cost": 0, "is_byok": True, "cost_details": {"upstream_inference_cost": 1.5}}, Decimal("1.5")),
    ],
)
async def test_what_a_gateway_charges_counts(usage, cost):
    reply = await said("openrouter", usage)
    assert reply.usage is not None
    assert reply.usage.cost == cost


@pytest.mark.parametrize("cost", [-100, "NaN", "Infinity", 1e30, 10_000])
async def test_a_charge_that_cannot_be_is_not_believed(cost):
    for usage in (
        {"cost": cost, "is_byok": False},
        {"cost": cost, "is_byok": True, "cost_details": {"upstream_inference_cost": 1}},
        {"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": cost}},
        {"cost": 0.01, "is_byok": True},
    ):
        reply = await said("openrouter", usage)
        assert reply.usage is not None
        assert reply.usage.cost == LISTED


@pytest.mark.filterwarnings("ignore:Failed to extract usage")  # the library's, which then knows nothing of it either
@pytest.mark.parametrize("vendor", ["openai", "openrouter", "compatible"])
@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -10},
        {"completion_tokens": -1},
        {"prompt_tokens": 10**9},
        {"completion_tokens": 10**30},
        {"prompt_tokens_details": {"cached_tokens": -5}},
    ],
)
async def test_counts_that_cannot_be_are_no_counts(vendor, usage):
    assert (await said(vendor, usage)).usage is None


async def test_a_name_that_a_provider_gives_itself_is_short_and_can_be_written():
    reply = await said("compatible", {}, "\ud800" + "x" * 1_000_000)
    assert len(reply.model) < 300
    assert all(len(remark) < 300 for remark in reply.remarks)
    reply.model.encode()


async def test_a_name_made_of_digits_costs_no_time():
    reply = await said("compatible", {}, "m" + "1" * 150 + "!")
    assert len(reply.remarks) == 1
