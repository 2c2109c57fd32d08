"""What the loop hands to the context and what it gets back.

`prepare` may take time and reads what the prompt will need; `assemble` is pure and quick and touches no I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from daimon.abi.event import Event
from daimon.abi.ids import AgentId, EventId
from daimon.abi.message import Message
from daimon.abi.model import Request
from daimon.abi.step import ContextRef, Step
from daimon.abi.tool import Manifest
from daimon.abi.turn import Turn


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn as the context sees it."""

    turn: Turn
    event: Event
    agent: AgentId
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Background:
    """What was read ahead: earlier messages, later events of this turn, and references to all that was read."""

    earlier: tuple[tuple[ContextRef, tuple[Message, ...]], ...]
    events: Mapping[EventId, Event]


@dataclass(frozen=True, slots=True)
class Prompt:
    request: Request
    chunks: tuple[bytes, ...]
    """The exact bytes of the request: system text, tools, then one chunk per message."""


class Context(Protocol):
    async def prepare(self, scene: Scene) -> Background: ...

    def assemble(self, scene: Scene, background: Background, tools: tuple[Manifest, ...]) -> Prompt: ...
