"""One recorded act inside a turn.

Steps of a turn are numbered from 0 without gaps. An intent is written *before* the act, its outcome after, and the outcome
*refers* to its intent: so parallel calls may finish in any order and still replay in the order in which they were intended.
The bodies are a union told apart by `kind`; a new kind of act is a new class here, never a new field on all.
"""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from daimon.abi.event import SCHEMA, Erased
from daimon.abi.form import Form
from daimon.abi.ids import AgentId, BlobHash, EventId, Key, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.judgement import Gate, Grant
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.message import Part, ToolResult
from daimon.abi.money import Account, Amount, Scope, Usage
from daimon.abi.plain import Moment
from daimon.abi.tool import Effect, Operation, Question, Touched
from daimon.abi.turn import Ending, Pins

# -- what the scheduler policy may decide ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wait:
    """One thing that can wake a parked turn. Waits are any-of: the first that comes wakes it.

    `model`: for a model that can be asked again at a known moment. Whoever waits for that keeps its place: what was said later in its
    conversation waits behind it, since it would need the same model, and be answered first.
    """

    on: Literal["answer", "event", "timer", "money", "model"]
    step: StepRef
    until: Moment | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """Ask the model."""

    kind: Literal["continue"] = "continue"


@dataclass(frozen=True, slots=True)
class UseTools:
    intents: tuple[int, ...]
    kind: Literal["use_tools"] = "use_tools"


@dataclass(frozen=True, slots=True)
class RefreshContext:
    reason: str
    kind: Literal["refresh"] = "refresh"


@dataclass(frozen=True, slots=True)
class Park:
    """Checkpoint and pause until one of the waits comes true."""

    reason: str
    waits: tuple[Wait, ...]
    kind: Literal["park"] = "park"


@dataclass(frozen=True, slots=True)
class AskHuman:
    question: Question
    about: int | None = None
    """The intent in question, if there is one."""
    kind: Literal["ask"] = "ask"


@dataclass(frozen=True, slots=True)
class HandOff:
    to: AgentId
    reason: str
    kind: Literal["hand_off"] = "hand_off"


@dataclass(frozen=True, slots=True)
class Complete:
    ending: Ending
    reason: str = ""
    kind: Literal["complete"] = "complete"


Decision = Annotated[Continue | UseTools | RefreshContext | Park | AskHuman | HandOff | Complete, Field(discriminator="kind")]

# -- parts of steps ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sampling:
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_output_tokens: int | None = None
    logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class ContextRef:
    """A small reference to changing state that went into a prompt, so that a replay reads the same bytes.

    `recall` names the chunk of the request (its hash) that holds words from elsewhere. Each `quote` behind it names an event, step or
    amendment whose words stand in there: when that is erased, the chunk is emptied with it.
    """

    what: str
    ref: str


Hold = Literal["never", "long", "strangers"]
"""Which words of strangers stay out of the model's window: none, long texts, all of them (`context/held.py`)."""


# -- the steps ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Received:
    """A later event that this turn took in: it steers the turn, or resolves one of its waits."""

    event: EventId
    resolves: int | None = None
    ignored: str = ""
    """Why it changes nothing; empty if it counts."""
    kind: Literal["received"] = "received"


@dataclass(frozen=True, slots=True)
class Routed:
    chosen: str
    policy: str
    reason: str
    candidates: tuple[str, ...] = ()
    scores: dict[str, float] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    """Candidates that could have come before it, and why they did not."""
    predicted_cost: Decimal | None = None
    kind: Literal["route"] = "route"


@dataclass(frozen=True, slots=True)
class Reserved:
    """Before a model call: the most that it can cost is set aside in all of these accounts, in the same transaction."""

    model: str
    provider: str
    input_tokens: int
    output_tokens: int
    cost: Decimal | None
    """None: nobody knows the price."""
    price: str
    """Where the price comes from."""
    accounts: tuple[Account, ...]
    kind: Literal["reserve"] = "reserve"

    @property
    def amount(self) -> Amount:
        return Amount(self.input_tokens + self.output_tokens, self.cost)


@dataclass(frozen=True, slots=True)
class Settled:
    """After it: what the call really took. The rest of the reservation is free again."""

    reservation: int
    usage: Usage
    how: Literal["measured", "unused", "assumed"]
    """`assumed`: nobody said what it took (a crash, a cut connection), so it counts as all that was reserved."""
    kind: Literal["settle"] = "settle"


@dataclass(frozen=True, slots=True)
class Short:
    """A reservation that did not fit. The turn waits: for others to settle, for a new day, or for the owner."""

    model: str
    account: Account
    """The limit that was met; raises so far are part of it."""
    spent: Amount
    held: Amount
    """Set aside by calls under way; it may come back."""
    needed: Amount
    why: Literal["reached", "held", "unknown_price"]
    more: Amount = Amount()
    """Of the limit: what was raised so far."""
    asked: TurnId | None = None
    """Another turn that met the same limit and asks the owner already."""
    kind: Literal["short"] = "short"


