"""What a workspace changed is written into the owner's directory, and can be taken back.

First everything is looked at: each path must still be what a layer found there, or nothing at all is done. Then a *reverse layer* is built
that shows what the owner has now; it is on disk, and a new generation of the base begins, before the first file is written. All older
checkpoints, of this workspace and its forks, lie on that layer from then on, so that they show what they always showed, whatever is half
written below. When all is written the workspace goes on over the new base, with what was left out in a layer.

A crash between leaves a change that has begun. It is carried on at the next start: everything that it needs is in the layers. To undo an
apply is the same again with its reverse layer as what is wanted.
"""

import asyncio
import secrets
from dataclasses import replace

from daimon.abi.errors import ToolFailed
from daimon.abi.workspace import Outcome
from daimon.sandbox.workspace import course, layer
from daimon.sandbox.workspace.build import Builder, Piece, mode_in, piece_of
from daimon.sandbox.workspace.draft import Draft, Pile, drafted, replaced_by, taking_back, wanted_by
from daimon.sandbox.workspace.house import Commit, House, some
from daimon.sandbox.workspace.rows import Change, Layer, Plan, Point, Room
from daimon.sandbox.workspace.stack import View
from daimon.sandbox.workspace.writer import Step, Writer


async def apply(house: House, room: Room, paths: tuple[str, ...], *, with_programs: bool) -> Outcome:
    room, head = await house.freeze(room, "before an apply")
    pile = await asyncio.to_thread(Pile.of, house, room, head)
    draft = await asyncio.to_thread(drafted, house, room, pile, paths, with_programs=with_programs)
    late = await asyncio.to_thread(house.notes, room.family, head)
    where = house.shelf(room.family).base.path
    said = replace(course.outcome("apply", room, head, head), left_out=tuple(draft.left), notes=late, where=where)
    if draft.conflicts:
        return replace(said, conflicts=tuple(draft.conflicts))
    if not draft.wanted:
        return replace(said, notes=(*said.notes, "there is nothing to apply"))
    begun = await asyncio.to_thread(_begin, house, room, head, draft)
    refreshed = await _refresh(house, room)
    skipped = await asyncio.to_thread(write, house, room.family, begun)
    after, still = await _end(house, room, begun)
    return replace(
        said, after=course.outcome("apply", room, head, after).after, changes=tuple(draft.changes),
        notes=(*said.notes, *refreshed, *skipped, *still),
    )  # fmt: skip


async def undo(house: House, room: Room, change: Change) -> Outcome:
    head, goal = house.point(room.head), house.point(change.before)
    draft = await asyncio.to_thread(taking_back, house, room, change)
    said = replace(course.outcome("undo", room, head, goal), of="apply", where=house.shelf(room.family).base.path)
    if not draft.wanted and not draft.conflicts:
        return await course.undo_move(house, room, change)
    if draft.conflicts:
        return replace(said, after=said.before, conflicts=tuple(draft.conflicts))
    begun = await asyncio.to_thread(_begin, house, room, head, draft, change.number)
    refreshed = await _refresh(house, room)
    skipped = await asyncio.to_thread(write, house, room.family, begun)
    _, still = await _end(house, room, begun)
    return replace(said, changes=tuple(draft.changes), notes=(*refreshed, *skipped, *still))


def _begin(house: House, room: Room, head: Point, draft: Draft, undoes: int | None = None) -> Change:
    """Builds what is needed to go back and to go on; when it returns, the change has begun for good."""
    index, shelf = house.index, house.shelf(room.family)
    reverse, rest = f"l{index.number('l')}", f"l{index.number('l')}" if draft.rest else None
    with shelf.view(()) as base, house.view(room.family, head) as now:
        _build(house, room, reverse, {path: piece_of(base, path) for path in draft.wanted}, base)
        if rest is not None:
            _build(house, room, rest, draft.rest, now)
            shelf.note(rest, {path: draft.known[path] for path in draft.rest if path in draft.known})
    family = index.family(room.family)
    newer = replace(family, generation=family.generation + 1)
    begun = Change(
        number=index.number("k"), workspace=room.id, kind="apply", before=head.id, after=head.id, state="begun", layer=reverse,
        plan=Plan(tuple(draft.wanted), tuple(draft.left), rest, f".daimon-{secrets.token_hex(8)}.part"), undoes=undoes,
    )  # fmt: skip
    with index.transaction():
        index.put_family(newer)
        index.put_generation(family.id, newer.generation, reverse)
        for name in (reverse, rest):
            if name is not None:
                index.put_layer(Layer(name, family.id))
        index.put_change(begun)
    return begun


