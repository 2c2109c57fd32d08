"""From an entry of the settings to the endpoint and the price that it stands for."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from daimon import config, keeper
from daimon.abi.errors import ProviderFailed
from daimon.abi.money import FixedPrice, Usage, worst
from daimon.endpoints import endpoint_of, price_of
from daimon.machine.home import Home
from daimon.models import probe
from daimon.models.provider import ProviderModel
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.provider.line import Line
from daimon.testing.provider.server import KEY, ProviderServer

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


# -- keys


@asynccontextmanager
async def kept(tmp_path: Path, url: str, **given: str) -> AsyncIterator[tuple[ProviderModel, keeper.Vault]]:
    entry = config.ModelEntry(vendor="openai", model="m", base_url=f"{url}/v1", **given)
    (home := Home(tmp_path / "home")).ensure()
    vault = keeper.opened(home, {})
    settings = config.Settings(models={"mine": entry})
    model = ProviderModel(endpoint_of("mine", settings, vault, {"MY_KEY": KEY}), MemoryJournal(ManualClock(), CountingIds()))
    try:
        yield model, vault
    finally:
        await model.close()


async def asked(model: ProviderModel) -> str:
    with anyio.fail_after(60):
        return (await probe.call(model, "here")).text


async def test_a_key_of_the_vault_is_shown_to_its_host_and_a_rotation_counts_from_the_next_call_on(tmp_path: Path) -> None:
    async with ProviderServer([Line(text="ok"), Line(text="ok")]) as server, kept(tmp_path, server.url, key="vault:work") as (model, vault):
        with pytest.raises(ProviderFailed, match="needs a key and none is set"):
            await asked(model)
        host = server.url.removeprefix("http://")
        vault.add("work", "not the key", keeper.Scope(hosts=(host,)))
        with pytest.raises(ProviderFailed, match="refused the key") as refused:
            await asked(model)
        assert "not the key" not in str(refused.value)
        keeper.opened(Home(tmp_path / "home"), {}).rotate("work", KEY)  # as another process does it
        assert await asked(model) == "ok"
        vault.remove("work")
        with pytest.raises(ProviderFailed, match="needs a key and none is set"):
            await asked(model)
        assert [(use.by, use.host, use.count) for use in vault.uses("work")] == [("model:mine", host, 2)]
        assert KEY not in repr(model) + repr(vars(model))


async def test_a_key_of_the_vault_is_not_shown_to_another_host(tmp_path: Path) -> None:
    async with ProviderServer([Line(text="ok")]) as server, kept(tmp_path, server.url, key="work") as (model, vault):
        vault.add("work", KEY, keeper.Scope(hosts=("api.openai.com",)))
        with pytest.raises(ProviderFailed, match=r"may not go to 127.0.0.1:\d+, only to api.openai.com") as refused:
            await asked(model)
        assert (refused.value.is_lasting, refused.value.was_sent, refused.value.reason) == (True, False, "auth")
        assert not server.requests
        assert vault.uses("work") == ()


async def test_a_key_of_the_environment_needs_no_vault(tmp_path: Path) -> None:
    async with ProviderServer([Line(text="ok")]) as server, kept(tmp_path, server.url, key="env:MY_KEY") as (model, _):
        assert await asked(model) == "ok"
    assert list((tmp_path / "home").iterdir()) == []


async def test_a_vault_that_breaks_while_it_runs_is_told_as_a_failure_of_the_model(tmp_path: Path) -> None:
    async with ProviderServer([Line(text="ok")]) as server, kept(tmp_path, server.url) as (model, vault):
        vault.add("openai", KEY, keeper.Scope(hosts=(server.url.removeprefix("http://"),)))
        assert await asked(model) == "ok"
        damage(tmp_path / "home" / "vault.sealed")
        with pytest.raises(ProviderFailed, match="damaged or was changed"):
            await asked(model)


def damage(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])
