"""What goes out is what the endpoint says, and what comes in has an end."""

import gzip

import pytest
from tests.models.serving import Shelf, ask, endpoint
from tests.models.website import Page, chunk, events, said, website

from daimon.abi.errors import ProviderFailed
from daimon.abi.message import Text
from daimon.models.bounded import MEGABYTE, MOST_ERROR_BYTES, MOST_EVENT_BYTES, MOST_EVENT_LINES, MOST_STREAM_BYTES
from daimon.models.provider import ProviderModel
from daimon.models.vendors import VENDORS

LEAK = "LEAK"
NAMES = ["X-Evil", "Authorization", "authorization", "x-api-key", "X-Goog-Api-Key", "Anthropic-Beta", "anthropic-version", "User-Agent"]
NAMES += ["Host", "Content-Type", "Accept", "Cookie", "OpenAI-Organization", "X-Stainless-OS"]
HEADERS = "\n".join(f"{name}: {LEAK}" for name in NAMES)
WORDS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT"]
WORDS += ["GOOGLE_GENAI_API_VERSION", "OLLAMA_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"]
WORDS += ["OPENROUTER_API_KEY", "OPENROUTER_APP_TITLE", "OPENROUTER_APP_URL", "VLLM_API_KEY"]
ADDRESSES = ["ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_BASE_URL", "OPENAI_BASE_URL", "VLLM_BASE_URL"]
OKAY = events(chunk({"role": "assistant", "content": "ok"}), chunk({}, "stop"), b"data: [DONE]\n\n")


async def asked(page: Page, vendor: str = "compatible", **changes):
    """The reply, or how it failed; and the head of the request."""
    async with website({}, page) as site:
        model = ProviderModel(endpoint(site.url, vendor, **changes), Shelf())
        try:
            return await ask(model), site.heads
        except ProviderFailed as failed:
            return failed, site.heads
        finally:
            await model.close()


@pytest.mark.parametrize("vendor", VENDORS)
async def test_nothing_of_the_environment_goes_out(vendor, monkeypatch, tmp_path):
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, HEADERS)
    for name in WORDS:
        monkeypatch.setenv(name, LEAK)
    for name in ADDRESSES:
        monkeypatch.setenv(name, f"http://127.0.0.1:1/{LEAK}")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "record")
    monkeypatch.setenv("GOOGLE_GENAI_REPLAYS_DIRECTORY", str(tmp_path))
    _, heads = await asked(said({"error": {"message": "no"}}, 500), vendor, key="sk-own")
    (head,) = heads
    lines = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
    shown = {"anthropic": ("x-api-key", "sk-own"), "google": ("x-goog-api-key", "sk-own")}
    name, value = shown.get(vendor, ("authorization", "bearer sk-own"))
    assert LEAK not in head
    assert lines[name] == value
    assert lines["host"].startswith("127.0.0.1:")
    assert lines["content-type"] == "application/json"
    usual = {"host", "accept", "accept-encoding", "content-type", "content-length", "user-agent", "anthropic-version", name}
    assert set(lines) - {"connection"} <= usual
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("vendor", [name for name, vendor in VENDORS.items() if not vendor.needs_key])
async def test_a_server_without_a_key_is_shown_none_that_lies_around(vendor, monkeypatch):
    for name in WORDS:
        monkeypatch.setenv(name, LEAK)
    _, heads = await asked(OKAY, vendor, key=None)
    assert LEAK not in heads[0]


async def test_a_password_in_the_address_is_the_owners_word():
    async with website({}, OKAY) as site:
        model = ProviderModel(endpoint(site.url, "compatible", base_url=site.url.replace("//", "//me:sesame@"), key=None), Shelf())
        await ask(model)
        await model.close()
    assert "authorization: Basic bWU6c2VzYW1l" in site.heads[0].replace("Authorization", "authorization")


BLANKS = b" " * (MEGABYTE - 3) + b"\n\n"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (events(b'data: {"x": "' + b"x" * MOST_EVENT_BYTES), "an event of more than 8 MB"),
        (events(b"data: x\n" * (MOST_EVENT_LINES + 1)), "or 1000 lines"),
    ],
)
@pytest.mark.parametrize("vendor", ["openai", "anthropic", "google"])
async def test_a_stream_without_an_end_is_cut_off(page, words, vendor):
    failed, _ = await asked(page, vendor)
    assert isinstance(failed, ProviderFailed)
    assert (failed.reason, failed.was_sent, failed.is_lasting) == ("garbage", True, False)
    assert words in str(failed)


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "google"])
async def test_an_error_without_an_end_is_cut_off(vendor):
    for page in (
        Page(b"x" * (MOST_ERROR_BYTES + 1), 500, {"Content-Type": "text/plain"}),
        Page(gzip.compress(b"x" * (100 * MEGABYTE)), 500, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}),
    ):
        failed, _ = await asked(page, vendor)
        assert isinstance(failed, ProviderFailed)
        assert (failed.reason, failed.was_sent) == ("garbage", False)
        assert "sent more than 1 MB" in str(failed)


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
async def test_a_stream_of_ever_more_events_is_cut_off(vendor):
    failed, _ = await asked(events((b":" + BLANKS) * (MOST_STREAM_BYTES // MEGABYTE + 1)), vendor)
    assert isinstance(failed, ProviderFailed)
    assert "more than 64 MB" in str(failed)


async def test_a_packed_stream_is_counted_when_it_is_unpacked():
    packed = gzip.compress((b":" + BLANKS) * (MOST_STREAM_BYTES // MEGABYTE + 1))
    assert len(packed) < MEGABYTE
    failed, _ = await asked(Page(packed, 200, {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}))
    assert isinstance(failed, ProviderFailed)
    assert "more than 64 MB" in str(failed)


async def test_a_packed_reply_is_read():
    reply, _ = await asked(Page(gzip.compress(OKAY.body), 200, {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}))
    assert reply.parts == (Text("ok"),)


@pytest.mark.parametrize("blank", [b"\n\n", b"\r\n\r\n"])
async def test_a_long_reply_of_many_events_goes_through(blank):
    many = [chunk({"content": "word "}).replace(b"\n\n", blank) for _ in range(2 * MOST_EVENT_LINES)]
    reply, _ = await asked(events(*many, chunk({}, "stop"), b"data: [DONE]\n\n"))
    assert reply.parts == (Text("word " * (2 * MOST_EVENT_LINES)),)
