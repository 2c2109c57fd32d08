"""A provider's model as the kernel sees it, over a real socket, in each protocol."""

import asyncio
import json
import subprocess
import sys
from decimal import Decimal

import pytest
from tests.models.serving import HELLO, MODELS, SEARCH, SHAPES, Shelf, answer, ask, endpoint, result, served, user, wire_messages

from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Image, Message, Reasoning, Role, Text, ToolCall
from daimon.abi.model import Delta, Reply, Request
from daimon.abi.money import FREE, FixedPrice
from daimon.abi.step import Sampling
from daimon.models.provider import ProviderModel
from daimon.testing.provider.line import Call, Fault, Line
from daimon.testing.provider.server import ProviderServer

every_shape = pytest.mark.parametrize("vendor", SHAPES)
VENDORS = ("openai", "anthropic", "google", "deepseek", "openrouter", "ollama", "lmstudio", "llamacpp", "vllm", "compatible")


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_conversation_with_parallel_calls_goes_through_with_every_vendor(vendor):
    calls = (Call("search", {"query": "tea"}), Call("search", {"query": "milk"}))
    async with served(Line(text="Looking.", calls=calls), Line(text="Both found."), vendor=vendor) as (model, seen):
        first = await ask(model, tools=(SEARCH,))
        asked = [part for part in first.parts if isinstance(part, ToolCall)]
        assert first.finish == "tools"
        assert first.parts[0] == Text("Looking.")
        assert [(call.tool, call.arguments) for call in asked] == [("search", {"query": "tea"}), ("search", {"query": "milk"})]
        results = [result(asked[0], "green"), result(asked[1], "none", is_error=True)]
        last = await ask(model, *HELLO, answer(first), *results, tools=(SEARCH,))
        assert (last.parts, last.finish) == ((Text("Both found."),), "stop")
        assert last.model == f"{vendor}:{MODELS.get(vendor, 'some-model')}"
        assert last.remarks == ()
        assert [one.answered for one in seen] == ["reply", "reply"]
        assert b"green" in seen[1].body


@every_shape
async def test_words_arrive_one_by_one_before_the_reply(vendor):
    line = Line(text="Hello there, my friend.", calls=(Call("search", {"query": "a long question"}),))
    async with served(line, vendor=vendor) as (model, _):
        *deltas, reply = [piece async for piece in model.stream(Request(HELLO, (SEARCH,)))]
    assert isinstance(reply, Reply)
    texts = [delta.text for delta in deltas if isinstance(delta, Delta) and delta.of == "text"]
    assert "".join(texts) == "Hello there, my friend."
    assert len(texts) > 1
    written = "".join(delta.text for delta in deltas if isinstance(delta, Delta) and delta.of == "call")
    assert written.startswith("search")
    assert "a long question" in written


@pytest.mark.parametrize(
    ("vendor", "model"), [("anthropic", "claude-haiku-4-5"), ("google", "gemini-3.8-flash"), ("deepseek", "deepseek-flash")]
)
async def test_reasoning_goes_back_to_its_provider_as_it_came(vendor, model):
    line = Line(reasoning="Tea is a drink.", text="One moment.", calls=(Call("search", {"query": "tea"}),))
    async with served(line, Line(text="Done."), vendor=vendor, model=model, thinking="low") as (mine, seen):
        first = await ask(mine, tools=(SEARCH,))
        thought = first.parts[0]
        assert isinstance(thought, Reasoning)
        assert (thought.text, thought.provider) == ("Tea is a drink.", vendor)
        (call,) = [part for part in first.parts if isinstance(part, ToolCall)]
        await ask(mine, *HELLO, answer(first), result(call, "found"), tools=(SEARCH,))
        assert seen[1].answered == "reply"
        assert b"Tea is a drink." in seen[1].body


async def test_signatures_of_calls_go_back_byte_for_byte():
    async with served(Line(calls=(Call("search", {"query": "tea"}),)), Line(text="Done."), vendor="google") as (model, seen):
        first = await ask(model, tools=(SEARCH,))
        (call,) = first.parts
        assert isinstance(call, ToolCall)
        signature = json.loads(call.signature or "{}")["details"]["thought_signature"]
        await ask(model, *HELLO, answer(first), result(call, "found"), tools=(SEARCH,))
        assert signature.replace("+", "-").replace("/", "_").encode() in seen[1].body


