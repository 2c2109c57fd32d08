import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal

import pytest
from tests.models.website import WELCOME, Page, said, website

from daimon.abi.errors import ProviderFailed
from daimon.abi.money import FixedPrice
from daimon.models import probe
from daimon.models.bounded import MOST_LIST_BYTES
from daimon.models.credential import Given
from daimon.models.endpoint import Endpoint
from daimon.models.probe import Answer, Listed
from daimon.models.provider import ProviderModel
from daimon.testing.clock import ManualClock
from daimon.testing.ids import CountingIds
from daimon.testing.journal import MemoryJournal
from daimon.testing.provider.line import Fault, Line, Usage
from daimon.testing.provider.server import KEY, ProviderServer

PLACE = "http://here/v1"
VENDORS = {"openai": "/v1", "anthropic": "", "google": ""}


def endpoint(vendor: str, url: str, key: str | None = KEY, model: str = "m") -> Endpoint:
    return Endpoint(
        name="mine", vendor=vendor, model=model, base_url=url, key=Given(key) if key else None, price=FixedPrice(Decimal(1), Decimal(2))
    )


@asynccontextmanager
async def asking(url: str, vendor: str = "openai") -> AsyncIterator[ProviderModel]:
    model = ProviderModel(endpoint(vendor, url), MemoryJournal(ManualClock(), CountingIds()))
    try:
        yield model
    finally:
        await model.close()


async def test_one_small_call_says_what_came(vendor: str) -> None:
    line = Line(text="ok", usage=Usage(1_000, 10))
    async with ProviderServer([line]) as server, asking(server.url + VENDORS[vendor], vendor) as model:
        answer = await probe.call(model, PLACE)
    assert answer.text == "ok"
    assert answer.reply.usage is not None
    assert (answer.reply.usage.input_tokens, answer.reply.usage.cost) == (1_000, Decimal("0.001020000"))
    assert answer.seconds > 0
    (request,) = server.requests
    assert b"Say ok." in request.body
    assert b"16" in request.body


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_model_that_hangs_is_given_up() -> None:
    async with ProviderServer([Line(fault=Fault("hang"))]) as server, asking(f"{server.url}/v1") as model:
        with pytest.raises(ProviderFailed, match=r"mine at http://here/v1 said nothing for 0\.2 s: is the address right"):
            await probe.call(model, PLACE, 0.2)


async def test_a_model_that_begins_and_does_not_end_is_given_up() -> None:
    line = Line(text="o" * 100, fault=Fault("stall", after=4))
    async with ProviderServer([line]) as server, asking(f"{server.url}/v1") as model:
        with pytest.raises(ProviderFailed, match="mine at http://here/v1 did not finish"):
            await probe.call(model, PLACE, 60, 1)


async def test_a_reply_without_words_is_an_answer_too() -> None:
    async with ProviderServer([Line(reasoning="hm", finish="length")]) as server, asking(f"{server.url}/v1") as model:
        answer: Answer = await probe.call(model, PLACE)
    assert (answer.text, answer.reply.finish) == ("", "length")


async def test_the_list_of_every_shape_is_read(vendor: str) -> None:
    async with ProviderServer(models=("one", "two/three")) as server:
        rows = await probe.models(endpoint(vendor, server.url + VENDORS[vendor]))
    assert [row.model for row in rows] == ["one", "two/three"]


async def test_a_wrong_key_is_told_and_not_repeated(vendor: str) -> None:
    async with ProviderServer() as server:
        with pytest.raises(ProviderFailed, match="does not accept the key") as told:
            await probe.models(endpoint(vendor, server.url + VENDORS[vendor], "sk-secret"))
    assert told.value.reason == "auth"
    assert "secret" not in str(told.value)


async def test_newest_models_come_first_with_what_they_can_read_and_only_those_that_talk() -> None:
    rows = [
        {"id": "old", "created": 1, "context_length": 8_000},
        {"id": "new", "created": 2, "max_model_len": 9_000},
        {"id": "deaf", "created": 3, "supportedGenerationMethods": ["embedContent"]},
        {"created": 4},
        "?",
    ]
    async with website({"/v1/models": said({"data": rows})}) as site:
        assert await probe.models(endpoint("openai", f"{site.url}/v1")) == (Listed("new", 9_000), Listed("old", 8_000))


async def test_a_list_that_needs_a_key_names_the_variable_that_is_not_set() -> None:
    async with ProviderServer() as server:
        asked = replace(endpoint("openai", f"{server.url}/v1", None), key_variable="MY_KEY")
        with pytest.raises(ProviderFailed, match="the variable MY_KEY is not set"):
            await probe.models(asked)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (replace(WELCOME, status=403), "/v1/models with a web page"),
        (replace(WELCOME, status=501), "/v1/models with a web page"),
        (WELCOME, "/v1/models with a web page"),
        (said({"error": "?"}, 404), "status 404"),
        (said({"hello": "world"}), "not with a list of models"),
        (said([1]), "not with a list of models"),
        (Page(b"", 302, {"Location": "https://elsewhere.example"}), r"sends us on to https://elsewhere\.example"),
        (said({"error": "the key sk-secret is on fire"}, 500), "answered 500: .*the key \\*\\*\\* is on fire"),
    ],
)
async def test_what_is_no_list_of_models_is_told_with_what_it_is(page: Page, words: str) -> None:
    async with website({}, page) as site:
        with pytest.raises(ProviderFailed, match=words) as told:
            await probe.models(endpoint("openai", f"{site.url}/v1", "sk-secret"))
    assert "secret" not in str(told.value)


async def test_an_empty_list_is_a_list() -> None:
    async with website({}, said({"object": "list", "data": []})) as site:
        assert await probe.models(endpoint("ollama", f"{site.url}/v1", None)) == ()


async def test_a_list_without_an_end_is_cut_off() -> None:
    packed = gzip.compress(b" " * (MOST_LIST_BYTES + 1))
    async with website({}, Page(packed, 200, {"Content-Type": "application/json", "Content-Encoding": "gzip"})) as site:
        with pytest.raises(ProviderFailed, match="sent more than 16 MB") as told:
            await probe.models(endpoint("openai", f"{site.url}/v1", model=""))
    assert told.value.reason == "garbage"


async def test_a_packed_list_is_read() -> None:
    packed = gzip.compress(b'{"data": [{"id": "one"}]}')
    async with website({}, Page(packed, 200, {"Content-Type": "application/json", "Content-Encoding": "gzip"})) as site:
        assert await probe.models(endpoint("openai", f"{site.url}/v1")) == (Listed("one"),)


async def test_a_list_of_nothing_but_brackets_is_no_list() -> None:
    async with website({}, Page(b"[" * 100_000, 200, {"Content-Type": "application/json"})) as site:
        with pytest.raises(ProviderFailed, match="not with a list of models"):
            await probe.models(endpoint("openai", f"{site.url}/v1"))


async def test_nobody_there_is_told() -> None:
    with pytest.raises(ProviderFailed, match=r"llama\.cpp at http://127\.0\.0\.1:1 cannot be reached"):
        await probe.models(endpoint("llamacpp", "http://127.0.0.1:1/v1", None))
