"""Vectors from a server: what is asked, what is taken, what is refused."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from daimon.abi.errors import ProviderFailed, ToolFailed
from daimon.memory.embedding import unit
from daimon.memory.embedding.remote import BATCH_TEXTS, RemoteEmbedder, Server
from daimon.testing.clock import ManualClock
from daimon.testing.embedder import DIMENSION, vector
from daimon.testing.provider.line import Fault, Line
from daimon.testing.provider.script import Script
from daimon.testing.provider.server import KEY, ProviderServer

PATIENCE_S = 60.0


@asynccontextmanager
async def embedder(script: Script = (), key: str = KEY) -> AsyncIterator[tuple[RemoteEmbedder, ProviderServer, ManualClock]]:
    clock = ManualClock()
    async with asyncio.timeout(PATIENCE_S), ProviderServer(script) as server:
        asked = Server(
            f"{server.url}/v1", "small", lambda: {"Authorization": f"Bearer {key}"}, lambda text: text.replace(key, "***"), is_near=True
        )
        made = RemoteEmbedder(asked, clock)
        try:
            yield made, server, clock
        finally:
            await made.close()


async def waited(made: RemoteEmbedder, clock: ManualClock, texts: tuple[str, ...]) -> tuple[bytes, ...]:
    """Time goes on by itself while it waits for another try."""
    asking = asyncio.ensure_future(made.embed(texts, "passage"))
    while not asking.done():
        await clock.advance(10)
        await asyncio.wait({asking}, timeout=0.01)
    return asking.result()


def rows(*vectors: list[float], order: list[int] | None = None) -> Line:
    indices = order or list(range(len(vectors)))
    return Line(text=json.dumps([{"index": index, "embedding": numbers} for index, numbers in zip(indices, vectors, strict=True)]))


async def test_texts_become_unit_vectors_in_their_order() -> None:
    async with embedder() as (made, server, _):
        texts = ("green tea", "black tea", "a train")
        assert await made.embed(texts, "passage") == tuple(unit.pack(vector(text)) for text in texts)
        assert server.requests[0].json == {"model": "small", "input": list(texts), "encoding_format": "float"}


async def test_no_text_asks_nobody() -> None:
    async with embedder() as (made, server, _):
        assert await made.embed((), "passage") == ()
        assert server.requests == []


async def test_many_texts_go_out_in_batches_and_come_back_whole() -> None:
    async with embedder() as (made, server, _):
        texts = tuple(f"text {n}" for n in range(2 * BATCH_TEXTS + 1))
        assert await made.embed(texts, "passage") == tuple(unit.pack(vector(text)) for text in texts)
        assert len(server.requests) == 3


async def test_strange_texts_are_sent_as_what_a_server_can_take() -> None:
    async with embedder() as (made, server, _):
        assert len(await made.embed(("", "half \ud800 pair", "x" * 100_000), "query")) == 3
        asked = server.requests[0].json
        assert isinstance(asked, dict)
        assert isinstance(asked["input"], list)
        assert asked["input"][:2] == [" ", "half ? pair"]
        assert len(str(asked["input"][2])) < 10_000


async def test_vectors_out_of_order_find_their_texts_by_index() -> None:
    async with embedder([rows([0.0, 1.0], [1.0, 0.0], order=[1, 0])]) as (made, _, _):
        assert await made.embed(("first", "second"), "passage") == (unit.pack([1.0, 0.0]), unit.pack([0.0, 1.0]))


@pytest.mark.parametrize("fault", ["429", "500", "503", "502_html", "408", "refuse_connection", "cut"])
async def test_what_can_pass_is_tried_again(fault: str) -> None:
    async with embedder([Line(fault=Fault(fault))]) as (made, server, clock):
        assert await waited(made, clock, ("tea",)) == (unit.pack(vector("tea")),)
        assert len(server.requests) == 2


async def test_what_does_not_pass_is_given_up_with_a_reason() -> None:
    async with embedder(lambda _: Line(fault=Fault("429", retry_after=2))) as (made, server, clock):
        with pytest.raises(ToolFailed, match="small failed: status 429") as failed:
            await waited(made, clock, ("tea",))
        assert failed.value.retryable
        assert len(server.requests) == 4


@pytest.mark.parametrize("fault", ["401", "404", "413", "garbage_json", "malformed", "empty", "wrong_content_type"])
async def test_what_cannot_pass_is_asked_once(fault: str) -> None:
    async with embedder([Line(fault=Fault(fault))]) as (made, server, _):
        with pytest.raises(ToolFailed, match="the embedding model small failed") as failed:
            await made.embed(("tea",), "query")
        assert not failed.value.retryable
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        rows([float("nan"), 1.0]),
        rows([float("inf"), 1.0]),
        rows([0.0, 0.0]),
        rows([]),
        rows([1.0, 0.0], [1.0, 0.0]),
        rows([1.0, 0.0], order=[1]),
        Line(text="[]"),
        Line(text='[{"index": 0, "embedding": "AAAA"}]'),
        Line(text='[{"index": 0, "embedding": [1e400]}]'),
    ],
)
async def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(answer: Line) -> None:
    async with embedder([answer]) as (made, _, _):
        with pytest.raises(ToolFailed, match="its answer"):
            await made.embed(("tea",), "query")


async def test_another_dimension_than_before_is_refused_and_the_right_one_still_taken() -> None:
    async with embedder([Line(), rows([1.0, 0.0]), Line()]) as (made, _, _):
        await made.embed(("tea",), "query")
        with pytest.raises(ToolFailed, match=f"2 numbers, not {DIMENSION}"):
            await made.embed(("tea",), "query")
        assert await made.embed(("tea",), "query") == (unit.pack(vector("tea")),)


async def test_a_wrong_key_is_said_without_the_key() -> None:
    async with embedder(key="sk-very-secret") as (made, _, _):
        with pytest.raises(ToolFailed, match="status 401") as failed:
            await made.embed(("tea",), "query")
        assert "very-secret" not in str(failed.value)


async def test_a_key_that_may_not_be_shown_is_a_failure_and_nothing_is_sent() -> None:
    def closed() -> dict[str, str]:
        raise ProviderFailed("auth", "the vault is closed", is_lasting=True, was_sent=False)

    async with asyncio.timeout(PATIENCE_S), ProviderServer() as server:
        made = RemoteEmbedder(Server(f"{server.url}/v1", "small", closed, str, is_near=True), ManualClock())
        with pytest.raises(ToolFailed, match="the vault is closed"):
            await made.embed(("tea",), "query")
        await made.close()
        assert server.requests == []
