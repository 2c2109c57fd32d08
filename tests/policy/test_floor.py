"""What no policy can lift."""

import pytest
from pydantic import JsonValue

from daimon.abi.tool import Effect, Manifest
from daimon.policy.floor import MOST_CHARACTERS, StandingFloor

TOOL = Manifest(name="write", description="writes", parameters={}, effect=Effect.PURE)


def forbidden(arguments: dict[str, JsonValue]) -> str:
    return StandingFloor().forbids(TOOL, arguments)


@pytest.mark.parametrize("arguments", [{}, {"text": "hello"}, {"text": "x" * (MOST_CHARACTERS - 100)}, {"a": [{"b": [None, True, 1.5]}]}])
def test_an_ordinary_call_may_pass(arguments: dict[str, JsonValue]) -> None:
    assert forbidden(arguments) == ""


def test_a_call_with_too_many_characters_is_forbidden_and_told_why() -> None:
    told = forbidden({"text": "x" * MOST_CHARACTERS})
    assert told.startswith("the arguments of write hold 10000")
    assert told.endswith(f"characters, at most {MOST_CHARACTERS} may be passed; use a file")


@pytest.mark.parametrize(
    "arguments",
    [{"a": ["x" * 1_000] * 1_001}, {"x" * (MOST_CHARACTERS + 1): 1}, {"a": {"b": {"c": "é" * 1_000_001}}}, {"a": list(range(200_000))}],
    ids=["in a list", "in a name", "deep inside", "in numbers"],
)
def test_characters_are_counted_wherever_they_are(arguments: dict[str, JsonValue]) -> None:
    assert "characters" in forbidden(arguments)


def test_hostile_nesting_is_measured_without_falling_over() -> None:
    nested: JsonValue = "x"
    for _ in range(200_000):
        nested = [nested]
    assert "characters" in forbidden({"a": nested})
