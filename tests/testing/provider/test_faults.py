"""What the real clients show of every fault. What they do not notice is written down too: our own adapter has to."""

import json
from typing import Any

import anthropic
import anyio
import httpx2
import openai
import pytest
from google.genai import errors
from tests.testing.provider.clients import CLIENTS, MODEL, Anthropic, Google, Heard, OpenAI, failed

from daimon.testing.provider.faults import FAULTS, OTHER_MODEL, UNKNOWN_TOOL
from daimon.testing.provider.line import Call, Fault, Line
from daimon.testing.provider.server import ProviderServer

TEXT = "Grüße, a text of several events."
SHORT_S = 0.2
"""For a client that waits in vain."""

STATUS: dict[str, tuple[tuple[int, str], tuple[int, str], tuple[int, str]]] = {
    "401": ((401, "invalid_api_key"), (401, "authentication_error"), (401, "UNAUTHENTICATED")),
    "402": ((402, "Insufficient Balance"), (402, "billing_error"), (400, "FAILED_PRECONDITION")),
    "credits": ((429, "insufficient_quota"), (400, "Your credit balance is too low"), (429, "credits are depleted")),
    "403": ((403, "request_forbidden"), (403, "permission_error"), (403, "PERMISSION_DENIED")),
    "404": ((404, "model_not_found"), (404, "not_found_error"), (404, "NOT_FOUND")),
    "408": ((408, "request_timeout"), (408, "timeout_error"), (408, "DEADLINE_EXCEEDED")),
    "413": ((413, "request_too_large"), (413, "request_too_large"), (413, "payload size exceeds")),
    "too_long": ((400, "context_length_exceeded"), (400, "prompt is too long"), (400, "exceeds the maximum number of tokens")),
    "429": ((429, "rate_limit_exceeded"), (429, "rate_limit_error"), (429, "RESOURCE_EXHAUSTED")),
    "quota": ((429, "insufficient_quota"), (400, "usage limits"), (429, "PerDay")),
    "500": ((500, "server_error"), (500, "api_error"), (500, "INTERNAL")),
    "502_html": ((502, "<html>"), (502, "<html>"), (502, "<html>")),
    "503": ((503, "server_error"), (503, "api_error"), (503, "UNAVAILABLE")),
    "529": ((503, "overloaded"), (529, "overloaded_error"), (503, "overloaded")),
}
SHAPES = list(CLIENTS)


async def hear(fault: Fault, shape: str, how: str, line: Line | None = None) -> Heard:
    script = [Line(text=TEXT, fault=fault) if line is None else line]
    timeout_s = SHORT_S if fault.name in {"hang", "stall"} else 60.0
    with anyio.fail_after(60):
        async with ProviderServer(script) as server, CLIENTS[shape](server, timeout_s=timeout_s) as client:
            heard: Heard = await getattr(client, how)("Hello?")
            return heard


def broken(shape: str) -> tuple[type[Exception], ...]:
    return {"openai": OpenAI, "anthropic": Anthropic, "google": Google}[shape].broken


@pytest.mark.parametrize("name", STATUS)
async def test_an_error_answer_has_the_status_and_the_words_of_its_provider(name: str, shape: str, how: str) -> None:
    failures = (openai.APIStatusError, anthropic.APIStatusError, errors.APIError)
    with pytest.raises(failures) as raised:
        await hear(Fault(name), shape, how)
    status, body = failed(raised.value)
    expected, word = STATUS[name][SHAPES.index(shape)]
    assert status == expected
    assert word in body


async def test_the_wait_is_said_in_seconds_a_date_or_milliseconds(shape: str) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    faults = [Fault("429", retry_after=2), Fault("429", retry_after=date), Fault("429", retry_after_ms=150), Fault("429")]
    said = []
    async with ProviderServer([Line(fault=fault) for fault in faults]) as server, CLIENTS[shape](server) as client:
        for _ in faults:
            with pytest.raises(client.failure) as raised:
                await client.whole("?")
            error: Any = raised.value
            said.append((error.response.headers.get("retry-after"), error.response.headers.get("retry-after-ms")))
            if shape == "google" and len(said) == 1:
                assert error.details["error"]["details"][0]["retryDelay"] == "2s"
    seconds = (None, None) if shape == "google" else ("2", None)
    milliseconds = (None, None) if shape == "google" else (None, "150")
    assert said == [seconds, (date, None), milliseconds, (None, None)]


