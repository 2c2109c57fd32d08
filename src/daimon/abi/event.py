"""All that enters: one typed Event, whoever sent it.

Text, voice, files and images are `Said` with parts. A person's decision, a tool's late outcome and a fired timer are events as
well: they carry `resolves`, the step that waits for them. There is one way in.

An event is immutable and is written down before anything acts on it. (space, source, key) is unique: the second one with the
same key is recognised, not done again.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from daimon.abi.ids import HOME_SPACE, SELF, AgentId, Conversation, EventId, Key, PrincipalId, SpaceId, StepRef, TimerId, TurnId
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.message import Content
from daimon.abi.plan import Plan

SCHEMA = 2
"""The version of stored events, turns and steps. Readers upgrade older ones (`abi/upgrade.py`)."""


TIMER = "timer"
"""The job of what a reminder started."""
INTERNAL = "daimon"
"""The channel between conversations. Nobody outside may address it."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where an answer goes: a channel and a place in it."""

    channel: str
    to: str


TO_OWNER = Address("owner", "")
"""Wherever the owner is: looked up when something is delivered there."""


@dataclass(frozen=True, slots=True)
class Said:
    parts: tuple[Content, ...]
    speaker: str = ""
    """What the channel calls whoever said it, where several people speak. A name that anybody may give themselves."""
    asks: "Asks | None" = None
    """It is a question that waits for an answer."""
    steers: bool = False
    """Said into a turn that runs: that turn takes it in, whatever newer messages do otherwise (`kernel.newer`)."""
    kind: Literal["message"] = "message"


@dataclass(frozen=True, slots=True)
class Asks:
    to: StepRef
    """What an answer resolves."""
    options: tuple[str, ...] = ()
    """Empty: any text will do."""


@dataclass(frozen=True, slots=True)
class Webhook:
    service: str
    data: JsonValue
    headers: dict[str, str] = field(default_factory=dict)
    task: str = ""
    """What is to be done with it, in the words of whoever made the hook."""
    by: Label | None = None
    """Of the task."""
    kind: Literal["webhook"] = "webhook"


@dataclass(frozen=True, slots=True)
class Fired:
    """A timer's moment came. `late_s` says by how much it was missed while nobody ran."""

    timer: TimerId
    about: str
    due: datetime
    late_s: float = 0.0
    kind: Literal["timer"] = "timer"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """An automation is due, and what it looks at has changed."""

    job: str
    data: JsonValue = None
    """The change."""
    task: str = ""
    """What is to be done, in the words of whoever set it."""
    by: Label | None = None
    """Of the task; the event's own label is that of all of it."""
    plan: Plan | None = None
    """What its turn may do without a question."""
    model: str = ""
    """Who is to answer; empty: as for all."""
    kind: Literal["heartbeat"] = "heartbeat"


@dataclass(frozen=True, slots=True)
class FromAgent:
    agent: AgentId
    parts: tuple[Content, ...]
    kind: Literal["agent"] = "agent"


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's decision on a question that a turn asked."""

    choice: str
    text: str = ""
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class Late:
    """The outcome of a call that was started earlier and finished outside: a long job, another agent."""

    data: JsonValue
    is_error: bool = False
    kind: Literal["outcome"] = "outcome"


@dataclass(frozen=True, slots=True)
class Stop:
    """Somebody wants a turn, and all that it started, to end."""

    turn: TurnId
    reason: str = ""
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Erased:
    """What is left where a payload was deleted on purpose. A replay says so; it never invents what stood here."""

    hash: str
    at: datetime
    reason: str
    kind: Literal["erased"] = "erased"


Body = Annotated[Said | Webhook | Fired | Heartbeat | FromAgent | Answer | Late | Stop | Erased, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    id: EventId
    source: str
    key: Key
    conversation: str
    principal: PrincipalId
    body: Body
    occurred_at: datetime
    received_at: datetime
    space: SpaceId = HOME_SPACE
    agent: AgentId = SELF
    label: Label = UNLABELLED
    reply_to: Address | None = None
    parent: StepRef | None = None
    """The step that caused this event, when another turn sent it: its turn becomes the child of that one."""
    resolves: StepRef | None = None
    """The waiting step that this event answers."""
    schema: int = SCHEMA

    @property
    def where(self) -> Conversation:
        return Conversation(self.space, self.conversation)

    @property
    def job(self) -> str:
        """What happens by itself, by name; empty for what somebody said."""
        match self.body:
            case Heartbeat(job=job):
                return job
            case Fired():
                return TIMER
            case Webhook(service=service):
                return f"webhook {service}"
            case _:
                return ""
