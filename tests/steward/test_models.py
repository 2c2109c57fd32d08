"""Models through the API of a whole Daimon, against a provider on loopback."""

import asyncio
import tomllib
from typing import Any

import pytest
from tests.gateway.live import Live

from daimon.testing.provider.server import KEY, ProviderServer

PLACE = "/v1/settings/models"


def wish(provider: ProviderServer, **more: Any) -> dict[str, Any]:
    return {"vendor": "openai", "model": "test-model", "base_url": f"{provider.url}/v1", "key": KEY, "name": "mine", **more}


def file(daimon: Live) -> dict[str, Any]:
    return tomllib.loads(daimon.home.config.read_text())


def test_a_fresh_home_has_the_built_in_model_and_a_list_of_vendors(daimon: Live) -> None:
    view = daimon.get(PLACE)
    assert [(row["name"], row["place"]) for row in view["models"]] == [("reflex", 1)]
    assert {"anthropic", "ollama", "compatible"} <= {vendor["name"] for vendor in view["vendors"]}


def test_a_model_is_tried_and_then_answers_at_once(daimon: Live, provider: ProviderServer) -> None:
    added = daimon.call("POST", PLACE, wish(provider, price="free"))
    assert added.status == 200, added.body
    assert (added.json["name"], added.json["use"]) == ("mine", ["reflex", "mine"])
    assert added.json["tried"]["is_good"] is True
    assert added.json["tried"]["input_tokens"] > 0
    assert KEY not in daimon.home.config.read_text()
    row = next(row for row in daimon.get(PLACE)["models"] if row["name"] == "mine")
    assert (row["place"], row["lacks_key"], row["vendor"]) == (2, False, "openai")
    turn = daimon.ask("what is a haiku about tea?", "main")
    assert turn["state"] == "done"
    assert any(b"haiku" in (seen.body or b"") for seen in provider.requests)


def test_a_wrong_key_is_said_clearly_and_nothing_is_half_written(daimon: Live, provider: ProviderServer) -> None:
    before = daimon.home.config.read_bytes()
    refused = daimon.call("POST", PLACE, wish(provider, key="sk-wrong-1234567890"))
    assert (refused.status, refused.code) == (400, "bad_input")
    assert "key" in refused.json["error"]["message"]
    assert b"sk-wrong" not in refused.body
    assert daimon.home.config.read_bytes() == before
    assert daimon.get("/v1/settings/secrets")["secrets"] == []
    assert daimon.call("POST", PLACE, wish(provider)).status == 200
    assert [secret["models"] for secret in daimon.get("/v1/settings/secrets")["secrets"]] == [["mine"]]


def test_what_the_provider_has_is_listed_live(daimon: Live, provider: ProviderServer) -> None:
    asked = daimon.call("POST", f"{PLACE}/offers", wish(provider, model=""))
    assert [row["model"] for row in asked.json] == ["test-model", "other"]
    refused = daimon.call("POST", f"{PLACE}/offers", wish(provider, model="", key="sk-wrong-1234567890"))
    assert refused.status == 400


def test_the_order_is_changed_against_what_was_read(daimon: Live, provider: ProviderServer) -> None:
    daimon.call("POST", PLACE, wish(provider))
    version = daimon.get(PLACE)["version"]
    changed = daimon.call("PUT", f"{PLACE}/use", {"use": ["mine", "reflex"], "version": version})
    assert (changed.status, file(daimon)["model"]["use"]) == (200, ["mine", "reflex"])
    with daimon.home.config.open("a") as by_hand:
        by_hand.write("\n# a word of the owner's\n")
    late = daimon.call("PUT", f"{PLACE}/use", {"use": ["reflex"], "version": changed.json["version"]})
    assert (late.status, late.code) == (409, "outdated")
    assert "a word of the owner's" in daimon.home.config.read_text()
    assert file(daimon)["model"]["use"] == ["mine", "reflex"]
    assert daimon.call("PUT", f"{PLACE}/use", {"use": ["nobody"], "version": daimon.get(PLACE)["version"]}).status == 404


def test_a_model_that_is_set_up_is_tried_again_and_says_what_failed(daimon: Live, provider: ProviderServer) -> None:
    daimon.call("POST", PLACE, wish(provider))
    assert daimon.call("POST", f"{PLACE}/mine/test", {}).json["is_good"] is True
    daimon.call(
        "POST", f"/v1/settings/secrets/{daimon.get('/v1/settings/secrets')['secrets'][0]['name']}/value", {"value": "sk-old-one-00001"}
    )
    tried = daimon.call("POST", f"{PLACE}/mine/test", {}).json
    assert (tried["is_good"], bool(tried["error"])) == (False, True)
    assert "sk-old-one" not in tried["error"]
    assert daimon.call("POST", f"{PLACE}/nobody/test", {}).status == 404


def test_a_model_that_goes_takes_its_key_with_it(daimon: Live, provider: ProviderServer) -> None:
    daimon.call("POST", PLACE, wish(provider))
    gone = daimon.call("DELETE", f"{PLACE}/mine")
    assert gone.status == 200
    assert "out of the vault" in gone.json["notes"][0]
    assert daimon.get("/v1/settings/secrets")["secrets"] == []
    assert file(daimon)["model"]["use"] == ["reflex"]


def test_a_redirect_is_not_followed_with_the_key(daimon: Live, provider: ProviderServer) -> None:
    seen: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(f"HTTP/1.1 307 Moved\r\nLocation: {provider.url}/v1/chat/completions\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal:
        server = portal.call(asyncio.start_server, answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        refused = daimon.call("POST", PLACE, wish(provider, base_url=f"http://127.0.0.1:{port}/v1"))
        portal.call(server.close)
    assert refused.status == 400
    assert seen
    assert not provider.requests


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"vendor": "nobody"}, "there is no vendor"),
        ({"model": ""}, "which model"),
        ({"base_url": "ftp://x"}, "no address"),
        ({"vendor": "anthropic", "base_url": "", "key": ""}, "needs a key"),
        ({"variable": "X"}, "one way"),
        ({"name": "reflex"}, "built in"),
        ({"input_price": "0", "output_price": "1"}, "price of zero"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_is_wrong_is_refused_with_what_to_do(daimon: Live, provider: ProviderServer, more: dict[str, str], told: str) -> None:
    refused = daimon.call("POST", PLACE, wish(provider, **more))
    assert refused.status == 400
    assert told in refused.json["error"]["message"]
    assert KEY not in refused.body.decode()
