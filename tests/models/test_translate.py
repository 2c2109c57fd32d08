"""Our requests on their way to the wire, and answers on their way back."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import BinaryContent, FilePart, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.usage import RequestUsage
from tests.models.serving import HELLO, SEARCH, SHAPES, Shelf, answer, ask, endpoint, result, served, user

from daimon.abi.ids import BlobHash
from daimon.abi.message import Audio, File, Image, Message, Reasoning, Role, Text, ToolCall, ToolResult
from daimon.abi.model import Reply, Request
from daimon.models.contents import MOST_CHARACTERS, Senses, fetched, shown
from daimon.models.history import EARLIER, INTERRUPTED, mended
from daimon.models.opaque import Opaque, pack, unpack
from daimon.models.reading import Answered, reply
from daimon.testing.provider.line import Line

CALL = ToolCall("c1", "search", {"query": "tea"})
ALL = Senses(images=True, sounds=True, documents=True)
NONE = Senses()


def said(*parts) -> Message:
    return Message(Role.ASSISTANT, parts)


# -- histories ---------------------------------------------------------------------------------------------------------


def test_a_call_without_a_result_gets_one_that_says_so():
    other = replace(CALL, call="c2")
    out = mended((user("Hi"), said(CALL, other), result(other, "milk"), user("Still there?")))
    assert [message.role for message in out] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]
    lost, kept = out[2].parts
    assert lost == ToolResult("c1", "search", (Text(INTERRUPTED),), is_error=True)
    assert kept == result(other, "milk").parts[0]


def test_results_stand_with_their_calls_and_in_their_order():
    other = replace(CALL, call="c2")
    out = mended((user("Hi"), said(CALL, other), user("Hurry!"), result(other, "milk"), result(CALL, "tea")))
    assert [part.call for part in out[2].parts] == ["c1", "c2"]
    assert out[3] == user("Hurry!")


def test_a_result_without_a_call_is_told_as_text():
    out = mended((user("Hi"), result(CALL, "tea"), said(CALL), result(CALL, "green"), result(CALL, "black")))
    assert out[1].parts == (Text("[result of search, whose call is not in this history]"), Text("tea"))
    assert out[3].parts == result(CALL, "green").parts
    assert out[4].text.endswith("black")


def test_empty_texts_and_messages_disappear():
    out = mended((Message(Role.SYSTEM, (Text(""),)), user("  \n"), Message(Role.USER, (Text(""), Text("Hi"))), said(Text(""))))
    assert out == (user("Hi"),)


def test_half_characters_do_not_reach_the_wire():
    assert mended((user("a\ud83d"),))[0].text == "a?"


def test_a_history_that_was_cut_begins_with_the_user():
    assert mended((HELLO[0], said(Text("And so on.")), user("Go on")))[1] == user(EARLIER)


def test_a_later_word_of_the_system_does_not_change_what_came_before():
    later = Message(Role.SYSTEM, (Text("It is late."),))
    assert mended((*HELLO, later))[: len(HELLO)] == mended(HELLO)
    assert mended((*HELLO, later))[-1] == user("[system] It is late.")


ids = st.sampled_from(["c1", "c2", "c3"])
parts = {
    Role.USER: st.just(Text("hi")) | st.just(Text("")),
    Role.SYSTEM: st.just(Text("be kind")),
    Role.ASSISTANT: st.just(Text("yes")) | st.builds(ToolCall, ids, st.just("search"), st.just({})),
    Role.TOOL: st.builds(lambda call: ToolResult(call, "search", (Text("found"),)), ids),
}
histories = st.lists(
    st.sampled_from(list(Role)).flatmap(lambda role: st.lists(parts[role], max_size=3).map(lambda p: Message(role, tuple(p)))), max_size=12
)


@settings(deadline=None)
@given(histories)
def test_whatever_the_history_was_every_call_is_followed_by_its_result(messages):
    out = mended(messages)
    assert all(message.parts for message in out)
    for place, message in enumerate(out):
        after = out[place + 1] if place + 1 < len(out) else None
        if message.role is Role.TOOL:
            continue
        wanted = [call.call for call in message.calls]
        is_result = after is not None and after.role is Role.TOOL
        assert is_result == bool(wanted)
        if is_result:
            assert [part.call for part in after.parts] == wanted
    roles = [message.role for message in out]
    assert Role.SYSTEM not in roles[roles.count(Role.SYSTEM) :]


@pytest.mark.parametrize("vendor", SHAPES)
async def test_a_broken_history_is_accepted_by_every_provider(vendor):
    talk = (
        *HELLO,
        result(replace(CALL, call="c0"), "late"),
        said(Text(""), CALL, replace(CALL, call="c2", arguments="not json")),
        user("Never mind."),
        user("Hello?"),
        said(ToolCall("functions.search:0", "search", [1, 2])),
        Message(Role.TOOL, (ToolResult("functions.search:0", "search", ()),)),
    )
    async with served(Line(text="Here."), vendor=vendor) as (model, seen):
        assert (await ask(model, *talk, tools=(SEARCH,))).parts == (Text("Here."),)
    assert INTERRUPTED.encode() in seen[0].body


async def test_only_strict_providers_get_other_ids_than_were_given():
    call = replace(CALL, call="functions.search:0")
    for vendor, keeps in (("anthropic", False), ("openai", False), ("compatible", True)):
        async with served(Line(text="ok"), vendor=vendor) as (model, seen):
            await ask(model, *HELLO, said(call), result(call, "x"), tools=(SEARCH,))
        assert (b"functions.search:0" in seen[0].body) == keeps


async def test_a_family_that_takes_only_short_ids_gets_them():
    async with served(Line(text="ok"), vendor="vllm", model="mistralai/Mistral-Small") as (model, seen):
        await ask(model, *HELLO, said(CALL), result(CALL, "x"), tools=(SEARCH,))
    _, _, called, answered = seen[0].json["messages"]
    assert len(answered["tool_call_id"]) == 9
    assert called["tool_calls"][0]["id"] == answered["tool_call_id"]


async def test_a_model_that_goes_on_for_another_does_not_think_about_what_it_never_thought():
    async with served(Line(text="ok"), Line(text="ok"), vendor="anthropic", model="claude-haiku-4-5", thinking="low") as (model, seen):
        await ask(model, *HELLO, tools=(SEARCH,))
        await ask(model, *HELLO, said(Reasoning("Hm.", "openai"), CALL), result(CALL, "x"), tools=(SEARCH,))
    assert seen[0].json["thinking"]["type"] == "enabled"
    assert "thinking" not in seen[1].json


async def test_a_failed_tool_is_told_as_failed():
    async with served(Line(text="ok"), vendor="anthropic") as (model, seen):
        await ask(model, *HELLO, said(CALL), result(CALL, "boom", is_error=True), tools=(SEARCH,))
    assert b'"is_error":true' in seen[0].body


async def test_tools_keep_their_order_and_schemas_are_strict_where_possible():
    tools = tuple(replace(SEARCH, name=name) for name in ("zebra", "apple", "mango"))
    async with served(Line(text="ok")) as (model, seen):
        await ask(model, tools=tools)
    sent = [tool["function"] for tool in seen[0].json["tools"]]
    assert [tool["name"] for tool in sent] == ["zebra", "apple", "mango"]
    assert all(tool["strict"] for tool in sent)
    assert sent[0]["parameters"] == SEARCH.parameters


# -- things ------------------------------------------------------------------------------------------------------------


async def seen_as(thing, data: bytes, senses: Senses):
    shelf = Shelf()
    kept = replace(thing, blob=await shelf.put(data))
    messages = (Message(Role.USER, (kept,)),)
    (item,) = shown(messages[0].parts, senses, await fetched(messages, senses, shelf))
    return item


HERE = BlobHash("")


async def test_things_are_sent_to_whoever_takes_them():
    for thing in (Image(HERE, "image/png"), Audio(HERE, "audio/wav"), File(HERE, "a.pdf", "application/pdf", 4)):
        item = await seen_as(thing, b"data", ALL)
        assert isinstance(item, BinaryContent)
        assert (item.data, item.media_type) == (b"data", thing.media_type)


@pytest.mark.parametrize(
    ("thing", "senses", "words"),
    [
        (Image(HERE, "image/png", "a cat"), NONE, "[image, image/png: a cat]"),
        (Image(HERE, "image/heic"), ALL, "[image, image/heic]"),
        (Audio(HERE, "audio/wav", 3.2), NONE, "[audio, audio/wav, 3 s]"),
        (Audio(HERE, "audio/wav", 3.2, "hello"), ALL, "[spoken] hello"),
        (File(HERE, "a.pdf", "application/pdf", 4), NONE, "[file a.pdf, application/pdf, 4 bytes]"),
        (File(HERE, "a.zip", "application/zip", 4), ALL, "[file a.zip, application/zip, 4 bytes]"),
        (File(HERE, "a.txt", "text/plain; charset=utf-8", 4), NONE, "[file a.txt]\ndata\n[end of file a.txt]"),
        (File(HERE, "a.json", "application/json", 4), NONE, "[file a.json]\ndata\n[end of file a.json]"),
    ],
)
async def test_things_are_named_to_whoever_does_not(thing, senses, words):
    assert await seen_as(thing, b"data", senses) == words


async def test_a_long_file_is_cut_and_says_so():
    item = await seen_as(File(HERE, "a.txt", "text/plain", 200_000), b"x" * 200_000, NONE)
    assert len(item) < MOST_CHARACTERS + 200
    assert "[cut: the first 100000 of 200000 characters]" in item


async def test_what_is_gone_is_named():
    messages = (Message(Role.USER, (Image(BlobHash("0" * 64), "image/png", "a cat"),)),)
    blobs = await fetched(messages, ALL, Shelf())
    assert shown(messages[0].parts, ALL, blobs) == ["[image, image/png: a cat]"]


@pytest.mark.parametrize("vendor", SHAPES)
async def test_an_image_from_a_tool_is_seen(vendor):
    shelf = Shelf()
    picture = Image(await shelf.put(b"\x89PNG picture"), "image/png")
    shot = Message(Role.TOOL, (ToolResult("c1", "search", (Text("A screenshot:"), picture)),))
    async with served(Line(text="I see."), vendor=vendor, shelf=shelf) as (model, seen):
        await ask(model, *HELLO, said(CALL), shot, tools=(SEARCH,))
    assert seen[0].answered == "reply"
    assert b"iVBORyBwaWN0dXJl" in seen[0].body


# -- what is kept for the provider -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opaque",
    [
        Opaque(),
        Opaque(signature="c2lnbmVk"),
        Opaque(signature="c2lnbmVk", id="redacted_thinking"),
        Opaque(id="reasoning_content"),
        Opaque(details={"thought_signature": "c2lnbmVk"}, provider="google"),
    ],
)
def test_what_is_packed_is_unpacked_as_it_was(opaque):
    assert unpack(pack(opaque)) == opaque


def test_a_bare_signature_stays_bare():
    assert pack(Opaque(signature="c2lnbmVk")) == "c2lnbmVk"


# -- answers -----------------------------------------------------------------------------------------------------------


def read(*parts, finish="stop", details=None, vendor="openai", request=None, **changes) -> Reply:
    response = ModelResponse(
        list(parts),
        usage=RequestUsage(input_tokens=100, output_tokens=10),
        model_name=changes.pop("model_name", None),
        finish_reason=finish,
        provider_details=details if details is not None else {"finish_reason": finish},
    )
    return reply(Answered(response, endpoint("http://x", vendor, **changes), None, request or Request(HELLO)))


def test_what_a_gateway_says_it_charges_is_what_it_costs():
    usage = read(TextPart("Hi"), details={"finish_reason": "stop", "cost": 0.000123}, vendor="openrouter").usage
    assert usage is not None
    assert usage.cost == Decimal("0.000123")
    assert read(TextPart("Hi")).usage.cost is None


def test_calls_without_ids_get_the_same_ones_every_time():
    request = Request((*HELLO, said(replace(CALL, call="call_2")), result(replace(CALL, call="call_2"), "x")))
    parts = (ToolCallPart("search", {}, "pyd_ai_0123"), ToolCallPart("search", {}, "own"), ToolCallPart("search", {}, "own"))
    once, again = (read(*parts, finish="tool_call", request=request) for _ in range(2))
    assert [part.call for part in once.parts] == ["call_3", "own", "call_4"]
    assert once == again


def test_calls_are_dropped_from_what_a_filter_stopped():
    out = read(TextPart("Well"), ToolCallPart("search", '{"query": "x"}', "c"), finish="content_filter")
    assert (out.parts, out.finish) == ((Text("Well"),), "filtered")


def test_a_whole_call_survives_the_limit():
    assert read(ToolCallPart("search", '{"query": "x"}', "c"), finish="length").finish == "length"
    assert read(ToolCallPart("search", '{"query": "x"}', "c"), finish="length").parts == (ToolCall("c", "search", {"query": "x"}),)
    assert read(ToolCallPart("search", "", "c"), finish="length").parts == ()


def test_redacted_thoughts_are_kept_for_their_provider():
    (thought,) = read(ThinkingPart("", id="redacted_thinking", signature="c2VjcmV0"), vendor="anthropic").parts
    assert thought == Reasoning("", "anthropic", '{"id":"redacted_thinking","signature":"c2VjcmV0"}')


async def test_redacted_thoughts_go_back():
    thought = Reasoning("", "anthropic", json.dumps({"id": "redacted_thinking", "signature": "c2VjcmV0"}))
    async with served(Line(text="ok"), vendor="anthropic") as (model, seen):
        await ask(model, *HELLO, said(thought, Text("Yes.")), user("Go on"))
    assert b'{"data":"c2VjcmV0","type":"redacted_thinking"}' in seen[0].body


async def test_a_thought_that_was_interrupted_does_not_go_back_to_whoever_signs_them():
    async with served(Line(text="ok"), vendor="anthropic") as (model, seen):
        await ask(model, *HELLO, said(Reasoning("Half a thou", "anthropic"), Text("Yes.")), user("Go on"))
    assert b"Half a thou" not in seen[0].body


async def test_signatures_of_texts_go_back_on_the_text():
    signed = read(TextPart("Yes.", provider_name="google", provider_details={"thought_signature": "c2VjcmV0"}), vendor="google")
    assert signed.parts == (Reasoning("", "google", "c2VjcmV0"), Text("Yes."))
    async with served(Line(text="ok"), vendor="google") as (model, seen):
        await ask(model, *HELLO, answer(signed), user("Go on"))
    assert {"text": "Yes.", "thoughtSignature": "c2VjcmV0"} in seen[0].json["contents"][1]["parts"]


def test_parts_that_nobody_asked_for_are_left_out():
    assert read(FilePart(BinaryContent(b"x", media_type="image/png")), TextPart("Hi")).parts == (Text("Hi"),)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-6", "gpt-6-2026-01-01"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
        ("gemini-2.5-flash", "models/gemini-2.5-flash-preview-09-2025"),
        ("gemini-flash-latest", "gemini-3.8-flash"),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
        ("qwen3", "qwen3:latest"),
        ("GPT-4o", "gpt-4o-0806"),
    ],
)
def test_a_variant_of_the_model_is_the_model(asked, answered):
    assert read(TextPart("Hi"), vendor="compatible", model=asked, model_name=answered).remarks == ()


@pytest.mark.parametrize(("asked", "answered"), [("gpt-6", "gpt-6-mini"), ("gpt-4o", "gpt-4"), ("a/big", "a/small"), ("o3", "o3-pro")])
def test_another_model_is_another_model(asked, answered):
    assert read(TextPart("Hi"), vendor="compatible", model=asked, model_name=answered).remarks == (
        f"asked for {asked}, answered by {answered}",
    )
