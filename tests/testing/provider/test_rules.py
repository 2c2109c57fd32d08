"""What each provider turns away. The sentences are theirs, as far as they are known."""

import base64
from typing import Any

import httpx2
import pytest
from tests.testing.provider.clients import MODEL, anthropic_client

from daimon.testing.provider.line import Call, Line
from daimon.testing.provider.server import ProviderServer

HELLO = {"role": "user", "content": "hello"}
PIXEL = base64.b64encode(b"pixel").decode()


def called(*ids: str) -> dict[str, Any]:
    calls = [{"id": id_, "type": "function", "function": {"name": "search", "arguments": "{}"}} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(id_: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": "found"}


def shown(url: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


async def post(path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    keys = {"authorization": "Bearer test-key", "x-api-key": "test-key", "x-goog-api-key": "test-key", "anthropic-version": "2023-06-01"}
    async with ProviderServer() as server, httpx2.AsyncClient(timeout=60) as client:
        reply = await client.post(server.url + path, json=body, headers={**keys, **headers})
    assert server.requests[0].answered == ("reply" if reply.status_code == 200 else "invalid")
    parsed: dict[str, Any] = reply.json()
    return reply.status_code, parsed


@pytest.mark.parametrize(
    ("change", "sentence", "param"),
    [
        ({"model": None}, "you must provide a model parameter", None),
        ({"messages": None}, "Invalid value for 'messages'", "messages"),
        ({"messages": []}, "Invalid 'messages': empty array", "messages"),
        ({"messages": [{"content": "x"}]}, "Missing required parameter: 'messages[0].role'", "messages[0].role"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "Invalid value for 'messages[0].role'", "messages[0].role"),
        ({"messages": [{"role": "user", "content": None}]}, "expected a string, got null", "messages[0].content"),
        ({"messages": [HELLO, told("c1")]}, "must be a response to a preceeding message with 'tool_calls'", "messages.[1].role"),
        ({"messages": [HELLO, called("c1"), told("c2")]}, "'tool_call_id' of 'c2' not found", "messages.[2].tool_call_id"),
        ({"messages": [HELLO, called("c1", "c2"), told("c1")]}, "did not have response messages: c2", "messages.[3].role"),
        ({"messages": [HELLO, called("c1"), HELLO]}, "did not have response messages: c1", "messages.[2].role"),
        ({"messages": [shown("data:image/png;base64,%%%")]}, "Expected a base64-encoded data URL", "messages[0].content[0].image_url.url"),
        ({"messages": [shown("pixel.png")]}, "Expected a base64-encoded data URL", "messages[0].content[0].image_url.url"),
        ({"tools": []}, "Invalid 'tools': empty array", "tools"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled", "stream_options"),
        ({"top_logprobs": 2}, "only allowed when 'logprobs' is enabled", "top_logprobs"),
    ],
)
async def test_openai_turns_it_away(change: dict[str, Any], sentence: str, param: str | None) -> None:
    status, body = await post("/v1/chat/completions", {"model": MODEL, "messages": [HELLO], **change})
    assert status == 400
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert (body["error"]["type"], body["error"]["param"]) == ("invalid_request_error", param)
    assert sentence in body["error"]["message"]


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO, called("c1", "c2"), told("c2"), told("c1"), HELLO],
        [shown(f"data:image/png;base64,{PIXEL}")],
        [shown("https://example.com/pixel.png")],
        [{"role": "developer", "content": "be brief"}, HELLO, HELLO],
    ],
)
async def test_openai_takes_it(messages: list[Any]) -> None:
    assert (await post("/v1/chat/completions", {"model": MODEL, "messages": messages}))[0] == 200


def used(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": id_, "name": "search", "input": {}} for id_ in ids]}


def results(*ids: str) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": id_, "content": "found"} for id_ in ids]


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def pictured(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


WORDS = {"type": "text", "text": "and then?"}
MARKED = {**WORDS, "cache_control": {"type": "ephemeral"}}
THINKING = {"type": "enabled", "budget_tokens": 2_048}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"max_tokens": None}, "max_tokens: Input should be a valid integer"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, 'first message must use the "user" role'),
        ({"messages": [{"role": "system", "content": "hi"}]}, 'Unexpected role "system"'),
        ({"messages": [{"role": "robot", "content": "hi"}]}, 'Unexpected role "robot"'),
        ({"messages": [{"role": "user", "content": ""}]}, "must have non-empty content"),
        ({"messages": [user({"type": "text", "text": ""})]}, "text content blocks must be non-empty"),
        ({"messages": [HELLO, user(*results("t1"))]}, "unexpected `tool_use_id` found in `tool_result` blocks: t1"),
        ({"messages": [HELLO, used("t1")]}, "without `tool_result` blocks immediately after: t1"),
        ({"messages": [HELLO, used("t1"), user(WORDS)]}, "without `tool_result` blocks immediately after: t1"),
        ({"messages": [HELLO, used("t1", "t2"), user(*results("t1"))]}, "blocks immediately after: t2"),
        ({"messages": [HELLO, used("t1"), user(WORDS, *results("t1"))]}, "without `tool_result` blocks immediately after: t1"),
        ({"messages": [HELLO, used("t1", "t1"), user(*results("t1"))]}, "`tool_use` ids must be unique"),
        ({"messages": [user(pictured("%%%"))]}, "image.source.base64: invalid base64 data"),
        ({"messages": [HELLO, used("t1"), user({**results("t1")[0], "content": [pictured("%%%")]})]}, "invalid base64 data"),
        ({"messages": [user(*[MARKED] * 5)]}, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
        ({"tools": [{"name": "a"}, {"name": "a"}]}, "Tool names must be unique"),
        ({"thinking": {"type": "enabled"}}, "thinking.enabled.budget_tokens: Field required"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9}}, "greater than or equal to 1024"),
        ({"thinking": {"type": "enabled", "budget_tokens": 9_000}}, "must be greater than `thinking.budget_tokens`"),
        ({"thinking": THINKING, "temperature": 0.2}, "`temperature` may only be set to 1"),
        ({"thinking": THINKING, "messages": [HELLO, used("t1"), user(*results("t1"))]}, "Expected `thinking` or `redacted_thinking`"),
    ],
)
async def test_anthropic_turns_it_away(change: dict[str, Any], sentence: str) -> None:
    status, body = await post("/v1/messages", {"model": MODEL, "max_tokens": 4_096, "messages": [HELLO], **change})
    assert (status, body["type"], body["error"]["type"]) == (400, "error", "invalid_request_error")
    assert sentence in body["error"]["message"]


