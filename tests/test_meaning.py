"""Who makes vectors, as the settings say."""

import asyncio
from pathlib import Path

import pytest
from tests.memory.embedding.models import needs_model

from daimon import config, keeper
from daimon.abi.errors import Misconfigured
from daimon.machine.home import Home
from daimon.meaning import Meaning, meaning_of
from daimon.memory.embedding.unit import pack
from daimon.testing.clock import ManualClock
from daimon.testing.embedder import vector
from daimon.testing.provider.server import KEY, ProviderServer


def chosen(tmp_path: Path, embeddings: str, **models: config.ModelEntry) -> Meaning:
    (home := Home(tmp_path / "home")).ensure()
    settings = config.Settings(memory=config.Memory(embeddings=embeddings), models=models)
    return meaning_of(settings, keeper.opened(home, {}), {"MY_KEY": KEY}, ManualClock())


@needs_model
async def test_the_model_of_this_machine_is_the_default_and_its_memory_is_closed(tmp_path: Path) -> None:
    meaning = chosen(tmp_path, config.Memory().embeddings)
    assert meaning.on_this_machine is meaning.embedder
    assert meaning.embedder
    async with asyncio.timeout(60):
        assert len(await meaning.embedder.embed(("tea",), "query")) == 1
        await meaning.embedder.close()


def test_off_is_nobody_and_says_so(tmp_path: Path) -> None:
    assert chosen(tmp_path, "off") == Meaning(None, "memory.embeddings is off")


async def test_a_server_of_the_models_is_asked_with_its_key(tmp_path: Path) -> None:
    async with asyncio.timeout(60), ProviderServer() as server:
        entry = config.ModelEntry(vendor="openai", model="small", base_url=f"{server.url}/v1", key="env:MY_KEY")
        meaning = chosen(tmp_path, "mine", mine=entry)
        assert meaning.embedder
        assert meaning.on_this_machine is None
        assert await meaning.embedder.embed(("tea",), "query") == (pack(vector("tea")),)
        await meaning.embedder.close()


def test_a_name_that_nobody_has_is_said(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="names 'mine', but there is no such model; known are local, off"):
        chosen(tmp_path, "mine")


def test_a_server_without_embeddings_is_said(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="Anthropic has no /v1/embeddings"):
        chosen(tmp_path, "mine", mine=config.ModelEntry(vendor="anthropic", model="m"))
