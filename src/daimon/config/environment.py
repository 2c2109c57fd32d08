"""Settings from variables, DAIMON_SECTION__KEY, which beat the file; and which variable a value came from."""

from collections.abc import Mapping
from typing import Any

PREFIX = "DAIMON_"
OURS = frozenset({"DAIMON_HOME", "DAIMON_UV", "DAIMON_CHECKOUT"})
"""Variables that are not settings."""


def overrides_in(environment: Mapping[str, str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in environment.items():
        if name.startswith(PREFIX) and name not in OURS and "__" in name:
            *sections, key = name.removeprefix(PREFIX).lower().split("__")
            branch = tree
            for section in sections:
                inner = branch.get(section)
                branch[section] = branch = inner if isinstance(inner, dict) else {}
            branch[key] = value
    return tree


def merged(tree: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    both = dict(tree)
    for key, value in overrides.items():
        found = both.get(key, {})
        if isinstance(value, dict):
            both[key] = merged(found, value) if isinstance(found, dict) else found
        else:
            both[key] = value
    return both


def variable_of(place: list[str], overrides: dict[str, Any]) -> str:
    """The variable that brought the value at this place, or one below it; empty: none did."""
    found: Any = overrides
    names: list[str] = []
    for part in place:
        if not isinstance(found, dict) or part not in found:
            break
        found = found[part]
        names.append(part)
    while isinstance(found, dict) and len(names) >= len(place):
        names.append(next(iter(found)))
        found = found[names[-1]]
    return "" if isinstance(found, dict) else f"{PREFIX}{'__'.join(names)}".upper()
