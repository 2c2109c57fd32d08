"""What the real clients make of good answers."""

import json
from typing import Any

import httpx2
import pytest
from google.genai import types
from tests.testing.provider.clients import CLIENTS, MODEL, SCHEMA, Heard, anthropic_client, google_client, openai_client

from daimon.testing.provider.line import Call, Fault, Line, Usage
from daimon.testing.provider.server import ProviderServer

TEXT = "Grüße aus dem Süden: 茶, 🍵 and more words than one event holds."
FINISHES = {
    "openai": {"stop": "stop", "length": "length", "filtered": "content_filter"},
    "anthropic": {"stop": "end_turn", "length": "max_tokens", "filtered": "refusal", "refusal": "refusal"},
    "google": {"stop": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY", "refusal": "PROHIBITED_CONTENT"},
}
CALLS = {"openai": "tool_calls", "anthropic": "tool_use", "google": "STOP"}


async def hear(line: Line, shape: str, how: str) -> Heard:
    async with ProviderServer([line]) as server, CLIENTS[shape](server) as client:
        heard: Heard = await getattr(client, how)("Hello?")
        return heard


async def test_a_text_arrives_letter_for_letter(shape: str, how: str) -> None:
    heard = await hear(Line(text=TEXT), shape, how)
    assert (heard.text, heard.model, heard.finish) == (TEXT, MODEL, FINISHES[shape]["stop"])


async def test_tools_are_called_in_parallel(shape: str, how: str) -> None:
    line = Line(text="Both.", calls=(Call("search", {"query": "tea"}), Call("look", {"at": [1, {"deep": None}]}, id="mine")))
    heard = await hear(line, shape, how)
    arguments = [json.loads(given) if isinstance(given, str) else given for _, given in heard.calls]
    assert [name for name, _ in heard.calls] == ["search", "look"]
    assert arguments == [{"query": "tea"}, {"at": [1, {"deep": None}]}]
    assert heard.ids == ["call_1_0", "mine"]
    assert (heard.text, heard.finish) == ("Both.", CALLS[shape])


async def test_thoughts_come_beside_the_text(shape: str, how: str) -> None:
    heard = await hear(Line(text="Four.", reasoning="Two and two, as ever."), shape, how)
    assert (heard.text, heard.reasoning) == ("Four.", "Two and two, as ever.")


async def test_every_finish_has_the_words_of_its_provider(shape: str, how: str) -> None:
    for finish, word in FINISHES[shape].items():
        line: Any = Line(text="So far", finish=finish)
        assert (await hear(line, shape, how)).finish == word


async def test_the_usage_may_be_given(shape: str, how: str) -> None:
    heard = await hear(Line(text="x", usage=Usage(1_000, 7, cached_tokens=600)), shape, how)
    assert (heard.input_tokens, heard.cached_tokens) == (1_000, 600)


async def test_another_model_may_answer(shape: str, how: str) -> None:
    assert (await hear(Line(text="x", model="its-cousin"), shape, how)).model == "its-cousin"


async def test_after_the_script_it_says_what_was_said(shape: str, how: str) -> None:
    async with ProviderServer() as server, CLIENTS[shape](server) as client:
        assert (await getattr(client, how)("ping")).text == "You said: ping"


async def test_a_stable_prefix_is_read_from_the_cache_of_openai() -> None:
    system = {"role": "system", "content": "You are brief. " * 20}
    first: Any = [system, {"role": "user", "content": "one"}]
    second: Any = [*first, {"role": "assistant", "content": "uno"}, {"role": "user", "content": "two"}]
    changed: Any = [{**system, "content": "You are long. " * 20}, *second[1:]]
    async with ProviderServer() as server, openai_client(server) as client:
        usages = [
            (await client.client.chat.completions.create(model=MODEL, messages=messages)).usage for messages in (first, second, changed)
        ]
    cached = [usage.prompt_tokens_details.cached_tokens for usage in usages if usage and usage.prompt_tokens_details]
    assert usages[0]
    assert cached == [0, usages[0].prompt_tokens, 0]


async def test_a_prompt_that_was_turned_away_is_in_no_cache() -> None:
    async with ProviderServer([Line(fault=Fault("429")), Line(text="a"), Line(text="b")]) as server, openai_client(server) as client:
        with pytest.raises(client.failure):
            await client.whole("?")
        heard = [await client.whole("?"), await client.whole("?")]
    assert [each.cached_tokens for each in heard] == [0, heard[0].input_tokens]


async def test_the_cache_of_google_reads_as_far_as_nothing_changed() -> None:
    def turn(role: str, text: str) -> types.Content:
        return types.Content(role=role, parts=[types.Part(text=text)])

    first = [turn("user", "one")]
    async with ProviderServer() as server, google_client(server) as client:
        replies = [
            await client.client.models.generate_content(model=MODEL, contents=contents)
            for contents in (first, [*first, turn("model", "uno"), turn("user", "two")])
        ]
    assert replies[0].usage_metadata.cached_content_token_count is None
    assert replies[1].usage_metadata.cached_content_token_count == replies[0].usage_metadata.prompt_token_count


async def test_the_cache_of_anthropic_wants_to_be_asked() -> None:
    def ask(text: str, *, marked: bool) -> Any:
        block: dict[str, Any] = {"type": "text", "text": "You are brief. " * 20}
        mark = {"cache_control": {"type": "ephemeral"}} if marked else {}
        return {"model": MODEL, "max_tokens": 9, "system": [{**block, **mark}], "messages": [{"role": "user", "content": text}]}

    async with ProviderServer() as server, anthropic_client(server) as client:
        create = client.client.messages.create
        unmarked = [(await create(**ask(text, marked=False))).usage for text in ("one", "one")]
        marked = [(await create(**ask(text, marked=True))).usage for text in ("one", "two")]
    assert [(usage.cache_read_input_tokens, usage.cache_creation_input_tokens) for usage in unmarked] == [(0, 0), (0, 0)]
    assert [(usage.cache_read_input_tokens, usage.cache_creation_input_tokens) for usage in marked] == [(0, 75), (75, 0)]
    assert {usage.input_tokens for usage in marked} == {unmarked[0].input_tokens - 75}


async def test_a_mark_of_anthropic_may_move_on_without_losing_the_cache() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    one: Any = {"role": "user", "content": [{"type": "text", "text": "a long first question", **mark}]}
    plain: Any = {"role": "user", "content": [{"type": "text", "text": "a long first question"}]}
    more: Any = [plain, {"role": "assistant", "content": "yes"}, {"role": "user", "content": [{"type": "text", "text": "and?", **mark}]}]
    async with ProviderServer() as server, anthropic_client(server) as client:
        first = await client.client.messages.create(model=MODEL, max_tokens=9, messages=[one])
        second = await client.client.messages.create(model=MODEL, max_tokens=9, messages=more)
    assert second.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens == 10


async def test_log_probabilities_come_when_asked_for(how: str) -> None:
    request: Any = {"model": MODEL, "messages": [{"role": "user", "content": "?"}], "logprobs": True, "top_logprobs": 2}
    tokens: list[Any] = []
    async with ProviderServer([Line(text="yes or no", chunk=4)]) as server, openai_client(server) as client:
        create = client.client.chat.completions.create
        if how == "whole":
            tokens = (await create(**request)).choices[0].logprobs.content
        else:
            async for chunk in await create(**request, stream=True):
                tokens += chunk.choices[0].logprobs.content if chunk.choices[0].logprobs else []
    assert "".join(token.token for token in tokens) == "yes or no"
    assert all(token.logprob < 0 and len(token.top_logprobs) == 2 for token in tokens)


async def test_without_being_asked_a_stream_of_openai_says_no_usage() -> None:
    request: Any = {"model": MODEL, "messages": [{"role": "user", "content": "?"}], "stream": True}
    async with ProviderServer() as server, openai_client(server) as client:
        chunks = [chunk async for chunk in await client.client.chat.completions.create(**request)]
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


async def test_thoughts_are_hidden_from_those_who_did_not_ask() -> None:
    script = [Line(text="Four.", reasoning="Hm.")] * 2
    async with ProviderServer(script) as server, anthropic_client(server) as claude, google_client(server) as gemini:
        message = await claude.client.messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "?"}])
        reply = await gemini.client.models.generate_content(model=MODEL, contents="?")
    assert [block.type for block in message.content] == ["text"]
    assert [part.thought for part in reply.candidates[0].content.parts] == [None]
    assert reply.usage_metadata.thoughts_token_count == 1


