"""Without a plan: what can each argument be shown to come from?

The owner's words of this turn, a trusted field of the one record that they name, or nothing. Every guess is a question.
"""

import re

from pydantic import JsonValue

from daimon.abi.judgement import Provenance, Shown
from daimon.abi.tool import ArgumentRole
from daimon.policy.act import FREE_UNLESS, Act, flat, may_read
from daimon.policy.content import active, covers
from daimon.policy.equality import CENT, as_number, equal
from daimon.policy.facts import Facts
from daimon.policy.names import canonical, stands_for
from daimon.policy.records import Cell, Record, readings
from daimon.policy.words import SHORTEST, dates, folded, named_in, names, numbers, places, quotes, says

FULL_NAME = re.compile(r"[^\W\d_]+(?:[ '.-]+[^\W\d_]+)+")
OWN_ID = 6
"""A shorter id names something in every store: the 13th file as well as the 13th event."""
SAFE = frozenset({ArgumentRole.CONTENT, ArgumentRole.TITLE, ArgumentRole.TIME, ArgumentRole.QUERY})


def by_words(act: Act) -> Facts:
    shown = tuple(_shown(act, name) for name in act.given)
    wrong = next((each for each in shown if each.shown in ("untrusted", "unknown")), None)
    if wrong is not None:
        return Facts(basis="none", reason=f"{wrong.argument}: {wrong.note}.", provenance=shown)
    if _is_doubled(act):
        return Facts(basis="none", reason="One word of yours stands for two things in it.", provenance=shown)
    if all(each.shown == "own" for each in shown):
        return Facts(basis="none", reason="Nothing in it is shown to be what you asked for.", provenance=shown)
    if any(
        made.tool == act.manifest.name and isinstance(made.arguments, dict) and _is_same(act, made.arguments) for made in act.situation.made
    ):
        return Facts(basis="none", reason="The same was done in this turn already.", provenance=shown)
    return Facts(basis="words", by="words", provenance=shown)


def _is_doubled(act: Act) -> bool:
    """Whom it reaches and what it touches are two things, and need two words."""
    used = [
        {folded(text) for text in flat(value)}
        for name, value in act.given.items()
        if act.role(name) in (ArgumentRole.DESTINATION, ArgumentRole.TARGET)
    ]
    return sum(map(len, used)) > len(set().union(*used))


def by_store(act: Act) -> Facts:
    """For a model that strangers could not talk into anything: what is not free text must be the owner's word or a trusted field."""
    shown = tuple(_stored(act, name) for name in act.given)
    wrong = next((each for each in shown if each.shown in ("untrusted", "unknown")), None)
    if wrong is not None:
        return Facts(basis="none", reason=f"{wrong.argument}: {wrong.note}.", provenance=shown)
    return Facts(basis="clean", by="clean", provenance=shown)


def _stored(act: Act, name: str) -> Provenance:
    if act.role(name) in SAFE:
        return act.told(name, "own", "nobody else was heard")
    told = _shown(act, name)
    if told.shown in ("untrusted", "unknown") and name not in act.held and all(_holders(act, text) for text in flat(act.given[name])):
        return act.told(name, "store", "a trusted field")
    return told


def _is_same(act: Act, before: dict[str, JsonValue]) -> bool:
    """Do both reach the same with the same amounts? An amount may be off by less than a cent, so two of them by less than two."""
    now, then = _amounts(act, act.given), _amounts(act, before)
    is_much_the_same = len(now) == len(then) and all(abs(a - b) < 2 * CENT for a, b in zip(now, then, strict=True))
    return is_much_the_same and _reached(act, act.given) == _reached(act, before)


def _amounts(act: Act, arguments: dict[str, JsonValue]) -> list[float]:
    texts = [text for name, value in arguments.items() if act.role(name) is ArgumentRole.AMOUNT for text in flat(value)]
    return sorted(number for text in texts if (number := as_number(text)) is not None)


def _reached(act: Act, arguments: dict[str, JsonValue]) -> frozenset[str]:
    """Whom and what a call reaches, under one name each; of a call that names neither, all that is not free text."""
    roles = [(act.role(name), text) for name, value in arguments.items() for text in flat(value)]
    reached = frozenset(canonical(text) for role, text in roles if role in (ArgumentRole.DESTINATION, ArgumentRole.TARGET))
    return reached or frozenset(folded(text) for role, text in roles if role not in SAFE and role is not ArgumentRole.AMOUNT)


def _shown(act: Act, name: str) -> Provenance:
    role, texts = act.role(name), flat(act.given[name])
    found = [_origin(act, role, text) for text in texts]
    worst = next((each for each in found if each[0] in ("untrusted", "unknown")), found[0] if found else ("own", "nothing stands there"))
    if role is ArgumentRole.DESTINATION and worst[0] == "owner" and (others := _others(act)):
        return act.told(name, "unknown", f"you also named {', '.join(sorted(others))[:80]}, and it is not said who gets what")
    return act.told(name, *worst)


def _others(act: Act) -> set[str]:
    """Places of the same kind that the owner named and that this call does not reach: then the words alone do not say which is meant."""
    reached = {canonical(text) for text in act.audience}
    kinds = {_kind(place) for place in reached}
    addresses = {canonical(place) for place in places(act.situation.said)}
    known = {folded(cell.text) for record in act.records for _, cell in record.fields}
    named = {name for each in named_in(act.situation.said) if (name := folded(each)) in known}
    return {place for place in (*addresses, *named) if _kind(place) in kinds} - reached


def _kind(place: str) -> str:
    return "mail" if "@" in place else "web" if "." in place else "account" if any(map(str.isdigit, place)) else "name"


