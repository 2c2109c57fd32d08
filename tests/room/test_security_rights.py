"""What a device may do: every operation that the document names, called by devices that lack its right, over real sockets."""

import asyncio
import json
import re
from collections.abc import Iterator

import pytest
from tests.gateway.live import DEADLINE_S, Live
from tests.room.rig import Gateway
from tests.room.visitor import Visitor, acts, signed_in
from websockets.asyncio.client import connect

from daimon.abi.access import Right

METHODS = ("get", "post", "put", "delete")


@pytest.fixture(scope="module")
def live(daimon: Gateway) -> Live:
    return daimon.live


@pytest.fixture(scope="module")
def lacking(live: Live) -> dict[str, Visitor]:
    """A device for each right that has all others."""
    return {right: signed_in(live, *(each for each in Right if each != right)) for right in Right}


def operations(live: Live) -> Iterator[tuple[str, str, str]]:
    for path, methods in live.get("/v1/openapi.json")["paths"].items():
        for method in METHODS:
            if "x-right" in methods.get(method, {}):
                yield method.upper(), path, methods[method]["x-right"]


def test_no_operation_is_done_for_a_device_that_lacks_its_right(live: Live, lacking: dict[str, Visitor]) -> None:
    found = list(operations(live))
    assert len(found) > 50
    for method, path, right in found:
        if path == "/v1/events":
            continue  # below: what it needs depends on what is said
        at = re.sub(r"\{\w+\}", "x", path)
        kind = "application/octet-stream" if path == "/v1/blobs" else "application/json"
        answer = lacking[right].call(method, at, {} if method in ("POST", "PUT") else None, Content_Type=kind)
        assert (answer.status, answer.code) == (403, "forbidden"), (method, path, answer.body)


def test_a_device_with_the_right_is_heard(live: Live) -> None:
    reader = signed_in(live, "read")
    for method, path, right in operations(live):
        if method == "GET" and right == "read" and "{" not in path and path != "/v1/feed":
            assert reader.call("GET", path).status in (200, 400), path


@pytest.mark.parametrize(
    ("event", "right"),
    [
        ({"type": "message", "text": "x"}, "chat"),
        ({"type": "stop", "turn": "t1", "reason": ""}, "chat"),
        ({"type": "answer", "to": "t1:1", "choice": "allow"}, "approve"),
        ({"type": "heartbeat", "job": "x"}, "admin"),
        ({"type": "webhook", "service": "x", "data": {}}, "admin"),
        ({"type": "outcome", "to": "t1:1", "data": {}}, "admin"),
    ],
)
def test_an_event_needs_the_right_for_what_it_says(lacking: dict[str, Visitor], event: dict[str, object], right: str) -> None:
    answer = lacking[right].call("POST", "/v1/events", event)
    assert (answer.status, answer.code) == (403, "forbidden")


OUT = {"type": "message", "text": "x", "conversation": "out", "reply_to": {"channel": "mail", "to": "evil@example.org"}}
AS_ANOTHER = {"type": "message", "text": "x", "conversation": "out", "source": "telegram", "key": "update-17"}


@pytest.mark.parametrize(("event", "right"), [(OUT, "approve"), (AS_ANOTHER, "admin")])
async def test_who_may_only_speak_sends_nothing_out_and_speaks_for_no_channel(
    live: Live, lacking: dict[str, Visitor], event: dict[str, object], right: str
) -> None:
    answer = lacking[right].call("POST", "/v1/events", event)
    assert (answer.status, answer.code) == (403, "forbidden")
    assert right in answer.json["error"]["message"]
    assert signed_in(live, "chat", right).call("POST", "/v1/events", event).status == 202


async def test_on_the_socket_who_may_only_speak_sends_nothing_out(live: Live) -> None:
    caller = signed_in(live, "read", "chat")
    url = f"{live.url.replace('http', 'ws')}/v1/socket"
    async with asyncio.timeout(DEADLINE_S), connect(url, additional_headers=caller.authority, origin=live.url, proxy=None) as line:  # type: ignore[arg-type]
        await line.send('{"kind": "begin", "brief": true, "conversation": "nobody"}')
        await line.recv()
        await line.send(json.dumps({"kind": "event", "re": 1, "event": OUT}))
        while '"re":1' not in (said := str(await line.recv())).replace(" ", ""):
            pass  # what else happens in the home
        assert '"forbidden"' in said


@pytest.mark.parametrize("source", ["web", "inject"])
def test_who_may_only_speak_is_answered_here(live: Live, source: str) -> None:
    said = {"type": "message", "text": "x", "conversation": "out", "source": source, "reply_to": {"channel": "local", "to": "out"}}
    assert signed_in(live, "chat").call("POST", "/v1/events", said).status == 202


def test_which_device_answered_a_question_is_written_down(live: Live) -> None:
    turn = live.ask("ask may I?", "asked")["id"]
    (asked,) = [each["to"] for each in live.get("/v1/questions") if each["to"]["turn"] == turn]
    id_ = (device := signed_in(live, "approve")).call("GET", "/v1/me").json["id"]
    to = f"{turn}:{asked['n']}"
    answer = device.call("POST", "/v1/events", {"type": "answer", "to": to, "choice": "no"})
    assert answer.status == 202
    assert ("answer", f"{to} no") in [(act["did"], act["on"]) for act in acts(live) if act["by"] == id_]


@pytest.mark.parametrize("path", ["check", "suppose"])
def test_a_draft_of_a_policy_that_was_made_to_end_the_process_is_refused(live: Live, path: str) -> None:
    text = f"permit(principal, action, resource) when {{ {'(' * 20_000}true{')' * 20_000} }};"
    draft = {"name": "mine.cedar", "text": text}
    answer = signed_in(live, "read").call("POST", f"/v1/settings/policies/{path}", draft if path == "check" else {"draft": draft})
    assert "brackets are" in answer.body.decode()
    assert live.get("/v1/status")


def test_a_device_cannot_give_itself_more(live: Live) -> None:
    device = signed_in(live, "read", "chat", "approve")
    id_ = device.call("GET", "/v1/me").json["id"]
    assert device.call("POST", f"/v1/devices/{id_}/rights", {"rights": ["admin"]}).code == "forbidden"
    assert device.call("POST", "/v1/links", {}).code == "forbidden"
    assert live.call("POST", f"/v1/devices/{id_}/rights", {"rights": ["read", "admin"]}).status == 200
    assert device.call("GET", "/v1/acts").status == 200


def test_what_was_done_and_what_was_tried_is_written_down_with_who(live: Live) -> None:
    admin, reader = signed_in(live), signed_in(live, "read")
    admin.call("POST", "/v1/links", {})
    reader.call("POST", "/v1/links", {})
    ids = [each.call("GET", "/v1/me").json["id"] for each in (reader, admin)]
    found = [(act["by"], act["outcome"]) for act in acts(live) if act["did"] == "POST /v1/links" and act["by"] in ids]
    assert found == [(ids[0], "forbidden"), (ids[1], "done")]
