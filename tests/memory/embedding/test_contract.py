"""What every embedder does, the one of this machine, the one of a server and the fake."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.memory.embedding.models import needs_model

from daimon.abi.memory import Embedder
from daimon.memory.embedding import unit
from daimon.memory.embedding.process import LocalEmbedder
from daimon.memory.embedding.remote import RemoteEmbedder, Server
from daimon.testing.clock import ManualClock
from daimon.testing.embedder import WordEmbedder
from daimon.testing.provider.server import KEY, ProviderServer

PATIENCE_S = 60.0


@pytest.fixture(params=[pytest.param("local", marks=needs_model), "remote", "fake"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "fake":
        yield WordEmbedder()
        return
    async with asyncio.timeout(PATIENCE_S), ProviderServer() as server:
        far = Server(f"{server.url}/v1", "small", lambda: {"Authorization": f"Bearer {KEY}"}, str, is_near=True)
        made = LocalEmbedder(ManualClock()) if request.param == "local" else RemoteEmbedder(far, ManualClock())
        yield made
        await made.close()


async def test_it_has_a_name(embedder: Embedder) -> None:
    assert embedder.model


async def test_nothing_gives_nothing(embedder: Embedder) -> None:
    assert await embedder.embed((), "passage") == ()


async def test_each_text_has_a_vector_of_unit_length_and_all_have_one_dimension(embedder: Embedder) -> None:
    vectors = await embedder.embed(("green tea", "", "\0", "half \ud800 pair", "日本語", "🙂 " * 2_000, "x" * 200_000), "passage")
    assert [unit.fault(vector, len(vectors[0]) // 4) for vector in vectors] == [""] * 7


async def test_the_same_text_has_the_same_vector_alone_or_in_company(embedder: Embedder) -> None:
    together = await embedder.embed(tuple(f"this is text number {n}" for n in range(100)), "passage")
    (alone,) = await embedder.embed(("this is text number 57",), "passage")
    assert await embedder.embed(("this is text number 57",), "passage") == (alone,)
    apart = max(abs(a - b) for a, b in zip(memoryview(alone).cast("f"), memoryview(together[57]).cast("f"), strict=True))
    assert apart < 1e-5


async def test_many_may_ask_at_once_and_each_gets_its_own(embedder: Embedder) -> None:
    texts = [(f"one {n}", f"two {n}") for n in range(10)]
    answers = await asyncio.gather(*(embedder.embed(pair, "query") for pair in texts))
    expected = await embedder.embed(tuple(text for pair in texts for text in pair), "query")
    for n, (one, two) in enumerate(answers):
        for got, wanted in ((one, expected[2 * n]), (two, expected[2 * n + 1])):
            apart = max(abs(a - b) for a, b in zip(memoryview(got).cast("f"), memoryview(wanted).cast("f"), strict=True))
            assert apart < 1e-5
