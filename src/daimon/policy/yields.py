"""What a planned source yields now.

Evaluated by the system over what was read, never by the model. The rules that make it safe:

- Only *trusted* fields yield values. A stranger's field yields nothing, except a link to be fetched.
- A record is chosen by trusted fields. A stranger's field may choose it only by being exactly what the plan says, letter for letter (a
  title that the owner named), or where a trusted field says that it is the words of somebody whom the plan names.
- Of what a watch found, whole numbers alone yield: they can choose among the things that the text of the plan bounds, and say nothing.
- More than one answer is no answer: what is ambiguous is asked. A plan may say `all` or `one_of` where it means several.
- Where the plan names reads of a tool, only those are looked at: a hijacked model cannot add records by reading something else.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from daimon.abi.fields import Scalar, leaves, parts
from daimon.abi.judgement import Seen, Situation
from daimon.abi.plan import Draw, Plan
from daimon.abi.source import AskOwner, Const, FieldOf, Found, Like, Own, Pick, Records, Series, Source, Sum, parse
from daimon.policy.content import undisguised
from daimon.policy.equality import as_number, equal, same
from daimon.policy.records import KEY, VALUE, Reading, Record, plain, readings, segments
from daimon.policy.words import folded

MOST_ALTERNATIVES = 2_000
NAMED_LENGTH = 3
_URL = re.compile(r"\b(?:https?://\S+|(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?:/\S*)?)", re.IGNORECASE)
ORDERED = ("first", "last", "largest", "smallest")


@dataclass(frozen=True, slots=True)
class Values:
    """One of these, or with `all` just these together."""

    values: tuple[Scalar, ...]
    mode: Literal["one", "all", "any"] = "one"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    rows: tuple[Record, ...]
    mode: Literal["one", "all", "any"] = "one"
    is_whole: bool = True
    """Nobody but the owner and the plan said what to read."""


@dataclass(frozen=True, slots=True)
class Glued:
    """A text put together: for each piece its alternatives."""

    pieces: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Free:
    """The agent's own words."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It cannot be told: nothing was read yet, more than one answer, or only a stranger says so."""

    why: str


Yield = Values | Rows | Glued | Free | Unknown


def evaluate(source: Source, plan: Plan, situation: Situation) -> Yield:
    match source:
        case Const(value):
            return Values((value,), note="the plan")
        case Records():
            return _rows(source, plan, situation)
        case FieldOf(of, name):
            return _field(evaluate(of, plan, situation), name)
        case Pick():
            return _pick(source, plan, situation)
        case Found(at):
            return _found(at, situation.came)
        case Sum():
            return _sum(source, plan, situation)
        case Own():
            return Free()
        case AskOwner(why):
            return Unknown(why or "the plan says to ask")
        case Series():
            return Unknown("a list within a value cannot be evaluated")


def drawn(seen: Seen, draws: Iterable[Draw]) -> bool:
    """Is this one of the reads that the plan names?"""
    return any(draw.tool == seen.tool and _is_call(seen.arguments, draw) for draw in draws)


def _is_call(arguments: JsonValue, draw: Draw) -> bool:
    given = arguments if isinstance(arguments, dict) else {}
    for name, source in draw.arguments.items():
        parsed = parse(source)
        if isinstance(parsed, Own | AskOwner):
            continue
        wanted = parsed.items if isinstance(parsed, Series) else (parsed,)
        have = [leaf.value for leaf in leaves(given.get(name)) if leaf.value is not None]
        if not same(have, [each.value for each in wanted if isinstance(each, Const)]):
            return False
    return True


def _rows(source: Records, plan: Plan, situation: Situation) -> Yield:
    read = [reading for reading in readings(situation) if reading.seen.tool == source.tool]
    if any(draw.tool == source.tool for draw in plan.draws):
        read = [reading for reading in read if drawn(reading.seen, plan.draws)]
    for name, wanted in source.given:
        read = [reading for reading in read if equal(_argument(reading.seen, name), wanted.value)]
    if not read:
        return Unknown(f"{source.tool} has not been called as planned")
    rows: dict[object, Record] = {}
    is_whole = all(_is_free_of_strangers(reading, source, plan) for reading in read)
    for reading in read:
        for record in reading.records:
            if _is_meant(record, source, _is_free_of_strangers(reading, source, plan)):
                rows.setdefault(record.fields, record)
    return Rows(tuple(rows.values()), is_whole=is_whole) if rows else Unknown(f"nothing in {source.tool} fits")


