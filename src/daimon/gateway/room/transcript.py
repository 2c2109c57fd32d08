"""A conversation as the page shows it: turn by turn, what came in, what was done, what was said.

These are the answers of `conversations.py`; `telling.py` makes them of what the journal holds. Fields called `html` were rendered and
sanitised here (`markdown.py`); all others are text. Long texts are cut: `Words.of` says where the rest is.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from daimon.abi.event import Address
from daimon.abi.ids import AgentId, EventId, Key, TurnId
from daimon.abi.label import Label
from daimon.abi.ports import Delivery
from daimon.abi.turn import Ending, State


@dataclass(frozen=True, slots=True)
class Words:
    text: str
    chars: int
    """Of the whole."""
    is_cut: bool
    of: str
    """An event or a step, for `GET /v1/conversations/text`."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """For `GET /v1/files/BLOB`."""

    kind: Literal["image", "audio", "file"]
    blob: str
    media_type: str
    name: str
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """What came in: what began a turn, or what it took in later."""

    event: EventId
    key: Key
    """Under which it was sent: whoever sent it knows it again, before it is told that it arrived."""
    kind: str
    """That of the event's body: `message`, `webhook`, `timer`, `heartbeat`, `agent`, `answer`, `outcome`, `stop`, `erased`."""
    source: str
    who: str
    is_owner: bool
    at: datetime
    words: Words
    files: tuple[Attachment, ...]
    label: Label
    reply_to: Address | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model call gave."""

    step: int
    at: datetime
    model: str
    html: str
    text: str
    """As the model wrote it, to be copied."""
    is_cut: bool
    thinking: str
    files: tuple[Attachment, ...]
    label: Label
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """None: nobody knows."""
    duration_ms: float
    kind: Literal["reply"] = "reply"


CallState = Literal["running", "waiting", "asking", "ok", "failed", "refused", "cancelled", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """A tool call."""

    step: int
    at: datetime
    tool: str
    arguments: Words
    state: CallState
    verdict: str
    """What the gate said, in a line."""
    code: str
    result: Words | None
    files: tuple[Attachment, ...]
    label: Label | None
    """Of the result."""
    is_held: bool
    """The model did not see all of it."""
    touched: tuple[str, ...]
    duration_ms: float
    asked_by: int | None
    """The reply that asked for it; it says what that took."""
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class Given:
    choice: str
    text: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question to a person."""

    step: int
    at: datetime
    to: str
    """What an answer names."""
    text: str
    options: tuple[str, ...]
    type: str
    expires_at: datetime | None
    answer: Given | None
    is_open: bool
    kind: Literal["question"] = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Something that came in while the turn ran."""

    step: int
    came: Came
    ignored: str
    kind: Literal["heard"] = "heard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A model call that failed, money that ran out."""

    step: int
    at: datetime
    text: str
    kind: Literal["trouble"] = "trouble"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """Steps that are not shown: too many, or erased."""

    step: int
    count: int
    why: str
    kind: Literal["gone"] = "gone"


Item = Annotated[Reply | Deed | Ask | Heard | Trouble | Gone, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A message on its way to people."""

    to: Address
    state: Delivery
    note: str
    at: datetime
    is_reply: bool
    """It is what the turn said at its end."""
    html: str
    """Empty where it is a reply or a question, which stand among the items."""
    files: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    id: TurnId
    conversation: str
    state: State
    ending: Ending | None
    reason: str
    """Why it ended as it did, where it was not simply answered."""
    created_at: datetime
    ended_at: datetime | None
    agent: AgentId
    job: str
    came: Came
    items: tuple[Item, ...]
    posted: tuple[Posted, ...]
    model: str
    model_calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost: Decimal | None
    """None: of at least one call nobody knows."""