async def test_reasoning_and_signatures_of_another_provider_stay_here():
    foreign = ToolCall("call_1", "search", {"query": "tea"}, '{"provider":"google","details":{"thought_signature":"c2VjcmV0"}}')
    said = Message(Role.ASSISTANT, (Reasoning("Private thought.", "google", "c2VjcmV0"), foreign))
    for vendor in ("openai", "anthropic", "compatible"):
        async with served(Line(text="ok"), vendor=vendor) as (model, seen):
            await ask(model, *HELLO, said, result(foreign, "found"), tools=(SEARCH,))
            assert b"Private thought." not in seen[0].body
            assert b"c2VjcmV0" not in seen[0].body


@every_shape
async def test_images_go_out_as_bytes(vendor):
    shelf = Shelf()
    picture = Image(await shelf.put(b"\x89PNG picture"), "image/png", "a cat")
    async with served(Line(text="A cat."), vendor=vendor, shelf=shelf) as (model, seen):
        request = Request((Message(Role.USER, (Text("What is this?"), picture)),))
        await ask(model, *request.messages)
        assert b"iVBORyBwaWN0dXJl" in seen[0].body


async def test_a_model_without_eyes_says_so_and_is_told_what_it_cannot_see():
    picture = Image(await Shelf().put(b"picture"), "image/png", "a cat")
    async with served(Line(text="I see."), vendor="compatible") as (model, seen):
        request = Request((Message(Role.USER, (Text("What is this?"), picture)),))
        assert not (await model.profile()).has_images
        await ask(model, *request.messages)
        assert b"[image, image/png: a cat]" in seen[0].body


async def test_a_model_without_tools_says_so_and_gets_none():
    async with served(Line(text="Fine."), vendor="compatible", has_tools=False) as (model, seen):
        assert not (await model.profile()).has_tools
        await ask(model, tools=(SEARCH,))
        assert "tools" not in seen[0].json


async def test_sampling_reaches_the_provider():
    sampling = Sampling(temperature=0.5, top_p=0.9, seed=7, max_output_tokens=100, logprobs=2)
    async with served(Line(text="Hi."), vendor="compatible") as (model, seen):
        reply = await ask(model, sampling=sampling)
        body = seen[0].json
        wanted = {"temperature": 0.5, "top_p": 0.9, "seed": 7, "max_tokens": 100, "logprobs": True, "top_logprobs": 2}
        assert {name: body[name] for name in wanted} == wanted
        assert reply.remarks == ()
        assert reply.logprobs is not None
        tokens = json.loads(reply.logprobs)
        assert [token["token"] for token in tokens] == ["Hi."]
        assert reply.logprobs == json.dumps(tokens, sort_keys=True, separators=(",", ":")).encode()


async def test_sampling_that_a_model_does_not_take_is_left_out_and_said_so():
    sampling = Sampling(temperature=0.5, seed=7, logprobs=2)
    async with served(Line(text="Hi."), vendor="anthropic") as (model, seen):
        reply = await ask(model, sampling=sampling)
        assert {"temperature", "seed"}.isdisjoint(seen[0].json)
        assert reply.remarks == tuple(
            f"claude-sonnet-5-5 does not take {name}: it was left out" for name in ("temperature", "logprobs", "seed")
        )
    async with served(Line(text="Hi."), vendor="openai", model="gpt-6.1-terra") as (model, seen):
        reply = await ask(model, sampling=Sampling(temperature=0.5))
        assert "temperature" not in seen[0].json
        assert "gpt-6.1-terra does not take temperature: it was left out" in reply.remarks


@pytest.mark.parametrize(
    ("vendor", "model", "thinking", "sent"),
    [
        ("openai", "gpt-6.1-terra", "high", '"reasoning_effort":"high"'),
        ("anthropic", "claude-sonnet-5-5", "high", '"thinking":{"type":"adaptive"'),
        ("anthropic", "claude-haiku-4-5", "high", '"thinking":{"type":"enabled","budget_tokens":6144}'),
        ("google", "gemini-3.8-flash", "low", '"thinkingConfig":{"include_thoughts":true,"thinking_level":"LOW"}'),
        ("deepseek", "deepseek-flash", "off", '"reasoning_effort":"none"'),
    ],
)
async def test_thinking_is_asked_for_in_the_words_of_the_provider(vendor, model, thinking, sent):
    async with served(Line(text="Hm."), vendor=vendor, model=model, thinking=thinking) as (mine, seen):
        await ask(mine)
        compact = json.dumps(seen[0].json, separators=(",", ":"))
        assert sent in compact


async def test_the_prompt_cache_is_asked_for_and_hit():
    long = user("A long question. " * 50)
    for vendor in SHAPES:
        async with served(Line(text="One."), Line(text="Two."), vendor=vendor) as (model, seen):
            first = await ask(model, HELLO[0], long, tools=(SEARCH,), thread="talk-1")
            second = await ask(model, HELLO[0], long, answer(first), user("And?"), tools=(SEARCH,), thread="talk-1")
            assert first.usage is not None
            assert second.usage is not None
            assert second.usage.cached_tokens > 200
            assert second.usage.input_tokens > second.usage.cached_tokens
            if vendor == "anthropic":
                assert first.usage.cache_write_tokens > 200
            if vendor == "openai":
                assert seen[0].json["prompt_cache_key"] == "talk-1"


