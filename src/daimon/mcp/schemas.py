"""From the JSON Schema of a server to the strict part of it that our tools are checked by (`tools/shape.py`). Pure.

References are followed, objects are closed, lists of types become alternatives; what we would not check (patterns, formats) is said in
words and left to the server, which checks its arguments itself. What has no strict form, such as an object with any fields, is asked
for as a text that holds JSON, and unpacked again before it is sent (`Translated.unpack`). A whole schema without a strict form becomes
one such text, called `arguments`.

Bounded in depth and in number: a schema that refers to itself, or grows when it is followed, is packed as a text where it becomes too much.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from pydantic import JsonValue

from daimon.abi.errors import ToolFailed
from daimon.mcp.words import kept, shown

Schema = dict[str, JsonValue]
Path = tuple[str, ...]
WHOLE = "arguments"
DEEPEST, MOST_NODES, MOST_BYTES, MOST_WORDS, MOST_VALUES = 12, 1_000, 48_000, 500, 100
EACH = "*"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SAID = ("format", "pattern", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "contentMediaType")
_PLAIN = ("string", "integer", "number", "boolean", "null")


class _Cannot(Exception):
    """There is no strict form of this."""


@dataclass(frozen=True, slots=True)
class Translated:
    parameters: Schema
    packed: tuple[Path, ...] = ()
    """Where a text holds JSON; `*` is each entry of a list."""
    is_whole: bool = False
    """All of it is one text."""
    notes: tuple[str, ...] = ()
    """What the owner may want to know."""

    def unpack(self, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """As the server wants them. Raises ToolFailed for a text that is no JSON."""
        if self.is_whole:
            value = _loaded(str(arguments.get(WHOLE, "{}")), WHOLE)
            if not isinstance(value, dict):
                raise ToolFailed("bad_arguments", f"{WHOLE} must be a JSON object, such as {{}}")
            return value
        for path in self.packed:
            arguments = cast("dict[str, JsonValue]", _unpacked(arguments, path, path))
        return arguments


@dataclass(slots=True)
class _Reading:
    root: Schema
    nodes: int = 0
    packed: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def translate(schema: Schema) -> Translated:
    reading = _Reading(schema)
    try:
        parameters = _object(_followed(schema, reading, 0), reading, (), 0, may_pack=True)
        size = len(json.dumps(parameters))
    except (_Cannot, RecursionError):
        return _as_text(schema, "its arguments have no strict form")
    if size > MOST_BYTES:
        return _as_text(schema, f"the schema of its arguments has {size:,} bytes")
    return Translated(parameters, tuple(reading.packed), notes=tuple(dict.fromkeys(reading.notes)))


def _as_text(schema: Schema, why: str) -> Translated:
    told = shown(json.dumps(schema, ensure_ascii=False), 2_000)
    text: Schema = {"type": "string", "description": f"All arguments as the text of one JSON object. Its schema: {told}"}
    parameters: Schema = {"type": "object", "additionalProperties": False, "properties": {WHOLE: text}, "required": [WHOLE]}
    return Translated(parameters, is_whole=True, notes=(f"{why}, so they are asked for as JSON in a text",))


def _followed(schema: JsonValue, reading: _Reading, depth: int) -> Schema:
    """The schema itself, where it refers to another one of the same document."""
    reading.nodes += 1
    if depth > DEEPEST or reading.nodes > MOST_NODES or not isinstance(schema, dict):
        raise _Cannot
    seen = 0
    while isinstance(where := schema.get("$ref"), str):
        seen += 1
        if not where.startswith("#") or seen > DEEPEST:
            raise _Cannot
        found: JsonValue = reading.root
        for part in [part.replace("~1", "/").replace("~0", "~") for part in where[1:].split("/")[1:]]:
            if not isinstance(found, dict) or part not in found:
                raise _Cannot
            found = found[part]
        if not isinstance(found, dict):
            raise _Cannot
        schema = {**found, **{name: value for name, value in schema.items() if name != "$ref"}}
    return _merged(schema, reading, depth)


def _merged(schema: Schema, reading: _Reading, depth: int) -> Schema:
    """`allOf` of objects is one object."""
    parts = schema.get("allOf")
    if not isinstance(parts, list) or not parts:
        return schema
    whole: Schema = {name: value for name, value in schema.items() if name != "allOf"}
    for part in parts:
        each = _followed(part, reading, depth + 1)
        properties = {**_dict(whole.get("properties")), **_dict(each.get("properties"))}
        required = [*_list(whole.get("required")), *_list(each.get("required"))]
        whole = {**each, **whole}
        if properties:
            whole |= {"properties": properties, "required": required}
    return whole


def _node(schema: JsonValue, reading: _Reading, path: Path, depth: int, may_pack: bool) -> Schema:
    found = _followed(schema, reading, depth)
    options = found.get("anyOf", found.get("oneOf"))
    kind = found.get("type", _kind_of(found))
    if isinstance(options, list) and options:
        return _any(options, found, reading, path, depth)
    if isinstance(kind, list):
        return _any([{**found, "type": each, "description": ""} for each in kind], found, reading, path, depth)
    if kind == "object":
        return _object(found, reading, path, depth, may_pack)
    if kind == "array":
        items = _node(found.get("items"), reading, (*path, EACH), depth + 1, may_pack)
        return {"type": "array", "items": items, **_whole_numbers(found, "minItems", "maxItems"), **_words(found)}
    if kind not in _PLAIN:
        raise _Cannot
    return _plain(kind, found)


def _any(options: list[JsonValue], found: Schema, reading: _Reading, path: Path, depth: int) -> Schema:
    """Inside of alternatives nothing is packed: nobody could say which of them a text was meant for."""
    nodes = [_node(each, reading, path, depth + 1, may_pack=False) for each in options]
    distinct = [node for n, node in enumerate(nodes) if node not in nodes[:n]]
    return {**distinct[0], **_words(found)} if len(distinct) == 1 else {"anyOf": cast("JsonValue", distinct), **_words(found)}


def _object(found: Schema, reading: _Reading, path: Path, depth: int, may_pack: bool) -> Schema:
    given = _dict(found.get("properties"))
    if found.get("type", "object") != "object" or (not given and path and found.get("additionalProperties") is not False):
        raise _Cannot
    required = [name for name in _list(found.get("required")) if isinstance(name, str) and name in given]
    if strange := [name for name in given if not _NAME.fullmatch(name)]:
        if set(strange) & set(required):
            raise _Cannot
        reading.notes.append(f"{len(strange)} arguments with names that models cannot write are left out")
    if found.get("additionalProperties") not in (None, False) and given:
        reading.notes.append("fields beyond those that it names are not offered")
    properties: Schema = {}
    for name, each in given.items():
        if name not in strange:
            properties[name] = _property(name, each, reading, (*path, name), depth + 1, may_pack)
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [*dict.fromkeys(required)],
        **_words(found),
    }


def _property(name: str, schema: JsonValue, reading: _Reading, path: Path, depth: int, may_pack: bool) -> Schema:
    marks = len(reading.packed)
    try:
        node = _node(schema, reading, path, depth, may_pack)
    except _Cannot:
        if not may_pack:
            raise
        del reading.packed[marks:]
        reading.packed.append(path)
        reading.notes.append(f"{'.'.join(path)} is asked for as JSON in a text")
        told = shown(json.dumps(schema, ensure_ascii=False), MOST_WORDS)
        words = _words(schema).get("description", "") if isinstance(schema, dict) else ""
        return {"type": "string", "description": f"{words} The text of a JSON value; its schema: {told}".strip()}
    if not node.get("description"):
        title = schema.get("title") if isinstance(schema, dict) else None
        node["description"] = (
            shown(title, 80) if isinstance(title, str) and title.strip() else f"The server calls it {name} and says no more."
        )
    return node


def _plain(kind: str, found: Schema) -> Schema:
    node: Schema = {"type": kind, **_words(found)}
    allowed = found.get("enum")
    if kind == "string":
        node |= _whole_numbers(found, "minLength", "maxLength")
        if found.get("format") == "date-time":
            node["format"] = "date-time"
    elif kind in ("integer", "number"):
        node |= {name: value for name in ("minimum", "maximum") if _is_number(value := found.get(name))}
    if isinstance(allowed, list) and kind in ("string", "integer"):
        values = [each for each in allowed if _is_a(kind, each)]
        if values and len(values) <= MOST_VALUES:
            node["enum"] = cast("JsonValue", values)
    if kind in ("string", "integer") and _is_a(kind, found.get("const")):
        node["const"] = found["const"]
    return node


def _words(found: Schema) -> Schema:
    """Its description, with what is not checked here."""
    text = found.get("description")
    said = kept(text, MOST_WORDS).strip() if isinstance(text, str) else ""
    left = [f"{name}: {shown(str(found[name]), 80)}" for name in _SAID if name in found and found[name] != "date-time"]
    if (default := found.get("default")) is not None and len(told := json.dumps(default, ensure_ascii=False)) <= 80:
        left.append(f"if left out: {shown(told, 80)}")
    whole = f"{said} ({'; '.join(left)})".strip() if left else said
    return {"description": whole} if whole else {}


def _kind_of(found: Schema) -> JsonValue:
    """Where no type is said, but what is said leaves only one."""
    if "properties" in found:
        return "object"
    if "items" in found:
        return "array"
    values = found.get("enum", [found["const"]] if "const" in found else None)
    if isinstance(values, list) and values and len(kinds := {_json_kind(each) for each in values}) == 1:
        return kinds.pop()
    return None


def _json_kind(value: JsonValue) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    return kinds.get(type(value), "object")


def _is_a(kind: str, value: JsonValue) -> bool:
    return type(value) is (str if kind == "string" else int)


def _is_number(value: JsonValue) -> bool:
    return type(value) in (int, float)


def _whole_numbers(found: Schema, *names: str) -> Schema:
    return {name: value for name in names if type(value := found.get(name)) is int and value >= 0}


def _dict(value: JsonValue) -> Schema:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _unpacked(value: JsonValue, path: Path, whole: Path) -> JsonValue:
    if not path:
        return _loaded(value, ".".join(whole)) if isinstance(value, str) else value
    first, *rest = path
    if first == EACH and isinstance(value, list):
        return [_unpacked(each, tuple(rest), whole) for each in value]
    if isinstance(value, dict) and first in value:
        return {**value, first: _unpacked(value[first], tuple(rest), whole)}
    return value


def _loaded(text: str, where: str) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError):
        raise ToolFailed("bad_arguments", f"{where} must be the text of a JSON value; it begins with {text[:60]!r}") from None


def names(schema: Schema) -> Iterator[tuple[str, str]]:
    """The arguments of a strict schema with their kinds."""
    for name, node in _dict(schema.get("properties")).items():
        yield name, str(_dict(node).get("type", "anyOf"))