@pytest.mark.parametrize("name", ["refuse_connection", "hang", "stall", "cut", "cut_in_call"])
async def test_a_connection_that_fails_is_an_error_of_the_connection(name: str, shape: str, how: str) -> None:
    with pytest.raises(broken(shape)):
        await hear(Fault(name), shape, how)


@pytest.mark.parametrize("name", ["stall", "cut"])
async def test_what_came_before_a_stall_or_a_cut_was_heard(name: str) -> None:
    """Who is stalled hears no more until the server goes."""
    heard = ["", TEXT[:12], TEXT[12:24]]
    texts: list[str | None] = []
    all_came = anyio.Event()

    async def listen(server: ProviderServer) -> None:
        request: Any = {"model": MODEL, "messages": [{"role": "user", "content": "?"}], "stream": True}
        async with CLIENTS["openai"](server) as client:
            assert isinstance(client, OpenAI)
            with pytest.raises(openai.APIConnectionError):  # noqa: PT012
                async for chunk in await client.client.chat.completions.create(**request):
                    texts.append(chunk.choices[0].delta.content)
                    if len(texts) == len(heard):
                        all_came.set()

    with anyio.fail_after(60):
        line = Line(text=TEXT, fault=Fault(name, after=len(heard)))
        async with anyio.create_task_group() as group, ProviderServer([line]) as server:
            group.start_soon(listen, server)
            await all_came.wait()
    assert texts == heard


async def test_a_call_is_cut_inside_of_its_arguments() -> None:
    pieces: list[str] = []
    line = Line(calls=(Call("search", {"query": "a long one, in several events"}),), fault=Fault("cut_in_call"))
    async with ProviderServer([line]) as server, CLIENTS["openai"](server) as client:
        assert isinstance(client, OpenAI)
        request: Any = {"model": MODEL, "messages": [{"role": "user", "content": "?"}], "stream": True}
        with pytest.raises(openai.APIConnectionError):  # noqa: PT012
            async for chunk in await client.client.chat.completions.create(**request):
                pieces += [call.function.arguments for call in chunk.choices[0].delta.tool_calls or ()]
    arguments = "".join(pieces)
    assert arguments.startswith('{"query":"a long')
    assert not arguments.endswith("}")


async def test_no_client_notices_a_stream_that_ends_early_but_cleanly(shape: str) -> None:
    heard = await hear(Fault("cut_clean"), shape, "stream")
    assert heard.finish is None
    assert heard.text != TEXT


