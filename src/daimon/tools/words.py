"""What was expected and what was found, in words for the model that has to mend it."""

import json
from typing import assert_never

from pydantic import JsonValue

from daimon.tools.shape import AnyOf, Array, Flag, Node, Null, Number, Object, Text

_SHOWN = 60


def expected(node: Node) -> str:
    match node:
        case Text():
            return _text(node)
        case Number():
            return _number(node)
        case Flag():
            return "true or false"
        case Null():
            return "null"
        case Array():
            return f"a list{_bounds(node.min_items or None, node.max_items, ' entries')}, each {expected(node.items)}"
        case Object():
            return f"an object with {', '.join(node.properties)}" if node.properties else "an empty object"
        case AnyOf():
            return " or ".join(expected(option) for option in node.any_of)
        case _:
            assert_never(node)


def short(value: JsonValue) -> str:
    try:
        return clean(json.dumps(value, ensure_ascii=False))
    except (RecursionError, ValueError):
        return "too deep or too long to show"


def clean(text: str) -> str:
    """Cut, and without half surrogate pairs: they cannot be stored, and a model's broken text must not break the journal."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return cut.encode("utf-8", "backslashreplace").decode()


def _text(node: Text) -> str:
    if (one := _one_of(node)) is not None:
        return one
    if node.format == "date-time":
        return "a time with its offset, such as 2026-01-31T09:00:00+01:00"
    return "text" + _bounds(node.min_length or None, node.max_length, " characters")


def _number(node: Number) -> str:
    if (one := _one_of(node)) is not None:
        return one
    return ("a whole number" if node.type == "integer" else "a number") + _bounds(node.minimum, node.maximum)


def _one_of(node: Text | Number) -> str | None:
    if node.const is not None:
        return json.dumps(node.const)
    return None if node.enum is None else f"one of {', '.join(json.dumps(each) for each in node.enum)}"


def _bounds(least: float | None, most: float | None, unit: str = "") -> str:
    if least is not None and most is not None:
        return f" of {least} to {most}{unit}"
    if most is not None:
        return f" of at most {most}{unit}"
    return "" if least is None else f" of at least {least}{unit}"
