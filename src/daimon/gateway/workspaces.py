"""Workspaces over HTTP: the port `Workspaces`, one entry for each of its operations.

A merge, a restore, an apply or an undo that met conflicts is answered with 409 and what they were; nothing was changed then.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field
from pydantic.dataclasses import dataclass as checked

from daimon.abi.access import Right
from daimon.abi.cleaning import cleaned
from daimon.abi.plain import clean
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Outcome, Trials, Tried, Workspace, WorkspaceId, Workspaces
from daimon.gateway.asked import CHECKED, Needed
from daimon.gateway.entry import Call, Entry, With

T = TypeVar("T")
CONFLICT = 409
MOST_BYTES = 1 << 20
CONFLICTS: Mapping[int, Any] = {CONFLICT: Outcome}


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class New:
    directory: Needed
    name: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Making:
    why: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Span:
    """Checkpoints. Left out: from the owner's directory, to now."""

    since: str = ""
    until: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Part:
    since: str = ""
    until: str = ""
    path: tuple[str, ...] = ()


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Forking:
    name: str = ""
    at: str = ""


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Trial:
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    role: str = "worker"


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Merging:
    into: Needed


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Restoring:
    to: Needed


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Applying:
    paths: tuple[str, ...] = ()
    with_programs: bool = False


@checked(frozen=True, slots=True, kw_only=True, config=CHECKED)
class Undoing:
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class WorkspaceRoutes:
    workspaces: Workspaces
    trials: Trials

    def all(self) -> tuple[Entry, ...]:
        return (*self._looks(), *self._makes(), *self._changes())

    def _looks(self) -> tuple[Entry, ...]:
        path, read = "/v1/workspaces", Right.READ
        one = f"{path}/{{id}}"
        diff = "What changed, by path, from a checkpoint to another; left out: from the owner's directory to now"
        return (
            Entry("GET", path, self._list, tuple[Workspace, ...], "All workspaces", read),
            Entry("GET", f"{one}/checkpoints", self._checkpoints, tuple[Checkpoint, ...], "Its checkpoints, newest first", read),
            Entry("GET", f"{one}/diff", self._diff, tuple[Change, ...], diff, read, query=Span),
            Entry("GET", f"{one}/text", self._text, dict[str, str], "The same as unified text; `path` may be repeated", read, query=Part),
        )

    def _makes(self) -> tuple[Entry, ...]:
        path, one, admin = "/v1/workspaces", "/v1/workspaces/{id}", Right.ADMIN
        new, fork = "A workspace for a directory of the owner's", "A workspace that begins where this one is, or was at a checkpoint"
        point = "A new checkpoint, or the last where nothing changed since"
        return (
            Entry("POST", path, self._new, Workspace, new, admin, body=New, status=201, fails=(404,), is_act=True),
            Entry("POST", f"{one}/checkpoints", self._checkpoint, Checkpoint, point, admin, body=Making, status=201, is_act=True),
            Entry("POST", f"{one}/fork", self._fork, Workspace, fork, admin, body=Forking, status=201, is_act=True),
        )

    def _changes(self) -> tuple[Entry, ...]:
        one, admin, most = "/v1/workspaces/{id}", Right.ADMIN, MOST_BYTES
        run = "Run words in a box on it, as a role: exit code, output and what it changed"
        merge, back = "Take the changes of a fork over, into another workspace", "Go to a checkpoint"
        apply, undo = "Write what changed into the owner's directory", "Take the last change back, of one workspace or of all"
        gone = "Discard it; the owner's directory stays as it is"
        return (
            Entry("POST", f"{one}/run", self._run, Tried, run, admin, body=Trial, most_bytes=most, is_act=True),
            Entry("POST", f"{one}/merge", self._merge, Outcome, merge, admin, body=Merging, others=CONFLICTS, is_act=True),
            Entry("POST", f"{one}/restore", self._restore, Outcome, back, admin, body=Restoring, others=CONFLICTS, is_act=True),
            Entry(
                "POST", f"{one}/apply", self._apply, Outcome, apply, admin, body=Applying, most_bytes=most, others=CONFLICTS, is_act=True
            ),
            Entry("POST", "/v1/undo", self._undo, Outcome, undo, admin, body=Undoing, others=CONFLICTS, fails=(404,), is_act=True),
            Entry("DELETE", one, self._discard, dict[str, str], gone, admin, is_act=True),
        )

    async def _list(self, call: Call[None, None]) -> tuple[Workspace, ...]:
        return _told(await self.workspaces.list())

    async def _new(self, call: Call[None, New]) -> Workspace:
        return _told(await self.workspaces.new(call.body.directory, call.body.name))

    async def _discard(self, call: Call[None, None]) -> dict[str, str]:
        await self.workspaces.discard(_id(call))
        return {"discarded": _id(call)}

    async def _checkpoints(self, call: Call[None, None]) -> tuple[Checkpoint, ...]:
        return _told(await self.workspaces.checkpoints(_id(call)))

    async def _checkpoint(self, call: Call[None, Making]) -> Checkpoint:
        return _told(await self.workspaces.checkpoint(_id(call), call.body.why or "by hand"))

    async def _diff(self, call: Call[Span, None]) -> tuple[Change, ...]:
        return _told(await self.workspaces.diff(_id(call), _point(call.query.since), _point(call.query.until)))

    async def _text(self, call: Call[Part, None]) -> dict[str, str]:
        asked = call.query
        return _told({"text": await self.workspaces.text(_id(call), asked.path, _point(asked.since), _point(asked.until))})

    async def _fork(self, call: Call[None, Forking]) -> Workspace:
        return _told(await self.workspaces.fork(_id(call), call.body.name, _point(call.body.at)))

    async def _run(self, call: Call[None, Trial]) -> Tried:
        return _told(await self.trials.run(_id(call), call.body.command, call.body.role))

    async def _merge(self, call: Call[None, Merging]) -> object:
        return _came_of(await self.workspaces.merge(_id(call), WorkspaceId(call.body.into)))

    async def _restore(self, call: Call[None, Restoring]) -> object:
        return _came_of(await self.workspaces.restore(_id(call), CheckpointId(call.body.to)))

    async def _apply(self, call: Call[None, Applying]) -> object:
        return _came_of(await self.workspaces.apply(_id(call), call.body.paths, with_programs=call.body.with_programs))

    async def _undo(self, call: Call[None, Undoing]) -> object:
        return _came_of(await self.workspaces.undo(WorkspaceId(call.body.workspace) if call.body.workspace else None))


def _came_of(outcome: Outcome) -> object:
    return With(_told(outcome), CONFLICT) if outcome.conflicts else _told(outcome)


def _told(value: T) -> T:
    return cleaned(value, clean)  # names of files may be no text


def _id(call: Call[Any, Any]) -> WorkspaceId:
    return WorkspaceId(call.path["id"])


def _point(text: str) -> CheckpointId | None:
    return CheckpointId(text) if text else None
