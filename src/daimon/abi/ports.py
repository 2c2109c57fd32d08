"""The seams: what the rooms above hold instead of a driver. `boot` alone chooses what stands behind each.

The journal is the truth, the dispatcher is a hint. A conversation is held by claim and epoch; a write under an old epoch is
refused as `Fenced`, and whoever is fenced stops at once without any further effect. The dispatcher carries no payload and may
drop, double or reorder its wake-ups: `Journal.due` finds what was missed. Keys are (space, conversation, sequence); there is
no global order and no transaction across conversations. A `Cursor` is opaque: hand back what you were given.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal, NewType, Protocol

from pydantic import JsonValue

from daimon.abi.event import Address, Erased, Event, Said
from daimon.abi.ids import AgentId, BlobHash, Conversation, EventId, Key, PrincipalId, SpaceId, StepRef, TimerId, TurnId
from daimon.abi.judgement import Gate, Grant, Situation
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.memory import Amendment
from daimon.abi.message import Content
from daimon.abi.money import Account, Amount, Limit, Scope
from daimon.abi.step import Step, Wait
from daimon.abi.tool import Call, Manifest, Send, Touched
from daimon.abi.turn import Ending, Pins, State, Turn

Cursor = NewType("Cursor", str)
START = Cursor("")


# -- time, chance, names -----------------------------------------------------------------------------------------------


class Clock(Protocol):
    def now(self) -> datetime:
        """Wall-clock time, aware, UTC. It may jump."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for durations and leases."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Random(Protocol):
    def bytes(self, n: int) -> bytes: ...

    def uniform(self) -> float: ...


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A fresh id; later ones sort after earlier ones."""
        ...


# -- files that can be taken back ---------------------------------------------------------------------------------------


class Checkpoints(Protocol):
    """Of the workspace that a call works in."""

    async def before(self, call: Call, why: str) -> str:
        """Makes one; its id. Empty: there is no workspace. Raises ToolFailed where none can be made: the call must not run then."""
        ...

    async def since(self, call: Call) -> tuple[Touched, ...]:
        """What has changed since the last one."""
        ...

    def label(self, call: Call) -> Label:
        """Of all that may be in the files: a call that sends and works on them may carry any of it, and does what is written there."""
        ...


# -- the journal: taking in --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accepted:
    event: EventId
    """The event that is on disk: for a repeated key, the first one."""
    seq: int
    is_new: bool


MOST_LETTERS = 1_000
"""So many dead letters are kept, the newest: whoever sends nothing but nonsense does not fill the disk."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Input that could not become an event, kept as it came."""

    source: str
    reason: str
    body: bytes
    at: datetime


class Intake(Protocol):
    async def accept(self, event: Event) -> Accepted:
        """Returns when the event is on disk for good."""
        ...

    async def bury(self, letter: DeadLetter) -> None: ...


# -- the journal: working ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to go on with one turn of a conversation, until somebody claims it with a higher epoch."""

    conversation: Conversation
    worker: str
    epoch: int
    turn: Turn
    event: Event
    steps: tuple[Step, ...]
    """What is already on disk. An intent among them without an outcome is in doubt."""
    arrived: tuple[Event, ...] = ()
    """Events for this turn that it has not taken in yet."""
    attempts: int = 1
    """How often in a row it was claimed without a step being recorded."""
    is_stopped: bool = False


@dataclass(frozen=True, slots=True)
class Busy:
    """Somebody else holds it."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to do."""


@dataclass(frozen=True, slots=True)
class NotYet:
    at: datetime


@dataclass(frozen=True, slots=True)
class Damaged:
    """The next turn's rows cannot be read. It was ended as failed, so that the others can go on."""

    turn: TurnId
    reason: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """What a writer learns with each write about its own conversation."""

    is_stopped: bool = False
    """Somebody asked for this turn to end."""
    arrived: tuple[Event, ...] = ()
    """Events that resolve a wait of this turn and that it has not taken in yet."""
    newer: tuple[Event, ...] = ()
    """The first few of the events that wait for a turn of their own behind this one."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes to keep by their hash, given in chunks; equal chunks of different blobs are stored once."""

    hash: BlobHash
    chunks: tuple[bytes, ...]
    fixed: int = 0
    """How many leading chunks hold nobody's words (system text, tool manifests) and survive the erasure of a turn."""


@dataclass(frozen=True, slots=True)
class Ended:
    ending: Ending
    label: Label
    reply: tuple[Content, ...] = ()
    """What is said to the event's `reply_to`; nothing means silence."""
    told: tuple[Send, ...] = ()
    """What others are told of how it ended."""


@dataclass(frozen=True, slots=True)
class Parked:
    waits: tuple[Wait, ...]


@dataclass(frozen=True, slots=True)
class More:
    """There is more to do in this conversation: claim again."""


@dataclass(frozen=True, slots=True)
class Released:
    """Nothing left; the next accepted event wakes it."""


