"""What the index holds, as values."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import JsonValue

from daimon.abi.workspace import Checkpoint, CheckpointId, WorkspaceId

Engine = Literal["overlay", "copies"]
What = Literal["work", "merge", "restore", "apply"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Family:
    """A base directory with all workspaces that begin there."""

    id: str
    base: str
    generation: int = 0
    """How often something was applied."""


@dataclass(frozen=True, slots=True)
class Room:
    """A workspace."""

    id: str
    family: str
    name: str
    head: str
    live: str
    forked_from: str | None = None
    engine: Engine = "overlay"
    under: str | None = None
    """The checkpoint that the live layer lies on, where that is not the head: something holds the tree, and the head's topmost layer is
    a copy of the live one."""

    @property
    def footing(self) -> str:
        return self.under or self.head


@dataclass(frozen=True, slots=True)
class Layer:
    name: str
    family: str
    sealed: bool = True
    """False: it is live, or something may still write into it."""
    replaces: tuple[str, ...] = ()
    """Made of these by a squash."""
    size: int | None = None
    """Bytes on the disk, each file in it once; None: nobody has looked, or something may still write into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A checkpoint."""

    number: int
    workspace: str
    parent: str | None
    generation: int
    stack: tuple[str, ...]
    why: str
    at: datetime
    merged: str | None = None
    """The other one that it was made of."""
    sealed: bool = True
    state: JsonValue = None

    @property
    def id(self) -> str:
        return f"c{self.number}"

    def row(self) -> tuple[str | int | None, ...]:
        micros = (self.at - _EPOCH) // timedelta(microseconds=1)
        stack, state = json.dumps(self.stack), json.dumps(self.state)
        return (self.number, self.workspace, self.parent, self.merged, self.generation, stack, self.why, micros, self.sealed, state)

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> "Point":
        number, workspace, parent, merged, generation, stack, why, at, sealed, state = row
        return cls(
            number=number, workspace=workspace, parent=parent, merged=merged, generation=generation, stack=tuple(json.loads(stack)),
            why=why, at=_EPOCH + timedelta(microseconds=at), sealed=bool(sealed), state=json.loads(state),
        )  # fmt: skip

    def shown(self) -> Checkpoint:
        return Checkpoint(
            id=CheckpointId(self.id), workspace=WorkspaceId(self.workspace), parent=CheckpointId(self.parent) if self.parent else None,
            at=self.at, why=self.why, is_sealed=self.sealed, state=self.state,
            merged=CheckpointId(self.merged) if self.merged else None,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """What an apply writes."""

    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rest: str | None = None
    """The layer of what stays in the workspace alone."""
    part: str = ""
    """The name of a file that is being written. Nobody can know it before: what has that name is left by a crash, and goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that can be undone. Those of a workspace that are not undone are a chain: each begins where the one before ended."""

    number: int
    workspace: str
    kind: What
    before: str
    after: str
    """Of an apply that has begun and is not done: the same as before."""
    undone: bool = False
    state: Literal["begun", "done"] = "done"
    layer: str | None = None
    """Of an apply: what brings the owner's directory back."""
    plan: Plan = field(default_factory=Plan)
    undoes: int | None = None
    """The number of the apply that this one takes back."""

    def row(self) -> tuple[str | int | None, ...]:
        plan = json.dumps([self.plan.paths, self.plan.left, self.plan.rest, self.plan.part])
        where = (self.number, self.workspace, self.kind, self.before, self.after)
        return (*where, self.undone, self.state, self.layer, plan, self.undoes)

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> "Change":
        number, workspace, kind, before, after, undone, state, layer, plan, undoes = row
        paths, left, rest, part = json.loads(plan)
        return cls(
            number=number, workspace=workspace, kind=kind, before=before, after=after, undone=bool(undone), state=state, layer=layer,
            plan=Plan(tuple(paths), tuple(left), rest, part), undoes=undoes,
        )  # fmt: skip
