"""Webhooks: what a service may post here, and how it proves that it is the service.

`POST /hooks/NAME` is open to the world; the signature is what lets a delivery in. A delivery is accepted when it is on disk. Each leaves
a record: accepted, filtered (it was the service's, and nobody is woken), repeated, refused with the reason. What a hook brings is a
stranger's word, however well it is signed: the service passes on what others wrote.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import JsonValue

from daimon.abi.codec import fingerprint
from daimon.abi.errors import Outdated
from daimon.abi.event import Address, Event
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import UNLABELLED, Label

if TYPE_CHECKING:
    from daimon.abi.ports import Accepted

Scheme = Literal["github", "slack", "stripe", "generic"]
NAME = r"^[a-z0-9][a-z0-9._-]{0,49}$"
"""Of a hook: it is part of an address, and of the name of its secret."""
RESERVED = frozenset({"telegram"})
"""Names under which channels take what their services post."""
SECRET_PREFIX = "hook-"
NEXT = "-next"
"""Behind the name of a secret: the one that will follow it. While both are there, both count."""


def secret_of(name: str) -> str:
    """What the secret of a hook is called in the vault, unless somebody says otherwise."""
    return f"{SECRET_PREFIX}{name}"


@dataclass(frozen=True, slots=True)
class Filter:
    """Lets a delivery pass if the value at a JSON pointer, or of a header, is one of these."""

    at: str
    """`/action`, or `header:X-GitHub-Event`."""
    is_in: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    name: str
    scheme: Scheme
    secret: str
    """Its name in the vault."""
    mode: Literal["wake", "collect"] = "wake"
    """Begin a turn with each delivery, or keep them for an automation that looks (`WatchHook`)."""
    task: str = ""
    """What is to be done with a delivery, in the owner's words."""
    conversation: str = ""
    """Empty: `hooks/NAME`."""
    to: Address | None = None
    filters: tuple[Filter, ...] = ()
    """All must let it pass."""
    schema: dict[str, JsonValue] = field(default_factory=dict)
    """JSON Schema of the body; empty: any JSON."""
    most_bytes: int = 1024 * 1024
    tolerance_s: int = 300
    """How old a timestamp may be. 0, for `generic` only: the sender signs the body alone, so a body is taken once and never again."""
    per_minute: int = 600
    is_paused: bool = False


def secrets_of(hook: Hook, others: Iterable[Hook] = ()) -> tuple[str, ...]:
    """What the vault keeps for this hook alone, and what goes with it. A secret of another name may have other uses."""
    used = {name for each in others if each.name != hook.name for name in (each.secret, each.secret + NEXT)}
    own = (hook.secret, hook.secret + NEXT) if hook.secret == secret_of(hook.name) else ()
    return tuple(name for name in own if name not in used)


@dataclass(frozen=True, slots=True)
class Hooked:
    """A hook as it stands."""

    hook: Hook
    by: PrincipalId
    label: Label = UNLABELLED
    """Of its task."""
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One delivery, as it is on record."""

    hook: str
    key: str
    """The service's own id of it."""
    content: str = ""
    """The hash of what was signed, where the key was not part of that: the same content under another key is the same delivery."""
    at: datetime
    outcome: Literal["accepted", "collected", "filtered", "refused"]
    why: str = ""
    event: str = ""
    data: JsonValue = None
    headers: dict[str, str] = field(default_factory=dict)
    n: int = 0
    """Its place in order of arrival; given when it is kept."""


@dataclass(frozen=True, slots=True)
class MakeHook:
    """As an operation of a step it takes effect with it."""

    hook: Hook
    kind: Literal["make_hook"] = "make_hook"


def version_of(hook: Hook) -> str:
    """Another one after each change."""
    return fingerprint(Hook, hook)


def require_version(name: str, stands: Hook | None, if_version: str) -> None:
    """Raises Outdated."""
    if if_version in ("", "0" if stands is None else version_of(stands)):
        return
    if stands is None:
        raise Outdated(f"the hook {name[:80]!r} is gone; it was removed since you read it")
    read = "there already" if if_version == "0" else "changed since you read it"
    raise Outdated(f"the hook {name[:80]!r} is {read}: read it again and put your change into that")


class Hooks(Protocol):
    """Kept in the journal."""

    @property
    def hook_changes(self) -> int:
        """Goes up after each change of any hook: whoever keeps them in memory looks again."""
        ...

    async def hooks(self, space: SpaceId) -> tuple[Hooked, ...]: ...

    async def hook(self, space: SpaceId, hook: Hook, by: PrincipalId, label: Label, if_version: str = "") -> Hooked:
        """With `if_version` (`0`: there must be none yet) it raises Outdated where another one stands, and changes nothing."""
        ...

    async def unhook(self, space: SpaceId, name: str, by: PrincipalId) -> None:
        """Raises NotFound."""
        ...

    async def post(self, space: SpaceId, posted: Posted, event: Event | None = None) -> "Accepted | None":
        """Records it and accepts the event, in one transaction. None: a delivery with its key, or its content, came before; nothing is
        changed then. Without an event, `event` of what is returned is empty. Raises JournalFull where too many wait to be collected."""
        ...

    async def posted(self, space: SpaceId, hook: str, limit: int = 50) -> tuple[Posted, ...]:
        """Newest first."""
        ...

    async def collected(self, space: SpaceId, hook: str, after: int, limit: int, by: str = "") -> tuple[Posted, ...]:
        """Oldest first, those with a higher `n` than this. Up to there, `by` (an automation) needs them no longer."""
        ...
