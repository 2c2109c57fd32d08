"""Values that can be written and read back: what is at fault, and what is shown in its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.abi.values import json_values

from daimon.abi.codec import decode, encode
from daimon.abi.message import ToolCall
from daimon.abi.plain import DEEPEST, MOST_BITS, clean, fault, mended


def nested(depth: int) -> JsonValue:
    value: JsonValue = "x"
    for _ in range(depth):
        value = [value]
    return value


ODD: dict[str, tuple[JsonValue, str]] = {
    "nan": ({"a": [float("nan")]}, "not a number that JSON knows"),
    "infinity": (float("-inf"), "not a number that JSON knows"),
    "a long number": ([10**5_000], "more digits"),
    "half a pair": ({"a": "x\ud800"}, "half of a surrogate pair"),
    "half a pair in a name": ({"\udc00": 1}, "half of a surrogate pair"),
    "nesting": (nested(100_000), "nested more than"),
    "nesting in objects": ({"a": {"b": nested(70)}}, "nested more than"),
}


@pytest.mark.parametrize(("value", "words"), ODD.values(), ids=ODD)
def test_what_cannot_be_kept_is_told_and_shown_as_text(value: JsonValue, words: str) -> None:
    assert words in fault(value)
    shown = mended(value)
    assert fault(shown) == ""
    assert len(json.dumps(shown)) < 10_000
    call = ToolCall("c1", "tool", shown)
    assert decode(ToolCall, encode(ToolCall, call)) == call


@given(json_values)
def test_what_can_be_kept_is_left_as_it_is(value: JsonValue) -> None:
    assert fault(value) == ""
    assert mended(value) is value


def test_the_limits_are_met_exactly() -> None:
    assert fault(nested(DEEPEST - 1)) == ""
    assert fault(nested(DEEPEST)) != ""
    assert fault(2**MOST_BITS - 1) == fault(-(2**MOST_BITS) + 1) == ""
    assert fault(2**MOST_BITS) != ""


@given(st.text(st.characters()))
def test_cleaned_text_can_always_be_written(text: str) -> None:
    assert clean(text).encode("utf-8").decode("utf-8") == clean(text)
    assert len(clean(text)) == len(text)
