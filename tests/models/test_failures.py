"""Every way in which a provider fails has one reason and one sentence that helps."""

import asyncio
import socket

import pytest
from tests.models.serving import HELLO, SHAPES, Shelf, ask, endpoint, served

from daimon.abi.errors import ProviderFailed
from daimon.abi.model import Request
from daimon.models.failures import failed
from daimon.models.provider import ProviderModel
from daimon.testing.provider.line import Fault, Line
from daimon.testing.provider.server import KEY, ProviderServer

UNSENT, SENT = False, True
TABLE = {
    "401": ("auth", UNSENT),
    "403": ("auth", UNSENT),
    "402": ("payment", UNSENT),
    "credits": ("payment", UNSENT),
    "404": ("not_found", UNSENT),
    "408": ("timeout", UNSENT),
    "413": ("too_long", UNSENT),
    "too_long": ("too_long", UNSENT),
    "429": ("rate", UNSENT),
    "500": ("server", UNSENT),
    "502_html": ("server", UNSENT),
    "503": ("overloaded", UNSENT),
    "529": ("overloaded", UNSENT),
    "wrong_content_type": ("garbage", UNSENT),
    "refuse_connection": ("cut", SENT),
    "cut": ("cut", SENT),
    "cut_clean": ("cut", SENT),
    "cut_in_call": ("cut", SENT),
    "overloaded_in_stream": ("overloaded", SENT),
    "garbage_json": ("garbage", SENT),
}
LASTING = {"auth", "payment", "not_found", "too_long", "rejected"}


async def failure(model: ProviderModel) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as raised:
        await ask(model)
    return raised.value


@pytest.mark.parametrize("vendor", SHAPES)
@pytest.mark.parametrize("fault", TABLE)
async def test_every_fault_has_its_reason(fault, vendor):
    line = Line(text="Hello there, my friend, how are you on this fine and sunny day?", fault=Fault(fault, after=4))
    async with served(line, vendor=vendor) as (model, _):
        found = await failure(model)
    assert (found.reason, found.was_sent) == TABLE[fault]
    assert found.is_lasting == (found.reason in LASTING or fault == "wrong_content_type")
    assert "http://127.0.0.1:" in str(found)
    assert KEY not in str(found)


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "deepseek", "openrouter"])
async def test_a_limit_that_only_money_lifts_is_told_from_one_that_time_lifts(vendor):
    async with served(Line(fault=Fault("quota")), Line(fault=Fault("429")), vendor=vendor) as (model, _):
        assert [(await failure(model)).reason, (await failure(model)).reason] == ["payment", "rate"]


@pytest.mark.parametrize("vendor", SHAPES)
async def test_the_time_to_wait_is_read(vendor):
    async with served(Line(fault=Fault("429", retry_after=17)), vendor=vendor) as (model, _):
        assert (await failure(model)).retry_after_s == 17


def test_google_says_in_the_body_how_long_to_wait():
    from pydantic_ai.exceptions import ModelHTTPError

    body = {"error": {"message": "slow down", "details": [{"reason": "X"}, {"@type": "RetryInfo", "retryDelay": "34.5s"}]}}
    assert failed(ModelHTTPError(429, "m", body), endpoint("http://x", "google"), is_open=False).retry_after_s == 34.5


async def test_an_answer_without_anything_in_it_is_empty():
    for vendor in ("openai", "google"):
        async with served(Line(fault=Fault("empty")), vendor=vendor) as (model, _):
            assert (await failure(model)).reason == "empty"


async def test_the_sentences_name_the_model_the_place_and_what_to_do():
    async with served(Line(fault=Fault("404")), vendor="openai") as (model, _):
        sentence = str(await failure(model))
    assert "gpt-4.1" in sentence
    assert "(404)" in sentence
    assert f"`daimon model list --at {model.name}` shows what there is" in sentence
    async with served(vendor="openai", key="wrong-key") as (model, _):
        sentence = str(await failure(model))
    assert "refused the key (401)" in sentence
    assert "`daimon model add` sets a new one" in sentence
    assert "wrong-key" not in sentence


async def test_a_key_that_a_provider_repeats_is_masked():
    from pydantic_ai.exceptions import ModelHTTPError

    error = ModelHTTPError(400, "m", {"message": f"bad key {KEY} " + "x" * 1_000})
    sentence = str(failed(error, endpoint("http://x"), is_open=False))
    assert "bad key ***" in sentence
    assert len(sentence) < 600


