"""Whoever closes the stream closes the connection: nobody pays for words that nobody reads."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.models.serving import HELLO, SHAPES, Shelf, endpoint

from daimon.abi.model import Request
from daimon.models.provider import ProviderModel

every_shape = pytest.mark.parametrize("vendor", SHAPES)

_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1"}
_OPENAI = {**_CHUNK, "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": None}]}
_MESSAGE = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-5-5", "stop_reason": None}
_ANTHROPIC = [
    {"type": "message_start", "message": {**_MESSAGE, "usage": {"input_tokens": 1, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
]
_GOOGLE = {"candidates": [{"content": {"parts": [{"text": "Hello"}], "role": "model"}}]}
BEGINNINGS = {
    "openai": f"data: {json.dumps(_OPENAI)}\n\n",
    "anthropic": "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _ANTHROPIC),
    "google": f"data: {json.dumps(_GOOGLE)}\r\n\r\n",
}


class Held:
    """A server that says the beginning, if there is one, and then waits for the client to leave."""

    def __init__(self, beginning: str) -> None:
        self._beginning = beginning
        self.came = asyncio.Event()
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(length)
        self.came.set()
        if self._beginning:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + self._beginning.encode())
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
        self.left.set()


@asynccontextmanager
async def held(vendor: str, beginning: str) -> AsyncIterator[tuple[ProviderModel, Held]]:
    server = Held(beginning)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    model = ProviderModel(endpoint(f"http://127.0.0.1:{port}", vendor), Shelf())
    async with asyncio.timeout(60), listening:
        yield model, server
        await model.close()


@every_shape
async def test_closing_the_stream_in_the_middle_hangs_up(vendor):
    async with held(vendor, BEGINNINGS[vendor]) as (model, server):
        stream = model.stream(Request(HELLO))
        assert (await anext(stream)).text == "Hello"
        await stream.aclose()
        await server.left.wait()


@every_shape
async def test_cancelling_whoever_waits_for_the_next_word_hangs_up(vendor):
    async with held(vendor, BEGINNINGS[vendor]) as (model, server):
        begun = asyncio.Event()

        async def listen() -> None:
            async for _ in model.stream(Request(HELLO)):
                begun.set()

        task = asyncio.create_task(listen())
        await begun.wait()
        await _cancelled(task)
        await server.left.wait()


@every_shape
async def test_cancelling_whoever_waits_for_the_first_word_hangs_up(vendor):
    async with held(vendor, "") as (model, server):
        stream = model.stream(Request(HELLO))
        task = asyncio.create_task(anext(stream))
        await server.came.wait()
        await _cancelled(task)
        await server.left.wait()


async def _cancelled(task: asyncio.Task) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
