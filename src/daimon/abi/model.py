"""What is asked of a model and what comes back.

A request is written as a few chunks of canonical JSON, one per message, so that its exact bytes can be kept by hash without
storing a long history again for every call. A reply arrives as deltas that end in one `Reply`.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from daimon.abi.label import UNLABELLED, Label
from daimon.abi.message import Message, Part
from daimon.abi.step import ContextRef, Routed, Sampling, Usage
from daimon.abi.tool import Manifest


@dataclass(frozen=True, slots=True)
class Request:
    messages: tuple[Message, ...]
    tools: tuple[Manifest, ...] = ()
    sampling: Sampling = Sampling()
    label: Label = UNLABELLED
    """The join of all labels in it; the reply inherits it."""
    context: tuple[ContextRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply under way: shown to people, never stored."""

    text: str
    of: Literal["text", "reasoning", "call"] = "text"


@dataclass(frozen=True, slots=True)
class Reply:
    parts: tuple[Part, ...]
    model: str
    finish: Literal["stop", "tools", "length", "filtered"] = "stop"
    usage: Usage = Usage()
    logprobs: bytes | None = None


class Model(Protocol):
    @property
    def name(self) -> str: ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Deltas, then exactly one Reply. Raises ProviderFailed."""
        ...


class Router(Protocol):
    def route(self, request: Request) -> tuple[Model, Routed]:
        """Which model answers this, and why."""
        ...
