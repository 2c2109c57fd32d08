"""Secrets through the API: they go in, and nothing of them ever comes out."""

import json
from contextlib import closing

import pytest
from tests.gateway.live import Live

from daimon import keeper

PLACE = "/v1/settings/secrets"
VALUE = "s3cret-value-0123456789"
NEWER = "n3wer-value-9876543210"
LOOKED_AT = (PLACE, "/v1/settings/models", "/v1/settings/channels", "/v1/settings/policies", "/v1/settings/budget", "/v1/settings/backups",
             "/v1/setup", "/v1/status", "/v1/turns", "/v1/letters", "/v1/people")  # fmt: skip


def test_a_secret_goes_in_and_is_never_seen_again(daimon: Live) -> None:
    new = {"name": "github", "value": VALUE, "hosts": ["api.github.com"], "agents": ["daimon"], "service": "GitHub"}
    added = daimon.call("POST", PLACE, new)
    assert (added.status, added.json["variable"]) == (200, "GITHUB")
    rotated = daimon.call("POST", f"{PLACE}/github/value", {"value": NEWER})
    scoped = daimon.call("PUT", f"{PLACE}/github/reach", {"hosts": ["*.github.com"], "agents": []})
    assert (scoped.json["hosts"], scoped.json["agents"]) == (["*.github.com"], [])
    answers = [added, rotated, scoped, *(daimon.call("GET", path) for path in LOOKED_AT)]
    for answer in answers:
        assert answer.status == 200, answer.body
        assert VALUE.encode() not in answer.body
        assert NEWER.encode() not in answer.body
    with closing(keeper.opened(daimon.home, {})) as vault:
        assert vault.reveal("github", "test", "api.github.com") == NEWER
    for file in daimon.home.path.rglob("*"):
        if file.is_file():
            assert VALUE.encode() not in file.read_bytes()
    assert daimon.call("DELETE", f"{PLACE}/github").json == {"removed": "github"}
    assert daimon.get(PLACE)["secrets"] == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"name": "a b", "value": VALUE}, "cannot be a name"),
        ({"name": "short", "value": "abc12", "hosts": ["example.org"]}, "shorter than"),
        ({"name": "x", "value": VALUE, "hosts": ["http://a b"]}, "a b"),
        ({"name": "x", "value": f"{VALUE}\x00"}, "no text"),
        ({"name": "x", "value": VALUE, "colour": VALUE}, "colour"),
        ({"name": "x", "value": [VALUE]}, "value"),
    ],
)
def test_what_is_refused_does_not_repeat_the_value(daimon: Live, body: dict[str, object], told: str) -> None:
    refused = daimon.call("POST", PLACE, body)
    assert refused.status == 400
    assert told in refused.json["error"]["message"]
    assert VALUE not in refused.body.decode()
    assert "abc12" not in refused.body.decode()


def test_json_that_is_cut_short_is_refused_without_what_was_in_it(daimon: Live) -> None:
    refused = daimon.call("POST", PLACE, json.dumps({"name": "x", "value": VALUE}).encode()[:-2])
    assert refused.status == 400
    assert VALUE not in refused.body.decode()


def test_a_name_that_is_taken_keeps_its_value(daimon: Live) -> None:
    daimon.call("POST", PLACE, {"name": "one", "value": VALUE})
    assert daimon.call("POST", PLACE, {"name": "one", "value": NEWER}).status == 400
    with closing(keeper.opened(daimon.home, {})) as vault:
        assert vault.is_same("one", VALUE)
    assert daimon.call("POST", f"{PLACE}/two/value", {"value": NEWER}).status == 404


def test_a_vault_that_was_locked_meanwhile_says_so_and_the_rest_works(daimon: Live) -> None:
    daimon.call("POST", PLACE, {"name": "one", "value": VALUE})
    with closing(keeper.opened(daimon.home, {})) as vault:
        vault.seal(keeper.source("passphrase", daimon.home, {}, lambda: "correct horse battery staple"))
    view = daimon.get(PLACE)
    assert view["secrets"] == []
    assert "passphrase" in view["locked"]
    refused = daimon.call("POST", PLACE, {"name": "two", "value": VALUE})
    assert refused.status == 400
    assert "passphrase" in refused.json["error"]["message"]
    assert daimon.get("/v1/settings/channels")["channels"] == []
    assert daimon.get("/v1/setup")["is_fresh"] is True
