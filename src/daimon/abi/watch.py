"""What an automation looks at before it wakes a model: only a change does, and only the change is handed over.

A `Watch` says what to look at. A watcher looks, compares with what it kept of the last look, and says what is new. The first look only
takes stock, unless the watch says otherwise. What is kept (`state`) is written in the transaction that records the tick and accepts its
event, so that a change is handed over once, whatever is killed in between.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from pydantic import Field, JsonValue

from daimon.abi.label import Label


@dataclass(frozen=True, slots=True)
class WatchFeed:
    """Items of RSS, Atom or JSON Feed."""

    urls: tuple[str, ...]
    most: int = 50
    """So many new items at once; the rest waits for the next tick."""
    kind: Literal["feed"] = "feed"


@dataclass(frozen=True, slots=True)
class WatchPage:
    """A page: by its etag, then by the hash of what the selector takes out of it."""

    url: str
    selector: str = ""
    """CSS; empty: the readable text."""
    kind: Literal["page"] = "page"


@dataclass(frozen=True, slots=True)
class WatchMailbox:
    """New mail in a folder of the mail channel's account, besides what is addressed to the agent."""

    folder: str = "INBOX"
    kind: Literal["mailbox"] = "mailbox"


@dataclass(frozen=True, slots=True)
class WatchFiles:
    """Files of the workspace, or by absolute path where the owner set it: made, changed, gone."""

    globs: tuple[str, ...]
    kind: Literal["files"] = "files"


@dataclass(frozen=True, slots=True)
class WatchRefs:
    """Branches and tags of a git repository: an address, or a directory."""

    repository: str
    refs: tuple[str, ...] = ()
    """With * and ?; empty: all heads and tags."""
    kind: Literal["refs"] = "refs"


@dataclass(frozen=True, slots=True)
class WatchOutput:
    """What a command prints, run in the box."""

    command: str
    kind: Literal["output"] = "output"


@dataclass(frozen=True, slots=True)
class WatchHook:
    """What a webhook collected."""

    hook: str
    most: int = 100
    kind: Literal["hook"] = "hook"


Watch = Annotated[
    WatchFeed | WatchPage | WatchMailbox | WatchFiles | WatchRefs | WatchOutput | WatchHook,
    Field(discriminator="kind"),
]


@dataclass(frozen=True, slots=True)
class Look:
    state: JsonValue
    """To be kept for the next look."""
    change: JsonValue = None
    """What is new, for the model. None: nothing."""
    label: Label | None = None
    """Whose words are in the change."""
    note: str = ""
    """For the record of the tick: `3 new items`, `unchanged (etag)`, `first look: 20 items`."""


class Watcher(Protocol):
    """For one kind of watch."""

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        """`state` is None at the first look. Raises WatchFailed with what is wrong and what to do."""
        ...
