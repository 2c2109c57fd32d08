"""One way to reach people: what a channel brings in, what it is given to send, what it says of itself.

A channel knows its service and nothing else. It does not know who may speak (`Reception` decides), what a turn is, or what was sent
before. What it brings in is on disk when `Reception.take` returns; only then may it acknowledge the update to its service. What it is
given to send is cut into pieces first: a piece goes out whole or not at all, so that a crash leaves at most one of them in doubt.
`pieces` is pure: the same message gives the same pieces after a restart.

`serve` runs until it is cancelled and raises whatever broke it; a supervisor calls it again after a pause that grows. A channel never
sleeps between tries of its own, never repeats a send by itself, and keeps no state on disk except through `Reception`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from daimon.abi.event import Address
from daimon.abi.ids import BlobHash, Conversation, Key, PrincipalId, SpaceId, StepRef
from daimon.abi.message import Audio, Content, File, Image
from daimon.abi.ports import Outgoing
from daimon.abi.tool import Rate

Attachment = Image | Audio | File


# -- going out ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to a question, for a button or in words."""

    code: str
    """Comes back as it is when somebody takes it: the code of the question and the number of the option."""
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What goes out in one act of the channel."""

    text: str = ""
    """In the notation of the channel."""
    attachment: Attachment | None = None
    further: tuple[Attachment, ...] = ()
    """More of them, where the channel sends several in one act."""
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    state: Literal["sent", "confirmed"]
    ref: str = ""
    """What the channel calls it: a reaction, an answer or an edit names it by this."""


@dataclass(frozen=True, slots=True)
class Traits:
    repeat: Literal["harmless", "findable", "never"]
    """When a try was cut off: may it be sent again with the same key, can be found out whether it went out (`find`), or neither?"""
    has_buttons: bool = False
    at_once: int = 4
    """So many sends are under way at most."""
    rate: Rate | None = None
    """To all places together."""
    place_rate: Rate | None = None
    """To one place."""


class Channel(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def traits(self) -> Traits: ...

    def pieces(self, message: Outgoing) -> tuple[Piece, ...]:
        """Of what a message says, in order. Pure."""
        ...

    async def send(self, piece: Piece, to: str, key: str) -> Receipt:
        """Raises NotSent when it knows that nothing went out, RetryLater when the service said when to come back; any other error may mean
        that it did go out."""
        ...

    async def find(self, piece: Piece, to: str, key: str) -> Receipt | None:
        """Did the piece with this key go out? Asked of channels whose sends are findable. None: surely not. Raises InDoubt where looking
        does not tell; any other error says that it could not look, and may be asked again."""
        ...

    async def show(self, to: str, doing: Literal["thinking", "nothing"]) -> None:
        """That somebody is at work on an answer, as the channel shows it ("typing…"). Best effort: never raises for the service's sake."""
        ...

    async def serve(self, reception: "Reception") -> None:
        """Listens until it is cancelled. Raises what broke it; LockedOut when only the owner can mend it (a token that was revoked)."""
        ...


# -- coming in ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Somebody said something."""

    key: str
    """The channel's own id of the update: the same one again is recognised."""
    place: str
    """Where in the channel: a chat, a thread. Answers go there."""
    sender: str
    """The channel's own, stable id of whoever it was: not a name that anybody may give themselves."""
    parts: tuple[Content, ...]
    """None at all: somebody knocked without a word (an invitation); with `replaces`: they took that message back."""
    at: datetime
    name: str = ""
    """What the channel calls the sender."""
    ref: str = ""
    """What the channel calls the message."""
    answers: str = ""
    """`ref` of the message that it answers."""
    is_group: bool = False
    """Others than the sender and the agent read there."""
    is_direct: bool = True
    """It was said to the agent: in a chat of two, by its name, or as an answer to it."""
    replaces: str = ""
    """`ref` of the sender's own earlier message, where this is its new wording."""
    has_others_words: bool = False
    """Something in it was written by somebody else: forwarded, or quoted. It is told by the sender, and is no wish of theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """Somebody took a choice of a message that went out."""

    key: str
    place: str
    sender: str
    at: datetime
    code: str
    ref: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reacted:
    """Somebody put a sign such as 👍 on a message that went out."""

    key: str
    place: str
    sender: str
    at: datetime
    sign: str
    ref: str
    name: str = ""


Arrival = Message | Pressed | Reacted


class Reception(Protocol):
    """Who may come in, and what becomes of what they bring. Each channel has its own."""

    async def is_known(self, sender: str) -> bool:
        """Is it worth to fetch what this sender attached? Of strangers nothing is kept."""
        ...

    async def take(self, arrival: Arrival) -> str:
        """Returns when what counts of it is on disk: now it may be acknowledged. A short text to show at once to whoever pressed a button;
        strangers get nothing. Raises JournalFailed where nothing could be written: it must then not be acknowledged."""
        ...

    async def keep(self, data: bytes) -> BlobHash:
        """Stores an attachment, for a part to name. Raises TooLarge."""
        ...

    @property
    def most_bytes(self) -> int:
        """No attachment may be larger; what is larger is named in the text instead."""
        ...

    async def recall(self, channel: str, name: str) -> str:
        """A small value that the channel kept: how far it has read. Empty: none."""
        ...

    async def remember(self, channel: str, name: str, value: str) -> None:
        """Keeps one, for good when it returns."""
        ...


# -- what stands behind it ---------------------------------------------------------------------------------------------


class Shelf(Protocol):
    """Small things that channels keep, and what the house itself has to say in them. Implemented by the journal."""

    async def recalled(self, channel: str, name: str) -> str:
        """Empty: nothing was kept."""
        ...

    async def remembered(self, channel: str, name: str, value: str) -> None: ...

    async def notify(self, key: Key, conversation: Conversation, to: Address, text: str) -> None:
        """Puts a message into the outbox that no turn says. The second one with the same key is the same one."""
        ...

    async def sent_as(self, channel: str, place: str, ref: str) -> Key | None:
        """The outbox key of what the channel calls `ref` there."""
        ...

    async def told_in(self, question: StepRef) -> tuple[Address, ...]:
        """Where a question was told."""
        ...

    async def unfinished(self, space: SpaceId, principal: PrincipalId) -> int:
        """What came from them and is not done: events that wait for a turn, and turns that run or wait."""
        ...
