"""A directory tree that tools may change, in layers: base, frozen layers, one live layer.

The base is a directory of the owner's, and nothing but an explicit apply changes it. A checkpoint freezes the live layer; its id stands for
all layers below and including it. A fork is another workspace that begins at a checkpoint. Going back never loses anything: what was there
before is a checkpoint too, until checkpoints are thinned. Paths are relative to the top of the tree, parts joined by `/`; names that are no
text are carried as surrogates (`os.fsdecode`).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, NewType, Protocol

from pydantic import Field, JsonValue

WorkspaceId = NewType("WorkspaceId", str)
CheckpointId = NewType("CheckpointId", str)

Kind = Literal["file", "directory", "link", "other"]
"""other: a pipe, a socket, a device; its content is nothing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What is at one path."""

    kind: Kind
    mode: int
    """Permissions alone."""
    size: int = 0
    hash: str = ""
    """Of a file: SHA-256 of its bytes, in hex. Of a link: where it points."""


@dataclass(frozen=True, slots=True)
class Change:
    path: str
    before: Entry | None
    """None: it was not there."""
    after: Entry | None
    """None: it is not there any more."""

    @property
    def what(self) -> Literal["added", "changed", "removed"]:
        return "added" if self.before is None else "removed" if self.after is None else "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    id: CheckpointId
    workspace: WorkspaceId
    parent: CheckpointId | None
    at: datetime
    why: str
    """The step that it was made before, or words."""
    is_sealed: bool = True
    """False: something held the files when it was made, and may have written into it since, or wrote all the time while it was copied."""
    state: JsonValue = None
    """What was saved with it besides files: of each shell its directory, environment, functions, aliases, options."""
    merged: CheckpointId | None = None
    """Of one that a merge made: the checkpoint of the fork that went into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    id: WorkspaceId
    name: str
    base: str
    """The owner's directory."""
    head: CheckpointId
    """The last checkpoint; what is live began there."""
    forked_from: CheckpointId | None = None
    engine: Literal["overlay", "copies"] = "overlay"
    is_changed: bool = False
    """Is there something that the head does not have?"""


@dataclass(frozen=True, slots=True)
class Conflict:
    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a merge, a restore, an apply or an undo. With conflicts, nothing was changed."""

    did: Literal["merge", "restore", "apply", "undo"]
    workspace: WorkspaceId
    before: CheckpointId
    """Where to go back to."""
    after: CheckpointId
    of: Literal["", "work", "merge", "restore", "apply"] = ""
    """Of an undo: what was taken back."""
    where: str = ""
    """Of an apply, and of its undo: the owner's directory."""
    changes: tuple[Change, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    left_out: tuple[str, ...] = ()
    """Paths that were not applied: they would run by themselves on the owner's machine."""
    notes: tuple[str, ...] = ()
    """What else the owner should know: a checkpoint that was written to after it was made, files that changed underneath."""


@dataclass(frozen=True, slots=True)
class Restoring:
    to: CheckpointId
    did: Literal["restore"] = "restore"


@dataclass(frozen=True, slots=True)
class Merging:
    into: WorkspaceId
    did: Literal["merge"] = "merge"


@dataclass(frozen=True, slots=True)
class Applying:
    paths: tuple[str, ...] = ()
    with_programs: bool = False
    did: Literal["apply"] = "apply"


@dataclass(frozen=True, slots=True)
class Undoing:
    did: Literal["undo"] = "undo"


Deed = Annotated[Restoring | Merging | Applying | Undoing, Field(discriminator="did")]
"""Something that moves a workspace, before it is done."""


class Workspaces(Protocol):
    """All of them raise NotFound for a workspace or checkpoint that is not there, BadInput for what cannot be done with it."""

    async def new(self, directory: str, name: str = "") -> Workspace:
        """For one that has a workspace already, that one."""
        ...

    async def list(self) -> tuple[Workspace, ...]: ...

    async def checkpoints(self, workspace: WorkspaceId) -> tuple[Checkpoint, ...]:
        """Newest first."""
        ...

    async def checkpoint(self, workspace: WorkspaceId, why: str, state: JsonValue = None) -> Checkpoint:
        """Freezes the live layer. Where nothing changed since the last one, that one."""
        ...

    async def fork(self, workspace: WorkspaceId, name: str = "", at: CheckpointId | None = None) -> Workspace:
        """Another workspace that begins where this one is, or at one of its checkpoints."""
        ...

    async def diff(
        self, workspace: WorkspaceId, since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> tuple[Change, ...]:
        """Since that checkpoint, or the base as it is; until that checkpoint, or now. Sorted by path."""
        ...

    async def text(
        self, workspace: WorkspaceId, paths: tuple[str, ...], since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> str:
        """The same as unified text, of these paths; empty: of all."""
        ...

    async def merge(self, fork: WorkspaceId, into: WorkspaceId) -> Outcome: ...

    async def restore(self, workspace: WorkspaceId, to: CheckpointId) -> Outcome: ...

    async def discard(self, workspace: WorkspaceId) -> None:
        """Removes a workspace with all its layers; the owner's directory stays as it is."""
        ...

    async def apply(self, workspace: WorkspaceId, paths: tuple[str, ...] = (), *, with_programs: bool = False) -> Outcome:
        """Writes what changed (at these paths and below; empty: all) into the owner's directory."""
        ...

    async def undo(self, workspace: WorkspaceId | None = None) -> Outcome:
        """Takes the last change back: of this workspace, or of the one that changed last."""
        ...


class Seer(Workspaces, Protocol):
    """Workspaces in the process that keeps them: there one can look ahead."""

    async def foresee(self, workspace: WorkspaceId, deed: Deed) -> Outcome:
        """What would come of it now. Nothing is changed, and no checkpoint is made. Raises what the deed would raise."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A command that was run on a workspace."""

    workspace: WorkspaceId
    before: CheckpointId
    """Made before it ran."""
    end: str
    code: int
    out: str
    err: str
    changes: tuple[Change, ...] = ()
    """By name and kind."""


class Trials(Protocol):
    async def run(self, workspace: WorkspaceId, command: tuple[str, ...], role: str) -> Tried:
        """In a box of its own, without a network. Raises Misconfigured where no box can be made."""
        ...
