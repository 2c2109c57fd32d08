"""What one provider's API is made of: how it reads a request, how it words an answer, how it words a failure.

A new shape is one package beside `openai` and one row in `routes.py`. A shape only words; what is said, counted and cached is
decided before it, what goes wrong with the bytes after it (`faults.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from daimon.testing.provider.prompt import Prompt, compact
from daimon.testing.provider.said import Said
from daimon.testing.provider.wire import Asked, Reply

Json = Mapping[str, JsonValue]


class Rejected(Exception):
    """The request is not one that the provider would answer; the text is the provider's."""

    def __init__(self, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    """Of a fault that is one error answer, or `invalid`, `wrong_key`, `unknown_path`."""
    message: str = ""
    """Empty: the provider's usual words."""
    param: str | None = None
    code: str | None = None
    number: int = 0
    model: str = ""
    tokens: int = 0
    retry_after: float | str | None = None
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event."""

    kind: Literal["open", "reasoning", "text", "call", "close"]
    data: str
    event: str = ""

    def encode(self, newline: str) -> bytes:
        event = f"event: {self.event}{newline}" if self.event else ""
        return f"{event}data: {self.data}{newline}{newline}".encode()


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    newline: str
    """Between the lines of an event stream."""
    key: Callable[[Asked], str]
    """The key that came; empty if none did."""
    read: Callable[[Asked, JsonValue], Prompt]
    """Raises `Rejected`."""
    whole: Callable[[Said, Prompt], Json]
    frames: Callable[[Said, Prompt], list[Frame]]
    problem: Callable[[Problem], Reply]
    models: Callable[[Sequence[str]], Json]
    overloaded: Frame
    """The error event inside of a stream."""
    noise: tuple[str, ...]
    """Legal lines before every event, which mean nothing."""
    malformed: Frame
    """JSON, but with a field missing that every client needs."""
    nothing: tuple[Frame, ...]
    """A whole stream without any answer in it."""


def json_reply(status: int, headers: Mapping[str, str], value: Json) -> Reply:
    return body_reply(status, {"content-type": "application/json", **headers}, compact(dict(value)).encode())


def body_reply(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    return Reply(status, headers, (body,), length=len(body))
