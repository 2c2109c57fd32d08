import asyncio
from collections.abc import Mapping

import anyio
import pytest
from tests.models.website import HOST, WELCOME, Page, said, website

from daimon.models import found
from daimon.models.found import Key, Place, Server
from daimon.testing.provider.server import ProviderServer

PATIENCE_S = 60.0


def listed(owner: str, *names: str) -> Page:
    return said({"object": "list", "data": [{"id": name, "object": "model", "owned_by": owner} for name in names]})


async def at(place: Place) -> tuple[Server, ...]:
    with anyio.fail_after(PATIENCE_S * 2):
        return await found.servers([place], PATIENCE_S)


def test_keys_are_found_by_the_first_variable_that_holds_something() -> None:
    environment = {"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": " ", "GOOGLE_API_KEY": "g", "OLLAMA_API_KEY": "o", "OTHER": "x"}
    assert found.keys(environment) == (Key("anthropic", "ANTHROPIC_API_KEY"), Key("google", "GOOGLE_API_KEY"))


def test_servers_are_looked_for_where_they_usually_listen() -> None:
    assert {place.vendor: place.port for place in found.places({})} == {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
    assert {place.host for place in found.places({})} == {HOST}


@pytest.mark.parametrize(
    ("said_by_owner", "place"),
    [
        ("0.0.0.0:4711", Place("ollama", HOST, 4711)),
        (":4711", Place("ollama", HOST, 4711)),
        ("localhost", Place("ollama", HOST, 11434)),
        ("http://[::1]:4711", Place("ollama", "::1", 4711)),
    ],
)
def test_the_owners_own_address_of_ollama_counts(said_by_owner: str, place: Place) -> None:
    assert found.places({"OLLAMA_HOST": said_by_owner})[0] == place


@pytest.mark.parametrize("elsewhere", ["192.168.1.7:11434", "https://ollama.example", "127.0.0.1:many", "[::"])
def test_other_machines_and_no_addresses_are_not_asked(elsewhere: str) -> None:
    assert "ollama" not in [place.vendor for place in found.places({"OLLAMA_HOST": elsewhere})]


async def test_ollama_is_found_with_its_models() -> None:
    async with ProviderServer(models=("llama3.2", "qwen3")) as server:
        port = int(server.url.rpartition(":")[2])
        assert await at(Place("ollama", HOST, port)) == (Server("ollama", f"{server.url}/v1", ("llama3.2", "qwen3")),)


@pytest.mark.parametrize(
    ("page", "vendor"),
    [
        (listed("organization_owner", "m"), "lmstudio"),
        (listed("llamacpp", "m"), "llamacpp"),
        (listed("vllm", "m"), "vllm"),
        (listed("somebody", "m"), "compatible"),
        (listed("somebody"), "llamacpp"),
    ],
)
async def test_a_server_is_who_its_list_says_whatever_its_port(page: Page, vendor: str) -> None:
    async with website({"/v1/models": page}) as site:
        (server,) = await at(Place("llamacpp", HOST, site.port))
    assert server.vendor == vendor
    assert server.base_url == f"{site.url}/v1"


@pytest.mark.parametrize(
    "page",
    [
        WELCOME,
        said({"error": "no"}, 401),
        said({"models": 1}),
        said({"object": "list", "data": [{"id": 7}]}),
        said({"object": "list", "data": ["m"]}),
        said([[]]),
        Page(b"{"),
        Page(b"[" * 100_000),
        Page(b"", headers={"X-Long": "x" * 100_000}),
    ],
    ids=range(9),
)
@pytest.mark.parametrize("vendor", ["ollama", "llamacpp"])
async def test_any_other_web_server_is_not_offered(page: Page, vendor: str) -> None:
    async with website({}, page) as site:
        assert await at(Place(vendor, HOST, site.port)) == ()


async def test_silence_and_closed_ports_are_nobody() -> None:
    async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(stay_silent, HOST, 0) as server:
        silent = server.sockets[0].getsockname()[1]
        with anyio.fail_after(PATIENCE_S):
            assert await found.servers([Place("vllm", HOST, silent), Place("ollama", HOST, 1)], 0.05) == ()


async def test_those_that_answer_are_found_beside_those_that_do_not() -> None:
    pages: Mapping[str, Page] = {"/v1/models": listed("vllm", "m")}
    async with website(pages) as site, website({}, WELCOME) as other:
        places = [Place("llamacpp", HOST, other.port), Place("vllm", HOST, site.port), Place("ollama", HOST, 1)]
        with anyio.fail_after(PATIENCE_S):
            assert [server.vendor for server in await found.servers(places, PATIENCE_S)] == ["vllm"]
