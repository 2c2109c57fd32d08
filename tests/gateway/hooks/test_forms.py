"""What is read of a body, what lets it pass, and what it is known by."""

import json
from typing import Any

import pytest

from daimon.abi.errors import BadInput
from daimon.abi.event import INTERNAL, Address
from daimon.abi.hook import Filter, Hook
from daimon.gateway.hooks import filtering, schema
from daimon.gateway.hooks.check import check
from daimon.gateway.hooks.keys import Known, known_by
from daimon.gateway.hooks.rates import MOST_ADDRESSES, Bucket, Wrongdoers
from daimon.gateway.hooks.reading import read

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}

# -- reading


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/cloudevents+json", 'application/json; charset="UTF-8"']
)
def test_json_is_read_under_its_usual_names(kind: str) -> None:
    assert read({"content-type": kind}, '{"ä": [1, null]}'.encode()) == {"ä": [1, None]}


def test_a_form_with_a_payload_is_the_json_inside_and_another_is_its_fields() -> None:
    assert read(FORM, b"payload=%7B%22a%22%3A1%7D") == {"a": 1}
    assert read(FORM, b"command=%2Fdo&text=") == {"command": "/do", "text": ""}


@pytest.mark.parametrize(
    ("given", "body"),
    [
        ({}, b"{}"),
        ({"content-type": "text/plain"}, b"{}"),
        ({"content-type": "application/json, application/json"}, b"{}"),
        ({"content-type": "application/json; charset=utf-16"}, b"{}"),
        ({"content-type": "multipart/form-data; boundary=x"}, b"--x--"),
        (JSON, b""),
        (JSON, b"{"),
        (JSON, b'{"a": "\xff"}'),
        (JSON, b'{"a": 1e999}'),
        (JSON, b'{"a": NaN}'),
        (JSON, b'{"a": -Infinity}'),
        (JSON, b'{"a": "\\ud800"}'),
        (JSON, b'{"a": ' + b"9" * 2_000 + b"}"),
        (JSON, b"[" * 100_000),
        (JSON, b"[" * 100 + b"]" * 100),
        (FORM, b"payload=%FF"),
        (FORM, b"payload=\xff"),
        (FORM, b"payload={}&payload={}"),
        (FORM, b"&".join(b"a%d=1" % i for i in range(200))),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason(given: dict[str, str], body: bytes) -> None:
    with pytest.raises(BadInput):
        read(given, body)


# -- filters


@pytest.mark.parametrize(
    ("at", "is_in", "passes"),
    [
        ("/action", ("opened", "reopened"), True),
        ("/action", ("closed",), False),
        ("/nothing", ("null",), False),
        ("/deep/0/a~1b", ("true",), True),
        ("/deep/1", ("7",), True),
        ("/deep/-1", ("7",), False),
        ("/deep", ("[]",), False),
        ("/none", ("null",), True),
        ("header:X-GitHub-Event", ("issues",), True),
        ("header:X-Other", ("issues",), False),
    ],
)
def test_a_filter_lets_pass_what_it_names(at: str, is_in: tuple[str, ...], passes: bool) -> None:
    data: Any = {"action": "opened", "deep": [{"a/b": True}, 7], "none": None}
    why = filtering.held_back((Filter(at, is_in),), data, {"x-github-event": "issues"})
    assert (why == "") is passes


def test_all_filters_must_agree() -> None:
    both = (Filter("/a", ("1",)), Filter("/b", ("2",)))
    assert filtering.held_back(both, {"a": 1, "b": 2}, {}) == ""
    assert filtering.held_back(both, {"a": 1, "b": 3}, {}) == "/b is '3'"


# -- schemas


def test_a_body_of_the_form_passes_and_another_is_told_where_it_differs() -> None:
    fits = schema.compiled(
        {
            "$defs": {"id": {"type": "integer"}},
            "type": "object",
            "required": ["id"],
            "properties": {"id": {"$ref": "#/$defs/id"}, "tag": {"pattern": "^v[0-9]+$"}},
        }
    )
    assert fits({"id": 1, "tag": "v2"}) == ""
    assert fits({"id": "1"}).startswith("/id: ")
    assert "required" in fits({})
    assert fits({"id": 1, "tag": "x"}).startswith("/tag: ")


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "nonsense"},
        {"$ref": "https://example.org/schema.json"},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"$id": "https://example.org/", "$ref": "other"},
        {"patternProperties": {"(a+)+$": {}}},
        {"pattern": "(?=x)(a)\\1"},
        {"pattern": "("},
        {"description": "x" * 70_000},
    ],
)
def test_a_schema_that_would_fetch_or_cannot_be_bounded_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        schema.compiled(bad)