def _origin(act: Act, role: ArgumentRole, text: str) -> tuple[Shown, str]:
    said = act.situation.said
    match role:
        case ArgumentRole.AMOUNT:
            return _amount(act, text)
        case ArgumentRole.TIME:
            return _time(act, text)
        case ArgumentRole.TITLE:
            return _covered(act, text)
        case ArgumentRole.CONTENT | ArgumentRole.QUERY:
            return _covered(act, text) if act.audience else ("own", "for you alone")
        case ArgumentRole.PERMISSION if text in ("false", "0"):
            return "own", "nothing is opened"
        case ArgumentRole.TARGET if not says(said, text):
            return _named(act, text)
        case ArgumentRole.SECRET if text.isalpha() and not quotes(said, text):
            return "untrusted", "a plain word of yours is not meant as a secret unless you put it in quotes"
        case ArgumentRole.SECRET if text not in said:
            return "untrusted", "you did not write it, letter for letter"
        case ArgumentRole.DESTINATION:
            return _destination(act, text)
        case _:
            return ("owner", "you wrote it") if says(said, text) else ("untrusted", f"you did not write {text[:80]!r}")


def _covered(act: Act, text: str) -> tuple[Shown, str]:
    """Every word is the owner's or stands in a trusted field, and whatever acts is the owner's own."""
    said = act.situation.said
    if says(said, text):
        return "owner", "you wrote it"
    if found := active(text, [said]):
        return "untrusted", f"it holds {found[:80]!r}, which you did not write"
    missing = covers([said, *_tellable(act)], text)
    return (
        ("untrusted", f"{missing!r} comes neither from you nor from a trusted field")
        if missing
        else ("store", "your words and trusted fields")
    )


def _tellable(act: Act) -> list[str]:
    """Trusted fields of what its readers may see, and of the records that the owner named: nobody else's business goes out unasked."""
    return [
        cell.text
        for reading in readings(act.situation)
        for record in reading.records
        if may_read(reading.seen, act.audience) or _is_named(act, record)
        for _, cell in record.fields
        if cell.is_trusted
    ]


def _is_named(act: Act, record: Record) -> bool:
    said = act.situation.said
    return any(cell.is_trusted and len(cell.text) > SHORTEST and names(said, cell.text) for _, cell in record.fields)


def _amount(act: Act, text: str) -> tuple[Shown, str]:
    try:
        number = float(text)
    except ValueError:
        return "untrusted", f"{text[:40]!r} is not a number"
    places = {each for place in act.audience for each in numbers(place)}
    if any(equal(number, each) for each in numbers(act.situation.said) - places):
        return "owner", "you wrote it"
    reached = {folded(each) for each in act.audience if says(act.situation.said, each)}
    tied = [r for r in act.records if any(cell.is_trusted and folded(cell.text) in reached for _, cell in r.fields)]
    for record in tied:
        field = next(
            (name for name, cell in record.fields if cell.is_trusted and _is_sum(cell, record) and equal(cell.value, number)), None
        )
        if field is not None and len({cell.text for other in tied for cell in other.of(field)}) == 1:
            return "named", f"from the one record of {record.tool} with whom you named"
    return "untrusted", f"you did not write {text[:40]}"


def _is_sum(cell: Cell, record: Record) -> bool:
    """A number that is no mere key: one with a point in it, or the only one there."""
    numeric = [each for _, each in record.fields if as_number(each.value) is not None and not isinstance(each.value, str)]
    return isinstance(cell.value, float) or numeric == [cell]


def _time(act: Act, text: str) -> tuple[Shown, str]:
    said = act.situation.said
    if says(said, text) or ((found := dates(text)) and found <= dates(said)):
        return "owner", "you wrote it"
    if (act.audience and FREE_UNLESS[ArgumentRole.TIME].isdisjoint(act.manifest.capabilities)) or act.texts(ArgumentRole.AMOUNT):
        return "own", "a time of its own choice"
    return "untrusted", f"you did not write {text[:40]!r}"


def _named(act: Act, text: str) -> tuple[Shown, str]:
    """The id of the one object that the owner named by its title."""
    if len(text) < OWN_ID:
        return "untrusted", f"you did not name {text[:80]!r}"
    for record in _holders(act, text):
        for field, cell in record.fields:
            if len(cell.text) > SHORTEST and folded(cell.text) != folded(text) and names(act.situation.said, cell.text):
                same = {r.fields for r in act.records if any(folded(c.text) == folded(cell.text) for c in r.of(field))}
                if len(same) == 1:
                    return "named", f"you named {cell.text[:60]!r}"
    return "untrusted", f"you did not name {text[:80]!r}"


def _destination(act: Act, text: str) -> tuple[Shown, str]:
    """What the owner wrote, or what a trusted store has under the full name that the owner wrote."""
    said = act.situation.said
    if says(said, text) or says(said, canonical(text)) or stands_for(said, text):
        return "owner", "you wrote it"
    listed = [record for record in _holders(act, text) if all(cell.is_trusted for _, cell in record.fields)]
    for record in listed:
        people = [cell.text for _, cell in record.fields if FULL_NAME.fullmatch(cell.text) and says(said, cell.text)]
        others = {r.fields for r in act.records if any(folded(cell.text) == folded(name) for name in people for _, cell in r.fields)}
        if people and len(others) == 1:
            return "store", f"{record.tool} has it for {people[0][:60]}"
    return "untrusted", f"you did not write {text[:80]!r}"


def _holders(act: Act, text: str) -> list[Record]:
    return [record for record in act.records if any(cell.is_trusted and folded(cell.text) == folded(text) for _, cell in record.fields)]
