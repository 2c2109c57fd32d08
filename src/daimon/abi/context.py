"""What the loop hands to the context and what it gets back.

`prepare` may take time and reads what the prompt will need; `assemble` is pure and quick and touches no I/O.

An entry is one thing that may stand before the model, in three forms: whole, brief, and bare, which is little more than where to find it.
Where an entry is kept is its tier: L1 is before the model whole, L2 before it in whatever form there is room for, L3 is memory, L4 the
journal. Nothing is dropped: what leaves the window stands in the journal, where it came from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from daimon.abi.event import Event
from daimon.abi.ids import AgentId, BlobHash, EventId, TurnId
from daimon.abi.label import Label
from daimon.abi.message import Message
from daimon.abi.model import Request
from daimon.abi.step import ContextRef, Step
from daimon.abi.tool import Manifest
from daimon.abi.turn import Turn

Sort = Literal["system", "tools", "page", "summary", "memory", "skills", "said", "reply", "result", "notice", "unknown"]
Form = Literal["whole", "brief", "bare", "clipped"]
Tier = Literal["L1", "L2", "L3", "L4"]


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn as the context sees it."""

    turn: Turn
    event: Event
    agent: AgentId
    steps: tuple[Step, ...]
    window: int | None = None
    """So many tokens the model reads, as our estimates count; None: as many as the owner allows."""


@dataclass(frozen=True, slots=True)
class Entry:
    source: str
    """Where it stands in the journal: an event, or a step as `turn:number`. Of a block: the turn that it was made for, and of skills which
    one it is."""
    sort: Sort
    turn: TurnId
    at: datetime
    whole: Message
    brief: Message
    bare: Message
    tokens: tuple[int, int, int]
    """Of the three."""
    starts: bool = False
    """What comes before it can be left out without tearing a call from its result."""
    subject: str = ""
    """What it is about, as a later entry about the same thing would say: the tool and what it was used on."""
    call: str = ""
    """The call that it is the result of, with all its arguments, as a hash: the same call again makes this result worthless."""
    file: str = ""
    version: str = ""
    """Of the file, when it was read."""
    changes: tuple[str, ...] = ()
    """Files that were changed with it."""
    is_error: bool = False
    shows: tuple[str, ...] = ()
    """Tools that came up with it: the one that was called, or those that were looked for and found."""
    chunks: tuple[bytes, bytes, bytes] = (b"", b"", b"")
    """The bytes of the three forms."""

    @property
    def label(self) -> Label:
        return self.whole.label

    @property
    def is_block(self) -> bool:
        """Made for a turn of what stands elsewhere: it is there as a whole, or not at all."""
        return self.sort in ("memory", "skills")


@dataclass(frozen=True, slots=True)
class Block:
    """A message that was made for a prompt of what stands elsewhere, kept by its hash, so that it can be shown again just so."""

    hash: BlobHash
    message: Message
    refs: tuple[ContextRef, ...] = ()
    """What is in it; only when it is new."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """An earlier turn."""

    turn: TurnId
    entries: tuple[Entry, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(entry.whole for entry in self.entries)


@dataclass(frozen=True, slots=True)
class Background:
    """What was read ahead: earlier turns, later events of this turn, blocks, and where the window was cut last."""

    earlier: tuple[Stretch, ...] = ()
    events: Mapping[EventId, Event] = field(default_factory=dict)
    page: Block | None = None
    summary: Block | None = None
    memory: Block | None = None
    skills: Block | None = None
    cut: str = ""
    stale: tuple[str, ...] = ()
    """Files that are not any more as the model has seen them."""
    late: tuple[str, ...] = ()
    """What was not there in time and had to be left out."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that the model saw, and why."""

    source: str
    sort: Sort
    form: Form
    tier: Tier
    tokens: int
    label: Label
    why: str
    pinned: str = ""
    """Why it may not be shortened; empty: it may."""
    version: str = ""
    last_use: str = ""
    """The newest entry about the same thing."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the tokens of a request go to, by estimate."""

    window: int
    output: int
    """Kept free for the reply."""
    system: int
    tools: int
    page: int
    earlier: int
    memory: int
    turn: int
    notices: int

    @property
    def used(self) -> int:
        return self.system + self.tools + self.page + self.earlier + self.memory + self.turn + self.notices

    @property
    def left(self) -> int:
        return self.window - self.output - self.used


@dataclass(frozen=True, slots=True)
class Prompt:
    request: Request
    chunks: tuple[bytes, ...]
    """The exact bytes of the request: system text, tools, then one chunk per message."""
    account: Account
    explain: Callable[[], tuple[Seen, ...]] = field(compare=False)
    """Why each message is there, in their order: worked out only when somebody asks."""


class Context(Protocol):
    async def prepare(self, scene: Scene) -> Background: ...

    def assemble(self, scene: Scene, background: Background, tools: tuple[Manifest, ...]) -> Prompt: ...


class Freshness(Protocol):
    """Whoever knows the files that an agent works on."""

    async def changed(self, turn: Turn, agent: AgentId, versions: Mapping[str, str]) -> tuple[str, ...]:
        """Which of these files are at another version now. What cannot be told is left out."""
        ...
