"""Cleans every text inside a value: of our types, or JSON.

Whoever hands a value over a border gives a function for texts (a redactor's, see `abi/secret.py`); here it is applied to all that the value
holds, so that no field can be forgotten. A value in which nothing changes comes back as itself. What is no free text (kinds, hashes of
blobs, labels, a provider's opaque signatures) is left alone, and a reasoning that was changed loses its signature, which no longer fits it.
"""

import json
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from daimon.abi.message import Reasoning

T = TypeVar("T")
Clean = Callable[[str], str]
_NO_TEXT = frozenset({"kind", "blob", "media_type", "signature", "schema", "label", "labels"})


def cleaned(value: T, clean: Clean) -> T:
    return cast("T", _cleaned(value, clean))


def cleaned_json(data: bytes, clean: Clean) -> bytes:
    """Of encoded JSON. Looked at as one text first, which is fast and nearly always all."""
    text = data.decode("utf-8")
    if clean(text) == text:
        return data
    return json.dumps(cleaned(json.loads(text), clean), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def cleaned_text(data: bytes, clean: Clean) -> bytes:
    """Of bytes that are text as a rule. Where they are no UTF-8, each stands for a character, so that they come back as they were."""
    try:
        return clean(data.decode("utf-8")).encode("utf-8")
    except UnicodeError:
        return clean(data.decode("latin-1")).encode("latin-1")


def _cleaned(value: Any, clean: Clean) -> Any:
    match value:
        case str():
            new = clean(value) if type(value) is str else value  # members of enumerations are texts too
            return value if new == value else new
        case dict():
            changed = {_cleaned(name, clean): _cleaned(inner, clean) for name, inner in value.items()}
            return changed if changed != value else value
        case tuple() | list():
            items = [_cleaned(inner, clean) for inner in value]
            is_same = all(new is old for new, old in zip(items, value, strict=True))
            return value if is_same else type(value)(items)
        case _:
            return _inside(value, clean) if is_dataclass(value) else value


def _inside(value: Any, clean: Clean) -> Any:
    changes, kind = {}, cast("Hashable", type(value))
    for name in _names(kind):
        old = getattr(value, name)
        new = _cleaned(old, clean)
        if new is not old and new != old:
            changes[name] = new
    if not changes:
        return value
    return replace(value, **changes, signature=None) if isinstance(value, Reasoning) else replace(value, **changes)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init and field.name not in _NO_TEXT)
