"""What a tool declares, what it is given, what it gives back.

A tool without a manifest does not exist. The manifest says how a call may be repeated (`Effect`), what each argument means
(`ArgumentRole`), what the tool can do to the world (`Capability`), how much it may take, and whose words its result holds,
field by field.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field, JsonValue

from daimon.abi.automation import Automate, Cease
from daimon.abi.event import Address, Asks
from daimon.abi.form import Form
from daimon.abi.hook import MakeHook
from daimon.abi.ids import AgentId, Conversation, Key, PrincipalId, SpaceId, TimerId
from daimon.abi.label import UNLABELLED, Author, Label
from daimon.abi.memory import Forget, Learn, Put, Relate, Remember, Summarise, Unrelate
from daimon.abi.message import Content
from daimon.abi.plain import Moment
from daimon.abi.plan import Plan


class Effect(StrEnum):
    """What to do with an intent whose outcome is unknown after a crash."""

    PURE = "pure"
    """Run it again."""
    IDEMPOTENT = "idempotent"
    """Run it again with the same key."""
    VERIFIABLE = "verifiable"
    """Ask the world whether it happened; run it only if it did not."""
    UNSAFE = "unsafe"
    """Never repeat it; ask the owner."""


class ArgumentRole(StrEnum):
    DESTINATION = "destination"
    TARGET = "target"
    AMOUNT = "amount"
    CONTENT = "content"
    TITLE = "title"
    """A short text by which the thing will be found and recognised."""
    SECRET = "secret"
    TIME = "time"
    PERMISSION = "permission"
    QUERY = "query"
    COMMAND = "command"
    """A command line, or the words of one. The floor reads it."""


class Capability(StrEnum):
    READS_PRIVATE = "reads_private"
    READS_OUTSIDE = "reads_outside"
    WRITES = "writes"
    EXECUTES = "executes"
    SENDS = "sends"
    SPENDS = "spends"
    DELETES = "deletes"
    GRANTS = "grants"
    ASKS = "asks"
    PLANS = "plans"
    """It states what the request allows."""


CONSEQUENTIAL = frozenset({Capability.SENDS, Capability.SPENDS, Capability.DELETES, Capability.GRANTS})
"""It leaves the machine, spends, deletes, or changes who may do what."""


@dataclass(frozen=True, slots=True)
class Rate:
    calls: int
    per_s: float


@dataclass(frozen=True, slots=True)
class ResultLabel:
    """Whose words a result holds. `source` may name arguments in braces: `web:{host}`. Fields are JSON pointers with `*` for any part."""

    author: Author = Author.STRANGER
    source: str = "tool"
    fields: dict[str, Author] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    name: str
    description: str
    parameters: dict[str, JsonValue]
    """A strict JSON Schema of an object: no additional properties."""
    effect: Effect
    roles: dict[str, ArgumentRole] = field(default_factory=dict)
    capabilities: tuple[Capability, ...] = ()
    """Sorted, so that equal manifests have equal bytes."""
    timeout_s: float = 30.0
    max_result_bytes: int = 256 * 1024
    rate: Rate | None = None
    needs: tuple[str, ...] = ()
    """Names of the credentials that the call needs; the vault holds them."""
    result: ResultLabel = ResultLabel()
    changes_files: bool = False
    """Of the workspace: a checkpoint is made before it runs, and what it changed is recorded with its outcome."""
    is_rare: bool = False
    """The model is shown it only when it looked for it."""
    author: Author = Author.SERVICE
    """Whose words name, description and schema are. A model that is shown those of a stranger has read a stranger's words."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "capabilities", tuple(sorted(set(self.capabilities))))

    @property
    def is_consequential(self) -> bool:
        return not CONSEQUENTIAL.isdisjoint(self.capabilities)

    @property
    def told_by(self) -> str:
        """The source of its own words. Whoever speaks through it as well is named, so that both can be forgotten together."""
        is_theirs = self.author is not Author.SERVICE and self.result.source != ResultLabel().source and "{" not in self.result.source
        return self.result.source if is_theirs else f"tool:{self.name}"


@dataclass(frozen=True, slots=True)
class SetTimer:
    timer: TimerId
    at: Moment
    about: str
    kind: Literal["set_timer"] = "set_timer"


@dataclass(frozen=True, slots=True)
class CancelTimer:
    timer: TimerId
    kind: Literal["cancel_timer"] = "cancel_timer"


