"""What a request asks for, read and checked: the query and the body as their declared types.

A declared type is a pydantic-checked dataclass that forbids what it does not know (`CHECKED`). A body is read strictly, as the JSON that it
is: "true" is no truth value. A query is text, so a number there is digits, a truth value is `true` or `false`, and a name may be repeated
only where a tuple is declared. What cannot be used raises BadInput that says which field, why, and what can; of a query also the value. A
body's values stay out of it, since they may be secrets.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails
from starlette.datastructures import QueryParams
from starlette.requests import Request

from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput, TooLarge

CHECKED = ConfigDict(extra="forbid", defer_build=True)
MOST_ROWS = 1_000
MOST_SHOWN = 40
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _day(text: str) -> str:
    try:
        return str(date.fromisoformat(text if _DAY.fullmatch(text) else ""))
    except ValueError:
        raise ValueError("is not a day such as 2026-11-15") from None


def _moment(text: object) -> datetime:
    try:
        at = datetime.fromisoformat(str(text))
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is no time; write it as 2026-11-15T09:30:00Z") from None
    raise ValueError("has no zone; write it as 2026-11-15T09:30:00Z")


Limit = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Needed = Annotated[str, Field(min_length=1)]
Day = Annotated[str, AfterValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]
At = Annotated[datetime, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A moment in a query."""


async def read_body(request: Request, most: int, most_by: str = "") -> bytes:
    """All of it. Raises TooLarge; `most_by` is the setting that says so."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise TooLarge(f"the request has more than {most} bytes, which is the most here{f' ({most_by})' if most_by else ''}")
    return bytes(body)


def checked(kind: Any, data: bytes) -> Any:
    """The body as its type, or BadInput that names the first fault."""
    try:
        return adapter(kind).validate_json(data or b"{}", strict=True)
    except ValidationError as broken:
        first = broken.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise BadInput(f"the request cannot be read: {f'{place}: ' if place else ''}{_why(kind, first, 'field')}") from None
    except RecursionError:
        raise BadInput("the request cannot be read: it is nested too deep") from None


def asked(kind: Any, query: QueryParams) -> Any:
    """The query as its type, or BadInput. `kind` None: there is none to be asked."""
    hints: Mapping[str, Any] = {} if kind is None else get_type_hints(kind, include_extras=True)
    values = {name: _given(hints.get(name), name, query.getlist(name)) for name in query}
    if kind is None:
        for name in values:
            raise BadInput(f"{name[:MOST_SHOWN]}={query[name][:MOST_SHOWN]!r}: this takes no parameters")
        return None
    try:
        return adapter(kind).validate_python(values)
    except ValidationError as broken:
        first = broken.errors(include_url=False)[0]
        name = str(first["loc"][0])
        if first["type"] in ("missing", "string_too_short"):
            raise BadInput(f"{name!r} is missing in the request") from None
        which = next((place for place in first["loc"][1:] if isinstance(place, int)), -1)
        value = query.getlist(name)[which]
        raise BadInput(f"{name[:MOST_SHOWN]}={value[:MOST_SHOWN]!r} {_why(kind, first, 'parameter')}") from None


def _given(hint: Any, name: str, values: list[str]) -> object:
    """The text as what the hint wants; as it is where it cannot be that, to be refused with the reason."""
    kinds = _kinds(hint)
    if tuple in kinds:
        return values
    if len(values) > 1:
        raise BadInput(f"{name[:MOST_SHOWN]!r} is given {len(values)} times; once is enough")
    (text,) = values
    if bool in kinds:
        return {"true": True, "false": False}.get(text, ())
    if int in kinds:
        return int(text) if _WHOLE.fullmatch(text) else ()
    return text


def _kinds(hint: Any) -> set[Any]:
    """The types that a hint is made of, without what they hold."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _kinds(get_args(hint)[0])
    if origin in (Union, UnionType):
        return {each for inner in get_args(hint) for each in _kinds(inner)}
    return {origin or hint}


def _why(kind: Any, fault: ErrorDetails, what: str) -> str:
    """What is wrong, and what would be right."""
    shape = _shape(kind, fault["loc"])
    match fault["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            known = ", ".join(adapter(kind).json_schema().get("properties", ())) if len(fault["loc"]) == 1 else ""
            return f"there is no such {what}{f'; known are {known}' if known else ''}"
        case "literal_error" | "enum" if "enum" in shape:
            return f"is none of {', '.join(map(str, shape['enum']))}"
        case "missing" | "string_too_short":
            return "is missing"
        case _ if "maximum" in shape:
            return f"is not a number from {shape.get('minimum', 0)} to {shape['maximum']}"
        case "bool_type":
            return "is neither true nor false"
        case "int_type":
            return "is not a whole number"
        case _:
            return fault["msg"].removeprefix("Value error, ")


def _shape(kind: Any, place: tuple[int | str, ...]) -> dict[str, Any]:
    """The JSON schema of a field that stands at the top; empty for those further down."""
    if len(place) != 1 and not (len(place) == 2 and isinstance(place[1], int)):
        return {}
    whole = adapter(kind).json_schema()
    shape: dict[str, Any] = whole.get("properties", {}).get(place[0], {})
    shape = next((each for each in shape.get("anyOf", ()) if each.get("type") != "null"), shape)
    shape = shape.get("items", shape)
    name = shape.get("$ref", "").rpartition("/")[2]
    return whole["$defs"][name] if name else shape