def test_a_pattern_that_explodes_elsewhere_is_matched_in_linear_time() -> None:
    assert schema.compiled({"type": "string", "pattern": "^(a+)+$"})("a" * 50_000 + "!") != ""


def test_a_schema_that_branches_without_end_is_given_up() -> None:
    tree = {
        "$defs": {"t": {"anyOf": [{"items": {"$ref": "#/$defs/t"}, "maxItems": 0}, {"items": {"$ref": "#/$defs/t"}, "minItems": 9}]}},
        "$ref": "#/$defs/t",
    }
    body: Any = []
    for _ in range(60):
        body = [body]
    assert "too much work" in schema.compiled(tree)(body)


def test_many_items_are_compared_without_comparing_all_with_all() -> None:
    unique = schema.compiled({"uniqueItems": True})
    assert unique([{"i": i} for i in range(50_000)]) == ""
    assert unique([{"i": 1}, {"i": 1}]) != ""


# -- keys


@pytest.mark.parametrize(
    ("scheme", "given", "data", "known"),
    [
        ("github", {"x-github-delivery": "d1"}, {}, Known("d1", "hash")),
        ("github", {}, {}, Known("=hash")),
        ("github", {"x-github-delivery": "=other"}, {}, Known("=hash")),
        ("github", {"x-github-delivery": "x" * 500}, {}, Known("=hash")),
        ("slack", {}, {"event_id": "Ev1"}, Known("Ev1")),
        ("slack", {}, {"trigger_id": "t1"}, Known("t1")),
        ("stripe", {}, {"id": "evt_1"}, Known("evt_1")),
        ("stripe", {}, [1], Known("=hash")),
        ("stripe", {}, {"id": 7}, Known("=hash")),
        ("generic", {"idempotency-key": "k"}, {}, Known("k", "hash")),
        ("generic", {"x-delivery": "k"}, {}, Known("k", "hash")),
        ("generic", {}, {"id": "not asked"}, Known("=hash")),
    ],
)
def test_a_delivery_is_known_by_its_id_and_its_content_if_that_is_not_signed(scheme: Any, given: Any, data: Any, known: Known) -> None:
    assert known_by(scheme, given, data, "hash") == known


# -- rates


def test_a_bucket_fills_again_with_time() -> None:
    bucket = Bucket(60)
    assert [bucket.take(0.0) for _ in range(61)].count(0.0) == 60
    assert bucket.take(0.5) > 0
    assert bucket.take(1.0) == 0.0


def test_one_who_shows_bad_signatures_waits_and_others_do_not() -> None:
    wrong = Wrongdoers(per_minute=2)
    for _ in range(2):
        wrong.note("198.51.100.7", 0.0)
    assert wrong.wait_s("198.51.100.7", 0.0) > 0
    assert wrong.wait_s("198.51.100.8", 0.0) == 0
    assert wrong.wait_s("198.51.100.7", 60.0) == 0


def test_nobody_is_shut_out_where_addresses_are_not_known_and_the_memory_is_bounded() -> None:
    wrong = Wrongdoers(per_minute=1)
    for i in range(MOST_ADDRESSES * 2):
        wrong.note("", 0.0)
        wrong.note(f"a{i}", 0.0)
    assert wrong.wait_s("", 0.0) == 0
    assert wrong.wait_s("a0", 0.0) == 0
    assert wrong.wait_s(f"a{MOST_ADDRESSES * 2 - 1}", 0.0) > 0


# -- making


def test_an_ordinary_hook_can_be_made() -> None:
    check(
        Hook(
            name="ci",
            scheme="github",
            secret="hook-ci",
            to=Address("mail", "me"),
            filters=(Filter("/a", ("b",)),),
            schema={"type": "object"},
        )
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Bad"}, {"name": ""}, {"name": "../x"}, {"secret": "openai"}, {"name": "telegram"}, {"name": "x" * 51}, {"most_bytes": 0},
        {"most_bytes": 1 << 30},
        {"tolerance_s": 0}, {"tolerance_s": 90_000}, {"per_minute": 0}, {"task": "x" * 20_000}, {"task": "\ud800"},
        {"conversation": "a\nb"}, {"to": Address(INTERNAL, "x")}, {"filters": (Filter("action", ("x",)),)},
        {"filters": (Filter("/a", ()),)},
        {"schema": {"type": 5}},
    ],
    ids=lambda wrong: json.dumps(wrong, default=str)[:40],
)  # fmt: skip
def test_a_hook_that_nobody_can_have_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        check(Hook(**{"name": "x", "scheme": "slack", "secret": "hook-x", **wrong}))
