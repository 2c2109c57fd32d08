"""What came in, kept for the test that asks about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from daimon.testing.provider.wire import Asked

MASK = "***"
_SECRET = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization"})


@dataclass(frozen=True, slots=True)
class Seen:
    number: int
    """Of arrival, from 1."""
    shape: str
    """`openai`, `anthropic`, `google`, or empty for a path that none of them has."""
    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case, keys masked."""
    body: bytes
    json: JsonValue
    """None if the body is not JSON."""
    answered: str = ""
    """`reply`, the name of a fault, or why it was turned away: `invalid`, `wrong_key`, `unknown_model`, `unknown_path`."""


def seen(number: int, shape: str, asked: Asked, body: JsonValue) -> Seen:
    headers = {name: MASK if name in _SECRET else value for name, value in asked.headers.items()}
    return Seen(number, shape, asked.method, asked.path, headers, asked.body, body)
