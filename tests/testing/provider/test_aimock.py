"""A second opinion on the wire format: aimock, by other people, asked the same and scripted the same.

Ours may say more in an event than aimock does, and may have events more; it must have every event of aimock in the same order,
with every key. What differs on purpose is listed in `TOLERATED`.
"""

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import anyio
import httpx2
import pytest

from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.server import ProviderServer

AIMOCK = Path(os.environ.get("DAIMON_AIMOCK", Path(__file__).parents[3] / ".tools/aimock")) / "node_modules/@copilotkit/aimock/dist/cli.js"
NODE = shutil.which("node") or ""

pytestmark = pytest.mark.skipif(not (NODE and AIMOCK.exists()), reason="aimock is not installed; scripts/aimock brings it")

LINES = {
    "a text": Line(text="Hello there, friend of tea and of coffee.", chunk=20),
    "two calls": Line(calls=(Call("search", {"query": "tea"}), Call("look", {"at": "sea"})), chunk=20),
    "thoughts": Line(text="Four.", reasoning="Two and two.", chunk=20),
}
REQUESTS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"model": "gpt-5", "stream_options": {"include_usage": True}},
    "/v1/messages": {"model": "claude-sonnet-4-5", "max_tokens": 4_096, "thinking": {"type": "enabled", "budget_tokens": 1_024}},
}
HEADERS = {"authorization": "Bearer test-key", "x-api-key": "test-key", "anthropic-version": "2023-06-01"}

DELTAS = ("role", "reasoning_content", "content", "tool_calls")

Event = tuple[str, frozenset[str]]
"""What kind of event it is, and the paths of all keys in it."""

TOLERATED = {("/v1/chat/completions", "thoughts", "role")}
"""aimock names the role after the thoughts; DeepSeek, whose field it is, names it before everything."""


@asynccontextmanager
async def aimock(tmp_path: Path) -> AsyncIterator[str]:
    fixtures = [{"match": {"userMessage": name}, "response": _fixture(line)} for name, line in LINES.items()]
    script = tmp_path / "fixtures.json"
    script.write_text(json.dumps({"fixtures": fixtures}))
    command = [NODE, str(AIMOCK), "--port", "0", "--fixtures", str(script), "--chunk-size", "20"]
    async with await anyio.open_process(command, stdout=PIPE, stderr=STDOUT) as process:
        assert process.stdout is not None
        try:
            yield await _listening(process.stdout)
        finally:
            process.kill()


def _fixture(line: Line) -> dict[str, Any]:
    if line.calls:
        return {"toolCalls": [{"name": call.tool, "arguments": call.arguments} for call in line.calls]}
    return {"content": line.text, "reasoning": line.reasoning} if line.reasoning else {"content": line.text}


async def _listening(output: AsyncIterator[bytes]) -> str:
    said = b""
    with anyio.fail_after(60):
        async for piece in output:
            said += piece
            if found := re.search(rb"listening on (http://\S+)", said):
                return found[1].decode()
    raise AssertionError(said.decode())


async def ask(url: str, path: str, text: str, *, stream: bool) -> str:
    body = {**REQUESTS[path], "messages": [{"role": "user", "content": text}], "stream": stream}
    if not stream:
        body.pop("stream_options", None)
    async with httpx2.AsyncClient(timeout=60) as client:
        reply = await client.post(url + path, json=body, headers=HEADERS)
    assert reply.status_code == 200, reply.text
    return reply.text


def events(stream: str) -> Iterator[Event]:
    for block in stream.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        data = json.loads(fields["data"]) if fields["data"] != "[DONE]" else None
        yield _kind(fields.get("event", ""), data), frozenset(_keys(data))


def _kind(event: str, data: Any) -> str:
    """Anthropic's events have a name and parts a type; those of OpenAI are told apart by what they change."""
    if data is None:
        return "[DONE]"
    if event:
        part = data.get("delta") or data.get("content_block") or {}
        return f"{event} {part.get('type', '')}".strip()
    if not data["choices"]:
        return "usage"
    (choice,) = data["choices"]
    return "finish" if choice["finish_reason"] else next(field for field in DELTAS if field in choice["delta"])


def _keys(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}"
            yield from _keys(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner, f"{path}[]")


@pytest.mark.parametrize("path", REQUESTS)
@pytest.mark.parametrize("name", LINES)
async def test_aimock_streams_nothing_that_we_do_not(path: str, name: str, tmp_path: Path) -> None:
    async with ProviderServer([LINES[name]]) as server, aimock(tmp_path) as theirs:
        ours = events(await ask(server.url, path, name, stream=True))
        expected = [event for event in events(await ask(theirs, path, name, stream=True)) if (path, name, event[0]) not in TOLERATED]
    assert len(expected) > 4
    for kind, keys in expected:
        assert any(our_kind == kind and keys <= our_keys for our_kind, our_keys in ours), (kind, keys)


@pytest.mark.parametrize("path", REQUESTS)
@pytest.mark.parametrize("name", LINES)
async def test_a_whole_reply_of_aimock_has_no_key_that_ours_has_not(path: str, name: str, tmp_path: Path) -> None:
    async with ProviderServer([LINES[name]]) as server, aimock(tmp_path) as theirs:
        ours = json.loads(await ask(server.url, path, name, stream=False))
        expected = json.loads(await ask(theirs, path, name, stream=False))
    assert set(_keys(expected)) <= set(_keys(ours))