@dataclass(frozen=True, slots=True)
class Send:
    """A message to somebody, now, before the turn ends."""

    to: Address
    parts: tuple[Content, ...]
    not_before: Moment | None = None
    """It waits until then. Later messages to the same place do not wait with it."""
    asks: Asks | None = None
    """It is a question that waits for an answer."""
    kind: Literal["send"] = "send"


@dataclass(frozen=True, slots=True)
class Post:
    """Work for another conversation: its turn becomes a child of this call, and its answer this call's outcome."""

    agent: AgentId
    conversation: str
    parts: tuple[Content, ...]
    kind: Literal["post"] = "post"


@dataclass(frozen=True, slots=True)
class HandOver:
    """Another agent goes on with this turn."""

    agent: AgentId
    reason: str = ""
    kind: Literal["hand_over"] = "hand_over"


@dataclass(frozen=True, slots=True)
class StatePlan:
    """What the request allows, from here on in this turn."""

    plan: Plan
    kind: Literal["state_plan"] = "state_plan"


Operation = Annotated[
    SetTimer
    | CancelTimer
    | Remember
    | Forget
    | Learn
    | Put
    | Relate
    | Unrelate
    | Summarise
    | Send
    | Post
    | HandOver
    | StatePlan
    | Automate
    | Cease
    | MakeHook,
    Field(discriminator="kind"),
]
"""What takes effect together with the outcome that carries it, in the same transaction: exactly once, by construction."""


@dataclass(frozen=True, slots=True)
class Touched:
    """A side effect that a tool saw itself make: a file, a process, a host."""

    kind: Literal["file", "process", "network"]
    what: str
    outcome: str = ""
    """How it went, where that is not plain."""
    label: Label | None = None
    """Of what left; None: nothing did."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool gets to know about the call that it serves."""

    key: Key
    """Hand this to the outside world as the idempotency key."""
    space: SpaceId
    principal: PrincipalId
    agent: AgentId
    conversation: Conversation
    reply_to: Address | None
    now: datetime
    label: Label = UNLABELLED
    """What the call was decided under: the join of the model's context and of the held values that it passes on."""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished call. `data` is what the model reads, as JSON."""

    data: JsonValue
    parts: tuple[Content, ...] = ()
    operations: tuple[Operation, ...] = ()
    touched: tuple[Touched, ...] = ()
    labels: dict[str, Label] = field(default_factory=dict)
    """Labels that the tool knows better than its manifest, by JSON pointer; the key "" is the whole result."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that only a person can say. The first option is the safe one: it is taken when nobody answers in time."""

    text: str
    options: tuple[str, ...] = ()
    """Empty: any text will do."""
    type: Literal["authorise", "choose", "context", "plan", "outcome", "money", "undo"] = "context"
    details: JsonValue = None
    expires_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that goes on elsewhere: its outcome will come as an event that resolves the intent."""

    handle: str
    question: Question | None = None
    until: Moment | None = None
    operations: tuple[Operation, ...] = ()
    expects: Form | None = None
    """The outcome counts only if it has this form."""
    goes_on: bool = False
    """The answer to its question, or what comes of its operations, is not the outcome: the tool, which is `Continuing`, goes on with it."""
    carries: Label | None = None
    """Whose words its operations hold, besides those of the turn."""


@dataclass(frozen=True, slots=True)
class Word:
    """What came of a question in the middle of a call, or of what it set going."""

    choice: str
    """The option that was taken; of a question without options, what was said."""
    text: str = ""
    is_expired: bool = False
    """Nobody answered in time, or nothing came of it."""


class Tool(Protocol):
    @property
    def manifest(self) -> Manifest: ...

    async def run(self, arguments: dict[str, JsonValue], call: Call) -> Result | Pending: ...

    async def verify(self, arguments: dict[str, JsonValue], call: Call) -> Result | None:
        """Did the call with this key happen? Its result, or None if it did not. Asked of verifiable tools only."""
        ...


@runtime_checkable
class Continuing(Protocol):
    """A tool that asks in the middle of a call, and goes on with the answer.

    What it waits with is in the memory of this process: after a restart `go_on` is called with a handle that nobody knows, and fails. It is
    called once for an answer, and never again after a crash, so that nothing is done twice.
    """

    async def go_on(self, handle: str, word: Word, call: Call) -> Result | Pending: ...
