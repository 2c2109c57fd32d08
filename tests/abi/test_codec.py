"""Our types to bytes and back, for every kind of event, step and part."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.abi.values import members, of

from daimon.abi.codec import blob_hash, decode, encode, fingerprint
from daimon.abi.errors import JournalDamaged
from daimon.abi.event import SCHEMA, Body, Event
from daimon.abi.message import Message, Part, Role, Text, ToolCall
from daimon.abi.step import Decision, Step, StepBody
from daimon.abi.tool import Manifest, Operation
from daimon.abi.turn import Pins, Turn

UNIONS: dict[str, Any] = {"event": Body, "step": StepBody, "part": Part, "decision": Decision, "operation": Operation}
WHOLE = [Event, Step, Turn, Message, Manifest, Pins]
KINDS = [(name, member) for name, union in UNIONS.items() for member in members(union)]
quickly = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)


@pytest.mark.parametrize(("union", "member"), KINDS, ids=lambda each: each if isinstance(each, str) else each.__name__)
@quickly
@given(data=st.data())
def test_every_kind_comes_back_as_it_went_in(union: str, member: type, data: st.DataObject) -> None:
    value = data.draw(of(member))
    read = decode(UNIONS[union], encode(UNIONS[union], value))
    assert type(read) is member
    assert read == value


@pytest.mark.parametrize("kind", WHOLE, ids=lambda kind: kind.__name__)
@quickly
@given(data=st.data())
def test_whole_events_steps_turns_and_messages_come_back_as_they_went_in(kind: type, data: st.DataObject) -> None:
    value = data.draw(of(kind))
    assert decode(kind, encode(kind, value)) == value


@pytest.mark.parametrize("union", UNIONS)
@quickly
@given(data=st.data())
def test_what_was_read_is_written_with_the_same_bytes(union: str, data: st.DataObject) -> None:
    kind = UNIONS[union]
    written = encode(kind, data.draw(of(kind)))
    assert encode(kind, decode(kind, written)) == written


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(text: str) -> None:
    assert decode(Part, encode(Part, Text(text))) == Text(text)


def test_the_bytes_of_a_message_are_what_they_always_were() -> None:
    """Hashes of requests and pins stand on them."""
    assert encode(Message, Message(Role.USER, (Text("é"), ToolCall("c1", "now", {"b": 1, "a": [None]})))) == (
        b'{"role":"user","parts":[{"text":"\xc3\xa9","kind":"text"},'
        b'{"call":"c1","tool":"now","arguments":{"b":1,"a":[null]},"signature":null,"kind":"tool_call"}],'
        b'"label":{"origins":[{"author":"stranger","source":"unknown"}],"readers":["owner"]}}'
    )


def test_a_message_without_a_label_is_read_as_untrusted() -> None:
    assert not decode(Message, b'{"role":"user","parts":[]}').label.is_trusted


BROKEN = {
    "an unknown kind": b'{"kind":"telepathy"}',
    "no kind": b'{"text":"x"}',
    "a field that is missing": b'{"kind":"stop"}',
    "a field of a wrong type": b'{"kind":"stop","turn":5}',
    "half of a row": b'{"kind":"stop","turn":"t1"',
    "nothing": b"",
    "another thing than an object": b"[1]",
    "broken text": b'{"kind":"stop","turn":"\xff"}',
    "garbage": bytes(range(256)),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("schema", [SCHEMA, 1])
def test_what_cannot_be_read_is_damage_with_a_reason(data: bytes, schema: int) -> None:
    with pytest.raises(JournalDamaged, match=f"of schema {schema} cannot be read: ."):
        decode(Body, data, schema)


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_row_of_a_newer_release_is_refused_whatever_it_holds(data: bytes) -> None:
    with pytest.raises(JournalDamaged, match="update Daimon"):
        decode(Body, data, SCHEMA + 1)


@pytest.mark.parametrize("schema", [0, -1])
def test_a_row_of_no_release_is_damage(schema: int) -> None:
    with pytest.raises(JournalDamaged):
        decode(Body, b'{"kind":"stop","turn":"t1"}', schema)


@pytest.mark.parametrize(
    "data",
    [b'{"kind":"reply","parts":5}', b'{"kind":"reply","parts":[{}]}', b'{"kind":"reply","parts":[5]}', b'{"kind":"outcome","result":5}'],
)
def test_an_old_row_of_the_wrong_shape_is_damage(data: bytes) -> None:
    with pytest.raises(JournalDamaged):
        decode(StepBody, data, 1)


@settings(deadline=None)
@given(st.binary() | of(dict[str, int]).map(lambda value: json.dumps(value).encode()))
def test_arbitrary_bytes_are_read_or_called_damage(data: bytes) -> None:
    try:
        decode(StepBody, data)
    except JournalDamaged:
        return


def test_the_reason_names_the_place() -> None:
    with pytest.raises(JournalDamaged, match=r"parts\.0\.text"):
        decode(Body, b'{"kind":"message","parts":[{"kind":"text","text":5}]}')


def test_a_blob_is_named_by_the_hash_of_its_bytes() -> None:
    assert blob_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_equal_values_have_equal_fingerprints_and_others_have_others() -> None:
    one, same, other = (fingerprint(Pins, Pins(config)) for config in "aab")
    assert one == same != other
    assert len(one) == 16
