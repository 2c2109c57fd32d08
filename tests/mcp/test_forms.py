"""Fields that a server fills in ahead: shown to the owner before they count, and only if the owner could have said the same."""

import pytest
from pydantic import JsonValue

from daimon.abi.tool import Word
from daimon.mcp.forms import answer, form_of, question

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "status": {"type": "string", "enum": ["active", "gone"], "enumNames": ["Here", "Away"], "default": "active"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["a", "b"]},
        "verified": {"type": "boolean", "default": True},
        "note": {"type": "string"},
    },
}
DEFAULTS = {"name": "John Doe", "age": 30, "status": "active", "tags": ["a", "b"], "verified": True}


def test_what_is_left_out_is_as_the_question_said() -> None:
    form = form_of(SCHEMA)
    asked = question("far", "Who?", form).text
    for line in ("name (text, John Doe if left out)", "age (integer, 30 if left out)", "status (one of Here, Away, Here if left out)"):
        assert line in asked
    assert "tags (some of a, b, a, b if left out)" in asked
    assert "verified (yes or no, yes if left out)" in asked
    assert answer(form, Word("accept")) == DEFAULTS
    assert answer(form, Word("age: 7\nverified: no")) == {**DEFAULTS, "age": 7, "verified": False}
    assert answer(form, Word("decline")) is None


@pytest.mark.parametrize(
    "field",
    [{"type": "integer", "default": "many"}, {"type": "string", "enum": ["a"], "default": "b"},
     {"type": "string", "maxLength": 2, "default": "abc"}, {"type": "array", "items": {"enum": ["a"]}, "default": "a"},
     {"type": "array", "items": {"enum": ["a"]}, "default": ["z"]}],
)  # fmt: skip
def test_a_default_that_nobody_could_have_said_is_none(field: dict[str, JsonValue]) -> None:
    form = form_of({"type": "object", "properties": {"x": field, "y": {"type": "string"}}})
    assert "if left out" not in question("far", "?", form).text
    assert answer(form, Word("y: hello")) == {"y": "hello"}
