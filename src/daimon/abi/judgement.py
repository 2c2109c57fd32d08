"""What the gate looks at when it judges a call, and what it says.

A `Situation` is a reading of the turn's recorded steps and nothing else, so any verdict can be computed again. `Gate` is the verdict: with
the rules' version, what the call was allowed *by*, and for each argument where its value can be shown to come from.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal

from pydantic import JsonValue

from daimon.abi.ids import AgentId, PrincipalId
from daimon.abi.label import UNLABELLED, Label
from daimon.abi.plain import Moment
from daimon.abi.plan import Plan
from daimon.abi.tool import ArgumentRole, Call, Capability

Shown = Literal["owner", "store", "named", "plan", "grant", "own", "untrusted", "unknown"]
"""What an argument can be shown to come from: the owner's words, a trusted store, an object that the owner named, a plan stated on a clean
context, a standing grant, the agent's own making, untrusted text, or nothing that we know."""


@dataclass(frozen=True, slots=True)
class Provenance:
    argument: str
    role: ArgumentRole
    value: str
    """Cut to what a person can read."""
    shown: Shown
    note: str = ""
    """In words: which of the owner's words, which store, which mail."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Free text for one destination."""

    destination: str
    kind: str
    """`private`: something that only the owner may read was read before. Else `other`."""
    characters: int


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate said of a call, with the version of the rules that said it."""

    verdict: Literal["allow", "ask", "deny", "invalid"]
    reason: str = ""
    code: str = ""
    version: str = ""
    by: str = ""
    """What allowed it: `harmless`, `clean`, `words`, `plan:STEP/INDEX`, `grant:ID`, `policy:ID`. A planned step is spent by the call that
    names it."""
    provenance: tuple[Provenance, ...] = ()
    rules: tuple[str, ...] = ()
    """Ids of the policies that decided."""
    carries: tuple[Portion, ...] = ()
    """Free text that goes out with it."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Something that the owner allowed ahead of time. Each scope that is not empty must fit; an empty one fits all."""

    id: str
    agent: AgentId
    capabilities: tuple[Capability, ...]
    """It covers calls that do no more than these."""
    tool: str = ""
    destinations: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    job: str = ""
    """This automation only."""
    contents: tuple[str, ...] = ()
    """Free text may only draw on these tools."""
    by: PrincipalId = PrincipalId("owner")
    at: Moment | None = None
    until: Moment | None = None
    manifest: str = ""
    """Only as long as the tool has this manifest, by its hash. Empty: whatever it says of itself, as with Daimon's own."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A result that the model has got in this turn, whole: where fields of it are held, it has read the others only."""

    n: int
    tool: str
    arguments: JsonValue
    data: JsonValue
    label: Label = UNLABELLED
    labels: dict[str, Label] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Held:
    """A value that the model has not seen: it only knows the handle, and passes it on."""

    handle: str
    value: JsonValue
    label: Label

    @property
    def text(self) -> str:
        """What takes the handle's place in an argument."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Made:
    """A consequential call of this turn that ran, runs, or waits for a person; not one that was refused."""

    n: int
    tool: str
    arguments: JsonValue
    by: str
    has_failed: bool = False
    """Its tool said so: most likely nothing happened, but nobody knows."""


@dataclass(frozen=True, slots=True)
class Licensed:
    """A plan that counts, and the step that stated it."""

    n: int
    plan: Plan


@dataclass(frozen=True, eq=False)
class Situation:
    call: Call
    words: tuple[str, ...] = ()
    """What the owner said in this turn: the request, and whatever else was said while it ran."""
    seen: tuple[Seen, ...] = ()
    made: tuple[Made, ...] = ()
    plans: tuple[Licensed, ...] = ()
    declined: tuple[str, ...] = ()
    """Tools of which a person said no in this turn."""
    grants: tuple[Grant, ...] = ()
    job: str = ""
    held: dict[str, Held] = field(default_factory=dict)
    """What the handles in this call's arguments stand for. Their labels are part of `call.label`. What a verdict says is told to the model,
    so it must not quote these values."""
    outflow: tuple[Portion, ...] = ()
    """What went out today without a question."""
    most: dict[str, int] = field(default_factory=dict)
    """How much of each kind may go to one destination in a day."""
    heard: Label | None = None
    """Of what the model has read, where that is less than `call.label`."""
    before: tuple[Seen, ...] = ()
    """What earlier turns read and the model may still have before it, without its data: it licenses nothing, but can be carried away."""
    came: JsonValue = None
    """What the watch of an automation handed over with this turn: somebody else's words."""

    @property
    def now(self) -> datetime:
        return self.call.now

    @property
    def context(self) -> Label:
        """Of all that the model has read."""
        return self.call.label if self.heard is None else self.heard

    @property
    def is_clean(self) -> bool:
        """Nobody but the owner and trusted services had a word in what the model has read, nor in what it passes on unread."""
        return self.context.is_trusted and not self.held

    @property
    def is_unswayed(self) -> bool:
        """Strangers had no words in what the model has read: closed answers at most. It was not talked into this call; a value in it may
        still be theirs, so a destination, target, amount, secret or permission must be shown to come from elsewhere."""
        return self.context.is_trusted or self.context.is_limited

    @cached_property
    def said(self) -> str:
        return "\n".join(self.words)
