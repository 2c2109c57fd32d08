"""What is asked of a model and what comes back, and how one model is chosen among several.

A request is written as a few chunks of canonical JSON, one per message, so that its exact bytes can be kept by hash without
storing a long history again for every call. A reply arrives as deltas that end in one `Reply`.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from daimon.abi.errors import ProviderFailed
from daimon.abi.ids import AgentId, Conversation
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.message import Message, Part
from daimon.abi.money import FREE, Price, Usage
from daimon.abi.step import ContextRef, ModelFailed, Routed, Sampling
from daimon.abi.tool import Manifest


@dataclass(frozen=True, slots=True)
class Request:
    messages: tuple[Message, ...]
    tools: tuple[Manifest, ...] = ()
    sampling: Sampling = Sampling()
    label: Label = UNLABELLED
    """The join of all labels in it; the reply inherits it."""
    context: tuple[ContextRef, ...] = ()
    thread: str = ""
    """The same for all requests of a conversation: a hint for the provider's cache."""


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
    usage: Usage | None = Usage()
    """None: the provider did not say."""
    logprobs: bytes | None = None
    remarks: tuple[str, ...] = ()
    """What was odd about it and put right: a call found in the text, another model's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is known of a model before it is asked."""

    provider: str
    """Who is asked and who bills: models of one provider fail together."""
    price: Price | None
    """None: nobody knows it."""
    max_output_tokens: int
    context_tokens: int | None = None
    is_local: bool = False
    """The words do not leave the owner's hardware."""
    has_tools: bool = True
    has_images: bool = False
    is_metered: bool = True
    """False: it is part of Daimon and takes no tokens of anybody's; its calls are neither reserved nor counted."""


class Model(Protocol):
    @property
    def name(self) -> str:
        """As the owner calls it."""
        ...

    async def profile(self) -> Profile:
        """May load what it takes to know. Raises ProviderFailed."""
        ...

    def objection(self, request: Request) -> str:
        """Why another model should answer this one, if there is another; empty: there is no reason."""
        ...

    def stands_in(self, request: Request) -> bool:
        """Is its answer better than none, where it objects and nobody else can be asked or paid?"""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Deltas, then exactly one Reply. Raises ProviderFailed."""
        ...


UNMETERED = Profile(provider="daimon", price=FREE, max_output_tokens=0, is_local=True, has_images=True, is_metered=False)


class Unmetered:
    """A base for models that run inside Daimon and cost nobody anything: they take whatever they are asked."""

    async def profile(self) -> Profile:
        return UNMETERED

    def objection(self, request: Request) -> str:
        return ""

    def stands_in(self, request: Request) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A call that needs a model."""

    request: Request
    input_tokens: int
    """At most so many."""
    conversation: Conversation
    agent: AgentId
    origin: str = ""
    """The conversation in which all this began, if it is another: what holds there holds here."""
    origin_agent: AgentId = AgentId("")
    """Who worked there."""
    is_broke: bool = False
    """There is no money for it: only who takes none can answer."""
    failures: tuple[ModelFailed, ...] = ()
    """Since this turn last got further."""
    last_model: str = ""
    """Who answered last in this turn."""
    wanted: str = ""
    """Whom the event asks for, before all others. If nobody has that name, the others answer, and that is said."""


@dataclass(frozen=True, slots=True)
class Choice:
    model: Model
    profile: Profile
    routed: Routed


@dataclass(frozen=True, slots=True)
class Later:
    """Nobody can be asked before so many seconds have passed."""

    seconds: float
    reason: str
    is_pace: bool = False
    """Only because the owner set a pace; nobody failed."""


class Router(Protocol):
    async def route(self, task: Task) -> Choice | Later:
        """Which model answers this, and why. Raises ProviderFailed if none can."""
        ...

    async def window(self, conversation: Conversation, agent: AgentId, origin: str = "", wanted: str = "") -> tuple[str, int] | None:
        """The model that is asked first if nothing stands against it, and how many tokens a request to it may have. None: who knows."""
        ...

    def heard(self, choice: Choice, failed: ProviderFailed | None) -> None:
        """How the call went, so that the next route knows."""
        ...
