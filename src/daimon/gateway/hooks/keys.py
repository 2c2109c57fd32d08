"""By what a delivery is known when it comes again.

An id inside of what was signed cannot be changed by whoever saw it: it is enough. An id in a header can, so the hash of the signed content
is kept beside it. Without any id, that hash is the key.
"""

from dataclasses import dataclass

from pydantic import JsonValue

from daimon.abi.hook import Scheme
from daimon.gateway.hooks.signature import Heads

LONGEST = 200


@dataclass(frozen=True, slots=True)
class Known:
    key: str
    content: str = ""
    """Empty: the key was signed."""


def known_by(scheme: Scheme, given: Heads, data: JsonValue, content: str) -> Known:
    """`content` is the hash of what was signed."""
    match scheme:
        case "github":
            return _header(given.get("x-github-delivery", ""), content)
        case "slack":
            return _inside(data, ("event_id", "trigger_id"), content)
        case "stripe":
            return _inside(data, ("id",), content)
        case "generic":
            return _header(given.get("idempotency-key", "") or given.get("x-delivery", ""), content)


def _header(key: str, content: str) -> Known:
    return Known(key, content) if _is_usable(key) else Known(f"={content}")


def _inside(data: JsonValue, names: tuple[str, ...], content: str) -> Known:
    for name in names if isinstance(data, dict) else ():
        if isinstance(key := data.get(name), str) and _is_usable(key):  # type: ignore[union-attr]
            return Known(key)
    return Known(f"={content}")


def _is_usable(key: str) -> bool:
    """`=` begins the names of contents."""
    return 0 < len(key) <= LONGEST and key.isprintable() and not key.startswith("=")
