"""What was read, as records with fields, and for each field whether its words can be trusted.

A JSON object is a record; an object whose keys are data (a hotel's name, an address) is a list of records with the fields `key` and
`value`; a plain list or text is a list of records with the field `value`. A field is *trusted* when its label names only the owner and
services.

One thing is not to be believed even from a service: an echo. After a stranger was heard, an argument may be a stranger's, and a service
that repeats it, at once or from its store later in the turn, would make it look like its own word. So a field that repeats such an
argument is not trusted, unless the owner wrote it or it stood in a trusted field before. Nor is one that repeats an argument beside another
of the same call, unless they stood together before: it was the model that put them together.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from pydantic import JsonValue

from daimon.abi.fields import DEEPEST, Scalar, label_at, leaves
from daimon.abi.judgement import Seen, Situation
from daimon.policy.content import covers
from daimon.policy.words import SHORTEST, folded, numbers, says

KEY, VALUE = "key", "value"
_SEGMENT = re.compile(r"[\n;,:|]")


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


@dataclass(frozen=True, slots=True)
class Reading:
    seen: Seen
    records: tuple[Record, ...]
    steered: frozenset[str] = frozenset()
    """Arguments by which a stranger may have chosen what was read: neither the owner's words nor known from a trusted field."""


@dataclass(frozen=True, slots=True)
class Echoes:
    """What services may repeat since a stranger was heard."""

    texts: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    joined: frozenset[str] = frozenset()
    """All of a call in one, letters and digits only: it may have come in pieces."""
    together: frozenset[frozenset[str]] = frozenset()
    """The arguments of each call, whoever said them first."""

    def after(self, arguments: JsonValue, known: frozenset[str], said: str) -> "Echoes":
        texts = [folded(leaf.value) for leaf in leaves(arguments) if isinstance(leaf.value, str)]
        own = [text for text in texts if text not in known and not says(said, text)]
        counted = frozenset(plain(v) for v in (leaf.value for leaf in leaves(arguments)) if isinstance(v, int | float) and v not in (0, 1))
        earlier = frozenset(number for number in self.numbers if len(number) >= SHORTEST)  # a page, a count: in every store by chance
        return Echoes(
            self.texts | {text for text in own if len(text) >= SHORTEST},
            earlier | {number for number in counted if float(number) not in numbers(said)},
            self.joined | {_bare("".join(own))},
            self.together | {frozenset(text for text in texts if len(text) >= SHORTEST)},
        )


@lru_cache(64)
def readings(situation: Situation) -> tuple[Reading, ...]:
    """All that was read in this turn, in order."""
    found: list[Reading] = []
    known: frozenset[str] = frozenset()
    pairs: list[frozenset[str]] = []
    echoes = Echoes()
    is_clean = True
    for seen in situation.seen:
        if not is_clean:
            echoes = echoes.after(seen.arguments, known, situation.said)
        rows = tuple(_doubted(record, echoes, known, pairs, situation.said) for record in apart(seen))
        reading = Reading(seen, rows, frozenset() if is_clean else _steered(seen, len(rows), known, situation.said))
        found.append(reading)
        trusted = [[cell.text for _, cell in record.fields if cell.is_trusted] for record in reading.records]
        known |= {name for texts in trusted for text in texts for name in _names(text)}
        pairs += [frozenset(map(folded, texts)) for texts in trusted if len(texts) > 1]
        is_clean = is_clean and seen.label.is_trusted
    return tuple(found)


def _steered(seen: Seen, rows: int, known: frozenset[str], said: str) -> frozenset[str]:
    """A number narrows nothing if more could have come than did."""
    given = seen.arguments if isinstance(seen.arguments, dict) else {}
    values = [(name, leaf.value) for name, value in given.items() for leaf in leaves(value) if leaf.value is not None]
    narrow = [(name, folded(plain(value))) for name, value in values if isinstance(value, str | bool) or value <= rows]
    return frozenset(name for name, text in narrow if text and text not in known and covers([said], text))


def records(situation: Situation) -> list[Record]:
    return [record for reading in readings(situation) for record in reading.records]


def segments(text: str) -> list[str]:
    """The names in a list that is written as text."""
    return [part.strip() for part in _SEGMENT.split(text) if part.strip()]


def _names(text: str) -> set[str]:
    return {folded(text), *(folded(part) for part in segments(text))}


@lru_cache(256)
def apart(seen: Seen) -> tuple[Record, ...]:
    """A result never changes, so it is taken apart once."""
    return tuple(_walk(seen, seen.data, ()))


def _doubted(record: Record, echoes: Echoes, known: frozenset[str], pairs: list[frozenset[str]], said: str) -> Record:
    if echoes == Echoes():
        return record
    texts = frozenset(folded(cell.text) for _, cell in record.fields)
    matched = frozenset(
        text
        for call in echoes.together
        if len(both := call & texts) > 1 and not any(both <= pair for pair in pairs)
        for text in both
        if not says(said, text)
    )
    return replace(record, fields=tuple((name, _heard(cell, echoes, known, matched)) for name, cell in record.fields))


def _heard(cell: Cell, echoes: Echoes, known: frozenset[str], matched: frozenset[str]) -> Cell:
    text = folded(cell.text)
    is_echo = text in matched or (text not in known and (text in echoes.numbers or _repeats(text, echoes)))
    return replace(cell, is_trusted=False) if is_echo and cell.is_trusted else cell


def _repeats(text: str, echoes: Echoes) -> bool:
    if any(echo in text or (len(text) >= SHORTEST and text in echo) for echo in echoes.texts):
        return True
    return len(bare := _bare(text)) >= SHORTEST and any(bare in joined for joined in echoes.joined)


def _bare(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


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
