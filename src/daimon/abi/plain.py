"""Values that can be written and read back as they were.

JSON from a model or a stranger may hold what JSON cannot: lone surrogates, NaN, numbers of thousands of digits, nesting that
no reader follows. It is checked or mended here, at the door, because a row that can be written but not read is worse than a
refusal.
"""

import math
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from daimon.abi.text import clean as clean
from daimon.abi.text import is_text as is_text
from daimon.abi.text import is_utf8 as is_utf8

DEEPEST = 64
MOST_BITS = 1_024
SHOWN = 1_000


def _aware(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("a time needs its zone")
    return at


Moment = Annotated[datetime, AfterValidator(_aware)]
"""A time with its zone: without one nobody knows when it is."""


def fault(value: JsonValue) -> str:
    """Why this value cannot be kept; empty if it can. Never recurses, so hostile nesting cannot overflow the stack."""
    level: list[JsonValue] = [value]
    for _ in range(DEEPEST):
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, str) and item.isascii():
                continue  # most of what comes, so it is settled first
            if isinstance(item, dict):
                below += item.values()
                level += item  # its names are looked at in this very loop
            elif isinstance(item, list | tuple):
                below += item
            elif wrong := _fault_of_one(item):
                return wrong
        if not below:
            return ""
        level = below
    return f"it is nested more than {DEEPEST} levels deep"


def _fault_of_one(item: JsonValue) -> str:
    if isinstance(item, str):
        return "" if is_text(item) else "a text holds half of a surrogate pair"
    if isinstance(item, float) and not math.isfinite(item):
        return f"{item} is not a number that JSON knows"
    return "a number has more digits than can be kept" if isinstance(item, int) and item.bit_length() > MOST_BITS else ""


def size(value: JsonValue) -> int:
    """About how many characters it takes."""
    return sum(len(item) if isinstance(item, str) else 8 for item, _ in _walk(value))


def mended(value: JsonValue) -> JsonValue:
    """The value itself if it can be kept, else a text that shows what it was."""
    return {"unreadable": fault(value), "began_with": clean(_shown(value))} if fault(value) else value


def _shown(value: JsonValue) -> str:
    """The beginning of it, without following deep nesting or writing out long numbers."""
    shown = ""
    for item, depth in _walk(value):
        if depth <= DEEPEST and not isinstance(item, dict | list) and len(shown) < SHOWN:
            shown += "… " if isinstance(item, int) and item.bit_length() > MOST_BITS else f"{repr(item)[:SHOWN]} "
    return shown[:SHOWN].rstrip()


def _walk(value: JsonValue) -> Iterator[tuple[JsonValue, int]]:
    todo: list[tuple[JsonValue, int]] = [(value, 1)]
    while todo:
        item, depth = todo.pop()
        yield item, depth
        if isinstance(item, dict):
            todo += [(name, depth) for name in item]
            todo += [(inner, depth + 1) for inner in item.values()]
        elif isinstance(item, list | tuple):
            todo += [(inner, depth + 1) for inner in item]