async def test_usage_is_priced_by_the_endpoint_the_library_or_nobody():
    price = FixedPrice(Decimal(1_000), Decimal(2_000))
    for given, cost in ((price, True), (FREE, Decimal(0)), ("unknown", None)):
        async with served(Line(text="Hi."), price=given) as (model, _):
            usage = (await ask(model)).usage
            assert usage is not None
            assert usage.cost == (price.cost(usage) if cost is True else cost)
    async with served(Line(text="Hi."), vendor="compatible") as (model, _):
        usage = (await ask(model)).usage
        assert usage is not None
        assert usage.cost is None


async def test_a_provider_that_does_not_count_leaves_the_usage_unknown():
    for vendor in ("openai", "google", "ollama"):
        async with served(Line(text="Hi.", fault=Fault("no_usage")), vendor=vendor) as (model, _):
            assert (await ask(model)).usage is None


async def test_another_model_than_asked_is_remarked():
    async with served(Line(text="Hi.", model="gpt-4.1-2025-04-14"), Line(text="Hi.", model="gpt-4.1-mini"), vendor="openai") as (model, _):
        dated, other = await ask(model), await ask(model)
    assert (dated.model, dated.remarks) == ("openai:gpt-4.1-2025-04-14", ())
    assert (other.model, other.remarks) == ("openai:gpt-4.1-mini", ("asked for gpt-4.1, answered by gpt-4.1-mini",))


@every_shape
async def test_a_refusal_is_shown_to_the_owner(vendor):
    line = Line(text="I will not do that.", fault=Fault("refusal" if vendor != "google" else "filtered"))
    async with served(line, vendor=vendor) as (model, _):
        reply = await ask(model)
    assert reply.finish == "filtered"
    assert reply.parts == (Text("I will not do that."),)


@every_shape
async def test_a_reply_that_ran_out_of_tokens_says_so(vendor):
    async with served(Line(text="And then", fault=Fault("length")), vendor=vendor) as (model, _):
        reply = await ask(model)
    assert (reply.finish, reply.parts) == ("length", (Text("And then"),))


async def test_a_call_that_ran_out_of_tokens_is_never_handed_out():
    for vendor in ("openai", "anthropic"):
        line = Line(text="Wait.", calls=(Call("search", '{"query": "half of'),), finish="length")
        async with served(line, vendor=vendor) as (model, _):
            reply = await ask(model, tools=(SEARCH,))
        assert (reply.finish, reply.parts) == ("length", (Text("Wait."),))
        assert reply.remarks == ("a tool call that was not finished was left out",)


@every_shape
async def test_a_stream_cut_inside_a_call_hands_out_nothing(vendor):
    async with served(Line(fault=Fault("cut_in_call")), vendor=vendor) as (model, _):
        with pytest.raises(ProviderFailed) as failed:
            await ask(model, tools=(SEARCH,))
    assert (failed.value.reason, failed.value.was_sent) == ("cut", True)


@pytest.mark.parametrize("raw", ['{"query": "rent", "amount": 10', '{"query": ["a", "b"', '{"query": "/", "recursive": true,'])
async def test_half_arguments_are_not_completed_but_left_to_the_gate(raw):
    async with served(Line(calls=(Call("search", raw),)), vendor="compatible") as (model, _):
        reply = await ask(model, tools=(SEARCH,))
    (call,) = [part for part in reply.parts if isinstance(part, ToolCall)]
    assert call.arguments == raw


async def test_arguments_that_cannot_be_read_are_left_to_the_gate():
    async with served(Line(fault=Fault("garbage_arguments"))) as (model, _):
        reply = await ask(model, tools=(SEARCH,))
    (call,) = [part for part in reply.parts if isinstance(part, ToolCall)]
    assert isinstance(call.arguments, str)
    assert call.arguments.endswith("oops")


@every_shape
async def test_calls_with_the_same_id_get_different_ones(vendor):
    async with served(Line(fault=Fault("duplicate_call_id")), Line(text="ok"), vendor=vendor) as (model, seen):
        first = await ask(model, tools=(SEARCH,))
        calls = [part for part in first.parts if isinstance(part, ToolCall)]
        assert len({call.call for call in calls}) == 2
        await ask(model, *HELLO, answer(first), *(result(call, "x") for call in calls), tools=(SEARCH,))
        assert seen[1].answered == "reply"


