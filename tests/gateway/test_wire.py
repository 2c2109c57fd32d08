"""JSON from outside: what becomes an event, as whose words, and what is refused with which sentence."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.abi.values import json_values

from daimon.abi.codec import decode, encode
from daimon.abi.errors import BadInput, TooLarge
from daimon.abi.event import Address, Answer, Body, Event, FromAgent, Heartbeat, Late, Said, Stop, Webhook
from daimon.abi.ids import HOME_SPACE, OWNER, AgentId, BlobHash, StepRef, TurnId
from daimon.abi.label import Author
from daimon.abi.message import Audio, File, Image, Text
from daimon.gateway import wire
from daimon.testing.clock import START, ManualClock
from daimon.testing.ids import CountingIds

MOST = 1_000_000


def taken(sent: dict[str, Any] | bytes, source: str | None = None) -> Event:
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    return wire.to_event(wire.read(data, MOST), ManualClock(), CountingIds(), source)


# -- what is taken

IMAGE = {"kind": "image", "blob": "ab", "media_type": "image/png"}
AUDIO = {"kind": "audio", "blob": "cd", "media_type": "audio/ogg", "duration_s": 2.5}
FILE = {"kind": "file", "blob": "ef", "name": "a.pdf", "media_type": "application/pdf", "size": 9}
PARTS = (
    Image(BlobHash("ab"), "image/png"),
    Audio(BlobHash("cd"), "audio/ogg", 2.5),
    File(BlobHash("ef"), "a.pdf", "application/pdf", 9),
)
STEP = StepRef(TurnId("t1"), 4)


@pytest.mark.parametrize(
    ("sent", "body", "author", "principal"),
    [
        ({"type": "message", "text": "hello"}, Said((Text("hello"),)), Author.OWNER, OWNER),
        ({"type": "message", "parts": [IMAGE, AUDIO, FILE]}, Said(PARTS), Author.OWNER, OWNER),
        ({"type": "message", "text": "see", "parts": [IMAGE]}, Said((Text("see"), PARTS[0])), Author.OWNER, OWNER),
        ({"type": "heartbeat", "job": "read-feed"}, Heartbeat("read-feed"), Author.SERVICE, OWNER),
        ({"type": "heartbeat", "job": "read-feed", "data": {"n": 1}}, Heartbeat("read-feed", {"n": 1}), Author.STRANGER, OWNER),
        (
            {"type": "webhook", "service": "github", "data": [1, None], "headers": {"x-event": "issues"}},
            Webhook("github", [1, None], {"x-event": "issues"}),
            Author.STRANGER,
            "service:github",
        ),
        ({"type": "agent", "agent": "scout", "text": "hi"}, FromAgent(AgentId("scout"), (Text("hi"),)), Author.AGENT, "agent:scout"),
        ({"type": "answer", "to": "t1:4", "choice": "allow", "text": "do"}, Answer("allow", "do"), Author.OWNER, OWNER),
        ({"type": "outcome", "to": "t1:4", "data": {"built": True}}, Late({"built": True}), Author.STRANGER, OWNER),
        ({"type": "outcome", "to": "t1:4", "data": None, "is_error": True}, Late(None, True), Author.STRANGER, OWNER),
        ({"type": "stop", "turn": "t1", "reason": "enough"}, Stop(TurnId("t1"), "enough"), Author.OWNER, OWNER),
    ],
    ids=lambda each: each["type"] if isinstance(each, dict) and "type" in each else "",
)
def test_every_kind_of_event_is_taken_as_the_words_of_whoever_wrote_it(
    sent: dict[str, Any], body: Body, author: Author, principal: str
) -> None:
    event = taken(sent)
    assert event.body == body
    assert [origin.author for origin in event.label.origins] == [author]
    assert event.label.readers == (OWNER,)
    assert event.principal == principal
    assert event.resolves == (STEP if "to" in sent else None)


def test_what_is_left_out_has_a_plain_default() -> None:
    event = taken({"type": "message", "text": "hello"})
    assert (event.conversation, event.space, event.source, event.key) == ("main", HOME_SPACE, "inject", event.id)
    assert (event.occurred_at, event.received_at, event.reply_to) == (START, START, Address("local", "main"))


def test_what_is_given_is_kept() -> None:
    given_ = {"conversation": "work", "source": "mail", "key": "k1", "reply_to": {"channel": "mail", "to": "bob@x.org"}}
    event = taken({"type": "message", "text": "hello", "at": "2026-01-01T12:00:00+02:00", **given_})
    assert (event.conversation, event.source, event.key, event.reply_to) == ("work", "mail", "k1", Address("mail", "bob@x.org"))
    assert event.occurred_at == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert event.occurred_at.utcoffset() == timedelta(0)


def test_the_source_of_a_door_stands_above_what_the_sender_claims() -> None:
    event = taken({"type": "message", "text": "hello", "source": "the owner's own terminal"}, source="webhook-door")
    assert event.source == "webhook-door"
    assert event.label.origins[0].source == "webhook-door"


@pytest.mark.parametrize("text", ["\0", "a\nb", "\u202e", "🦉", "e\u0301", "x" * 100_000, " ", "\U0010ffff"])
def test_any_text_that_is_unicode_may_be_said(text: str) -> None:
    assert taken({"type": "message", "text": text}).body == Said((Text(text),))


# -- what is refused

MESSAGE = {"type": "message", "text": "x"}
REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (b"", "Invalid JSON: EOF while parsing a value"),
    "only spaces": (b"  \n ", "Invalid JSON"),
    "not json": (b"hello", "Invalid JSON"),
    "two values": (b'{"type":"message","text":"x"} {}', "Invalid JSON: trailing characters"),
    "half a value": (b'{"type":"message","text":"x', "Invalid JSON: EOF"),
    "broken utf-8": (b'{"type":"message","text":"\xff"}', "Invalid JSON: invalid unicode"),
    "a lone surrogate": (b'{"type":"message","text":"\\ud800"}', "Invalid JSON"),
    "a surrogate pair the wrong way round": (b'{"type":"message","text":"\\udc00\\ud800"}', "Invalid JSON"),
    "a control character in a string": (b'{"type":"message","text":"a\x00b"}', "Invalid JSON: control character"),
    "a byte order mark": (b'\xef\xbb\xbf{"type":"message","text":"x"}', "Invalid JSON"),
    "a list": (b"[]", "Input should be an object"),
    "null": (b"null", "Input should be an object"),
    "a number": (b"5", "Input should be an object"),
    "no type": ({"text": "x"}, "Unable to extract tag using discriminator 'type'"),
    "an unknown type": ({"type": "telepathy"}, "'telepathy' .* does not match any of the expected tags: 'message', 'heartbeat'"),
    "a type that is a list": ({"type": ["message"], "text": "x"}, "type"),
    "an internal type": ({"type": "timer", "timer": "t", "about": "x", "due": "2026-01-01T00:00:00Z"}, "'timer'"),
    "an unknown key": ({**MESSAGE, "txt": "x"}, "txt: Extra inputs are not permitted"),
    "an unknown key inside": ({**MESSAGE, "reply_to": {"channel": "a", "to": "b", "cc": "c"}}, "reply_to.cc: "),
    "an unknown key in a part": ({"type": "message", "parts": [{"kind": "text", "text": "x", "bold": True}]}, "parts.0.*bold"),
    "a space of one's own choice": ({**MESSAGE, "space": "home"}, "space: Extra inputs are not permitted"),
    "a principal of one's own choice": ({**MESSAGE, "principal": "owner"}, "principal: Extra inputs are not permitted"),
    "a label of one's own choice": ({**MESSAGE, "label": {"origins": []}}, "label: Extra inputs are not permitted"),
    "text that is a number": ({"type": "message", "text": 5}, "text: Input should be a valid string"),
    "text that is a list": ({"type": "message", "text": ["x"]}, "text: Input should be a valid string"),
    "parts that are no list": ({"type": "message", "parts": "x"}, "parts: "),
    "a part of an unknown kind": ({"type": "message", "parts": [{"kind": "tool_call"}]}, "parts.0: .*'tool_call'"),
    "a part without its fields": ({"type": "message", "parts": [{"kind": "image"}]}, "parts.0.*blob: "),
    "nothing said": ({"type": "message"}, "a message needs `text` or `parts`"),
    "an empty message": ({"type": "message", "text": "", "parts": []}, "a message needs `text` or `parts`"),
    "a heartbeat without a job": ({"type": "heartbeat"}, "job: Field required"),
    "a webhook without data": ({"type": "webhook", "service": "github"}, "data: Field required"),
    "headers that are no text": ({"type": "webhook", "service": "x", "data": 1, "headers": {"a": 1}}, "headers.a: "),
    "an answer to nothing": ({"type": "answer", "choice": "yes"}, "to: Field required"),
    "an answer to no step": ({"type": "answer", "to": "t1", "choice": "yes"}, "`to`: 't1' is not a step; expected TURN:NUMBER"),
    "an answer without a choice": ({"type": "answer", "to": "t1:4"}, "choice: Field required"),
    "an outcome for no step": ({"type": "outcome", "to": "", "data": 1}, "`to`: '' is not a step"),
    "an outcome without data": ({"type": "outcome", "to": "t1:4"}, "data: Field required"),
    "a stop of nothing": ({"type": "stop"}, "turn: Field required"),
    "an empty conversation": ({**MESSAGE, "conversation": ""}, "conversation: String should have at least 1 character"),
    "a long conversation": ({**MESSAGE, "conversation": "x" * 201}, "conversation: String should have at most 200 characters"),
    "a conversation with NUL": ({**MESSAGE, "conversation": "a\0b"}, "conversation: String should match pattern"),
    "a conversation with a line break": ({**MESSAGE, "conversation": "a\n"}, "conversation: String should match pattern"),
    "a source with an escape": ({**MESSAGE, "source": "\x1b[2J"}, "source: String should match pattern"),
    "a key with DEL": ({**MESSAGE, "key": "\x7f"}, "key: String should match pattern"),
    "a key that is a number": ({**MESSAGE, "key": 5}, "key: Input should be a valid string"),
    "an agent with a tab": ({"type": "agent", "agent": "a\tb", "text": "x"}, "agent: String should match pattern"),
    "a service with NUL": ({"type": "webhook", "service": "\0", "data": 1}, "service: String should match pattern"),
    "a time without a zone": ({**MESSAGE, "at": "2026-01-01T12:00:00"}, "at: Input should have timezone info"),
    "a time that is none": ({**MESSAGE, "at": "tomorrow"}, "at: Input should be a valid datetime"),
    "the source of timers": ({**MESSAGE, "source": "timer", "key": "tm-1"}, "source: 'timer' is for Daimon itself"),
    "the source of time-outs": ({**MESSAGE, "source": "timeout"}, "source: 'timeout' is for Daimon itself"),
    "the source of the inside": ({**MESSAGE, "source": "daimon"}, "source: 'daimon' is for Daimon itself"),
    "a reply to half a place": ({**MESSAGE, "reply_to": {"channel": "mail"}}, "reply_to.to: "),
    "a reply to the inside": ({**MESSAGE, "reply_to": {"channel": "daimon", "to": "main"}}, "reply_to: the channel 'daimon' is for Daimon"),
    "a reply to a text": ({**MESSAGE, "reply_to": "mail:bob"}, "reply_to: "),
    "the same key twice, another type": (b'{"type":"message","text":"x","type":"heartbeat"}', "job: Field required"),
    "nesting in data": (b'{"type":"heartbeat","job":"x","data":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "recursion limit exceeded"),
    "nesting in objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "recursion limit exceeded"),
    "nesting without an end": (b"[" * 100_000, "recursion limit exceeded"),
    "a number of 5000 digits": (b'{"type":"heartbeat","job":"x","data":' + b"9" * 5_000 + b"}", "Invalid JSON: number out of range"),
}


@pytest.mark.parametrize(("sent", "sentence"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_with_the_place_and_the_reason(sent: dict[str, Any] | bytes, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        taken(sent)


def test_an_event_that_is_too_large_is_refused_unread() -> None:
    with pytest.raises(TooLarge, match=r"the event has 21 bytes, at most 20 are taken \(gateway.max_event_bytes\)"):
        wire.read(b"x" * 21, 20)
    with pytest.raises(BadInput, match="Invalid JSON"):
        wire.read(b"x" * 20, 20)


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00"])
def test_a_moment_that_utc_cannot_hold_is_refused(at: str) -> None:
    with pytest.raises(BadInput, match=r"at`?: "):
        taken({**MESSAGE, "at": at})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize(
    "template",
    [
        '{"type":"heartbeat","job":"x","data":[%s]}',
        '{"type":"webhook","service":"x","data":{"a":%s}}',
        '{"type":"message","parts":[{"kind":"audio","blob":"cd","media_type":"audio/ogg","duration_s":%s}]}',
    ],
    ids=["heartbeat", "webhook", "audio"],
)
def test_numbers_that_are_not_json_are_refused(number: str, template: str) -> None:
    with pytest.raises(BadInput):
        taken((template % number).encode())


def test_many_mistakes_are_told_with_the_first_few_places() -> None:
    with pytest.raises(BadInput) as refused:
        taken({"type": "message", **{f"k{n}": 1 for n in range(10)}})
    assert str(refused.value).count("Extra inputs") == 3
    assert str(refused.value).endswith("(and 7 more)")


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    with pytest.raises(BadInput) as refused:
        taken({"type": "message", "text": ["the secret"], "conversation": "x" * 10_000})
    assert "the secret" not in str(refused.value)
    assert len(str(refused.value)) < 500


# -- whatever is sent

quickly = settings(max_examples=200, deadline=None)


@quickly
@given(st.binary())
def test_arbitrary_bytes_are_taken_or_refused_and_nothing_else(data: bytes) -> None:
    _take_or_refuse(data)


@quickly
@given(json_values)
def test_arbitrary_json_is_taken_or_refused_and_nothing_else(value: object) -> None:
    _take_or_refuse(json.dumps(value).encode())


KEYS = st.sampled_from(
    [
        *("text", "parts", "job", "data", "service", "headers", "agent", "to", "choice", "is_error", "turn", "reason"),
        *("conversation", "source", "key", "at", "reply_to", "other"),
    ]
)
VALUES = json_values | st.sampled_from(["x", "t1:4", "2026-01-01T00:00:00Z", {"channel": "a", "to": "b"}, [{"kind": "text", "text": "x"}]])


@quickly
@given(
    st.sampled_from(["message", "heartbeat", "webhook", "agent", "answer", "outcome", "stop"]), st.dictionaries(KEYS, VALUES, max_size=6)
)
def test_anything_like_an_event_is_taken_or_refused_and_nothing_else(kind: str, fields: dict[str, Any]) -> None:
    _take_or_refuse(json.dumps({"type": kind, **fields}).encode())


def _take_or_refuse(data: bytes) -> None:
    """And what is taken can be written down, and reads back the same."""
    try:
        event = taken(data)
    except BadInput:
        return
    assert decode(Event, encode(Event, event)) == event
