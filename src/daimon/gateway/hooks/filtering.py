"""Which deliveries matter. A filter names a place in the body (a JSON pointer) or a header, and the values that let a delivery pass.

Values are compared as text: `true`, `null` and numbers as JSON writes them; an object or a list equals nothing. All filters must agree.
"""

import json

from pydantic import JsonValue

from daimon.abi.errors import BadInput
from daimon.abi.hook import Filter
from daimon.gateway.hooks.signature import Heads

HEADER = "header:"
MOST = 20
_LONGEST = 200


def held_back(filters: tuple[Filter, ...], data: JsonValue, given: Heads) -> str:
    """Why nobody is to be woken; empty if it passes."""
    for each in filters:
        value = given.get(each.at.removeprefix(HEADER).lower()) if each.at.startswith(HEADER) else _text(_at(data, each.at))
        if value is None or value not in each.is_in:
            found = "is not there" if value is None else f"is {value[:40]!r}"
            return f"{each.at} {found}"
    return ""


def check(filters: tuple[Filter, ...]) -> None:
    """Raises BadInput for what could never pass."""
    if len(filters) > MOST:
        raise BadInput(f"a hook has at most {MOST} filters, not {len(filters)}")
    for each in filters:
        if not each.is_in or not (each.at.startswith("/") or (len(each.at) > len(HEADER) and each.at.startswith(HEADER))):
            raise BadInput(f"the filter {each.at[:80]!r} needs a place such as /action or header:X-GitHub-Event, and at least one value")
        if max(map(len, (each.at, *each.is_in))) > _LONGEST:
            raise BadInput(f"the filter {each.at[:80]!r} has more than {_LONGEST} characters")


def _at(data: JsonValue, pointer: str) -> JsonValue:
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(data, dict) and name in data:
            data = data[name]
        elif isinstance(data, list) and name.isascii() and name.isdigit() and len(name) < 9 and int(name) < len(data):
            data = data[int(name)]
        else:
            return [None]  # nothing equals a list
    return data


def _text(value: JsonValue) -> str | None:
    if isinstance(value, str):
        return value
    return None if isinstance(value, dict | list) else json.dumps(value)
