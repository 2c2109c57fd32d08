"""Any value of our types, for properties that hold of all of them."""

import dataclasses
import types
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Annotated, Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from pydantic import JsonValue

from daimon.abi.ids import PrincipalId
from daimon.abi.label import Author, Label, Origin

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Without lone surrogates, which no file can hold."""
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone itself
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
principals = st.sampled_from(["owner", "ann", "bob", "service:github"]).map(PrincipalId)
origins = st.builds(Origin, st.sampled_from(Author), st.sampled_from(["terminal", "mail:bob@x.org", "web:example.org"]))
labels = st.builds(
    lambda made_by, readers: Label.of(*made_by, readers=readers),
    st.lists(origins, min_size=1, max_size=3),
    st.none() | st.lists(principals, max_size=3),
)
"""Labels of values: there is always an origin."""

_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: texts,
    int: st.integers(),
    float: numbers,
    bool: st.booleans(),
    type(None): st.none(),
    datetime: moments,
    Decimal: st.decimals(allow_nan=False, allow_infinity=False, places=4),
    JsonValue: json_values,
    Label: labels,
}


@cache
def of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type: a dataclass, a union of them, or what they are made of."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, NewType):
        return of(kind.__supertype__)
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return st.builds(kind, **{field.name: of(hints[field.name]) for field in dataclasses.fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    return _generic(get_origin(kind), get_args(kind))


def members(union: Any) -> tuple[type, ...]:
    """The classes of a union that is told apart by kind."""
    inner, *_ = get_args(union)
    return get_args(inner)


def _generic(origin: Any, arguments: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is Annotated:
        return of(arguments[0])
    if origin in (Union, types.UnionType):
        return st.one_of([of(argument) for argument in arguments])
    if origin is tuple and arguments[-1] is not ...:
        return st.tuples(*(of(argument) for argument in arguments))
    if origin is tuple:
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(of(arguments[0]), of(arguments[1]), max_size=3)
    raise TypeError(f"no strategy for {origin}[{arguments}]")
