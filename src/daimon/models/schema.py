"""The schema of a tool as a model is told it: without bounds on lengths, which cost tokens in every call and which no model counts by.

The gate checks all of it, whatever a model was told, and says in words what does not fit. What may be null, and is if it is left out, is
told as what may be left out.
"""

from typing import Any

_UNTOLD = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
MEANT = 10**9
"""A number beyond this bounds nothing that a model would write."""
_NULL = {"type": "null"}


def told(schema: dict[str, Any]) -> dict[str, Any]:
    found = {key: _inner(key, value) for key, value in schema.items() if key not in _UNTOLD and not _is_no_bound(key, value)}
    if found.get("default", found) is None and (choices := _choices(found)) is not None:
        rest = {key: value for key, value in found.items() if key not in ("anyOf", "default")}
        return {**choices, **rest}
    return found


def _is_no_bound(key: str, value: Any) -> bool:
    return key in ("minimum", "maximum") and isinstance(value, int | float) and abs(value) > MEANT


def _inner(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: told(inner) for name, inner in value.items()}
    if isinstance(value, dict):
        return told(value)
    return [told(each) if isinstance(each, dict) else each for each in value] if isinstance(value, list) else value


def _choices(schema: dict[str, Any]) -> dict[str, Any] | None:
    """What it may be besides null, if that is one thing."""
    others = [each for each in schema.get("anyOf", []) if each != _NULL]
    return others[0] if len(others) == 1 and len(schema["anyOf"]) == 2 else None