@dataclass(frozen=True, slots=True)
class Raised:
    """The owner allowed more, on this account, until it begins anew."""

    scope: Scope
    key: str
    more: Amount
    by: PrincipalId
    kind: Literal["raise"] = "raise"


@dataclass(frozen=True, slots=True)
class Replied:
    model: str
    parts: tuple[Part, ...]
    finish: str
    usage: Usage = Usage()
    request: BlobHash | None = None
    """The exact request bytes."""
    sampling: Sampling = Sampling()
    logprobs: BlobHash | None = None
    context: tuple[ContextRef, ...] = ()
    duration_ms: float = 0.0
    remarks: tuple[str, ...] = ()
    """What was odd about it and put right."""
    kind: Literal["reply"] = "reply"


@dataclass(frozen=True, slots=True)
class ModelFailed:
    model: str
    code: str
    message: str
    request: BlobHash | None = None
    provider: str = ""
    is_lasting: bool = False
    """Another try with the same model will fail as well, until somebody changes something."""
    retry_at: Moment | None = None
    """No model can be asked before this moment."""
    partial: str = ""
    """What had come of the reply before it broke off."""
    context: tuple[ContextRef, ...] = ()
    kind: Literal["model_failed"] = "model_failed"


@dataclass(frozen=True, slots=True)
class Intended:
    call: str
    tool: str
    arguments: JsonValue
    key: Key
    effect: Effect
    manifest: str
    """Hash of the manifest under which the call was allowed."""
    gate: Gate
    kind: Literal["intent"] = "intent"


@dataclass(frozen=True, slots=True)
class Started:
    """The act goes on outside; its outcome will come as an event."""

    intent: int
    handle: str
    question: Question | None = None
    until: Moment | None = None
    operations: tuple[Operation, ...] = ()
    expects: Form | None = None
    hold: Hold = "never"
    """As it will be for the outcome."""
    goes_on: bool = False
    """What is heard is for the tool; the outcome comes after it."""
    carries: Label | None = None
    """Whose words its operations hold, besides those of the turn."""
    kind: Literal["started"] = "started"


@dataclass(frozen=True, slots=True)
class Happened:
    """The outcome of an intent."""

    intent: int
    result: ToolResult
    code: str = ""
    """Empty if it went well, else a stable error code."""
    how: Literal["ran", "reran", "verified", "answered", "refused", "recorded", "cancelled"] = "ran"
    operations: tuple[Operation, ...] = ()
    touched: tuple[Touched, ...] = ()
    duration_ms: float = 0.0
    hold: Hold = "never"
    """What of it the model does not see, by the setting of that moment: a replay shows what was shown."""
    kind: Literal["outcome"] = "outcome"


@dataclass(frozen=True, slots=True)
class Decided:
    decision: Decision
    version: str
    inputs: dict[str, JsonValue] = field(default_factory=dict)
    kind: Literal["decision"] = "decision"


@dataclass(frozen=True, slots=True)
class Asked:
    question: Question
    about: int | None = None
    """The intent in question, if there is one."""
    operations: tuple[Operation, ...] = ()
    also: tuple[int, ...] = ()
    """Further intents of the same question."""
    kind: Literal["question"] = "question"

    @property
    def calls(self) -> tuple[int, ...]:
        """All intents in question, in the order in which the question counts them."""
        return () if self.about is None else (self.about, *self.also)


@dataclass(frozen=True, slots=True)
class Answered:
    """A person's word on a question: that of an `Asked` or of a `Started` step."""

    question: int
    choice: str
    text: str
    by: PrincipalId
    event: EventId | None
    """None: nobody answered in time and the safe option was taken."""
    only: tuple[int, ...] = ()
    """Of several calls, a yes is for these intents and no others; empty: for all."""
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class Granted:
    """The owner allowed the like of a call ahead of time, with the answer to a question about it."""

    question: int
    grant: Grant
    kind: Literal["grant"] = "grant"


@dataclass(frozen=True, slots=True)
class Checkpointed:
    what: str
    ref: str
    kind: Literal["checkpoint"] = "checkpoint"


@dataclass(frozen=True, slots=True)
class Upgraded:
    before: Pins
    after: Pins
    kind: Literal["upgrade"] = "upgrade"


StepBody = Annotated[
    Received
    | Routed
    | Reserved
    | Settled
    | Short
    | Raised
    | Replied
    | ModelFailed
    | Intended
    | Started
    | Happened
    | Decided
    | Asked
    | Answered
    | Granted
    | Checkpointed
    | Upgraded
    | Erased,
    Field(discriminator="kind"),
]


PROGRESS = (Replied, ModelFailed, Short, Happened, Started, Answered, Received)
"""What shows that a turn got further, as against decisions about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    turn: TurnId
    n: int
    body: StepBody
    at: datetime
    space: SpaceId
    principal: PrincipalId
    agent: AgentId
    label: Label = UNLABELLED
    schema: int = SCHEMA

    @property
    def ref(self) -> StepRef:
        return StepRef(self.turn, self.n)