def _build(house: House, room: Room, name: str, wanted: dict[str, Piece | None], below: View) -> None:
    shelf = house.shelf(room.family)
    shelf.make(name, below.top_mode())
    Builder(shelf.tree(name), mode_in(below), shelf.owner()).build(wanted)
    layer.sync(shelf.path(name))


async def _refresh(house: House, room: Room) -> tuple[str, ...]:
    """Whoever else works over the same base gets the reverse layer underneath, before anything changes there."""
    notes: list[str] = []
    for other in house.index.rooms(room.family):
        if other.id == room.id or other.id not in house.open:
            continue
        try:
            point, commit = await house.freezing(other, "before an apply elsewhere")
            _, is_sealed = await house.land(other, point, commit)
            if not is_sealed:
                notes.append(f"{other.name}: {course.STILL}")
        except ToolFailed as failure:
            notes.append(f"{other.name} must be opened again to be seen as it was: {failure}")
    return tuple(notes)


def write(house: House, family: str, begun: Change) -> tuple[str, ...]:
    """Can be done again."""
    shelf = house.shelf(family)
    wanted, before = wanted_by(house, family, begun), replaced_by(house, family, begun)
    steps = [Step(path, piece.entry if (piece := before[path]) else None, wanted[path]) for path in begun.plan.paths]
    with shelf.base.opened() as top:
        writer = Writer(shelf.base, top, begun.plan.part)
        try:
            writer.write(steps)
        except OSError as failure:
            said = f"the disk of {shelf.base.path} is full, and an apply is half written; free some room, then it is carried on"
            raise ToolFailed("disk_full", said, retryable=True) from failure
    skipped = sorted({*writer.skipped})
    return (f"left as they are, since you changed them meanwhile or they cannot be written: {some(skipped)}",) if skipped else ()


async def _end(house: House, room: Room, begun: Change) -> tuple[Point, tuple[str, ...]]:
    """The workspace goes on over the new base, or, when an apply was taken back, where it was before that."""
    head, commit = ended(house, room, begun)
    _, is_sealed = await house.land(room, head, commit)
    return head, () if is_sealed else (course.STILL,)


def ended(house: House, room: Room, begun: Change) -> tuple[Point, Commit]:
    if begun.undoes is not None:
        undone = house.index.change(begun.undoes)
        assert undone is not None
        rows = (replace(undone, undone=True), replace(begun, state="done", undone=True))
        return house.point(undone.before), Commit(changes=rows)
    before, head = house.point(begun.before), house.point(room.head)
    since = head.stack[: len(head.stack) - len(before.stack)]
    if (*since, *before.stack) != head.stack or head.generation != before.generation:
        return head, Commit(changes=(replace(begun, state="done", after=head.id),))  # it has gone elsewhere meanwhile, and stays there
    made = house.new_point(room, head, "applied", (*since, *((begun.plan.rest,) if begun.plan.rest else ())))
    made = replace(made, generation=house.index.family(room.family).generation, state=head.state)
    return made, Commit(points=(made,), changes=(replace(begun, state="done", after=made.id),))


async def recover(house: House, family: str) -> tuple[str, ...]:
    """Carries on what a crash or a full disk interrupted."""
    notes: list[str] = []
    for begun in house.index.begun():
        room = house.room(begun.workspace)
        if room.family != family:
            continue
        room, _ = await house.freeze(room, "before an apply is carried on")
        skipped = await asyncio.to_thread(write, house, room.family, begun)
        await _end(house, room, begun)
        notes += [f"an apply of {room.name} that was interrupted has been carried on", *skipped]
    return tuple(notes)
