"""Does a value fit its shape, and if not, where and why.

A value is never bent to fit: "5" is not a number, 5.0 is not whole, true is not 1, a time without an offset is no time. Each fault is
one sentence: which argument, what it was (shortened, and not repeated at all if it is a secret), what was expected. Nothing is known
here of meaning or permission.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from pydantic import AwareDatetime, ConfigDict, JsonValue, TypeAdapter, ValidationError

from daimon.abi.errors import BadInput
from daimon.abi.tool import ArgumentRole
from daimon.tools.shape import AnyOf, Array, Flag, Node, Null, Number, Object, Text
from daimon.tools.words import clean, expected, short

_TOLD = 3
"""So many faults are told at once; who mends these sees the others."""
_MOMENT = TypeAdapter[AwareDatetime](AwareDatetime, config=ConfigDict(strict=True))
_LOOKS_LIKE_A_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
"""Of RFC 3339. pydantic alone would take "20300101" for seconds since 1970."""
_NUMBERS: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float)}


def misfits(shape: Object, arguments: JsonValue, roles: Mapping[str, ArgumentRole]) -> tuple[str, ...]:
    """One sentence for each fault, none if the arguments fit."""
    return tuple(_sentence(fault, roles) for fault in _faults(shape, arguments, ""))


def refusal(tool: str, faults: Sequence[str]) -> BadInput:
    more = f"; and {len(faults) - _TOLD} more" if len(faults) > _TOLD else ""
    return BadInput(f"{tool}: {'; '.join(faults[:_TOLD])}{more}")


@dataclass(frozen=True, slots=True)
class _Fault:
    where: str
    what: Literal["wrong", "missing", "unknown"]
    value: JsonValue
    node: Node


def _sentence(fault: _Fault, roles: Mapping[str, ArgumentRole]) -> str:
    where = clean(fault.where) or "the argument object"
    if fault.what == "missing":
        found = "is missing"
    elif fault.what == "unknown":
        found = "is not known"
    elif roles.get(fault.where.split(".")[0].split("[")[0]) is ArgumentRole.SECRET:
        found = "is not right"
    else:
        found = f"is {short(fault.value)}"
    return f"{where} {found}, expected {expected(fault.node)}"


def _faults(node: Node, value: JsonValue, where: str) -> Iterator[_Fault]:
    match node:
        case Object() if isinstance(value, dict):
            yield from _faults_of_members(node, value, f"{where}." if where else "")
        case Array() if isinstance(value, list) and _is_within(len(value), node.min_items, node.max_items):
            for i, item in enumerate(value):
                yield from _faults(node.items, item, f"{where}[{i}]")
        case AnyOf():
            tries = [list(_faults(option, value, where)) for option in node.any_of]
            if all(tries):
                # A fault deeper than the value itself says which alternative was meant.
                inner = next((faults for faults in tries if faults[0].where != where), None)
                yield from inner or [_Fault(where, "wrong", value, node)]
        case Text() | Number() | Flag() | Null() if _fits(node, value):
            pass
        case _:
            yield _Fault(where, "wrong", value, node)


def _faults_of_members(node: Object, value: dict[str, JsonValue], inside: str) -> Iterator[_Fault]:
    for name in node.required:
        if name not in value:
            yield _Fault(inside + name, "missing", None, node.properties[name])
    for name, item in value.items():
        if name in node.properties:
            yield from _faults(node.properties[name], item, inside + name)
        else:
            yield _Fault(inside + name, "unknown", item, node)


def _fits(node: Text | Number | Flag | Null, value: JsonValue) -> bool:
    match node:
        case Text():
            return isinstance(value, str) and _is_listed(node, value) and _is_right_text(node, value)
        case Number():
            # By exact type, because True is an int to Python.
            return type(value) in _NUMBERS[node.type] and _is_listed(node, value) and _is_right_number(node, value)
        case Flag():
            return isinstance(value, bool)
        case Null():
            return value is None
        case _:
            assert_never(node)


def _is_listed(node: Text | Number, value: JsonValue) -> bool:
    return (node.enum is None or value in node.enum) and (node.const is None or value == node.const)


def _is_right_text(node: Text, value: str) -> bool:
    return _is_unicode(value) and _is_within(len(value), node.min_length, node.max_length) and (node.format is None or _is_moment(value))


def _is_right_number(node: Number, value: JsonValue) -> bool:
    if not isinstance(value, int | float):
        return False
    try:
        is_finite = node.type == "integer" or math.isfinite(value)
    except OverflowError:
        return False
    return is_finite and _is_within(value, node.minimum, node.maximum)


def _is_within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_moment(value: str) -> bool:
    if not _LOOKS_LIKE_A_MOMENT.fullmatch(value):
        return False
    try:
        _MOMENT.validate_json(json.dumps(value))
    except ValidationError:
        return False
    return True
