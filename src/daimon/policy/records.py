"""What was read, as records with fields, and for each field whether its words can be trusted.

A JSON object is a record; an object whose keys are data (a hotel's name, an address) is a list of records with the fields `key` and
`value`; a plain list or text is a list of records with the field `value`. A field is *trusted* when its label names only the owner and
services.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

from daimon.abi.fields import DEEPEST, Scalar, label_at
from daimon.abi.judgement import Seen

KEY, VALUE = "key", "value"


@dataclass(frozen=True, slots=True)
class Cell:
    value: Scalar
    is_trusted: bool

    @property
    def text(self) -> str:
        return plain(self.value)


@dataclass(frozen=True, slots=True)
class Record:
    tool: str
    n: int
    fields: tuple[tuple[str, Cell], ...]

    def of(self, name: str) -> tuple[Cell, ...]:
        return tuple(cell for field, cell in self.fields if field == name)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for field, cell in self.fields if field != KEY)


def plain(value: JsonValue) -> str:
    """As people write it: 7 and 7.0 are one number."""
    if isinstance(value, bool):
        return str(value).casefold()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


@lru_cache(256)
def records(seen: Seen) -> tuple[Record, ...]:
    """A result never changes, so it is taken apart once."""
    return tuple(_walk(seen, seen.data, ()))


def _walk(seen: Seen, value: JsonValue, path: tuple[str, ...]) -> Iterator[Record]:
    if len(path) > DEEPEST:
        return
    if isinstance(value, dict):
        yield from _of_object(seen, value, path)
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                yield from _walk(seen, inner, (*path, name))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _walk(seen, inner, (*path, str(i)))
    elif value is not None:
        yield Record(seen.tool, seen.n, ((VALUE, _cell(seen, value, path)),))


def _of_object(seen: Seen, value: dict[str, JsonValue], path: tuple[str, ...]) -> Iterator[Record]:
    if any(not name.isidentifier() for name in value):
        for name, inner in value.items():
            yield Record(seen.tool, seen.n, ((KEY, _cell(seen, name, (*path, name))), *_fields(seen, VALUE, inner, (*path, name))))
    elif fields := [field for name, inner in value.items() for field in _fields(seen, name, inner, (*path, name))]:
        yield Record(seen.tool, seen.n, tuple(fields))


def _fields(seen: Seen, name: str, value: JsonValue, path: tuple[str, ...]) -> Iterator[tuple[str, Cell]]:
    """The value itself, or each of a list of plain values."""
    if isinstance(value, list):
        for i, inner in enumerate(value):
            if not isinstance(inner, dict | list):
                yield name, _cell(seen, inner, (*path, str(i)))
    elif not isinstance(value, dict):
        yield name, _cell(seen, value, path)


def _cell(seen: Seen, value: Scalar, path: tuple[str, ...]) -> Cell:
    return Cell(value, label_at(seen.labels, path, seen.label).is_trusted)
