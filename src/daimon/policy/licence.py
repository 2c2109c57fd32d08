"""Is an argument what the plan said it would be? Evaluated by the system over what was read (`yields.py`), never by the model."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from daimon.abi.errors import BadInput
from daimon.abi.fields import Scalar, leaves
from daimon.abi.judgement import Situation
from daimon.abi.plan import Plan
from daimon.abi.source import FieldOf, Pick, Series, Source, Sum, parse
from daimon.policy.equality import equal, same
from daimon.policy.records import plain
from daimon.policy.words import folded
from daimon.policy.yields import Free, Glued, Unknown, Values, evaluate, value_of


@dataclass(frozen=True, slots=True)
class Fit:
    verdict: Literal["fits", "differs", "free", "unknown"]
    note: str = ""


def fit(source: str, value: JsonValue, plan: Plan, situation: Situation) -> Fit:
    """Is this argument what the plan said it would be?"""
    try:
        parsed = parse(source)
    except BadInput as bad:
        return Fit("unknown", str(bad))
    given: list[Scalar] = [leaf.value for leaf in leaves(value) if leaf.value is not None]
    if isinstance(parsed, Series):
        return _fit_series(parsed, given, plan, situation)
    found = value_of(evaluate(parsed, plan, situation))
    match found:
        case Free():
            return Fit("free", "its own words")
        case Unknown(why):
            return Fit("unknown", why)
        case Glued():
            return _told(len(given) == 1 and _matches(found, given[0]), found)
        case Values(mode="all"):
            return _told(same(given, found.values), found)
        case Values():
            return _told(len(given) == 1 and _matches(found, given[0]), found)


def has_link(source: str) -> bool:
    """Does it yield a web address that anybody may have written?"""
    try:
        return _has_link(parse(source))
    except BadInput:
        return False


def _has_link(source: Source) -> bool:
    match source:
        case Pick(how="link"):
            return True
        case Pick(of=of) | FieldOf(of=of):
            return _has_link(of)
        case Sum(left=left, right=right):
            return _has_link(left) or _has_link(right)
        case Series(items=items):
            return any(map(_has_link, items))
        case _:
            return False


def _fit_series(series: Series, given: list[Scalar], plan: Plan, situation: Situation) -> Fit:
    found = [value_of(evaluate(item, plan, situation)) for item in series.items]
    if unknown := next((each for each in found if isinstance(each, Unknown)), None):
        return Fit("unknown", unknown.why)
    left = list(given)
    for each in found:
        match = next((value for value in left if isinstance(each, Values | Glued) and _matches(each, value)), None)
        if match is None:
            return Fit("differs", "the list is another one than planned")
        left.remove(match)
    return Fit("differs", f"{plain(left[0])} was not planned") if left else Fit("fits", "the plan")


def _told(is_equal: bool, found: Values | Glued) -> Fit:
    if is_equal:
        return Fit("fits", found.note if isinstance(found, Values) else "a text of the plan")
    shown = plain(found.values[0]) if isinstance(found, Values) and found.mode == "one" and found.values else "something else"
    return Fit("differs", f"the plan said {shown[:80]}")


def _matches(found: Values | Glued, value: Scalar) -> bool:
    if isinstance(found, Values):
        return any(equal(value, each) for each in found.values)
    return _is_glued(folded(plain(value)), found.pieces)


def _is_glued(text: str, pieces: tuple[tuple[str, ...], ...]) -> bool:
    """One alternative of each piece after the other, with a space between them or none. It keeps every place that can be reached so far,
    so it never tries twice."""
    ends = {0}
    for piece in pieces:
        alternatives = {folded(each) for each in piece}
        ends = {end + len(each) for end in ends for each in alternatives if text.startswith(each, end)}
        ends |= {end + 1 for end in ends if text.startswith(" ", end)}
    return len(text) in ends