async def test_a_conversation_with_tools_goes_round_at_anthropic() -> None:
    """Thoughts with their signature, calls and results come back exactly as the client keeps them."""
    script = [Line(reasoning="I must look.", calls=(Call("search", {"query": "tea"}),)), Line(text="Green.")]
    messages: list[Any] = [{"role": "user", "content": "Which tea?"}]
    async with ProviderServer(script) as server, anthropic_client(server) as client:
        async with client.client.messages.stream(messages=messages, **client.request) as stream:
            first = await stream.get_final_message()
        result = {"type": "tool_result", "tool_use_id": first.content[-1].id, "content": "green"}
        messages += [first.to_param(), {"role": "user", "content": [result]}]
        second = await client.client.messages.create(messages=messages, **client.request)
    assert second.content[0].text == "Green."


async def test_a_conversation_with_tools_goes_round_at_google() -> None:
    script = [Line(calls=(Call("search", {"query": "tea"}), Call("search", {"query": "water"}))), Line(text="Green.")]
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="Which tea?")])]
    async with ProviderServer(script) as server, google_client(server) as client:
        generate = client.client.models.generate_content
        first = await generate(model="gemini-3-pro", contents=contents, config=client.config)
        answers = [types.Part.from_function_response(name="search", response={"result": "green"}) for _ in range(2)]
        contents += [first.candidates[0].content, types.Content(role="user", parts=answers)]
        second = await generate(model="gemini-3-pro", contents=contents, config=client.config)
    assert second.text == "Green."


