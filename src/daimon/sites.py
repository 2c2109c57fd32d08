"""Workspaces in use: the layers of a home, the grounds that are open, and who stands on them.

A `Site` is an open ground with the shells of the boxes on it: when its tree is exchanged, every idle shell steps off first and on again
afterwards, so that nothing holds the old one. `Sites` is the port `Workspaces` for the whole home: what the layers' store does, plus what
shells know, which is kept with every checkpoint and comes back with it. For the kernel it is the port `Checkpoints`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from daimon import marks
from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput, DaimonError, Misconfigured, NotFound, ToolFailed
from daimon.abi.label import Label
from daimon.abi.ports import Clock
from daimon.abi.tool import Call, Touched
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Outcome, Workspace, WorkspaceId
from daimon.marks import Marks
from daimon.sandbox.ground import Stack
from daimon.sandbox.overlay import OverlayGround, open_overlay, probe
from daimon.sandbox.pins import pins_of
from daimon.sandbox.plan import name_of
from daimon.sandbox.pool import Pool
from daimon.sandbox.terminal.state import State
from daimon.sandbox.workspace.store import Store

MOST_OPEN = 64
THIN_EVERY_S = 3_600.0
_LOG = logging.getLogger(__name__)
_STATES = adapter(dict[str, dict[str, State]])
"""Of shells, by the key of their box and by their names."""
FAILED = "no_checkpoint"


class Shells(Protocol):
    """Those of one box."""

    async def leave(self) -> tuple[str, ...]:
        """Idle ones step off the tree. Names of those that cannot."""
        ...

    async def enter(self) -> None: ...

    async def state(self) -> Mapping[str, State]: ...

    async def begin_anew(self, saved: Mapping[str, State], why: str) -> None: ...


@dataclass(slots=True)
class Site:
    """An open workspace. It is a ground, as the store sees it."""

    workspace: WorkspaceId
    base: Path
    ground: OverlayGround
    store: Store
    shells: dict[str, Shells] = field(default_factory=dict)
    """By the key of their box."""

    @property
    def place(self) -> int:
        return self.ground.place

    @property
    def name(self) -> str:
        return self.ground.name

    @property
    def user(self) -> int | None:
        return self.ground.user

    @property
    def is_alive(self) -> bool:
        return self.ground.is_alive

    @property
    def about(self) -> str:
        return f"{self.workspace}, {self.base}"

    @property
    def losses(self) -> str:
        return "what ran on it has ended; the files are as they were left"

    @property
    def is_needed(self) -> bool:
        return False

    async def rotate(self, stack: Stack) -> bool:
        shells = list(self.shells.values())
        for each in shells:
            await each.leave()
        try:
            return await self.ground.rotate(stack)
        finally:
            for each in shells:
                await each.enter()

    async def close(self) -> None:
        self.store.detach(self.workspace)
        await self.ground.close()


class Sites:
    def __init__(self, store: Store, own: Path, uid: int, clock: Clock, idle_s: float) -> None:
        """`own`: the directory that agents work in, unless somebody says otherwise."""
        self._store, self._own, self._uid, self._clock = store, own, uid, clock
        self._own_id: WorkspaceId | None = None
        self._pool: Pool[Site] = Pool(self._open, clock, idle_s, MOST_OPEN)
        self._sites: dict[WorkspaceId, Site] = {}
        self._states: dict[WorkspaceId, dict[str, dict[str, State]]] = {}
        """What shells knew, by workspace and key of their box."""
        self.marks = Marks()

    @classmethod
    async def opened(cls, root: Path, own: Path, uid: int, clock: Clock, idle_s: float) -> "Sites":
        made = cls(await Store.open(root, clock), own, uid, clock, idle_s)
        made.marks = await asyncio.to_thread(Marks.at, root / marks.FILE)
        return made

    async def close(self) -> None:
        await self._pool.close()
        await self._store.close()

    async def tend(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pool.tend())
            group.create_task(self._thin())

    async def _thin(self) -> None:
        """Old checkpoints that are many go, at the start and now and then."""
        while True:
            try:
                await self._store.thin()
            except (DaimonError, OSError) as failed:
                _LOG.warning("old checkpoints could not be removed: %s", failed)
            await self._clock.sleep(THIN_EVERY_S)

    # -- whoever works on one ------------------------------------------------------------------------------------------

    async def own(self) -> WorkspaceId:
        if self._own_id is None:
            await asyncio.to_thread(self._own.mkdir, 0o700, True, True)
            self._own_id = (await self._store.new(str(self._own))).id
        return self._own_id

    @asynccontextmanager
    async def on(self, workspace: WorkspaceId) -> AsyncIterator[Site]:
        """Open for as long as somebody is on it, and a while longer."""
        async with self._pool.lease(workspace) as lease:
            yield lease.resource

    async def states_of(self, workspace: WorkspaceId, key: str) -> MutableMapping[str, State]:
        """What the shells of a box know; whoever makes the box keeps it up."""
        return (await self._known(workspace)).setdefault(key, {})

    def site(self, workspace: WorkspaceId) -> Site:
        """One that somebody is on."""
        return self._sites[workspace]

    def put_in(self, directory: str, label: Label) -> None:
        self.marks.of(directory).join(label)

    # -- checkpoints, for the kernel -----------------------------------------------------------------------------------

    async def before(self, call: Call) -> str:
        try:
            return (await self.checkpoint(await self.own(), str(call.key))).id
        except (DaimonError, OSError) as failed:
            raise ToolFailed(FAILED, f"the files cannot be kept as they are: {failed}", retryable=True) from failed

    async def changes(self, workspace: WorkspaceId) -> tuple[Change, ...]:
        """Since the last checkpoint, by name and kind."""
        return await self._store.live_changes(workspace)

    async def since(self, call: Call) -> tuple[Touched, ...]:
        try:
            found = await self.changes(await self.own())
        except (DaimonError, OSError) as failed:
            raise ToolFailed("no_changes", f"the files cannot be looked through: {failed}") from failed
        return tuple(Touched("file", change.path, change.what) for change in found)

    # -- the port ------------------------------------------------------------------------------------------------------

    async def new(self, directory: str, name: str = "") -> Workspace:
        return await self._store.new(directory, name)

    async def list(self) -> tuple[Workspace, ...]:
        return await self._store.list()

    async def checkpoints(self, workspace: WorkspaceId) -> tuple[Checkpoint, ...]:
        return await self._store.checkpoints(workspace)

    async def checkpoint(self, workspace: WorkspaceId, why: str, state: JsonValue = None) -> Checkpoint:
        return await self._store.checkpoint(workspace, why, state or await self._state(workspace))

    async def fork(self, workspace: WorkspaceId, name: str = "", at: CheckpointId | None = None) -> Workspace:
        if at is None:
            at = (await self.checkpoint(workspace, "before a fork")).id
        return await self._store.fork(workspace, name, at)

    async def diff(
        self, workspace: WorkspaceId, since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> tuple[Change, ...]:
        return await self._store.diff(workspace, since, until)

    async def text(
        self, workspace: WorkspaceId, paths: tuple[str, ...], since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> str:
        return await self._store.text(workspace, paths, since, until)

    async def merge(self, fork: WorkspaceId, into: WorkspaceId) -> Outcome:
        return await self._store.merge(fork, into)

    async def restore(self, workspace: WorkspaceId, to: CheckpointId) -> Outcome:
        """Shells begin anew with what they knew then: what runs in them works on files that are not there any more."""
        await self.checkpoint(workspace, f"before going to {to}")
        return await self._anew(workspace, await self._store.restore(workspace, to))

    async def discard(self, workspace: WorkspaceId) -> None:
        if (site := self._sites.get(workspace)) is not None and site.shells:
            raise BadInput(f"somebody works in workspace {workspace}; stop that first")
        await self._pool.restart(workspace, "it is discarded")
        await self._store.discard(workspace)

    async def apply(self, workspace: WorkspaceId, paths: tuple[str, ...] = (), *, with_programs: bool = False) -> Outcome:
        return await self._store.apply(workspace, paths, with_programs=with_programs)

    async def undo(self, workspace: WorkspaceId | None = None) -> Outcome:
        outcome = await self._store.undo(workspace)
        return await self._anew(outcome.workspace, outcome) if outcome.after != outcome.before else outcome

    # -- below ---------------------------------------------------------------------------------------------------------

    async def _open(self, key: str) -> Site:
        workspace = WorkspaceId(key)
        found = await self._found(workspace)
        base, layers = Path(found.base), Path(self._store.store_of(workspace))
        pins = await asyncio.to_thread(pins_of, found.base)
        try:
            ground = await open_overlay(base, layers, name_of(base), self._store.stack_of(workspace), uid=self._uid, pins=pins)
        except Misconfigured as refused:
            raise Misconfigured(f"{refused} ({await probe(layers) or 'layers can be had here otherwise'})") from None
        site = self._sites[workspace] = Site(workspace, base, ground, self._store)
        self._store.attach(workspace, site)
        return site

    async def _anew(self, workspace: WorkspaceId, outcome: Outcome) -> Outcome:
        """After going somewhere else. What shells know now is in the checkpoint that was left."""
        then = _states((await self._head(workspace)).state)
        known = await self._known(workspace)
        if (site := self._sites.get(workspace)) is not None:
            for key, shells in list(site.shells.items()):
                await shells.begin_anew(then.get(key, {}), f"the files went to checkpoint {outcome.after}")
        for key in {*known, *then}:
            states = known.setdefault(key, {})
            states.clear()
            states.update(then.get(key, {}))
        return outcome

    async def _head(self, workspace: WorkspaceId) -> Checkpoint:
        head = (await self._found(workspace)).head
        return next(each for each in await self._store.checkpoints(workspace) if each.id == head)

    async def _found(self, workspace: WorkspaceId) -> Workspace:
        for each in await self._store.list():
            if each.id == workspace:
                return each
        raise NotFound(f"there is no workspace {workspace}; `daimon workspace list` shows which there are")

    async def _known(self, workspace: WorkspaceId) -> dict[str, dict[str, State]]:
        if workspace not in self._states:
            self._states[workspace] = _states((await self._head(workspace)).state)
        return self._states[workspace]

    async def _state(self, workspace: WorkspaceId) -> JsonValue:
        """What the shells know now; of those whose box is gone, what they knew."""
        known = await self._known(workspace)
        if (site := self._sites.get(workspace)) is not None:
            for key, shells in list(site.shells.items()):
                known.setdefault(key, {}).update(await shells.state())
        found: JsonValue = _STATES.dump_python({key: states for key, states in known.items() if states}, mode="json")
        return found or None


def _states(saved: JsonValue) -> dict[str, dict[str, State]]:
    found: dict[str, dict[str, State]] = _STATES.validate_python(saved or {})
    return found
