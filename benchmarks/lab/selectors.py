"""Sources that choose something which was read by what the request says.

An *anchor* ties a record to the request: a field of it that equals a phrase of the request (a stranger's field too: a title that the owner
named), a trusted number of it that stands there, a trusted text of it with a word of the request, or the argument of the call that brought
it. A result of a call without free choice (no arguments, or all of them in the request) with one record needs none.

Whatever is proposed here is tried on what was read, with the system's own evaluation: it has to yield the value, and nothing else.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue

from daimon.abi.fields import Scalar, leaves
from daimon.abi.ids import HOME_SPACE, OWNER, SELF, Conversation, Key
from daimon.abi.judgement import Seen, Situation
from daimon.abi.plan import Plan
from daimon.abi.tool import Call
from daimon.policy.equality import equal
from daimon.policy.licence import fit
from daimon.policy.records import Cell, Record, apart
from lab.request import Asked

SHORTEST_TITLE = 4
"""A shorter one of a stranger's stands in a request by chance."""
MOST_TRIED = 300
MOST_OPERANDS = 40
MOST_OPERATORS = 3
CENT = 0.005
_CALL = Call(Key("plan"), HOME_SPACE, OWNER, SELF, Conversation(HOME_SPACE, "main"), None, datetime(2026, 1, 1, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Field:
    """A trusted field of a record that was read."""

    seen: Seen
    record: Record
    name: str
    cell: Cell


@dataclass(frozen=True)
class Selectors:
    asked: Asked
    seen: tuple[Seen, ...]
    name: str = ""
    """Of the argument. A field of the same name is tried first."""

    def fits(self, source: str, value: JsonValue) -> bool:
        return fit(source, value, Plan(), Situation(_CALL, (self.asked.text,), self.seen)).verdict == "fits"

    def value(self, value: Scalar, is_strict: bool = False) -> str | None:
        """A trusted field that is this value, in a record that the request points to; strictly: that it names."""
        if value is None or isinstance(value, bool):
            return None
        holding = [field for field in self._fields() if equal(field.cell.value, value)]
        return self._first((source for field in holding for source in self._chosen(field, is_strict)), value)

    def points_to(self, value: Scalar) -> bool:
        """Does the value stand in a trusted field of a record that the request points to?"""
        return any(self._anchors(field) for field in self._fields() if equal(field.cell.value, value))

    def every(self, values: Sequence[JsonValue]) -> str | None:
        """All values of a field."""
        holding = [field for field in self._fields() if any(_is(field.cell, value) for value in values)]
        tried = (f"all({rows}).{field.name}" for field in holding for rows in self._rows(field))
        return self._first(tried, [*values])

    def choice(self, value: str) -> str | None:
        """One of what a tool lists."""
        return self._first((f"one_of(seen({quoted(seen.tool)}))" for seen in self.seen), value)

    def link(self, url: str) -> str | None:
        """The one web address in a field of a record that the request points to."""
        for seen in self.seen:
            for record in apart(seen):
                for name, cell in record.fields:
                    if name.isidentifier() and url.casefold() in cell.text.casefold():
                        field = Field(seen, record, name, cell)
                        tried = (f"link({rows}.{name})" for rows in self._rows(field))
                        if (found := self._first(tried, url)) is not None:
                            return found
        return None

    def number(self, value: Scalar) -> str | None:
        """The amount as it stands in a field, or computed."""
        try:
            sought = float(value) if isinstance(value, int | float | str) else None
        except ValueError:
            sought = None
        if sought is None:
            return None
        for fields in self._amounts():
            holding = [field for field in fields if equal(field.cell.value, value)]
            if (found := self._first((source for field in holding for source in self._chosen(field)), value)) is not None:
                return found
            computed = (source for number, source in self._computed(fields) if abs(number - sought) < CENT)
            if (found := self._first(computed, value)) is not None:
                return found
        return None

    def _amounts(self) -> Iterator[list[Field]]:
        """Numbers that an amount may be made of: fields of its own name, then all that are no mere keys."""
        numeric = [field for field in self._fields() if _is_number(field.cell)]
        yield [field for field in numeric if field.name == self.name]
        yield [field for field in numeric if not self._is_key(field)]

    def _is_key(self, field: Field) -> bool:
        values = [cell.value for record in apart(field.seen) for cell in record.of(field.name)]
        return len(values) > 1 and len(set(values)) == len(values) and all(isinstance(value, int) for value in values)

    def _first(self, tried: Iterable[str], value: JsonValue) -> str | None:
        return next((source for source in itertools.islice(dict.fromkeys(tried), MOST_TRIED) if self.fits(source, value)), None)

    def _fields(self) -> list[Field]:
        found = [Field(seen, record, name, cell) for seen in self.seen for record in apart(seen) for name, cell in record.fields]
        trusted = [field for field in found if field.cell.is_trusted and field.cell.value is not None]
        return sorted(trusted, key=lambda field: field.name != self.name)

    def _chosen(self, field: Field, is_strict: bool = False) -> Iterator[str]:
        for rows in self._rows(field, is_strict):
            yield f"{rows}.{field.name}"

    def _rows(self, field: Field, is_strict: bool = False) -> Iterator[str]:
        """Ways to choose the record, the plainest first."""
        tool, anchors = quoted(field.seen.tool), self._anchors(field, is_strict)
        for anchor in anchors:
            yield f"seen({tool}, {anchor})"
        for one, other in itertools.combinations(anchors, 2):
            yield f"seen({tool}, {one}, {other})"
        if self._is_determined(field.seen):
            yield f"seen({tool})"
        for where in (f"seen({tool})", *(f"seen({tool}, {anchor})" for anchor in anchors)):
            for how in self.asked.extremes:
                if how in ("first", "last"):
                    yield f"{how}({where})"
                else:
                    yield from (f"{how}({where}, {quoted(name)})" for name, cell in field.record.fields if _is_number(cell))

    def _anchors(self, field: Field, is_strict: bool = False) -> list[str]:
        """`given(…)` has to come first where it is used."""
        given = [f"given({name}={value!r})" for name, value in _said_arguments(field.seen, self.asked)]
        equals, likes = [], []
        for name, cell in field.record.fields:
            if name.isidentifier() and not isinstance(cell.value, bool):
                if cell is not field.cell and self._is_named(cell):
                    equals.append(f"{name}={cell.value!r}")
                elif isinstance(cell.value, str) and not is_strict:
                    likes += [f"{name}=like({quoted(word)})" for word in self.asked.words if word in cell.value.casefold()]
        return list(dict.fromkeys([*given, *equals, *likes]))

    def _is_named(self, cell: Cell) -> bool:
        is_title = isinstance(cell.value, str) and len(cell.value.strip()) >= SHORTEST_TITLE
        return (cell.is_trusted or is_title) and self.asked.says(cell.value)

    def _is_determined(self, seen: Seen) -> bool:
        """Nothing about the call was left to the model."""
        given = [leaf.value for leaf in leaves(seen.arguments) if leaf.value is not None]
        return all(self.asked.says(value) for value in given)

    def _computed(self, fields: list[Field]) -> Iterator[tuple[float, str]]:
        """Few operators before many."""
        terms = list(self._terms(fields))
        found = list(terms)
        for (a, left, m), (b, right, n) in itertools.permutations(terms, 2):
            if m + n < MOST_OPERATORS:
                found += [(a + b, f"{left} + {right}", m + n + 1), (a - b, f"{left} - {right}", m + n + 1)]
                if not m and not n:
                    found.append((a * b, f"{left} * {right}", 1))
        for (a, one, k), (b, two, m), (c, three, n) in itertools.permutations(terms[: MOST_OPERANDS // 2], 3):
            if k + m + n + 2 <= MOST_OPERATORS:
                found += [(a + b - c, f"{one} + {two} - {three}", k + m + n + 2), (a - b - c, f"{one} - {two} - {three}", k + m + n + 2)]
        yield from ((number, source) for number, source, used in sorted(found, key=lambda each: each[2]) if used)

    def _terms(self, fields: list[Field]) -> Iterator[tuple[float, str, int]]:
        """Numbers of the request and of fields that it points to; halves of them; its percentages of them."""
        operands = [(number, f"{number:.15g}") for number in self.asked.numbers if number not in self.asked.percents]
        for field in fields:
            if len(operands) >= MOST_OPERANDS:
                break
            source = self._first(self._chosen(field), field.cell.value)
            if source is not None and (number := float(str(field.cell.value))) and (number, source) not in operands:
                operands.append((number, source))
        for number, source in operands:
            yield number, source, 0
            yield number / 2, f"{source} / 2", 1
            for percent in self.asked.percents:
                yield number * percent / 100, f"{source} * {percent:.15g} / 100", 2


def quoted(text: str) -> str:
    return repr(text)


def _is(cell: Cell, value: JsonValue) -> bool:
    return not isinstance(value, list | dict) and equal(cell.value, value)


def _is_number(cell: Cell) -> bool:
    if not cell.is_trusted or isinstance(cell.value, bool) or cell.value is None:
        return False
    return isinstance(cell.value, int | float)


def _said_arguments(seen: Seen, asked: Asked) -> Iterator[tuple[str, Scalar]]:
    if isinstance(seen.arguments, dict):
        for name, value in seen.arguments.items():
            given = [leaf.value for leaf in leaves(value)]
            if len(given) == 1 and asked.says(given[0]):
                yield name, given[0]