async def test_a_vendor_that_needs_a_key_is_not_asked_without_one():
    async with served(vendor="anthropic", key=None) as (model, seen):
        found = await failure(model)
        with pytest.raises(ProviderFailed):
            await model.profile()
    assert (found.reason, found.is_lasting, found.was_sent, seen) == ("auth", True, False, [])


@pytest.mark.parametrize("vendor", SHAPES)
async def test_nobody_listening_is_unreachable_and_costs_nothing(vendor):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        model = ProviderModel(endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}", vendor), Shelf())
        found = await failure(model)
        await model.close()
    assert (found.reason, found.was_sent, found.is_lasting) == ("unreachable", False, False)
    assert "does something listen there?" in str(found)


@pytest.mark.parametrize("vendor", SHAPES)
async def test_a_web_page_is_told_from_an_api(vendor):
    for status in (b"200 OK", b"404 Not Found", b"501 Unsupported method"):
        async with Page(b"HTTP/1.1 " + status + b"\r\ncontent-type: text/html\r\ncontent-length: 22\r\n\r\n<!DOCTYPE html><p>Hi</p") as url:
            model = ProviderModel(endpoint(url, vendor), Shelf())
            found = await failure(model)
            await model.close()
        assert (found.reason, found.is_lasting, found.was_sent) == ("garbage", True, False)
        assert "answered with a web page, not with an API" in str(found)
        assert ("/v1" in str(found)) == (vendor == "openai")


async def test_a_web_page_of_a_proxy_whose_server_is_down_is_told_and_may_pass():
    async with Page(b"HTTP/1.1 502 Bad\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>") as url:
        model = ProviderModel(endpoint(url, "vllm", base_url=url), Shelf())
        found = await failure(model)
        await model.close()
    assert (found.reason, found.is_lasting, found.was_sent) == ("server", False, False)
    assert "answered with a web page, not with an API" in str(found)


async def test_a_key_whose_variable_is_not_set_is_told_by_the_name_of_the_variable():
    async with served(vendor="anthropic", key=None, key_variable="MY_KEY") as (model, _):
        assert "needs a key and none is set: the variable MY_KEY is not set where the gateway runs" in str(await failure(model))


async def test_an_address_that_lacks_its_path_is_said_to():
    async with Page(b'HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 22\r\n\r\n{"detail":"Not Found"}') as url:
        model = ProviderModel(endpoint(url, "vllm", base_url=url), Shelf())
        found = await failure(model)
        await model.close()
    assert found.reason == "not_found"
    assert f"base_url is {url}, and usually ends in /v1" in str(found)


async def test_a_redirect_is_not_followed_with_the_key():
    async with Page(b"HTTP/1.1 301 Moved\r\nlocation: https://example.org/v1\r\ncontent-length: 0\r\n\r\n") as url:
        for vendor in SHAPES:
            model = ProviderModel(endpoint(url, vendor), Shelf())
            found = await failure(model)
            await model.close()
            assert (found.reason, found.is_lasting, found.was_sent) == ("garbage", True, False)
            assert "https://example.org/v1" in str(found)


async def test_a_plain_answer_to_a_streamed_question_is_garbage():
    async with Page(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}") as url:
        model = ProviderModel(endpoint(url, "compatible"), Shelf())
        found = await failure(model)
        await model.close()
    assert found.reason == "garbage"
    assert "application/json instead of a stream" in str(found)


async def test_a_model_name_that_the_vendor_cannot_have_is_refused_before_it_is_asked():
    async with served(vendor="openrouter", model="no-slash") as (model, seen):
        found = await failure(model)
    assert (found.reason, found.is_lasting, found.was_sent, seen) == ("rejected", True, False, [])


async def test_nothing_is_tried_twice():
    for vendor in SHAPES:
        async with served(Line(fault=Fault("500")), Line(fault=Fault("429")), Line(fault=Fault("cut")), vendor=vendor) as (model, seen):
            for _ in range(3):
                await failure(model)
            assert len(seen) == 3


async def test_a_server_that_stays_silent_is_left_to_the_patience_of_the_kernel():
    async with ProviderServer([Line(fault=Fault("hang"))]) as server:
        model = ProviderModel(endpoint(server.url), Shelf())
        waiting = asyncio.create_task(anext(model.stream(Request(HELLO))))
        await server.request(1)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await model.close()


class Page:
    """A server that answers every request with these bytes and hangs up."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        await reader.readexactly(length)
        writer.write(self._answer)
        writer.close()
        await writer.wait_closed()
