"""Servers put in, switched and taken out through the API, in a real box."""

import sys
import tomllib
from pathlib import Path

import pytest
from pydantic import JsonValue
from tests.gateway.live import Live
from tests.mcp.rig import RAW

from daimon.sandbox.plan import has_bwrap

PLACE = "/v1/servers"
pytestmark = pytest.mark.skipif(not has_bwrap(), reason="bwrap is not installed: no box can be made")
FINE = 'lambda asked: say(id=asked["id"], result={"content": [{"type": "text", "text": "fine"}]})'


def wish(place: Path, **more: JsonValue) -> dict[str, JsonValue]:
    own = place / "server"
    own.mkdir(exist_ok=True)
    (own / "server.py").write_text(f"{RAW}\nanswers([TOOL], {FINE})\n")
    return {
        "name": "sample", "command": [f"{sys.prefix}/bin/python", str(own / "server.py")], "read": [sys.prefix], "write": [str(own)], **more
    }  # fmt: skip


def test_a_server_is_connected_switched_and_removed_and_nothing_of_it_is_offered_before_a_yes(daimon: Live, tmp_path: Path) -> None:
    added = daimon.call("POST", PLACE, wish(tmp_path))
    assert added.status == 201, added.body
    assert (added.json["status"]["tools"], added.json["status"]["waiting"]) == ([], ["act"])
    assert daimon.call("POST", f"{PLACE}/sample/approve", {"hashes": [added.json["tools"][0]["hash"]]}).status == 200
    assert daimon.get(f"{PLACE}/sample")["status"]["tools"] == ["sample_act"]
    assert "already" in daimon.call("POST", PLACE, wish(tmp_path)).json["error"]["message"]

    assert daimon.call("POST", f"{PLACE}/sample/state", {"is_on": False}).status == 200
    (status,) = daimon.get(PLACE)["servers"]
    assert (status["state"], status["tools"]) == ("off", [])
    assert daimon.call("POST", f"{PLACE}/sample/state", {"is_on": True}).status == 200
    assert daimon.get(f"{PLACE}/sample")["status"]["tools"] == ["sample_act"]  # what was agreed to is still agreed to

    assert daimon.call("DELETE", f"{PLACE}/sample").status == 200
    assert daimon.get(PLACE)["servers"] == []
    assert "mcp" not in tomllib.loads(daimon.home.config.read_text())
    assert not (daimon.home.path / "mcp/sample.json").exists()
    acts = [f"{act['did']} {act['on']} {act['outcome']}" for act in daimon.get("/v1/acts")]
    assert [each for each in acts if each.startswith(("DELETE /v1/servers", "POST /v1/servers/{name}/state"))] == [
        "DELETE /v1/servers/{name} sample done", *["POST /v1/servers/{name}/state sample done"] * 2
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"command": ["/usr/bin/false"]}, "it is not added"),
        ({"name": "Bad-Name"}, "cannot be a name"),
        ({"url": "https://mcp.test/mcp"}, "a command or a url"),
        ({"url": "ftp://mcp.test", "command": []}, "url"),
        ({"secrets": {"TOKEN": "nothere"}}, "the vault has no secret nothere"),
        ({"environment": {"TOKEN": "ghp_x7Kq2LmZ9vT4bN8sW1yR6cD3fG5hJ0pAeUiO"}}, "looks like a secret"),
        ({"is_vouched": True}, "no such field"),
        ({"read": ["/"]}, "it is not added"),
    ],
)
def test_what_cannot_be_connected_leaves_nothing_behind(daimon: Live, tmp_path: Path, more: dict[str, JsonValue], why: str) -> None:
    before = daimon.home.config.read_bytes()
    refused = daimon.call("POST", PLACE, wish(tmp_path, **more))
    assert (refused.status, why in refused.json["error"]["message"]) == (400, True), refused.body
    assert "ghp_" not in refused.body.decode()
    assert tomllib.loads(daimon.home.config.read_text()) == tomllib.loads(before.decode())
    assert daimon.get(PLACE)["servers"] == []
    assert not (daimon.home.path / "mcp/sample.json").exists()


def test_a_server_that_is_not_in_the_settings_is_not_found(daimon: Live) -> None:
    assert daimon.call("POST", f"{PLACE}/nobody/state", {"is_on": True}).status == 404
    assert daimon.call("DELETE", f"{PLACE}/nobody").status == 404
