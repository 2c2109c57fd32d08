"""Operations as data: who may call them, what they are called with, what is written down."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.gateway.live import Live

from daimon.abi.access import Right
from daimon.gateway.entry import Entry
from daimon.gateway.table import entries_of

MESSAGE = {"type": "message", "text": "hello"}
EVENTS: tuple[tuple[dict[str, Any], Right], ...] = (
    (MESSAGE, Right.CHAT),
    ({"type": "stop", "turn": "t0"}, Right.CHAT),
    ({"type": "answer", "to": "t0:1", "choice": "allow"}, Right.APPROVE),
    ({"type": "heartbeat", "job": "j"}, Right.ADMIN),
    ({"type": "webhook", "service": "s", "data": 1}, Right.ADMIN),
    ({"type": "agent", "agent": "a", "text": "x"}, Right.ADMIN),
    ({"type": "outcome", "to": "t0:1", "data": 1}, Right.ADMIN),
)


def device(daimon: Live, *rights: Right) -> dict[str, str]:
    """The headers of a browser that was let in with these rights."""
    link = daimon.call("POST", "/v1/links", {"name": "phone", "rights": rights}).json["urls"][0]
    browser = {"Origin": daimon.url, "Sec-Fetch-Site": "same-origin", "X-Daimon": "1", "Content-Type": "application/json"}
    entered = daimon.call_as("POST", "/v1/enter", {"secret": link.partition("#")[2], "name": "phone"}, browser)
    assert entered.status == 200, entered.body
    return browser | {"Cookie": entered.headers["set-cookie"].partition(";")[0]}


def but(right: Right) -> tuple[Right, ...]:
    return tuple(each for each in Right if each is not right)


def test_no_operation_is_done_for_who_lacks_its_right(daimon: Live) -> None:
    lacking = {right.value: device(daimon, *but(right)) for right in Right}
    for path, operations in daimon.get("/v1/openapi.json")["paths"].items():
        for method, operation in operations.items():
            if "x-right" not in operation or operation["operationId"] == "post_v1_events":
                continue
            right = operation["x-right"]
            kind = next(iter(operation.get("requestBody", {}).get("content", ())), "application/json")
            place, headers = re.sub(r"{\w+}", "x", path), lacking[right] | {"Content-Type": kind}
            answer = daimon.call_as(method.upper(), place, {} if method != "get" else None, headers)
            assert (answer.status, answer.code) == (403, "forbidden"), path
            assert f"'phone' lacks the right '{right}'" in answer.json["error"]["message"]


def test_who_has_the_right_is_served(daimon: Live) -> None:
    reader, talker = device(daimon, Right.READ), device(daimon, Right.CHAT)
    assert daimon.call_as("GET", "/v1/turns", None, reader).status == 200
    assert daimon.call_as("GET", "/v1/turns/nope", None, reader).status == 404
    assert daimon.call_as("POST", "/v1/turns/nope/stop", None, talker).status == 404
    assert daimon.call_as("POST", "/v1/events", MESSAGE, talker).status == 202


@pytest.mark.parametrize(("event", "right"), EVENTS, ids=lambda given: given["type"] if isinstance(given, dict) else "")
def test_an_event_needs_the_right_that_its_type_calls_for(daimon: Live, event: dict[str, Any], right: Right) -> None:
    before = daimon.get("/v1/letters")
    answer = daimon.call_as("POST", "/v1/events", event, device(daimon, *but(right)))
    assert (answer.status, answer.code) == (403, "forbidden")
    assert daimon.get("/v1/letters") == before
    assert daimon.call_as("POST", "/v1/events", event, device(daimon, right)).status in (202, 404)


def test_whatever_changes_something_and_needs_an_admin_is_an_act() -> None:
    nobody: Any = _Anything()
    assert [entry.path for entry in entries_of(nobody) if entry.needs is Right.ADMIN and not entry.is_act and entry.method != "GET"] == []


class _Anything:
    """In the place of parts, where nothing is called."""

    def __getattr__(self, name: str) -> "_Anything":
        return self

    def __call__(self, *given: object) -> "_Anything":
        return self

    def __iter__(self) -> Iterator[Entry]:
        return iter(())


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v1/turns?limit=0", "limit='0' is not a number from 1 to 1000"),
        ("/v1/turns?limit=%2B5", "limit='+5' is not a number from 1 to 1000"),
        ("/v1/turns?limit=5&limit=6", "'limit' is given 2 times; once is enough"),
        ("/v1/turns?colour=red", "colour='red' there is no such parameter; known are limit, conversation, state"),
        ("/v1/turns?state=asleep", "state='asleep' is none of queued, running, parked, done, failed"),
        ("/v1/status?x=1", "x='1': this takes no parameters"),
        ("/v1/grants?all=yes", "all='yes' is neither true nor false"),
        ("/v1/turns/x/context?step=two", "step='two' is not a whole number"),
        ("/v1/costs?since=2026-13-01", "since='2026-13-01' is not a day such as 2026-11-15"),
        ("/v1/costs?by=colour", "by='colour' is none of day, month, job, agent, model, conversation, turn, person"),
        ("/v1/memory/search?since=soon", "since='soon' is no time; write it as 2026-11-15T09:30:00Z"),
        ("/v1/memory/search?since=2026-11-15", "since='2026-11-15' has no zone; write it as 2026-11-15T09:30:00Z"),
        ("/v1/memory/search?kind=odd&kind=note", "kind='odd' is none of message, note, fact, episode, value, summary"),
        ("/v1/memory/history", "'about' is missing in the request"),
        ("/v1/memory/history?about=", "'about' is missing in the request"),
        ("/v1/memory/rewind?to=0001-01-01T00:00:00%2B23:59", "to='0001-01-01T00:00:00+23:59' is no time; write it as 2026-11-15T09:30:00Z"),
    ],
)
def test_a_query_that_cannot_be_used_is_refused_with_the_value_and_what_can(daimon: Live, path: str, told: str) -> None:
    answer = daimon.call("GET", path)
    assert (answer.status, answer.code, answer.json["error"]["message"]) == (400, "bad_input", told)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"text": "x", "on_page": "true"}, "on_page: is neither true nor false"),
        ({"text": "x", "colour": 1}, "colour: there is no such field; known are text, on_page"),
        ({}, "text: is missing"),
        (b"[]", "Input should be an object"),
        (b"{", "Invalid JSON"),
        (b"[" * 100_000, "nested too deep|Invalid JSON|more than"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_with_what_can_and_without_its_values(daimon: Live, body: Any, told: str) -> None:
    answer = daimon.call("POST", "/v1/memory/items", body)
    assert answer.status in (400, 413)
    assert any(each in answer.json["error"]["message"] for each in told.split("|")), answer.body


def test_a_wrong_method_is_told_with_those_that_there_are(daimon: Live) -> None:
    answer = daimon.call("PATCH", "/v1/automations/x")
    assert (answer.status, answer.code) == (405, "bad_method")
    assert {each.strip() for each in answer.headers["allow"].split(",")} == {"GET", "HEAD", "PUT", "DELETE"}
