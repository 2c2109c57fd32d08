"""Comparing values with shapes: nothing but sentences comes out, and pydantic agrees with every yes."""

import math
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, JsonValue

from daimon.abi.errors import BadInput
from daimon.abi.tool import Call, Effect, Result
from daimon.tools.fit import misfits
from daimon.tools.schema import tool
from daimon.tools.shape import read

SCALARS: list[st.SearchStrategy[Any]] = [
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 12),
    st.floats(),
    st.text(max_size=12),
    st.text(st.characters(), max_size=3),
    st.datetimes().map(str),
    st.datetimes().map(lambda at: at.isoformat() + "Z"),
    st.sampled_from(["good", "bad", "\ud800", 10**400, "2026-01-31T09:00:00+01:00", "2026-01-31 24:00:00Z"]),
]
JSON: st.SearchStrategy[Any] = st.recursive(
    st.one_of(SCALARS), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)
NAMES = ["text", "at", "mood", "tries", "share", "flag"]
ARGUMENTS = (
    JSON | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=6) | st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, JSON))
)

Tries = Annotated[list[Annotated[int, Field(ge=0, le=9)]], Field(max_length=3)]


@tool(effect=Effect.PURE)
async def anything(
    call: Call,
    text: Annotated[str, "Text.", Field(min_length=1, max_length=10)] = "x",
    at: Annotated[datetime | None, "A time."] = None,
    mood: Annotated[Literal["good", "bad"], "One of two."] = "good",
    tries: Annotated[Tries | None, "Numbers."] = None,
    share: Annotated[float | None, "A number."] = None,
    flag: Annotated[bool, "Yes or no."] = False,
) -> Result:
    """Takes one argument of each kind."""
    return Result(None)


@given(ARGUMENTS)
def test_arbitrary_arguments_raise_nothing_but_bad_input(arguments: Any) -> None:
    try:
        anything.check(arguments)
    except BadInput as refused:
        told = str(refused)
        assert told.startswith("anything: ")
        assert "cannot be read" not in told
        told.encode()


@given(ARGUMENTS)
def test_what_fits_is_what_pydantic_takes(arguments: Any) -> None:
    fits = not misfits(anything.shape, arguments, {})
    try:
        values = anything.signature.values(arguments)
        taken = True
    except (ValueError, TypeError, RecursionError):
        values, taken = {}, False
    # Only of times we want more than pydantic: RFC 3339 with an offset, no seconds since 1970.
    assert fits == taken or (taken and values["at"] is not None and misfits(anything.shape, {"at": arguments["at"]}, {}))


def test_deep_and_endless_values_are_told_in_short() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    hopeless: list[Any] = [{"text": deep}, {"share": deep}, {"tries": [10**5000]}, deep]
    for arguments in hopeless:
        with pytest.raises(BadInput) as refused:
            anything.check(arguments)
        assert len(str(refused.value)) < 200


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(BadInput) as refused:
        anything.check({"mood": "x" * 100_000})
    assert len(str(refused.value)) < 150


SHAPE = read(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["place"],
        "properties": {
            "place": {
                "type": "object",
                "description": "Where.",
                "additionalProperties": False,
                "required": ["city"],
                "properties": {"city": {"type": "string"}, "size": {"type": "integer", "enum": [1, 2]}},
            },
            "share": {"type": "number", "description": "How much.", "minimum": 0},
            "only": {"type": "string", "description": "One word.", "const": "this"},
            "one": {"type": "integer", "description": "One number.", "const": 1},
        },
    }
)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"place": {"city": "Kiel", "size": 2}, "share": 0, "only": "this", "one": 1}, ()),
        ({"place": {}}, ("place.city is missing, expected text",)),
        ({"place": {"city": "Kiel", "size": 3}}, ("place.size is 3, expected one of 1, 2",)),
        ({"place": {"city": "Kiel", "size": True}}, ("place.size is true, expected one of 1, 2",)),
        ({"place": {"city": "Kiel", "zip": "2"}}, ("place.zip is not known, expected an object with city, size",)),
        ({"place": "Kiel"}, ('place is "Kiel", expected an object with city, size',)),
        ({"place": {"city": "Kiel"}, "share": -1}, ("share is -1, expected a number of at least 0",)),
        ({"place": {"city": "Kiel"}, "share": math.inf}, ("share is Infinity, expected a number of at least 0",)),
        ({"place": {"city": "Kiel"}, "share": 10**400}, (f"share is 1{'0' * 58}…, expected a number of at least 0",)),
        ({"place": {"city": "\ud800"}}, ('place.city is "\\ud800", expected text',)),
        ({"place": {"city": "Kiel"}, "only": "that"}, ('only is "that", expected "this"',)),
        ({"place": {"city": "Kiel"}, "one": 2}, ("one is 2, expected 1",)),
    ],
)
def test_each_fault_is_a_sentence_that_names_the_place(arguments: JsonValue, told: tuple[str, ...]) -> None:
    assert misfits(SHAPE, arguments, {}) == told