class Journal(Protocol):
    async def claim(self, conversation: Conversation, worker: str, ttl_s: float, pins: Pins) -> Claim | Busy | Idle | NotYet | Damaged:
        """The next turn of the conversation: an interrupted one first, then by arrival. A new turn gets these pins."""
        ...

    async def renew(self, claim: Claim, ttl_s: float) -> Noticed:
        """Raises Fenced."""
        ...

    async def record(self, claim: Claim, steps: Sequence[Step], blobs: Sequence[Blob] = ()) -> Noticed:
        """All of these steps or none, on disk when it returns. What they carry takes effect with them. Raises Fenced, OverBudget."""
        ...

    async def finish(self, claim: Claim, steps: Sequence[Step], rest: Ended | Parked, blobs: Sequence[Blob] = ()) -> More | Released:
        """Records the last steps, lets go of the conversation, and looks for newer events in the same transaction. Raises Fenced."""
        ...

    async def reconsider(self, limits: Mapping[Scope, Limit], models: Collection[str]) -> None:
        """Wakes turns that wait for room in an account and may not have to any more.

        So do those whose limit is another one by now, whose model is not among these, or has no price.
        """
        ...

    async def due(self, now: datetime, limit: int) -> "Due":
        """Fires timers and time-outs whose moment came, and finds conversations with work that nobody holds."""
        ...


@dataclass(frozen=True, slots=True)
class Due:
    conversations: tuple[Conversation, ...]
    next_at: datetime | None
    """When the next timer or time-out is due."""


# -- the journal: reading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Erasure:
    """Payloads of a turn were deleted: whoever made something of them deletes it too."""

    turn: TurnId
    at: datetime
    reason: str
    only: tuple[str, ...] = ()
    """Of these events, steps and amendments; empty: of the whole turn. What no turn had taken in yet is of the turn ''."""


@dataclass(frozen=True, slots=True)
class Change:
    cursor: Cursor
    item: Event | Step | Erasure | Amendment


@dataclass(frozen=True, slots=True)
class Count:
    """How much there is, for status."""

    events: int
    turns: dict[State, int]
    steps: int
    timers: int
    outgoing: int
    dead_letters: int
    bytes: int
    mail: dict[str, int] = field(default_factory=dict)
    """The newest messages to people, by state, and all that are still on their way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailing:
    """A message to people, and what became of it."""

    key: Key
    turn: TurnId
    conversation: Conversation
    to: Address
    state: "Delivery"
    created_at: datetime
    attempts: int
    done: int
    note: str
    retry_at: datetime | None
    text: str
    """How it begins; empty where it was erased."""


class Archive(Protocol):
    async def turn(self, turn: TurnId) -> Turn: ...

    async def event(self, event: EventId) -> Event: ...

    async def steps(self, turn: TurnId) -> tuple[Step, ...]: ...

    async def turn_of(self, event: EventId) -> Turn | None:
        """The turn that took this event in, if one did."""
        ...

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        """Events for this turn that came when it was over: kept, and without effect."""
        ...

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        """Newest first."""
        ...

    def watch(self, after: Cursor) -> AsyncIterator[Change]:
        """Everything after the cursor, then everything new as it is committed, without end."""
        ...


class Past(Archive, Protocol):
    """An archive whose readers may keep what they have read."""

    async def erasures(self) -> int:
        """How often something was erased: when it is more than before, what was kept must be read again."""
        ...


class Followed(Archive, Protocol):
    """An archive whose readers come and go, and go on where they were."""

    async def end(self) -> Cursor:
        """After all that there is now."""
        ...

    async def require(self, cursor: Cursor) -> None:
        """Raises BadInput if it is none that was handed out here."""
        ...

    async def behind(self, cursor: Cursor) -> int:
        """At most so many changes came after it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What calls took that have one thing in common."""

    key: str
    calls: int
    input_tokens: int
    """All of it; of these, cached and written to the cache:"""
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    cost: Decimal
    """What is known of it."""
    assumed: Decimal
    """Of the cost: counted in full because nobody said what the call took."""
    unpriced: int
    """Calls whose price nobody knows."""
    under_way: int
    held: Decimal
    """What calls under way have set aside."""


@dataclass(frozen=True, slots=True)
class Balance:
    account: Account
    """Raises so far are part of its limit."""
    spent: Amount
    held: Amount
    waiting: int
    """Turns that wait for room in it."""


Grouping = Literal["day", "month", "job", "agent", "model", "conversation", "turn", "person"]


class Ledger(Protocol):
    """What model calls cost: a reading of the reservations and settlements among the steps."""

    async def spending(self, space: SpaceId, by: Grouping, since: str = "", until: str = "") -> tuple[Spending, ...]:
        """`since` and `until` are days such as 2026-11-15, both included. The dearest first; days and months in order."""
        ...

    async def balances(self, space: SpaceId, accounts: Sequence[Account]) -> tuple[Balance, ...]: ...


@dataclass(frozen=True, slots=True)
class Given:
    """A grant, and what became of it."""

    grant: Grant
    revoked_at: datetime | None = None
    revoked_by: PrincipalId | None = None

    def is_in_force(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.grant.until is None or now < self.grant.until)


class Grants(Protocol):
    """What the owner allowed ahead of time: a reading of the grants among the steps, and of what was taken back."""

    async def grants(self, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
        """Those in force, the oldest first."""
        ...

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        """All that ever were, the newest first."""
        ...

    async def revoke(self, space: SpaceId, grant: str, by: PrincipalId) -> Given:
        """Takes it back from this moment on. One that was taken back before stays as it is. Raises NotFound."""
        ...


class Overview(Protocol):
    async def count(self) -> Count: ...

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        """Newest first."""
        ...

    async def mailings(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        """Newest first; of one channel, in one state, where they are given."""
        ...


class Store(Protocol):
    """Content-addressed values."""

    async def put(self, data: bytes) -> BlobHash: ...

    async def get(self, blob: BlobHash) -> bytes: ...


class Eraser(Protocol):
    async def erase_turn(self, turn: TurnId, reason: str) -> tuple[Erased, ...]:
        """Deletes the payloads of the turn's event, steps, messages and blobs; numbers, hashes and tombstones stay.

        Raises BadInput while the turn is open: stop it first.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reminder:
    timer: TimerId
    conversation: Conversation
    at: datetime
    about: str
    label: Label = UNLABELLED


