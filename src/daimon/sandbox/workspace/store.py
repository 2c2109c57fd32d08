"""The workspaces of a home: implements the port `abi.workspace.Workspaces`.

`ROOT/index.db` says what counts, `ROOT/FAMILY/LAYER/` holds the content (`index.py`, `layer.py`). Nothing is mounted here: whoever opens a
workspace gets its layers (`stack_of`, `store_of`), and says that it is open (`attach`), so that from then on each move is made there too.
One operation at a time in a family; blocking work is done in threads. What has begun is brought to its end even if the asker goes away.

Calling order: `open`, any methods, `close`. A home has one store at a time: whoever opens it holds the home's lock.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from pydantic import JsonValue

from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.ports import Clock
from daimon.abi.workspace import Change, Checkpoint, CheckpointId, Deed, Outcome, Workspace, WorkspaceId
from daimon.sandbox.ground import Ground, Stack
from daimon.sandbox.workspace import apply, beginning, bulk, comparing, copies, course, foresight, garbage, layer, merge, underneath
from daimon.sandbox.workspace.copies import CopiesGround
from daimon.sandbox.workspace.house import LIMIT, MOST_LAYERS, House, Open
from daimon.sandbox.workspace.index import Index
from daimon.sandbox.workspace.rows import Engine, Point, Room
from daimon.sandbox.workspace.trouble import told

P = ParamSpec("P")
T = TypeVar("T")
G = TypeVar("G", bound=Ground)
_log = logging.getLogger(__name__)
ROUNDS = 8
"""Of making room: what goes is an estimate."""


class Store:
    def __init__(self, house: House) -> None:
        self._house = house
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._begun: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls, root: Path, clock: Clock, engine: Engine = "overlay", most_layers: int = MOST_LAYERS, limit: int = LIMIT
    ) -> "Store":
        """Removes what a crash left behind, and ends an apply that it interrupted. `engine`: of workspaces that begin from now on;
        `most_layers`: so many can be put in place; `limit`: bytes that all may take."""

        def opened() -> House:
            with told():
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
                house = House(root.resolve(), Index(root / "index.db"), clock, engine, most_layers)
                house.limit = limit
                garbage.strays(house)
                return house

        house = await asyncio.to_thread(opened)
        store = cls(house)
        for family in house.index.families():
            await asyncio.to_thread(store._gathered, family.id)
            try:
                await store._locked(family.id, lambda id=family.id: store._carried_on(id))  # type: ignore[misc]
                await store._locked(family.id, lambda id=family.id: store._sealed(id))  # type: ignore[misc]
            except ToolFailed as failure:
                _log.warning("an apply into %s was interrupted and cannot be carried on yet: %s", family.base, failure)
        return store

    def _gathered(self, family: str) -> None:
        """What was done in copies whose process was killed. Before anything moves a workspace."""
        for room in self._house.index.rooms(family):
            try:
                copies.recovered(self._house.shelf(family), room.id, self._house.stack(room))
            except OSError as failure:
                _log.warning("what was done in workspace %s is not in its layer yet: %s", room.id, failure)

    async def _carried_on(self, family: str) -> None:
        for note in await apply.recover(self._house, family):
            _log.warning(note)

    async def settle(self) -> None:
        """Waits for what is done in the background."""
        await asyncio.gather(*self._begun, return_exceptions=True)
        await self._house.settle()

    async def close(self) -> None:
        await self.settle()
        await asyncio.to_thread(self._house.index.close)

    async def thin(self) -> None:
        """Removes old checkpoints that are many; to be called now and then."""
        for family in await asyncio.to_thread(self._house.index.families):
            await self._locked(family.id, lambda id=family.id: asyncio.to_thread(garbage.thin, self._house, id))  # type: ignore[misc]

    async def make_room(self) -> None:
        """Before something is done that writes: old checkpoints go until all layers take no more than they may, and some of the disk is
        free. Raises ToolFailed where that cannot be had."""
        found = await self._with_house(bulk.excess)
        for _ in range(ROUNDS):
            if not found.size:
                return
            for family, gone in (await self._with_house(bulk.chosen, found)).items():
                await self._locked(family, lambda id=family, gone=gone: self._shrunk(id, gone))  # type: ignore[misc]
            last, found = found, await self._with_house(bulk.excess)
            if found.size >= last.size:
                break
        if found.size:
            raise await self._with_house(bulk.refused, found)

    async def _with_house(self, look: Callable[Concatenate[House, P], T], *arguments: P.args, **more: P.kwargs) -> T:
        with told():
            return await asyncio.to_thread(look, self._house, *arguments, **more)

    async def _shrunk(self, family: str, gone: frozenset[str]) -> None:
        await self._house.settle()
        if await self._with_house(bulk.is_applying, family):
            return
        await self._with_house(garbage.drop, family, gone)
        await self._with_house(bulk.flatten, family)
        for room in self._house.index.rooms(family):
            if room.id in self._house.open:
                await self._house.restack(room)
        await self._with_house(bulk.shorten, family)
        await self._with_house(garbage.collect, family)

    # whoever opens a workspace

    def stack_of(self, workspace: WorkspaceId) -> Stack:
        return self._house.stack(self._house.room(workspace))

    def store_of(self, workspace: WorkspaceId) -> str:
        """The directory in which its layers are."""
        return self._house.shelf(self._house.room(workspace).family).directory

    async def opened(self, workspace: WorkspaceId, make: Callable[[Stack], Awaitable[G]]) -> G:
        """Opens one: nothing moves it between the look at its layers and the moment when this knows of its ground."""

        async def made() -> G:
            room = self._house.room(workspace)
            ground = await make(self._house.stack(room))
            self.attach(workspace, ground)
            return ground

        return await self._risen(workspace, made)

    def attach(self, workspace: WorkspaceId, ground: Ground, gather: Callable[[], Awaitable[None]] | None = None) -> None:
        """It is open. `gather` brings what was done into the live layer, for a ground that does not do so by itself."""
        self._house.open[self._house.room(workspace).id] = Open(ground, gather)

    async def copied(self, workspace: WorkspaceId, name: str, uid: int | None = None) -> CopiesGround:
        """Opens one where there is no overlayfs: its tree as a plain directory of this name, which belongs to this user if root asks. It
        is attached when this returns."""

        async def made() -> CopiesGround:
            room = await asyncio.to_thread(self._engine, workspace, "copies")
            ground = await CopiesGround.open(self._house.shelf(room.family), room.id, name, self._house.stack(room), uid)
            self.attach(workspace, ground, ground.gather)
            return ground

        return await self._risen(workspace, made)

    async def _risen(self, workspace: WorkspaceId, made: Callable[[], Coroutine[Any, Any, G]]) -> G:
        """Whoever is cancelled meanwhile waits for it and closes it: nobody else would know of it, and the next would be put over it."""
        task = self._begin(self._house.room(workspace).family, made)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait((task,))
            if not task.cancelled() and task.exception() is None:
                await self.closed(workspace, task.result())
            raise

    async def layered(self, workspace: WorkspaceId) -> None:
        """Makes it ready to be put together by the kernel: without a copy, and with whiteouts that it knows."""

        def made() -> None:
            room = self._house.room(workspace)
            shelf, stack = self._house.shelf(room.family), self._house.stack(room)
            copies.removed(shelf, room.id, stack)
            for name in (stack.live, *stack.frozen):
                layer.mend(shelf.path(name), shelf.owner())
            self._engine(workspace, "overlay")

        await self._locked(self._house.room(workspace).family, lambda: asyncio.to_thread(made))

    def _engine(self, workspace: WorkspaceId, engine: Engine) -> Room:
        room = replace(self._house.room(workspace), engine=engine)
        if room != self._house.room(workspace):
            with self._house.index.transaction():
                self._house.index.put_room(room)
        return room

    async def closed(self, workspace: WorkspaceId, ground: Ground) -> None:
        """Closes what was attached, while nothing moves it."""

        async def ended() -> None:
            try:
                await ground.close()
            finally:
                self._house.open.pop(workspace, None)
                await self._sealed(family)

        family = self._house.room(workspace).family
        await self._locked(family, ended)

    async def detach(self, workspace: WorkspaceId) -> None:
        """It is open no more: nothing sees its tree, and nothing writes there."""
        self._house.open.pop(workspace, None)
        if (room := self._house.index.room(workspace)) is not None:
            await self._locked(room.family, lambda: self._sealed(room.family))

    async def _sealed(self, family: str) -> None:
        if not any(room.id in self._house.open for room in self._house.index.rooms(family)):
            await asyncio.to_thread(self._house.seal, family)

    async def live_changes(self, workspace: WorkspaceId) -> tuple[Change, ...]:
        """What is in the live layer, by name and kind; nothing is hashed."""
        room = self._house.room(workspace)
        return await self._locked(room.family, lambda: comparing.live(self._house, self._house.room(workspace)))

    async def underneath(self, workspace: WorkspaceId) -> tuple[str, ...]:
        """Paths that a layer covers, and that the owner has changed since."""

        async def looked() -> tuple[str, ...]:
            room = self._house.room(workspace)
            return await asyncio.to_thread(underneath.changed, self._house, room, self._house.point(room.head))

        return await self._locked(self._house.room(workspace).family, looked)

    # the port

    async def new(self, directory: str, name: str = "") -> Workspace:
        async def begun() -> Room:
            family = await asyncio.to_thread(beginning.family, self._house, directory)
            async with self._locks[family.id if family else directory]:
                return await asyncio.to_thread(beginning.new, self._house, directory, name)

        return self._shown(await self._locked("", begun))

    async def list(self) -> tuple[Workspace, ...]:
        rooms = await asyncio.to_thread(self._house.index.rooms)
        return tuple(await asyncio.to_thread(lambda: [self._shown(room) for room in rooms]))

    async def checkpoints(self, workspace: WorkspaceId) -> tuple[Checkpoint, ...]:
        found = await asyncio.to_thread(self._house.index.points, self._house.room(workspace).id)
        return tuple(point.shown() for point in found)

    async def checkpoint(self, workspace: WorkspaceId, why: str, state: JsonValue = None) -> Checkpoint:
        async def frozen(room: Room) -> Checkpoint:
            return (await self._house.freeze(room, why, state))[1].shown()

        return await self._moved(workspace, frozen)

    async def fork(self, workspace: WorkspaceId, name: str = "", at: CheckpointId | None = None) -> Workspace:
        async def forked(room: Room) -> Workspace:
            point = self._of(room, at) if at else (await self._house.freeze(room, "before a fork"))[1]
            return self._shown(await asyncio.to_thread(beginning.fork, self._house, room, point, name))

        return await self._moved(workspace, forked)

    async def diff(
        self, workspace: WorkspaceId, since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> tuple[Change, ...]:
        return (await self._compared(workspace, since, until))[0]

    async def text(
        self, workspace: WorkspaceId, paths: tuple[str, ...], since: CheckpointId | None = None, until: CheckpointId | None = None
    ) -> str:
        return (await self._compared(workspace, since, until, paths, is_text=True))[1]

    async def merge(self, fork: WorkspaceId, into: WorkspaceId) -> Outcome:
        return await self._moved(into, lambda room: merge.merge(self._house, self._house.room(fork), room))

    async def apply(self, workspace: WorkspaceId, paths: tuple[str, ...] = (), *, with_programs: bool = False) -> Outcome:
        return await self._moved(workspace, lambda room: apply.apply(self._house, room, paths, with_programs=with_programs))

    async def restore(self, workspace: WorkspaceId, to: CheckpointId) -> Outcome:
        return await self._moved(workspace, lambda room: course.restore(self._house, room, self._house.point(to)))

    async def discard(self, workspace: WorkspaceId) -> None:
        async def discarded(room: Room) -> None:
            if room.id in self._house.open:
                raise BadInput(f"workspace {room.id} is open; end what works in it first")
            await self._house.settle()
            await asyncio.to_thread(garbage.discard, self._house, room.id)

        await self._held(workspace, discarded)

    async def undo(self, workspace: WorkspaceId | None = None) -> Outcome:
        if workspace is None:
            workspace = WorkspaceId(await asyncio.to_thread(comparing.last_changed, self._house))
        return await self._moved(workspace, self._undone)

    async def foresee(self, workspace: WorkspaceId, deed: Deed) -> Outcome:
        return await self._held(workspace, lambda room: foresight.foresee(self._house, room, deed))

    async def _undone(self, room: Room) -> Outcome:
        if (done := await course.undo_work(self._house, room)) is not None:
            return done
        change = course.last(self._house, room)
        return await (apply.undo if change.kind == "apply" else course.undo_move)(self._house, room, change)

    # below

    async def _moved(self, workspace: WorkspaceId, work: Callable[[Room], Coroutine[Any, Any, T]]) -> T:
        """Something with a workspace, as it is when its turn comes."""

        async def carried_on(room: Room) -> T:
            await self._carried_on(room.family)
            return await work(self._house.room(workspace))

        return await self._held(workspace, carried_on)

    async def _held(self, workspace: WorkspaceId, work: Callable[[Room], Coroutine[Any, Any, T]]) -> T:
        """The same, even if an apply is half written."""
        return await self._locked(self._house.room(workspace).family, lambda: work(self._house.room(workspace)))

    async def _locked(self, family: str, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await asyncio.shield(self._begin(family, work))

    def _begin(self, family: str, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        async def alone() -> T:
            async with self._locks[family]:
                with told():
                    return await work()

        task = asyncio.create_task(alone())
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)
        return task

    async def _compared(
        self, workspace: WorkspaceId, since: str | None, until: str | None, paths: tuple[str, ...] = (), *, is_text: bool = False
    ) -> tuple[tuple[Change, ...], str]:
        async def compared(room: Room) -> tuple[tuple[Change, ...], str]:
            await self._house.is_changed(room)
            span = comparing.Span(self._of(room, since) if since else None, self._of(room, until) if until else None)
            return await asyncio.to_thread(comparing.compare, self._house, room, span, paths, is_text=is_text)

        return await self._held(workspace, compared)

    def _of(self, room: Room, id: str) -> Point:
        """A checkpoint of the family."""
        point = self._house.point(id)
        other = self._house.index.room(point.workspace)
        if other is None or other.family != room.family:
            raise BadInput(f"checkpoint {id} is of another directory than workspace {room.id}")
        return point

    def _shown(self, room: Room) -> Workspace:
        try:
            is_changed = self._house.is_written(room)
        except OSError:
            is_changed = False
        return Workspace(
            id=WorkspaceId(room.id), name=room.name, base=self._house.index.family(room.family).base, head=CheckpointId(room.head),
            forked_from=CheckpointId(room.forked_from) if room.forked_from else None, engine=room.engine, is_changed=is_changed,
        )  # fmt: skip