@pytest.mark.parametrize("field", ["model", "max_tokens", "messages"])
async def test_anthropic_names_the_missing_field(field: str) -> None:
    whole = {"model": MODEL, "max_tokens": 9, "messages": [HELLO]}
    status, body = await post("/v1/messages", {name: value for name, value in whole.items() if name != field})
    assert (status, body["error"]["message"]) == (400, f"{field}: Field required")


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO, HELLO, {"role": "assistant", "content": "hi"}, HELLO],
        [HELLO, used("t1", "t2"), user(*results("t2", "t1"), WORDS)],
        [user(pictured(PIXEL), *[MARKED] * 4)],
        [HELLO, {"role": "assistant", "content": "The answer is"}],
    ],
)
async def test_anthropic_takes_it(messages: list[Any]) -> None:
    assert (await post("/v1/messages", {"model": MODEL, "max_tokens": 9, "messages": messages}))[0] == 200


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"signature": "c29tZWJvZHkgZWxzZQ=="}, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ({"signature": ""}, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ({"thinking": "Something else."}, "cannot be modified"),
        ({}, None),
    ],
)
async def test_anthropic_wants_its_thoughts_back_unchanged(change: dict[str, str], sentence: str | None) -> None:
    script = [Line(reasoning="I must look.", calls=(Call("search", {}),))]
    async with ProviderServer(script) as server, anthropic_client(server) as client:
        first = await client.client.messages.create(messages=[{"role": "user", "content": "?"}], **client.request)
        thought, call = (block.to_dict() for block in first.content)
        answer: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "x"}]}
        messages: Any = [HELLO, {"role": "assistant", "content": [{**thought, **change}, call]}, answer]
        async with httpx2.AsyncClient(headers={"x-api-key": "test-key", "anthropic-version": "2023-06-01"}, timeout=60) as http:
            reply = await http.post(f"{server.url}/v1/messages", json={**client.request, "messages": messages})
    assert reply.status_code == (400 if sentence else 200)
    assert sentence is None or sentence in reply.json()["error"]["message"]


def model_calls(*names: str, **signed: str) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}, **signed} for name in names]}


def responds(*names: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}


ASKS = {"role": "user", "parts": [{"text": "hello"}]}
SKIP = base64.b64encode(b"skip_thought_signature_validator").decode()


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        ([], "contents is not specified"),
        ([{"role": "robot", "parts": [{"text": "x"}]}], "Please use a valid role: user, model."),
        ([{"role": "user", "parts": []}], "parts must not be empty"),
        ([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "%%%"}}]}], "Base64 decoding failed"),
        ([{"role": "user", "parts": [{"text": 3}]}], "Invalid value at 'contents[0].parts[0].text'"),
        ([ASKS, responds("a")], "function response turn comes immediately after a function call turn"),
        ([ASKS, model_calls("a", "b"), responds("a")], "number of function response parts is equal"),
        ([ASKS, model_calls("a"), ASKS], "number of function response parts is equal"),
        ([ASKS, model_calls("a")], "is followed by a function response turn"),
        ([model_calls("a"), responds("a")], "function call turn comes immediately after a user turn"),
        ([ASKS, model_calls("a"), responds("a")], "Function call is missing a thought_signature"),
        ([ASKS, model_calls("a", thoughtSignature="Zm9yZWlnbg=="), responds("a")], "Thought signature is not valid"),
    ],
)
async def test_google_turns_it_away(contents: list[Any], sentence: str) -> None:
    status, body = await post("/v1beta/models/gemini-3-pro:generateContent", {"contents": contents})
    assert (status, body["error"]["code"], body["error"]["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert sentence in body["error"]["message"]


@pytest.mark.parametrize(
    "contents",
    [
        [ASKS, model_calls("a", "b", thoughtSignature=SKIP), responds("a", "b"), ASKS],
        [ASKS, model_calls("a"), responds("a"), ASKS],
        [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PIXEL}}]}],
    ],
)
async def test_google_takes_it(contents: list[Any]) -> None:
    assert (await post("/v1beta/models/gemini-3-pro:generateContent", {"contents": contents}))[0] == 200


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"])
async def test_a_body_that_is_no_object_is_turned_away(path: str) -> None:
    status, body = await post(path, ["hello"])
    assert status == 400
    assert body["error"]["message"]
