"""Workspaces in use: the layers of a home, the grounds that are open, and who stands on them.

A `Site` is an open ground with the shells of the boxes on it: when its tree is exchanged, every idle shell steps off first and on again
afterwards, so that nothing holds the old one. `Sites` is the port `Workspaces` for the whole home: what the layers' store does, plus what
shells know, which is kept with every checkpoint and comes back with it. For the kernel it is the port `Checkpoints`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from daimon import marks
from daimon.abi.codec import adapter
from daimon.abi.errors import BadInput, DaimonError, Misconfigured, NotFound, ToolFailed
from daimon.abi.label import Label
from daimon.abi.ports import Clock
from daimon.abi.tool import Call, Touched
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Deed, Outcome, Workspace, WorkspaceId
from daimon.marks import Marks
from daimon.sandbox.ground import Stack
from daimon.sandbox.overlay import OverlayGround, is_on_overlay, open_overlay, probe
from daimon.sandbox.pins import pins_of
from daimon.sandbox.plan import Wanted, name_of, workspace_of
from daimon.sandbox.pool import Pool
from daimon.sandbox.terminal.memo import FILE, Memo
from daimon.sandbox.terminal.state import State
from daimon.sandbox.workspace.copies import CopiesGround
from daimon.sandbox.workspace.house import LIMIT
from daimon.sandbox.workspace.store import Store

MOST_OPEN = 64
THIN_EVERY_S = 3_600.0
_LOG = logging.getLogger(__name__)
_STATES = adapter(dict[str, dict[str, State]])
"""Of shells, by the key of their box and by their names."""
FAILED = "no_checkpoint"
COPIES = "docs/workspaces.md"
_LOG = logging.getLogger(__name__)


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
    ground: OverlayGround | CopiesGround
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

    def under(self, wanted: Wanted) -> Wanted:
        """A box that stands on it."""
        if isinstance(self.ground, OverlayGround):
            return replace(wanted, ground=self.ground)
        return replace(wanted, workspace=Path(self.ground.tree), is_copy=True)

    def used(self) -> AbstractAsyncContextManager[None]:
        return self.ground.used()

    async def rotate(self, stack: Stack) -> bool:
        async with self._without_shells():
            return await self.ground.rotate(stack)

    async def try_rotate(self, stack: Stack) -> bool:
        async with self._without_shells():
            return await self.ground.try_rotate(stack)

    @asynccontextmanager
    async def _without_shells(self) -> AsyncIterator[None]:
        shells = list(self.shells.values())
        for each in shells:
            await each.leave()
        try:
            yield
        finally:
            for each in shells:
                await each.enter()

    async def close(self) -> None:
        await self.store.closed(self.workspace, self.ground)


class Sites:
    def __init__(self, store: Store, root: Path, own: Path, uid: int, clock: Clock, idle_s: float) -> None:
        """`own`: the directory that agents work in, unless somebody says otherwise."""
        self._memo, self._remembering = Memo(root / FILE), asyncio.Lock()
        self._store, self._root, self._own, self._uid, self._clock = store, root, own, uid, clock
        self._own_id: WorkspaceId | None = None
        self._own_base = ""
        self._pool: Pool[Site] = Pool(self._open, clock, idle_s, MOST_OPEN)
        self._sites: dict[WorkspaceId, Site] = {}
        self._states: dict[WorkspaceId, dict[str, dict[str, State]]] = {}
        """What shells knew, by workspace and key of their box."""
        self.moved: Callable[[str], Awaitable[None]] = _nobody
        """Who else must know, with words, that the agents' own files are others now."""
        self.marks = Marks()
        self._slow: dict[WorkspaceId, str] = {}
        """Those that are open by copies, or were, and why."""
        self._why_slow = ""
        """Why all will be."""

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self._slow:
            return (self._why_slow,) if self._why_slow else ()
        return tuple(f"workspace {id} is kept by copies, which is slower ({COPIES}): {why}" for id, why in self._slow.items())

    @classmethod
    async def opened(cls, root: Path, own: Path, uid: int, clock: Clock, idle_s: float, layers: int = LIMIT) -> "Sites":
        """`layers`: bytes that all of them may take on the disk."""
        made = cls(await Store.open(root, clock, limit=layers), root, own, uid, clock, idle_s)
        made.marks = await asyncio.to_thread(Marks.at, root / marks.FILE)
        if await asyncio.to_thread(is_on_overlay, root):
            why = f"{root} lies on overlayfs, as all in a container does that is no volume; put Daimon's home on a volume"
            made._why_slow = f"workspaces are kept by copies, which is slower ({COPIES}): {why}"
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
            await asyncio.to_thread(self._require_directory)
            own = await self._store.new(str(self._own))
            self._own_id, self._own_base = own.id, own.base
        return self._own_id

    def _require_directory(self) -> None:
        """The home's own is made; a directory of the owner's that is not there may be on a disk that is not."""
        if self._own.parent == self._root.parent:
            self._own.mkdir(0o700, exist_ok=True)
        elif not self._own.is_dir():
            raise Misconfigured(f"{self._own} is no directory; make it, bring it back, or change `workspace` in [sandbox]")

    @asynccontextmanager
    async def on(self, workspace: WorkspaceId) -> AsyncIterator[Site]:
        """Open for as long as somebody is on it, and a while longer."""
        async with self._pool.lease(workspace) as lease:
            yield lease.resource

    @asynccontextmanager
    async def ground(self) -> AsyncIterator[Path]:
        """The agents' own tree, to look at."""
        async with self.on(await self.own()) as site:
            yield Path(f"/proc/self/fd/{site.place}")

    async def states_of(self, workspace: WorkspaceId, key: str) -> MutableMapping[str, State]:
        """What the shells of a box know; whoever makes the box keeps it up."""
        return (await self._known(workspace)).setdefault(key, {})

    def site(self, workspace: WorkspaceId) -> Site:
        """One that somebody is on."""
        return self._sites[workspace]

    def put_in(self, directory: str, label: Label) -> None:
        self.marks.of(directory).join(label)

    # -- checkpoints, for the kernel -----------------------------------------------------------------------------------

    async def before(self, call: Call, why: str) -> str:
        try:
            return (await self.checkpoint(await self.own(), f"before {why} ({call.key})")).id
        except (DaimonError, OSError) as failed:
            raise ToolFailed(FAILED, f"the files cannot be kept as they are: {failed}", retryable=True) from failed

    async def changes(self, workspace: WorkspaceId) -> tuple[Change, ...]:
        """Since the last checkpoint, by name and kind."""
        return await self._store.live_changes(workspace)

    async def since(self, call: Call) -> tuple[Touched, ...]:
        try:
            found = await self.changes(await self.own())
            await self._remember(await self.own())
        except (DaimonError, OSError) as failed:
            raise ToolFailed("no_changes", f"the files cannot be looked through: {failed}") from failed
        return tuple(Touched("file", change.path, change.what) for change in found)

    def label(self, call: Call) -> Label:
        return self.marks.of(self._own_base or str(self._own.resolve())).label

    # -- the port ------------------------------------------------------------------------------------------------------

    async def new(self, directory: str, name: str = "") -> Workspace:
        try:
            await asyncio.to_thread(workspace_of, Path(directory))
        except Misconfigured as refused:
            raise BadInput(str(refused)) from None
        await self._require_free(name)
        return await self._store.new(directory, name)

    async def list(self) -> tuple[Workspace, ...]:
        return await self._store.list()

    async def checkpoints(self, workspace: WorkspaceId) -> tuple[Checkpoint, ...]:
        return await self._store.checkpoints(workspace)

    async def checkpoint(self, workspace: WorkspaceId, why: str, state: JsonValue = None) -> Checkpoint:
        """Before something is done: there is room for it then, or it is refused."""
        made = await self._kept(workspace, why, state)
        await self._store.make_room()
        return made

    async def _kept(self, workspace: WorkspaceId, why: str, state: JsonValue = None) -> Checkpoint:
        return await self._store.checkpoint(workspace, why, state or await self._state(workspace))

    async def fork(self, workspace: WorkspaceId, name: str = "", at: CheckpointId | None = None) -> Workspace:
        await self._require_free(name)
        if at is None:
            at = (await self._kept(workspace, "before a fork")).id
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
        await self._kept(workspace, f"before going to {to}")
        return await self._anew(workspace, await self._store.restore(workspace, to))

    async def discard(self, workspace: WorkspaceId) -> None:
        if (site := self._sites.get(workspace)) is not None and site.shells:
            raise BadInput(f"somebody works in workspace {workspace}; stop that first")
        await self._pool.restart(workspace, "it is discarded")
        await self._store.discard(workspace)
        self._states.pop(workspace, None)
        if workspace == self._own_id:
            self._own_id = None  # the next call begins anew, on the directory as it is

    async def apply(self, workspace: WorkspaceId, paths: tuple[str, ...] = (), *, with_programs: bool = False) -> Outcome:
        return await self._store.apply(workspace, paths, with_programs=with_programs)

    async def undo(self, workspace: WorkspaceId | None = None) -> Outcome:
        outcome = await self._store.undo(workspace)
        return await self._anew(outcome.workspace, outcome) if outcome.after != outcome.before else outcome

    async def foresee(self, workspace: WorkspaceId, deed: Deed) -> Outcome:
        return await self._store.foresee(workspace, deed)

    # -- below ---------------------------------------------------------------------------------------------------------

    async def _open(self, key: str) -> Site:
        workspace = WorkspaceId(key)
        found = await self._found(workspace)
        base, layers = Path(found.base), Path(self._store.store_of(workspace))
        why = await probe(layers, base) if found.engine == "copies" else ""
        site = None if why else await self._overlaid(workspace, base, layers)
        if site is None:
            site = await self._copied(workspace, base, why or await probe(layers, base))
        else:
            self._slow.pop(workspace, None)
        self._sites[workspace] = site
        return site

    async def _overlaid(self, workspace: WorkspaceId, base: Path, layers: Path) -> Site | None:
        """None: it is refused, and so is the simplest tree over this directory, now and until something about this machine changes."""
        await self._store.layered(workspace)
        pins = await asyncio.to_thread(pins_of, str(base))

        async def made(stack: Stack) -> Site:
            return Site(workspace, base, await open_overlay(base, layers, name_of(base), stack, uid=self._uid, pins=pins), self._store)

        try:
            return await self._store.opened(workspace, made)
        except Misconfigured:
            if not await probe(layers, base):
                raise
            return None

    async def _copied(self, workspace: WorkspaceId, base: Path, why: str) -> Site:
        ground = await self._store.copied(workspace, name_of(base), self._uid)
        if workspace not in self._slow:
            _LOG.warning("workspace %s is kept by copies, which is slower: %s", workspace, why)
        self._slow[workspace] = why
        site = Site(workspace, base, ground, self._store)
        self._store.attach(workspace, site, ground.gather)
        return site

    async def _anew(self, workspace: WorkspaceId, outcome: Outcome) -> Outcome:
        """After going somewhere else. What shells know now is in the checkpoint that was left."""
        why = f"the files went to checkpoint {outcome.after}"
        then = _states((await self._head(workspace)).state)
        known = await self._known(workspace)
        if (site := self._sites.get(workspace)) is not None:
            for key, shells in list(site.shells.items()):
                await shells.begin_anew(then.get(key, {}), why)
        for key in {*known, *then}:
            states = known.setdefault(key, {})
            states.clear()
            states.update(then.get(key, {}))
        with suppress(OSError):  # the checkpoint has it too
            await self._remember(workspace)
        if workspace == self._own_id:
            await self.moved(why)
        return outcome

    async def _require_free(self, name: str) -> None:
        for each in await self._store.list() if name else ():
            if name in (each.id, each.name):
                raise BadInput(f"a workspace is called {name} already: {each.id}, of {each.base}; choose another name, or discard that one")

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
            self._states[workspace] = _states(self._memo.read(workspace) or (await self._head(workspace)).state)
        return self._states[workspace]

    async def _remember(self, workspace: WorkspaceId) -> None:
        async with self._remembering:
            await asyncio.to_thread(self._memo.write, workspace, await self._state(workspace))

    async def _state(self, workspace: WorkspaceId) -> JsonValue:
        """What the shells know now; of those whose box is gone, what they knew."""
        known = await self._known(workspace)
        if (site := self._sites.get(workspace)) is not None:
            for key, shells in list(site.shells.items()):
                known.setdefault(key, {}).update(await shells.state())
        found: JsonValue = _STATES.dump_python({key: states for key, states in known.items() if states}, mode="json")
        return found or None


async def _nobody(why: str) -> None:
    return


def _states(saved: JsonValue) -> dict[str, dict[str, State]]:
    found: dict[str, dict[str, State]] = _STATES.validate_python(saved or {})
    return found