async def test_a_whole_reply_that_ends_early_is_not_json(shape: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        await hear(Fault("cut_clean"), shape, "whole")


async def test_a_slow_first_byte_is_no_failure(shape: str, how: str) -> None:
    assert (await hear(Fault("slow_first_byte", delay_s=0.01), shape, how)).text == TEXT


async def test_a_client_that_cannot_wait_for_the_first_byte_gives_up(shape: str, how: str) -> None:
    line = Line(fault=Fault("slow_first_byte", delay_s=60))
    async with ProviderServer([line]) as server, CLIENTS[shape](server, timeout_s=SHORT_S) as client:
        with pytest.raises(broken(shape)):
            await getattr(client, how)("?")


async def test_an_error_may_come_inside_of_an_open_stream(shape: str) -> None:
    kinds: dict[str, type[Exception]] = {"openai": openai.APIError, "anthropic": anthropic.APIStatusError, "google": errors.ServerError}
    with pytest.raises(kinds[shape], match="overloaded"):
        await hear(Fault("overloaded_in_stream"), shape, "stream")


async def test_an_event_that_is_not_json_is_an_error(shape: str, how: str) -> None:
    with pytest.raises((json.JSONDecodeError, errors.UnknownApiResponseError)):
        await hear(Fault("garbage_json"), shape, how)


async def test_noise_is_not_heard(shape: str, how: str) -> None:
    """Comments, ids, unknown events and fields, a line of 100,000 characters, letters cut in two."""
    line = Line(text=TEXT, reasoning="Hm, schön.", calls=(Call("search", {"query": "Tee für 2"}),), fault=Fault("noise"))
    noisy = await hear(Fault("noise"), shape, how, line)
    quiet = await hear(Fault(""), shape, how, Line(text=line.text, reasoning=line.reasoning, calls=line.calls))
    assert noisy == quiet


async def test_events_without_their_fields_are_sent() -> None:
    """Two of three clients pass them on as they are, so that is where they hurt."""
    heard = [await hear(Fault("malformed"), shape, "stream") for shape in ("openai", "google")]
    assert [each.text for each in heard] == [TEXT, TEXT]
    with pytest.raises(AttributeError):
        await hear(Fault("malformed"), "anthropic", "stream")


async def test_a_page_to_sign_in_is_no_answer(shape: str, how: str) -> None:
    async with ProviderServer([Line(fault=Fault("wrong_content_type"))]) as server, CLIENTS[shape](server) as client:
        try:
            heard = await getattr(client, how)("?")
        except (AttributeError, AssertionError, json.JSONDecodeError, errors.UnknownApiResponseError):
            heard = Heard()
    assert heard == Heard()


async def test_an_empty_stream_has_no_answer_in_it(shape: str) -> None:
    heard = await hear(Fault("empty"), shape, "stream")
    assert (heard.text, heard.calls) == ("", [])


async def test_an_empty_body_is_no_answer() -> None:
    for shape in ("openai", "anthropic"):
        with pytest.raises(json.JSONDecodeError):
            await hear(Fault("empty"), shape, "whole")
    assert await hear(Fault("empty"), "google", "whole") == Heard()


async def test_arguments_may_be_garbage() -> None:
    heard = await hear(Fault("garbage_arguments"), "openai", "stream")
    with pytest.raises(json.JSONDecodeError):
        json.loads(heard.calls[0][1])
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        await hear(Fault("garbage_arguments"), "anthropic", "stream")
    assert (await hear(Fault("garbage_arguments"), "google", "stream")).finish == "MALFORMED_FUNCTION_CALL"


async def test_a_tool_may_be_called_that_nobody_offered(shape: str, how: str) -> None:
    assert [name for name, _ in (await hear(Fault("unknown_tool"), shape, how)).calls] == [UNKNOWN_TOOL]


async def test_two_calls_may_bear_one_id(shape: str, how: str) -> None:
    heard = await hear(Fault("duplicate_call_id"), shape, how)
    assert len(heard.ids) == 2
    assert len(set(heard.ids)) == 1


async def test_the_usage_may_be_left_out(shape: str) -> None:
    assert (await hear(Fault("no_usage"), shape, "whole")).input_tokens is None


async def test_a_stream_of_anthropic_without_usage_breaks_its_client() -> None:
    with pytest.raises(AttributeError):
        await hear(Fault("no_usage"), "anthropic", "stream")
    for shape in ("openai", "google"):
        assert (await hear(Fault("no_usage"), shape, "stream")).input_tokens is None


async def test_another_model_may_answer(shape: str, how: str) -> None:
    assert (await hear(Fault("other_model"), shape, how)).model == OTHER_MODEL


@pytest.mark.parametrize(
    ("name", "finishes"),
    [
        ("refusal", ("stop", "refusal", "PROHIBITED_CONTENT")),
        ("filtered", ("content_filter", "refusal", "SAFETY")),
        ("length", ("length", "max_tokens", "MAX_TOKENS")),
    ],
)
async def test_an_answer_may_end_badly(name: str, finishes: tuple[str, str, str], shape: str, how: str) -> None:
    assert (await hear(Fault(name), shape, how)).finish == finishes[SHAPES.index(shape)]


async def test_a_refusal_of_openai_is_not_its_content() -> None:
    async with ProviderServer([Line(fault=Fault("refusal"))]) as server, httpx2.AsyncClient(timeout=60) as client:
        body = {"model": MODEL, "messages": [{"role": "user", "content": "?"}]}
        reply = await client.post(f"{server.url}/v1/chat/completions", json=body, headers={"authorization": "Bearer test-key"})
    message = reply.json()["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "I can't help with that.")


async def test_every_fault_is_recorded_by_its_name(shape: str) -> None:
    quick = [name for name in FAULTS if name not in {"hang", "stall"}]
    async with (
        ProviderServer([Line(text=TEXT, fault=Fault(name, delay_s=0)) for name in quick]) as server,
        CLIENTS[shape](server) as client,
    ):
        for _ in quick:
            try:
                await client.stream("?")
            except Exception:  # noqa: BLE001 - what is raised is another test's business
                continue
    assert [seen.answered for seen in server.requests] == quick
