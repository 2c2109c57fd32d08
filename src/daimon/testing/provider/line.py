"""One line of a script: what the model says, how it says it, and what goes wrong."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Finish = Literal["stop", "calls", "length", "filtered", "refusal"]
"""In nobody's words; each shape has its own for them."""

AFTER = 2
DELAY_S = 0.05
CHUNK = 12


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, JsonValue] | str
    """A string goes out as it is, JSON or not."""
    id: str = ""
    """Empty: the server makes one."""

    @property
    def text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int
    """All of the prompt, from the cache or not."""
    output_tokens: int
    """All that was made, thoughts too."""
    cached_tokens: int = 0
    written_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    """One of `faults.FAULTS`."""
    after: int = AFTER
    """For what happens inside of a stream: so many events come before it."""
    delay_s: float = DELAY_S
    retry_after: float | str | None = None
    """Seconds, or the text of the header (an HTTP date)."""
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    finish: Finish | None = None
    """Left out: `calls` if there are any, else `stop`."""
    model: str = ""
    """The name that the answer bears; empty: the one asked for."""
    usage: Usage | None = None
    """Left out: counted."""
    chunk: int = CHUNK
    """Characters per event of a stream."""
    pause_s: float = 0
    """After each event of a stream."""
    fault: Fault | None = None
