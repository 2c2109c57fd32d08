"""A turn: the work that one event causes for one agent.

`queued` is an event that no worker has taken yet, `running` is held by a worker (or was, when that worker died), `parked`
waits for any one of its waits and costs nothing, `done` and `failed` are final. A turn pins the hashes of all that shaped it
at its start; when a resumed turn finds other ones, it goes on with what is there now and writes down the difference
(`step.Upgraded`).
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from daimon.abi.event import SCHEMA
from daimon.abi.ids import SUMMARIZER, AgentId, Conversation, EventId, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.label import UNLABELLED, Label


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    PARKED = "parked"
    DONE = "done"
    FAILED = "failed"


class Ending(StrEnum):
    """Why a turn is over. Only `failed` means that the system, not the work, gave up."""

    ANSWERED = "answered"
    SILENT = "silent"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"
    FAILED = "failed"

    @property
    def stops_children(self) -> bool:
        """What it started is no longer wanted."""
        return self not in (Ending.ANSWERED, Ending.SILENT)

    @property
    def state(self) -> State:
        return State.FAILED if self in (Ending.FAILED, Ending.LIMIT) else State.DONE


@dataclass(frozen=True, slots=True)
class Pins:
    """Hashes of what a turn started with."""

    config: str = ""
    policy: str = ""
    prompts: str = ""
    tools: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    id: TurnId
    conversation: str
    event: EventId
    principal: PrincipalId
    agent: AgentId
    root: TurnId
    state: State
    created_at: datetime
    space: SpaceId
    label: Label = UNLABELLED
    pins: Pins = Pins()
    parent: StepRef | None = None
    forked_from: StepRef | None = None
    job: str = ""
    """What made it start by itself: an automation, a timer, a service; of a child, what made its root start."""
    origin: str = ""
    """The conversation in which all this began: that of the root, of what was forked. Its limits and its privacy hold here too."""
    origin_agent: AgentId = AgentId("")
    effects: Literal["world", "record"] = "world"
    """Where this turn's effects come from. A fork takes them from the record unless somebody decided otherwise."""
    ending: Ending | None = None
    ended_at: datetime | None = None
    schema: int = SCHEMA

    @property
    def where(self) -> Conversation:
        return Conversation(self.space, self.conversation)

    @property
    def reports(self) -> bool:
        """Does the step that caused it wait for its answer?"""
        return self.parent is not None and self.agent != SUMMARIZER