def _is_free_of_strangers(reading: Reading, source: Records, plan: Plan) -> bool:
    """Did nobody but the owner and the plan say what to read? Otherwise that a title stands there once proves nothing."""
    named = {name for draw in plan.draws if drawn(reading.seen, (draw,)) for name in draw.arguments}
    return reading.steered <= named | {name for name, _ in source.given}


def _argument(seen: Seen, name: str) -> Scalar:
    found = [leaf.value for leaf in leaves(seen.arguments.get(name))] if isinstance(seen.arguments, dict) else []
    return found[0] if len(found) == 1 else None


def _is_meant(record: Record, source: Records, is_whole: bool) -> bool:
    """Words of a stranger count where the service says whose they are, and the plan names that person."""
    is_signed = any(
        isinstance(wanted, Const) and any(cell.is_trusted and equal(cell.value, wanted.value) for cell in record.of(name))
        for name, wanted in source.where
    )
    return all(_meets(record, name, wanted, is_signed, is_whole) for name, wanted in source.where)


def _meets(record: Record, name: str, wanted: Const | Like, is_signed: bool, is_whole: bool) -> bool:
    cells = record.of(name)
    if isinstance(wanted, Like):
        return any((cell.is_trusted or is_signed) and folded(wanted.text) in folded(cell.text) for cell in cells)
    is_name = isinstance(wanted.value, str) and len(wanted.value) >= NAMED_LENGTH and (is_signed or is_whole)
    return any((cell.is_trusted or is_name) and equal(cell.value, wanted.value) for cell in cells)


def _field(of: Yield, name: str) -> Yield:
    if not isinstance(of, Rows):
        return of if isinstance(of, Unknown) else Unknown(f".{name} is asked of something that has no fields")
    cells = [cell for row in of.rows for cell in row.of(name)]
    if not cells:
        return Unknown(f"nothing there has a field {name}")
    if any(not cell.is_trusted for cell in cells):
        return Unknown(f"{name} is what others wrote")
    return Values(tuple(cell.value for cell in cells), of.mode, f"{of.rows[0].tool}, {name}")


def _found(at: str, came: JsonValue) -> Yield:
    want = parts(at)
    numbers = [
        leaf.value
        for leaf in leaves(came)
        if type(leaf.value) is int and len(leaf.path) == len(want) and all(w in ("*", p) for w, p in zip(want, leaf.path, strict=True))
    ]
    return Values(tuple(numbers), "any", f"what was found, {at}") if numbers else Unknown(f"no whole number was found at {at}")


def _pick(source: Pick, plan: Plan, situation: Situation) -> Yield:
    if source.how == "link":
        return _link(source.of, plan, situation)
    if source.how == "one_of" and isinstance(source.of, Series):
        return _choice(source.of)
    of = evaluate(source.of, plan, situation)
    match of:
        case Rows(is_whole=False) if source.how in ORDERED:
            return Unknown(f"what is {source.how} depends on what was read, and the plan does not say what to read")
        case Rows(rows):
            return _pick_row(rows, source)
        case Values(values, note=note):
            return _pick_value(values, source, note)
        case Unknown():
            return of
        case _:
            return Unknown(f"{source.how}(…) is asked of something that has none")


def _choice(of: Series) -> Yield:
    literals = tuple(item.value for item in of.items if isinstance(item, Const))
    return Values(literals, "any", "one of the plan's") if len(literals) == len(of.items) > 0 else Unknown("a choice is among literals")


def _pick_row(rows: tuple[Record, ...], source: Pick) -> Yield:
    match source.how:
        case "first":
            return Rows(rows[:1])
        case "last":
            return Rows(rows[-1:])
        case "all":
            return Rows(rows, "all")
        case "one_of":
            return Values(tuple(_choices(rows)), "any", f"one of what {rows[0].tool} listed")
        case _:
            return _extreme(rows, source)


