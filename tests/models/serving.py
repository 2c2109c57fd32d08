"""A model served over a real socket, for the tests of everything between our requests and the wire."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from daimon.abi.codec import blob_hash
from daimon.abi.errors import NotFound
from daimon.abi.ids import BlobHash
from daimon.abi.message import Message, Role, Text, ToolCall, ToolResult
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.tool import Effect, Manifest
from daimon.models.credential import Given
from daimon.models.endpoint import Endpoint
from daimon.models.provider import ProviderModel
from daimon.testing.provider.line import Line
from daimon.testing.provider.seen import Seen
from daimon.testing.provider.server import KEY, ProviderServer

SHAPES = {"openai": "gpt-4.1", "anthropic": "claude-sonnet-5-5", "google": "gemini-3.8-flash"}
"""One vendor of each protocol, with a model that it has."""
MODELS = {**SHAPES, "openrouter": "openai/gpt-4.1"}
SEARCH = Manifest(
    name="search",
    description="Searches the web.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"], "additionalProperties": False},
    effect=Effect.PURE,
)
HELLO = (Message(Role.SYSTEM, (Text("Be brief."),)), Message(Role.USER, (Text("Hello?"),)))


class Shelf:
    """Blobs in memory."""

    def __init__(self) -> None:
        self._blobs: dict[BlobHash, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        self._blobs[blob_hash(data)] = data
        return blob_hash(data)

    async def get(self, blob: BlobHash) -> bytes:
        if blob not in self._blobs:
            raise NotFound(f"no blob {blob}")
        return self._blobs[blob]


def endpoint(url: str, vendor: str = "openai", **changes) -> Endpoint:
    base_url = url if vendor in ("anthropic", "google") else f"{url}/v1"
    settings = {"name": "mine", "vendor": vendor, "model": MODELS.get(vendor, "some-model"), "base_url": base_url, "key": KEY}
    settings |= changes
    return Endpoint(**{**settings, "key": settings["key"] and Given(settings["key"])})


@asynccontextmanager
async def served(
    *script: Line, vendor: str = "openai", shelf: Shelf | None = None, **changes
) -> AsyncIterator[tuple[ProviderModel, list[Seen]]]:
    """A model, and what arrives at its provider."""
    async with ProviderServer(script) as server:
        model = ProviderModel(endpoint(server.url, vendor, **changes), shelf or Shelf())
        try:
            yield model, server.requests
        finally:
            await model.close()


async def ask(model: ProviderModel, *messages: Message, **changes) -> Reply:
    *deltas, reply = [piece async for piece in model.stream(Request(messages or HELLO, **changes))]
    assert all(isinstance(delta, Delta) for delta in deltas)
    assert isinstance(reply, Reply)
    return reply


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def answer(reply: Reply) -> Message:
    return Message(Role.ASSISTANT, reply.parts)


def result(call: ToolCall, text: str, **changes) -> Message:
    return Message(Role.TOOL, (ToolResult(call.call, call.tool, (Text(text),), **changes),))


def wire_messages(seen: Seen) -> list[str]:
    """Each as canonical text, without the marks that tell a provider where its cache may end."""
    assert isinstance(seen.json, dict)
    messages = seen.json.get("messages") or seen.json["contents"]
    return [json.dumps(_unmarked(message), sort_keys=True) for message in messages]


def _unmarked(value):
    if isinstance(value, dict):
        return {key: _unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value
