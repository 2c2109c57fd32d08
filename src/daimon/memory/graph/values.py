"""How values of a query compare. What is unknown (null) stays unknown: `null = 1` is neither true nor false, and WHERE wants true."""

import json
from collections.abc import Iterable

from pydantic import JsonValue


def same(left: JsonValue, right: JsonValue) -> bool | None:
    if left is None or right is None:
        return None
    return frozen(left) == frozen(right)


def ordered(by: str, left: JsonValue, right: JsonValue) -> bool | None:
    """Numbers with numbers and texts with texts; anything else has no order."""
    match left, right:
        case bool(), _:
            return None
        case _, bool():
            return None
        case (int() | float(), int() | float()) | (str(), str()):
            below, equal = left < right, left == right  # type: ignore[operator]
        case _:
            return None
    return {"<": below, "<=": below or equal, ">": not (below or equal), ">=": not below}[by]


def worded(by: str, left: JsonValue, right: JsonValue) -> bool | None:
    """CONTAINS, STARTS WITH, ENDS WITH."""
    if not isinstance(left, str) or not isinstance(right, str):
        return None
    return right in left if by == "CONTAINS" else left.startswith(right) if by == "STARTS WITH" else left.endswith(right)


def among(item: JsonValue, items: JsonValue) -> bool | None:
    if not isinstance(items, list):
        return None
    return either(same(item, each) for each in items)


def either(claims: Iterable[bool | None]) -> bool | None:
    result: bool | None = False
    for claim in claims:
        if claim:
            return True
        result = None if claim is None else result
    return result


def every(claims: Iterable[bool | None]) -> bool | None:
    return negated(either(negated(claim) for claim in claims))


def one(claims: Iterable[bool | None]) -> bool | None:
    known = list(claims)
    if known.count(True) > 1:
        return False
    return None if None in known else known.count(True) == 1


def differs(claims: Iterable[bool | None]) -> bool | None:
    """XOR of all."""
    known = list(claims)
    return None if None in known else known.count(True) % 2 == 1


def negated(claim: bool | None) -> bool | None:
    return None if claim is None else not claim


def claimed(value: JsonValue) -> bool | None:
    """A value where a condition should be: only true and false say anything."""
    return value if isinstance(value, bool) else None


def frozen(value: JsonValue) -> object:
    """Something with a hash that is equal for equal values. 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", *map(frozen, value))
    if isinstance(value, dict):
        return ("map", *((key, frozen(value[key])) for key in sorted(value)))
    return value


def place(value: JsonValue) -> tuple[int, float | str]:
    """Where it comes in an order: texts, then truths, numbers, and what is unknown last. Lists and maps as they are written, first."""
    match value:
        case None:
            return (4, 0)
        case bool():
            return (2, value)
        case int() | float():
            return (3, value)
        case str():
            return (1, value)
        case _:
            return (0, json.dumps(value, sort_keys=True))
