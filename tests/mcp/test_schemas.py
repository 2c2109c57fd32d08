"""Schemas of servers, in the strict form of ours."""

import json
from typing import Any

import pytest

from daimon.abi.errors import ToolFailed
from daimon.mcp.schemas import WHOLE, translate
from daimon.tools.fit import misfits
from daimon.tools.shape import read


def fits(schema: dict[str, Any], arguments: Any) -> bool:
    return not misfits(read(translate(schema).parameters), arguments, {})


def test_references_are_followed_and_objects_are_closed() -> None:
    schema = {
        "type": "object",
        "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}, "required": ["city"]}},
        "properties": {"at": {"$ref": "#/$defs/Place"}, "to": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]}},
        "required": ["at"],
    }
    assert fits(schema, {"at": {"city": "Bern"}, "to": None})
    assert not fits(schema, {"at": {"city": "Bern", "more": 1}})
    assert not fits(schema, {"to": None})
    assert "pattern: ^[A-Z]" in json.dumps(translate(schema).parameters)


@pytest.mark.parametrize(
    ("node", "good", "bad"),
    [
        ({"type": ["string", "null"]}, [None, "x"], [1]),
        ({"enum": ["a", "b"]}, ["a"], ["c"]),
        ({"const": 7}, [7], [8]),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, [1, "x"], [True]),
        ({"type": "array", "items": {"type": "number"}, "maxItems": 2}, [[1, 2.5]], [[1, 2, 3], ["x"]]),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, ["abc"], ["abcd"]),
        ({"type": "string", "format": "uri", "default": "x"}, ["anything"], [1]),
        ({"type": "integer", "minimum": 1, "exclusiveMaximum": 9}, [1], [0]),
    ],
)
def test_what_can_be_checked_is_checked(node: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    schema = {"type": "object", "properties": {"x": node}}
    assert not translate(schema).packed
    assert all(fits(schema, {"x": value}) for value in good)
    assert not any(fits(schema, {"x": value}) for value in bad)


@pytest.mark.parametrize(
    "node", [{}, {"type": "object"}, {"type": "array"}, {"type": "object", "additionalProperties": {"type": "string"}}]
)
def test_what_has_no_strict_form_is_asked_for_as_json_and_unpacked(node: dict[str, Any]) -> None:
    translated = translate({"type": "object", "properties": {"x": node, "y": {"type": "integer"}}})
    assert translated.packed == (("x",),)
    assert any("x is asked for as JSON" in note for note in translated.notes)
    assert translated.unpack({"x": '{"a": [1]}', "y": 2}) == {"x": {"a": [1]}, "y": 2}
    assert translated.unpack({"y": 2}) == {"y": 2}
    with pytest.raises(ToolFailed, match="x must be the text of a JSON value"):
        translated.unpack({"x": "not json"})


def test_what_is_packed_inside_of_a_list_is_unpacked_in_each_entry() -> None:
    entry = {"type": "object", "properties": {"name": {"type": "string"}, "data": {}}}
    translated = translate({"type": "object", "properties": {"rows": {"type": "array", "items": entry}}})
    assert translated.unpack({"rows": [{"name": "a", "data": "1"}, {"name": "b"}]}) == {"rows": [{"name": "a", "data": 1}, {"name": "b"}]}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"$ref": "#"},
        {"$ref": "https://evil.example/schema.json"},
        {"type": "object", "properties": {"bad name\u202e!": {"type": "string"}}, "required": ["bad name\u202e!"]},
        {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 400} for n in range(500)}},
    ],
)
def test_a_schema_without_a_strict_form_becomes_one_text(schema: dict[str, Any]) -> None:
    translated = translate(schema)
    assert translated.is_whole
    assert "\u202e" not in json.dumps(translated.parameters, ensure_ascii=False)
    read(translated.parameters)
    assert translated.unpack({WHOLE: '{"a": 1}'}) == {"a": 1}
    with pytest.raises(ToolFailed, match="must be a JSON object"):
        translated.unpack({WHOLE: "[1]"})


def test_a_schema_that_refers_to_itself_or_explodes_is_bounded() -> None:
    tree: dict[str, Any] = {"type": "object", "properties": {"below": {"$ref": "#"}, "name": {"type": "string"}}}
    read(translate(tree).parameters)
    bomb: dict[str, Any] = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": {}}
    for n in range(30):
        pair = {"$ref": f"#/$defs/d{n + 1}"}
        bomb["$defs"][f"d{n}"] = {"type": "object", "properties": {"a": pair, "b": pair}}
    bomb["$defs"]["d30"] = {"type": "string"}
    assert len(json.dumps(translate(bomb).parameters)) < 200_000


def test_no_schema_breaks_the_translation() -> None:
    """Whatever a server writes in place of a schema."""
    for strange in (
        {"type": 7},
        {"properties": []},
        {"properties": {"x": 7}},
        {"properties": {"x": True}},
        {"required": "x"},
        {"allOf": [7]},
    ):
        read(translate(strange).parameters)  # type: ignore[arg-type]