class Forks(Protocol):
    async def fork(self, at: StepRef, effects: Literal["world", "record"] = "record") -> Turn:
        """A new turn in a conversation of its own, with copies of the steps up to and including `at`."""
        ...


class Timers(Protocol):
    async def pending(self, conversation: Conversation) -> tuple[Reminder, ...]: ...


# -- going out ---------------------------------------------------------------------------------------------------------


Delivery = Literal["queued", "sending", "sent", "confirmed", "unknown", "failed"]
"""`sending`: a try is under way, or was when its process died. `unknown`: it may or may not have gone out, and is not repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A message on its way out. The key makes a second try recognisable to whoever gets it."""

    key: Key
    conversation: Conversation
    to: Address
    content: Said | Event | None
    """Words for a person, or an event for another conversation. None: they were erased."""
    label: Label
    created_at: datetime
    attempts: int = 0
    """Since a piece of it went out last."""
    done: int = 0
    """So many pieces of it are out."""
    in_doubt: bool = False
    """A try of the next piece broke off: it may be out as well."""
    unsure: str = ""
    """Of which of its pieces nobody knows whether they went out, and why."""


class Outbox(Protocol):
    async def outgoing(self, limit: int, without: Collection[str] = ()) -> tuple[Outgoing, ...]:
        """What is to be sent now, the oldest first; of each place only the oldest. `without`: nothing for these channels."""
        ...

    async def sending(self, message: Outgoing, piece: int) -> None:
        """Written before a try that must not be repeated blindly."""
        ...

    async def progressed(self, message: Outgoing, piece: int, state: Delivery, ref: str = "", unsure: str = "") -> None:
        """A piece is out; `state` is that of the whole message now, `queued` where more of it follows. `ref` is what the channel calls
        the piece."""
        ...

    async def delivered(self, message: Outgoing, state: Delivery, note: str = "", retry_at: datetime | None = None) -> None:
        """A try is over. `sending`: nobody knows how it ended, and it is to be found out at `retry_at`."""
        ...

    async def postponed(self, message: Outgoing, note: str, retry_at: datetime | None = None) -> None:
        """Queued again: nothing was tried, or the service asked to come back."""
        ...

    async def readdress(self, message: Outgoing, to: Address) -> None:
        """It goes there instead, from now on: nothing of it went out yet."""
        ...

    async def sent_as(self, channel: str, place: str, ref: str) -> Key | None:
        """The message that a channel calls so."""
        ...


# -- waking, limiting, judging -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    """The wake-up was served."""


@dataclass(frozen=True, slots=True)
class RetryAt:
    at: datetime


@dataclass(frozen=True, slots=True)
class Depth:
    waiting: int
    running: int


Handler = Callable[[Conversation], Awaitable[Done | RetryAt]]


class Dispatcher(Protocol):
    async def wake(self, conversation: Conversation, at: datetime | None = None, priority: int = 0) -> None: ...

    async def serve(self, handler: Handler, slots: int) -> None:
        """Runs until cancelled."""
        ...

    async def schedule(self, name: str, every_s: float, conversation: Conversation) -> None: ...

    async def stats(self) -> Depth: ...


@dataclass(frozen=True, slots=True)
class Granted:
    pass


@dataclass(frozen=True, slots=True)
class WaitFor:
    seconds: float


class Limiter(Protocol):
    async def acquire(self, key: str, calls: int, per_s: float) -> Granted | WaitFor: ...


class Policy(Protocol):
    @property
    def version(self) -> str: ...

    def judge(self, manifest: Manifest, arguments: dict[str, JsonValue], situation: Situation) -> Gate:
        """May this happen? Pure: same question, same answer."""
        ...

    def holds(self, agent: AgentId, tool: str) -> bool:
        """Is this one of the agent's tools? What it does not hold it is neither shown nor given."""
        ...

    def serves(self, principal: PrincipalId, tool: str) -> bool:
        """May a turn that serves this one have the tool at all?"""
        ...