async def test_a_conversation_with_tools_goes_round_at_openai() -> None:
    script = [Line(calls=(Call("search", {"query": "tea"}),)), Line(text="Green.")]
    messages: list[Any] = [{"role": "user", "content": "Which tea?"}]
    async with ProviderServer(script) as server, openai_client(server) as client:
        create = client.client.chat.completions.create
        first = (await create(model=MODEL, messages=messages, tools=client.tools)).choices[0].message
        assert first.tool_calls
        messages += [first.to_dict(), {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "green"}]
        second = (await create(model=MODEL, messages=messages, tools=client.tools)).choices[0].message
    assert second.content == "Green."


async def test_each_client_finds_the_list_of_models() -> None:
    names = ["small", "large"]
    async with ProviderServer(models=names) as server:
        async with openai_client(server) as openai, anthropic_client(server) as anthropic, google_client(server) as google:
            assert [model.id async for model in openai.client.models.list()] == names
            assert [model.id async for model in anthropic.client.models.list()] == names
            assert [model.name async for model in await google.client.models.list()] == ["models/small", "models/large"]
        async with httpx2.AsyncClient(timeout=60) as client:
            tags = (await client.get(f"{server.url}/api/tags")).json()
    assert [model["name"] for model in tags["models"]] == names


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/openai/chat/completions", "/api/v1/chat/completions"])
async def test_any_prefix_leads_to_the_completions(path: str) -> None:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "x", **SCHEMA}}],
    }
    async with ProviderServer() as server, httpx2.AsyncClient(timeout=60) as client:
        reply = await client.post(server.url + path, json=body, headers={"authorization": "Bearer test-key"})
    assert reply.json()["choices"][0]["message"]["content"] == "You said: hi"
