"""What all operations stand on: the index, the layers, the open grounds; and the one way in which a workspace moves to another checkpoint.

To move is: make a new, empty live layer; put it with the layers of the goal in place, if the workspace is open; commit, in one transaction,
everything that makes it count. What was live before is frozen as a checkpoint in the same transaction, or, if it is empty, dropped. A crash
before the commit leaves the old state and a stray directory. Whoever calls holds the lock of the family, so nothing else moves meanwhile.

A checkpoint alone moves nothing if a program holds the tree: that one would go on in the old tree and see nothing that is done later.
The live layer stays live then, over the checkpoint that it lies on (`footing`), and the checkpoint has a copy of it (`snapshot.py`). The
first one after the program has gone freezes the live layer itself. Going elsewhere exchanges the tree, whoever holds it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import JsonValue

from daimon.abi.errors import NotFound, ToolFailed
from daimon.abi.ports import Clock
from daimon.sandbox.ground import Ground, Stack
from daimon.sandbox.workspace import snapshot, squash, stamps
from daimon.sandbox.workspace.index import Index
from daimon.sandbox.workspace.rows import Change, Engine, Layer, Plan, Point, Room, What
from daimon.sandbox.workspace.shelf import Shelf
from daimon.sandbox.workspace.snapshot import Copied, Last, Most
from daimon.sandbox.workspace.stack import Sheet, View

MOST_LAYERS = 400
"""The kernel takes 500."""
LIMIT = 20_000 << 20
NOT_COPIED = "something held the old files and is on them still: they could not be copied, {}"
Rotate = Callable[[Room, Stack], Awaitable[bool | None]]


@dataclass(frozen=True, slots=True)
class Commit:
    """What counts from one moment on."""

    frozen: Point | None = None
    """The checkpoint that what was live becomes."""
    points: tuple[Point, ...] = ()
    changes: tuple[Change, ...] = ()
    layers: tuple[Layer, ...] = ()
    also: Callable[[], None] = field(default=lambda: None)


@dataclass(slots=True)
class Open:
    """A workspace that somebody works in."""

    ground: Ground
    gather: Callable[[], Awaitable[None]] | None = None
    """Brings what was done into the live layer, where the ground does not do so by itself."""


class House:
    def __init__(self, root: Path, index: Index, clock: Clock, engine: Engine = "overlay", most_layers: int = MOST_LAYERS) -> None:
        self.root = root
        self.index = index
        self.clock = clock
        self.engine: Engine = engine
        """Of new workspaces."""
        self.most_layers = most_layers
        self.most = Most()
        """Of what is copied."""
        self.open: dict[str, Open] = {}
        self.limit = LIMIT
        """Bytes that all layers may take on the disk."""
        self.shared: dict[str, int] = {}
        """By family: bytes that its layers have in common, as of the last exact look. Forgotten when one of them goes."""
        self._shelves: dict[str, Shelf] = {}
        self._squashing: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    # looking

    def shelf(self, family: str) -> Shelf:
        if family not in self._shelves:
            self._shelves[family] = Shelf(str(self.root / family), self.index.family(family).base)
        return self._shelves[family]

    def forget(self, family: str) -> None:
        self._shelves.pop(family, None)

    def room(self, id: str) -> Room:
        if (found := self.index.room(id)) is None:
            raise NotFound(f"there is no workspace {id}")
        return found

    def point(self, id: str) -> Point:
        if (found := self.index.point(id)) is None:
            raise NotFound(f"there is no checkpoint {id}; it may have been thinned out or discarded")
        return found

    def footing(self, room: Room) -> Point:
        """What the live layer lies on."""
        return self.point(room.footing)

    def is_written(self, room: Room) -> bool:
        """Is there something that the head does not have?"""
        if room.under is None:
            return not self.shelf(room.family).is_empty(room.live)
        return bool(self.since_copy(room))

    def since_copy(self, room: Room) -> set[str]:
        """Paths of the live layer that are not surely as the head's copy of it has them."""
        shelf, copy = self.shelf(room.family), self.point(room.head).stack[0]
        then = shelf.stamps(copy)
        if then is None:
            then = dict.fromkeys(shelf.sheet(Layer(copy, room.family)).manifest.items)
        return stamps.different(then, stamps.taken(shelf.tree(room.live)))

    def layers(self, family: str, point: Point) -> tuple[str, ...]:
        """Of a checkpoint, topmost first, down to the base as it is now."""
        return (*point.stack, *self.index.reverses(family, point.generation))

    def sheets(self, family: str, point: Point) -> tuple[Sheet, ...]:
        shelf, rows = self.shelf(family), self.index.layers(family)
        return tuple(shelf.sheet(rows[name]) for name in self.layers(family, point))

    @contextmanager
    def view(self, family: str, point: Point | None, *above: Sheet) -> Iterator[View]:
        """As it was at a checkpoint, or the base; with further layers on top."""
        with self.shelf(family).view((*above, *(self.sheets(family, point) if point else ()))) as found:
            yield found

    def notes(self, family: str, *points: Point) -> tuple[str, ...]:
        names = [name for point in points for name in point.stack]
        if not (late := self.shelf(family).late(names)):
            return ()
        return (f"written after the checkpoint was made, by something that was still running: {some(late)}",)

    # moving

    async def is_changed(self, room: Room) -> bool:
        if (opened := self.open.get(room.id)) is not None and opened.gather is not None:
            await opened.gather()
        return await asyncio.to_thread(self.is_written, room)

    def new_point(self, room: Room, parent: Point, why: str, stack: tuple[str, ...]) -> Point:
        return Point(
            number=self.index.number("c"), workspace=room.id, parent=parent.id, generation=parent.generation, stack=stack, why=why,
            at=self.clock.now(),
        )  # fmt: skip

    def change(self, room: Room, kind: What, before: Point, after: Point) -> Change:
        return Change(number=self.index.number("k"), workspace=room.id, kind=kind, before=before.id, after=after.id, plan=Plan())

    async def freezing(self, room: Room, why: str, state: JsonValue = None) -> tuple[Point, Commit]:
        """The checkpoint that the live layer will become, and what must be committed for that. If it is empty: the head, and nothing."""
        head = self.point(room.head)
        if not await self.is_changed(room):
            return head, Commit()
        below = await self._shortened(room, self.footing(room))
        frozen = replace(self._frozen(room, below, why), state=state)
        return frozen, Commit(frozen=frozen, changes=(self.change(room, "work", head, frozen),))

    def _frozen(self, room: Room, below: Point, why: str) -> Point:
        return replace(self.new_point(room, below, why, (room.live, *below.stack)), parent=room.head)

    async def freeze(self, room: Room, why: str, state: JsonValue = None) -> tuple[Room, Point]:
        point, commit = await self.freezing(room, why, state)
        if commit.frozen is not None:
            return await self._freeze(room, point, commit)
        if state is None or state == point.state:
            return room, point
        again = replace(point, number=self.index.number("c"), workspace=room.id, parent=point.id, why=why, at=self.clock.now(), state=state)
        moved = replace(room, head=again.id)
        await asyncio.to_thread(self.commit, moved, Commit(points=(again,)))
        return moved, again

    async def _freeze(self, room: Room, point: Point, commit: Commit) -> tuple[Room, Point]:
        moved = await self._landed(room, point, commit, self._try_rotate)
        if moved is None:
            try:
                return await self._copied(room, point, commit)
            except OSError as failure:
                point = replace(point, why=f"{point.why} ({NOT_COPIED.format(failure.strerror or failure)})")
                moved = await self.land(room, point, replace(commit, frozen=point))
        self._squash_later(room.family, point.stack)
        return moved[0], replace(point, sealed=moved[1])

    async def restack(self, room: Room) -> None:
        """The same files on fewer layers, if a squash has made some. Nothing is done where something holds the tree, or is new in it."""
        head = self.point(room.head)
        short = squash.shortest(head.stack, self.index.layers(room.family))
        if room.under is not None or short == head.stack or await self.is_changed(room):
            return
        point = replace(self._frozen(room, replace(head, stack=short), "on fewer layers, for want of room"), state=head.state)
        await self._landed(room, point, Commit(frozen=point), self._try_rotate)

    async def _copied(self, room: Room, point: Point, commit: Commit) -> tuple[Room, Point]:
        """The live layer stays where it is."""
        name, shelf = f"l{self.index.number('l')}", self.shelf(room.family)
        made = await asyncio.to_thread(self._copy, room, name)
        copy = replace(point, stack=(name, *point.stack[1:]), sealed=made.is_whole)
        moved, row = replace(room, head=copy.id, under=room.footing), Layer(name, room.family)
        try:
            await asyncio.to_thread(self.commit, moved, Commit(points=(copy,), changes=commit.changes, layers=(row,)))
        except BaseException:
            await asyncio.to_thread(shelf.remove, name)
            raise
        self.later(shelf.settle, row)
        self._squash_later(room.family, copy.stack[1:])
        return moved, copy

    def _copy(self, room: Room, name: str) -> Copied:
        shelf = self.shelf(room.family)
        last = self.point(room.head).stack[0] if room.under is not None else None
        known = shelf.stamps(last) if last is not None else None
        linked = Last(shelf.tree(last), known) if last is not None and known is not None else None
        made = snapshot.copied(shelf, room.live, name, linked, self.most)
        shelf.keep_stamps(name, made.stamps, last)
        shelf.note(name, shelf.noted(room.live))
        return made

    async def land(self, room: Room, head: Point, commit: Commit) -> tuple[Room, bool]:
        """Moves a workspace onto a checkpoint. False: something may still write into what was live."""
        moved = await self._landed(room, head, commit, self._rotate)
        assert moved is not None
        return moved

    async def _landed(self, room: Room, head: Point, commit: Commit, rotate: Rotate) -> tuple[Room, bool] | None:
        """None: something holds the tree, and nothing was changed."""
        live = f"l{self.index.number('l')}"
        shelf = self.shelf(room.family)
        await asyncio.to_thread(self._make, room.family, head, live)
        try:
            is_sealed = await rotate(room, Stack(live, self.layers(room.family, head)))
            if is_sealed is None:
                await asyncio.to_thread(shelf.remove, live)
                return None
            commit = await asyncio.to_thread(self._kept, room, commit)
            moved = replace(room, head=head.id, live=live, under=None)
            await self._counts(room, moved, self._sealed(room, commit, is_sealed))
        except BaseException:
            await asyncio.to_thread(shelf.remove, live)
            raise
        if commit.frozen is None and is_sealed:
            await asyncio.to_thread(self._dropped, room)
        elif commit.frozen is not None:
            self.later(shelf.settle, Layer(room.live, room.family, is_sealed))
        return moved, is_sealed

    def _kept(self, room: Room, commit: Commit) -> Commit:
        """What a program wrote between the look at the live layer and now is a checkpoint too."""
        if commit.frozen is not None or not self.is_written(room):
            return commit
        return replace(commit, frozen=self._frozen(room, self.footing(room), "written while the workspace moved"))

    async def _counts(self, room: Room, moved: Room, commit: Commit) -> None:
        """What is in place must be what the index says: if it cannot be written there, the old layers are put back."""
        try:
            await asyncio.to_thread(self.commit, moved, commit, Layer(moved.live, room.family, sealed=False))
        except Exception:
            await self._rotate(room, self.stack(room))
            raise

    def stack(self, room: Room) -> Stack:
        return Stack(room.live, self.layers(room.family, self.footing(room)))

    def _make(self, family: str, head: Point, live: str) -> None:
        shelf = self.shelf(family)
        layers = self.layers(family, head)
        mode = Path(shelf.tree(layers[0]) if layers else shelf.base.path).stat().st_mode & 0o7777
        shelf.make(live, mode)

    async def _rotate(self, room: Room, stack: Stack) -> bool:
        opened = self.open.get(room.id)
        return opened is None or await self._put(room, stack, opened.ground.rotate)

    async def _try_rotate(self, room: Room, stack: Stack) -> bool | None:
        """None: something holds the tree."""
        opened = self.open.get(room.id)
        return opened is None or await self._put(room, stack, opened.ground.try_rotate) or None

    async def _put(self, room: Room, stack: Stack, rotate: Callable[[Stack], Awaitable[bool]]) -> bool:
        if len(stack.frozen) >= self.most_layers:
            raise ToolFailed(
                "workspace", f"{room.id} has {len(stack.frozen)} layers, more than can be put in place; go to a newer checkpoint"
            )
        try:
            return await rotate(stack)
        except OSError as failure:
            raise ToolFailed("workspace", f"the layers of {room.id} cannot be put in place: {failure}; nothing was changed") from failure

    def _sealed(self, room: Room, commit: Commit, is_sealed: bool) -> Commit:
        if commit.frozen is None:
            return commit
        point = replace(commit.frozen, sealed=is_sealed)
        return replace(commit, points=(*commit.points, point), layers=(*commit.layers, Layer(room.live, room.family, is_sealed)))

    def commit(self, room: Room, commit: Commit, live: Layer | None = None) -> None:
        with self.index.transaction():
            old = self.index.room(room.id)
            if live is not None and commit.frozen is None and old is not None:
                self.index.drop("layers", "name", old.live)
            for layer in (*commit.layers, *((live,) if live else ())):
                self.index.put_layer(layer)
            for point in commit.points:
                self.index.put_point(point)
            for change in commit.changes:
                self.index.put_change(change)
            self.index.put_room(room)
            commit.also()

    def _dropped(self, room: Room) -> None:
        """A layer that was empty, or that there is a copy of. Whatever is left of it, or held, is removed at the next start."""
        with suppress(OSError):
            self.shelf(room.family).remove(room.live)

    # in the background

    async def _shortened(self, room: Room, head: Point) -> Point:
        """The same checkpoint with fewer layers, if a squash has made one of many, or must do so now."""
        short = replace(head, stack=squash.shortened(head.stack, self.index.layers(room.family)))
        layers = self.layers(room.family, short)
        if len(layers) < self.most_layers - 1:
            return short
        await asyncio.to_thread(self.squash, room.family, layers, is_forced=True)
        whole = squash.shortened(layers, self.index.layers(room.family))
        return replace(short, stack=whole, generation=self.index.family(room.family).generation)

    def _squash_later(self, family: str, stack: tuple[str, ...]) -> None:
        if len(stack) >= squash.AT and family not in self._squashing:
            self._squashing.add(family)
            self.later(self.squash, family, stack)

    def squash(self, family: str, stack: tuple[str, ...], *, is_forced: bool = False) -> None:
        """Makes one layer of many; it counts for checkpoints that are made from then on. Forced: of all, whoever may write into them."""
        try:
            rows, shelf = self.index.layers(family), self.shelf(family)
            old = stack if is_forced else squash.sealed_end(stack, rows)
            if len(old) < 2:
                return
            name = f"l{self.index.number('l')}"
            squash.squash(shelf, tuple(shelf.sheet(rows[each]) for each in old), name)
            with self.index.transaction():
                self.index.put_layer(Layer(name, family, replaces=old))
        finally:
            self._squashing.discard(family)

    def seal(self, family: str) -> None:
        """Nobody works in this family any more: what somebody might have written into is what it is from now on."""
        live = {room.live for room in self.index.rooms(family)}
        for row in self.index.layers(family).values():
            if not row.sealed and row.name not in live:
                self.shelf(family).sheet(row)
                with self.index.transaction():
                    self.index.put_layer(replace(row, sealed=True, size=None))

    def later(self, work: Callable[..., None], *arguments: object) -> None:
        task = asyncio.create_task(self._quietly(work, *arguments))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _quietly(self, work: Callable[..., None], *arguments: object) -> None:
        """What fails here is done again when it is needed, and then said."""
        with suppress(OSError, KeyError):
            await asyncio.to_thread(work, *arguments)

    async def settle(self) -> None:
        while self._tasks:
            await asyncio.gather(*self._tasks)


def some(paths: list[str], most: int = 5) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(paths[:most]) + more