@every_shape
async def test_noise_that_the_formats_allow_changes_nothing(vendor):
    async with served(Line(text="Schön ☂ here.", fault=Fault("noise")), vendor=vendor) as (model, _):
        assert (await ask(model)).parts == (Text("Schön ☂ here."),)


async def test_a_call_in_the_text_of_a_local_model_is_understood():
    text = '<think>Tea?</think>\n<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>'
    async with served(Line(text=text), vendor="llamacpp") as (model, _):
        reply = await ask(model, tools=(SEARCH,))
    thought, call = reply.parts
    assert isinstance(thought, Reasoning)
    assert (thought.text, call) == ("Tea?", ToolCall("call_1", "search", {"query": "tea"}))
    assert (reply.finish, reply.remarks) == ("tools", ("a tool call was found in the text",))


async def test_a_call_in_the_text_of_a_model_that_can_call_is_text():
    text = '{"name": "search", "arguments": {"query": "tea"}}'
    for vendor, changes in (
        ("openai", {}),
        ("anthropic", {}),
        ("openrouter", {}),
        ("deepseek", {}),
        ("llamacpp", {"reads_text_calls": False}),
    ):
        async with served(Line(text=text), vendor=vendor, **changes) as (model, _):
            reply = await ask(model, tools=(SEARCH,))
        assert (reply.parts, reply.finish) == ((Text(text),), "stop")


async def test_profiles_say_what_is_known():
    async with served(vendor="anthropic") as (model, _):
        profile = await model.profile()
    assert (profile.provider, profile.has_tools, profile.has_images, profile.is_local) == ("anthropic", True, True, False)
    assert profile.context_tokens == 1_000_000
    assert profile.price is not None
    assert profile.price.source.startswith("genai-prices ")
    async with served(vendor="compatible", context_tokens=4_096, max_output_tokens=512) as (model, _):
        profile = await model.profile()
    assert (profile.price, profile.context_tokens, profile.max_output_tokens, profile.is_local) == (None, 4_096, 512, False)
    assert profile.provider.startswith("compatible@127.0.0.1:")


async def test_models_of_different_vendors_load_at_the_same_time():
    async with ProviderServer() as server:
        models = [ProviderModel(endpoint(server.url, vendor), Shelf()) for vendor in VENDORS for _ in range(2)]
        profiles = await asyncio.gather(*(model.profile() for model in models))
        replies = await asyncio.gather(*(ask(model) for model in models))
        for model in models:
            await model.close()
    assert len(profiles) == len(models)
    assert {reply.parts for reply in replies} == {(Text("You said: Hello?"),)}


async def test_a_closed_model_can_be_asked_again():
    async with served(Line(text="One."), Line(text="Two.")) as (model, _):
        await ask(model)
        await model.close()
        assert (await ask(model)).parts == (Text("Two."),)


def test_importing_loads_no_library():
    code = """
import sys
from daimon.models import (asking, clients, contents, credential, endpoint, failures, history, opaque, prices, provider, reading, repair,
                           text_calls, traits, translate, vendors, wire)
heavy = {"pydantic_ai", "openai", "anthropic", "google", "genai_prices", "httpx2", "httpx"}
loaded = sorted({name.partition(".")[0] for name in sys.modules} & heavy)
assert not loaded, loaded
provider.ProviderModel(endpoint.Endpoint(name="m", vendor="openai", model="x", key=credential.Given("k")), None)
assert not sorted({name.partition(".")[0] for name in sys.modules} & heavy)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


async def test_the_same_request_gives_the_same_bytes_and_a_longer_one_begins_with_them():
    shelf = Shelf()
    picture = Image(await shelf.put(b"picture"), "image/png")
    call = ToolCall("weird id: functions.search/0", "search", {"query": "tea", "a": [1, None]})
    talk = (
        *HELLO,
        Message(Role.ASSISTANT, (Text("Looking."), call)),
        Message(Role.TOOL, result(call, "found").parts),
        Message(Role.USER, (Text("And this?"), picture)),
        Message(Role.ASSISTANT, (Text("A cat."),)),
        user("Good."),
    )
    for vendor in VENDORS:
        async with served(vendor=vendor, shelf=shelf, has_images=True) as (model, seen):
            for size in (len(talk), len(talk), 2, 4, 5):
                await ask(model, *talk[:size], tools=(SEARCH,), thread="t")
        assert [one.answered for one in seen] == ["reply"] * 5
        assert seen[0].body == seen[1].body
        whole = wire_messages(seen[0])
        for shorter in seen[2:]:
            assert whole[: len(wire_messages(shorter))] == wire_messages(shorter)
