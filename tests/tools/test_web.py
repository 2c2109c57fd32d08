"""The web's tools, through the real client, on a server of this machine."""

import hashlib
from collections.abc import AsyncIterator

import pytest
from tests.net.test_web import Place, answer, placed
from tests.tools.test_readable import ARTICLE

from daimon.abi.errors import ToolFailed
from daimon.abi.ids import OWNER, BlobHash
from daimon.abi.label import Author
from daimon.abi.message import File
from daimon.abi.tool import ArgumentRole, Call, Capability, Effect, Result
from daimon.tools.web import web_tools


class Blobs:
    def __init__(self) -> None:
        self.kept: dict[BlobHash, bytes] = {}

    async def put(self, data: bytes) -> BlobHash:
        name = BlobHash(hashlib.sha256(data).hexdigest())
        self.kept[name] = data
        return name

    async def get(self, blob: BlobHash) -> bytes:
        return self.kept[blob]


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    async with placed() as place:
        yield place


async def ran(place: Place, call: Call, name: str, blobs: Blobs | None = None, **arguments) -> Result:
    (tool,) = (each for each in web_tools(place.client, blobs or Blobs()) if each.manifest.name == name)
    result = await tool.run(arguments, call)
    assert isinstance(result, Result)
    return result


def test_only_reading_a_page_is_shown_from_the_beginning(call: Call) -> None:
    fetch, get, request = (each.manifest for each in web_tools(None, None))  # type: ignore[arg-type]  # a manifest needs nobody behind it
    assert (fetch.is_rare, get.is_rare, request.is_rare) == (False, True, True)
    assert (fetch.effect, get.effect, request.effect) == (Effect.PURE, Effect.PURE, Effect.UNSAFE)
    assert fetch.roles == {"url": ArgumentRole.DESTINATION}
    assert not fetch.is_consequential
    assert Capability.SENDS in request.capabilities


async def test_a_page_is_read_as_the_sites_words(place: Place, call: Call) -> None:
    place.plain.answers["/a"] = answer(ARTICLE.encode(), "Content-Type: text/html; charset=utf-8")
    result = await ran(place, call, "web_fetch", url="http://open.test/a")
    assert isinstance(result.data, dict)
    assert (result.data["title"], result.data["byline"]) == ("Short & sweet", "Ada Lovelace")
    assert [(each.author, each.source) for each in result.labels[""].origins] == [(Author.STRANGER, "web:open.test")]
    assert result.labels[""].readers is None
    assert result.touched[0].label == call.label


async def test_after_a_redirect_both_hosts_stand_in_the_label(place: Place, call: Call) -> None:
    result = await ran(place, call, "web_fetch", url="http://open.test/redirect?to=http://other.test/size/3")
    assert {each.source for each in result.labels[""].origins} == {"web:open.test", "web:other.test"}


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("application/json", b'{"a": 1}', {"json": {"a": 1}}),
        ("application/json", b"not json", {"text": "not json"}),
        ("application/json", b"[" * 50_000, {"text": "[" * 50_000}),
        ("text/plain; charset=latin-1", b"\xe4", {"text": "ä"}),
        ("text/plain; charset=punycode", b"abc", {"text": "abc"}),
    ],
)
async def test_data_is_told_as_it_is(place: Place, call: Call, kind: str, body: bytes, told) -> None:
    place.plain.answers["/a"] = answer(body, f"Content-Type: {kind}")
    result = await ran(place, call, "web_fetch", url="http://open.test/a")
    assert isinstance(result.data, dict)
    assert told.items() <= result.data.items()


async def test_what_is_no_text_is_kept_and_named(place: Place, call: Call) -> None:
    blobs, pdf = Blobs(), b"%PDF-1.7 \x00\x01"
    place.plain.answers["/paper.pdf"] = answer(pdf, "Content-Type: application/pdf")
    result = await ran(place, call, "web_fetch", blobs, url="http://open.test/paper.pdf")
    (part,) = result.parts
    assert isinstance(part, File)
    assert (part.name, part.media_type, blobs.kept[part.blob]) == ("paper.pdf", "application/pdf", pdf)


async def test_a_page_that_is_not_there_says_its_status(place: Place, call: Call) -> None:
    place.plain.answers["/a"] = answer(b"<p>gone", "Content-Type: text/html", status="404 Not Found")
    result = await ran(place, call, "web_fetch", url="http://open.test/a")
    assert isinstance(result.data, dict)
    assert (result.data["status"], result.data["text"]) == (404, "gone")


async def test_a_place_that_must_not_be_reached_is_told_to_the_model(place: Place, call: Call) -> None:
    with pytest.raises(ToolFailed) as caught:
        await ran(place, call, "web_fetch", url="http://169.254.169.254/")
    assert (caught.value.reason, caught.value.retryable) == ("refused", False)


async def test_a_page_cannot_have_a_secret_sent_by_naming_it_in_an_address(place: Place, call: Call) -> None:
    with pytest.raises(ToolFailed, match="not among those"):
        await ran(place, call, "web_fetch", url="https://api.test/?k={vault:api_key}")
    assert not place.secure.got


async def test_an_api_is_asked_with_a_secret_and_its_answer_is_the_owners(place: Place, call: Call) -> None:
    result = await ran(
        place, call, "http_get", url="https://api.test/size/2", headers=["Authorization: Bearer {vault:api_key}"], secrets=["api_key"]
    )
    assert result.labels[""].readers == (OWNER,)
    assert "sk-real" in place.secure.got[0].header("authorization")
    assert "sk-real" not in str(result)


async def test_a_change_carries_the_calls_key_and_says_what_its_body_is(place: Place, call: Call) -> None:
    result = await ran(place, call, "http_request", method="POST", url="https://api.test/size/2", body='{"a": 1}')
    got = place.secure.got[0]
    assert (got.method, got.body, got.header("content-type")) == ("POST", b'{"a": 1}', "application/json")
    assert got.header("idempotency-key") == call.key
    assert result.data == {"status": 200, "type": "", "text": "xx"}


async def test_a_header_without_a_colon_is_told_to_the_model(place: Place, call: Call) -> None:
    with pytest.raises(ToolFailed, match="is no header"):
        await ran(place, call, "http_get", url="https://api.test/", headers=["X y"])