def _pick_value(values: tuple[Scalar, ...], source: Pick, note: str) -> Yield:
    match source.how:
        case "first":
            return Values(values[:1], "one", note)
        case "last":
            return Values(values[-1:], "one", note)
        case "all":
            return Values(values, "all", note)
        case "one_of":
            return Values(values, "any", note)
        case _:
            return Unknown(f"{source.how}(…) needs records")


def _extreme(rows: tuple[Record, ...], source: Pick) -> Yield:
    having = [(cell, row) for row in rows for cell in row.of(source.by)]
    sized = [(number, row) for cell, row in having if cell.is_trusted and (number := as_number(cell.value)) is not None]
    if not sized or len(sized) < len(having):
        return Unknown(f"not every one has a {source.by} that can be trusted")
    best = (max if source.how == "largest" else min)(number for number, _ in sized)
    return Rows(tuple(row for number, row in sized if number == best))


def _choices(rows: tuple[Record, ...]) -> Iterable[Scalar]:
    """Every trusted value there, and every name in a trusted list that is written as text."""
    for row in rows:
        for _, cell in row.fields:
            if cell.is_trusted and cell.value is not None:
                yield cell.value
                if isinstance(cell.value, str):
                    yield from segments(cell.value)


def _link(of: Source, plan: Plan, situation: Situation) -> Yield:
    """The one web address in a field, whoever wrote it: to be looked at, nothing else."""
    if not isinstance(of, FieldOf) or not isinstance(rows := evaluate(of.of, plan, situation), Rows):
        return Unknown("link(…) needs a field of something that was read")
    texts = [cell.text for row in rows.rows for cell in row.of(of.name)]
    found = {url.rstrip(".,;:!?)'\"") for text in texts for url in _URL.findall(undisguised(text))}
    return Values(tuple(found), "one", "a link") if len(found) == 1 else Unknown(f"{len(found)} links stand there")


def _sum(source: Sum, plan: Plan, situation: Situation) -> Yield:
    left, right = (value_of(evaluate(side, plan, situation)) for side in (source.left, source.right))
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return left if isinstance(left, Unknown) else right
    a, b = _only_number(left), _only_number(right)
    if a is not None and b is not None:
        return _computed(source, a, b)
    if source.operator == "+" and (pieces := (*_pieces(left), *_pieces(right))):
        return Glued(pieces)
    return Unknown(f"{source.operator} needs numbers on both sides")


def _computed(source: Sum, a: float, b: float) -> Yield:
    match source.operator:
        case "+":
            return Values((a + b,), note="computed")
        case "-":
            return Values((a - b,), note="computed")
        case "*":
            return Values((a * b,), note="computed")
        case "/":
            return Values((a / b,), note="computed") if b else Unknown("a division by zero")


def _pieces(side: Yield) -> tuple[tuple[str, ...], ...]:
    match side:
        case Glued(pieces):
            return pieces
        case Values(values=values) if values and len(values) <= MOST_ALTERNATIVES:
            return (tuple(plain(value) for value in values),)
        case _:
            return ()


def value_of(found: Yield) -> Values | Glued | Free | Unknown:
    """Rows on their own stand for their values, if there is one of each."""
    if isinstance(found, Rows):
        cells = [cell for row in found.rows for name, cell in row.fields if name in (VALUE, KEY) or len(row.fields) == 1]
        cells = [cell for row in found.rows for cell in row.of(VALUE)] or cells
        if not cells or any(not cell.is_trusted for cell in cells):
            return Unknown("what was read there is a record, or what others wrote; name a field")
        found = Values(tuple(cell.value for cell in cells), found.mode, found.rows[0].tool)
    if isinstance(found, Values) and found.mode == "one" and len({folded(plain(value)) for value in found.values}) > 1:
        return Unknown(f"{len(found.values)} values fit, and it is not said which")
    return found


def _only_number(side: Yield) -> float | None:
    if isinstance(side, Values) and side.mode == "one" and side.values and not isinstance(side.values[0], str):
        return as_number(side.values[0])
    return None
