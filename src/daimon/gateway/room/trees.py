"""A workspace as the page shows it: the checkpoints of its family as a tree, what is different in pages, and a look ahead before a deed.

Checkpoints carry what shells knew, which may be large; here they are without. Which call a checkpoint was made before stands at the end of
its reason, as the kernel writes it: that becomes the turn and step that made it. Names of files may be no text, and are mended.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.cleaning import cleaned
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.plain import clean
from daimon.abi.workspace import (
    Applying,
    Change,
    Checkpoint,
    CheckpointId,
    Conflict,
    Deed,
    Merging,
    Outcome,
    Restoring,
    Seer,
    Undoing,
    Workspace,
    WorkspaceId,
)
from daimon.abi.workspace import Kind as FileKind
from daimon.gateway.asked import CHECKED
from daimon.gateway.entry import Call, Entry

MOST_POINTS = 500
MOST_CHANGES = 100
MOST_BYTES = 1 << 20
_CALL = re.compile(r"^(.*) \(([A-Za-z0-9_-]+):([0-9]{1,9})\)$", re.DOTALL)
PointName = Annotated[str, Field(pattern=r"^(c[0-9]{1,16})?$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A checkpoint, with who made it."""

    id: str
    workspace: str
    parent: str | None
    merged: str | None
    at: datetime
    why: str
    turn: str
    """Empty: no call of the agent's."""
    step: int | None
    is_sealed: bool


@dataclass(frozen=True, slots=True)
class Tree:
    workspace: Workspace
    family: tuple[Workspace, ...]
    """All workspaces of the same directory, this one among them."""
    points: tuple[Point, ...]
    """Of all of them, the newest first."""
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Different:
    path: str
    what: Literal["added", "changed", "removed"]
    kind: FileKind
    size: int
    """Of what is there afterwards, else of what was there."""


@dataclass(frozen=True, slots=True)
class Tally:
    added: int
    changed: int
    removed: int
    directories: int
    """Of all these."""


@dataclass(frozen=True, slots=True)
class Differences:
    rows: tuple[Different, ...]
    tally: Tally
    """Of all pages."""
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    did: Literal["merge", "restore", "apply", "undo"]
    of: Literal["", "work", "merge", "restore", "apply"]
    """Of an undo: what would be taken back."""
    where: str
    """The directory that would be written to; empty: none, the workspace alone would change."""
    tally: Tally
    rows: tuple[Different, ...]
    """The first of them."""
    conflicts: tuple[Conflict, ...]
    left_out: tuple[str, ...]
    left_out_total: int
    notes: tuple[str, ...]


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Span:
    since: PointName = ""
    """Empty: the owner's directory as it is."""
    until: PointName = ""
    """Empty: now."""
    after: Annotated[str, Field(max_length=4_000)] = ""
    limit: Annotated[int, Field(ge=1, le=1_000)] = 200


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Wished:
    do: Literal["merge", "restore", "apply", "undo"]
    to: PointName = ""
    into: Annotated[str, Field(max_length=40)] = ""
    paths: tuple[str, ...] = ()
    with_programs: bool = False

    def deed(self) -> Deed:
        match self.do:
            case "restore":
                return Restoring(CheckpointId(_needed(self.to, "to")))
            case "merge":
                return Merging(WorkspaceId(_needed(self.into, "into")))
            case "apply":
                return Applying(self.paths, self.with_programs)
            case "undo":
                return Undoing()


@dataclass(frozen=True, slots=True)
class TreeRoutes:
    workspaces: Seer

    def all(self) -> tuple[Entry, ...]:
        one, read = "/v1/room/workspaces/{id}", Right.READ
        ahead = "What a restore, merge, apply or undo would do; nothing is done"
        return (
            Entry("GET", one, self._tree, Tree, "A workspace with the checkpoints and forks of its directory", read),
            Entry("GET", f"{one}/changes", self._changes, Differences, "What is different between two moments", read, query=Span),
            Entry("POST", f"{one}/foresight", self._foresee, Foreseen, ahead, read, body=Wished, most_bytes=MOST_BYTES),
        )

    async def _tree(self, call: Call[None, None]) -> Tree:
        known = await self.workspaces.list()
        found = next((each for each in known if each.id == call.path["id"]), None)
        if found is None:
            raise NotFound(f"there is no workspace {call.path['id'][:40]!r}; it may have been discarded")
        family = tuple(each for each in known if each.base == found.base)
        points = [point for each in family for point in await self.workspaces.checkpoints(each.id)]
        points.sort(key=lambda point: int(point.id[1:]), reverse=True)
        shown = tuple(map(_point, points[:MOST_POINTS]))
        return cleaned(Tree(found, family, shown, len(points) > MOST_POINTS), clean)

    async def _changes(self, call: Call[Span, None]) -> Differences:
        wish = call.query
        since, until = (CheckpointId(id_) if id_ else None for id_ in (wish.since, wish.until))
        found = await self.workspaces.diff(WorkspaceId(call.path["id"]), since, until)
        rows = [row for row in map(_different, found) if row.path > wish.after]
        page = tuple(rows[: wish.limit])
        return Differences(page, _tally(found), page[-1].path if len(rows) > wish.limit else "")

    async def _foresee(self, call: Call[None, Wished]) -> Foreseen:
        return _foreseen(cleaned(await self.workspaces.foresee(WorkspaceId(call.path["id"]), call.body.deed()), clean))


def _point(checkpoint: Checkpoint) -> Point:
    made = _CALL.match(checkpoint.why)
    return Point(
        id=checkpoint.id, workspace=checkpoint.workspace, parent=checkpoint.parent, merged=checkpoint.merged, at=checkpoint.at,
        why=made[1] if made else checkpoint.why, turn=made[2] if made else "", step=int(made[3]) if made else None,
        is_sealed=checkpoint.is_sealed,
    )  # fmt: skip


def _different(change: Change) -> Different:
    there = change.after or change.before
    assert there is not None
    return Different(clean(change.path), change.what, there.kind, there.size)


def _tally(changes: Iterable[Change]) -> Tally:
    found = [(change.what, (change.after or change.before)) for change in changes]
    what = [each for each, _ in found]
    directories = sum(there is not None and there.kind == "directory" for _, there in found)
    return Tally(what.count("added"), what.count("changed"), what.count("removed"), directories)


def _foreseen(outcome: Outcome) -> Foreseen:
    return Foreseen(
        did=outcome.did, of=outcome.of, where=outcome.where, tally=_tally(outcome.changes),
        rows=tuple(map(_different, outcome.changes[:MOST_CHANGES])), conflicts=outcome.conflicts[:MOST_CHANGES],
        left_out=outcome.left_out[:MOST_CHANGES], left_out_total=len(outcome.left_out), notes=outcome.notes,
    )  # fmt: skip


def _needed(text: str, name: str) -> str:
    if not text:
        raise BadInput(f"{name!r} is missing in the request")
    return text
