"""What a workspace changed is written into the owner's directory, and can be taken back.

First everything is looked at: each path must still be what a layer found there, or nothing at all is done. Then a *reverse layer* is built
that shows what the owner has now; it is on disk, and a new generation of the base begins, before the first file is written. All older
checkpoints, of this workspace and its forks, lie on that layer from then on, so that they show what they always showed, whatever is half
written below. When all is written the workspace goes on over the new base, with what was left out in a layer.

A crash between leaves a change that has begun. It is carried on at the next start: everything that it needs is in the layers. To undo an
apply is the same again with its reverse layer as what is wanted.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from daimon.abi.errors import BadInput, ToolFailed
from daimon.abi.workspace import Change as Difference
from daimon.abi.workspace import Conflict, Outcome
from daimon.sandbox.workspace import course, diff, layer, place, programs, underneath
from daimon.sandbox.workspace.build import Builder, Piece
from daimon.sandbox.workspace.comparing import is_at
from daimon.sandbox.workspace.house import Commit, House
from daimon.sandbox.workspace.manifest import Identity, identity
from daimon.sandbox.workspace.merge import mode_in, piece_of
from daimon.sandbox.workspace.rows import Change, Layer, Plan, Point, Room
from daimon.sandbox.workspace.stack import View
from daimon.sandbox.workspace.writer import Step, Writer, plain, ways

YOURS = "you changed it in your directory since"
OTHERS = "another apply changed it in your directory since; undo that one, or merge what it had first"


@dataclass(slots=True)
class Draft:
    """What is to be done, and what forbids it."""

    wanted: dict[str, Piece | None] = field(default_factory=dict)
    changes: list[Difference] = field(default_factory=list)
    rest: dict[str, Piece | None] = field(default_factory=dict)
    """What stays in the workspace alone."""
    left: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


async def apply(house: House, room: Room, paths: tuple[str, ...], *, with_programs: bool) -> Outcome:
    room, head = await house.freeze(room, "before an apply")
    draft = await asyncio.to_thread(_drafted, house, room, head, paths, with_programs=with_programs)
    said = replace(course.outcome("apply", room, head, head), left_out=tuple(draft.left), notes=house.notes(room.family, head))
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
    draft = await asyncio.to_thread(_reversed, house, room, change)
    said = course.outcome("undo", room, head, goal)
    if draft.conflicts:
        return replace(said, after=said.before, conflicts=tuple(draft.conflicts))
    begun = await asyncio.to_thread(_begin, house, room, head, draft, change.number)
    refreshed = await _refresh(house, room)
    skipped = await asyncio.to_thread(write, house, room.family, begun)
    _, still = await _end(house, room, begun)
    return replace(said, changes=tuple(draft.changes), notes=(*refreshed, *skipped, *still))


# looking


def _drafted(house: House, room: Room, head: Point, paths: tuple[str, ...], *, with_programs: bool) -> Draft:
    """What the workspace's own layers changed over what lies below them."""
    draft = Draft()
    sheets = house.sheets(room.family, head)
    shelf = house.shelf(room.family)
    with shelf.view(sheets) as now, shelf.view(sheets[len(head.stack) :]) as below:
        found = {change.path: change for change in diff.changes(below, now)}
        taken = _taken(found, paths)
        for path, change in found.items():
            if path in taken and not _is_left(draft, change, now, with_programs=with_programs):
                draft.wanted[path] = piece_of(now, path)
                draft.changes.append(change)
            else:
                draft.rest[path] = piece_of(now, path)
        _check(draft, now, below, underneath.known(sheets[: len(head.stack)]))
    return draft


def _taken(found: dict[str, Difference], paths: tuple[str, ...]) -> set[str]:
    """With the directories that they need."""
    chosen = {path for path in found if is_at(path, paths)}
    if paths and not chosen:
        raise BadInput(f"nothing changed at {', '.join(paths)}")
    on_the_way = {way for path in chosen if found[path].after is not None for way in ways(path) if way in found}
    return chosen | {way for way in on_the_way if found[way].after is not None}


def _is_left(draft: Draft, change: Difference, now: View, *, with_programs: bool) -> bool:
    is_below = any(way in draft.left for way in ways(change.path))
    is_special = change.after is not None and change.after.kind == "other"
    if is_below or is_special or (not with_programs and programs.is_program(change.path, now)):
        draft.left.append(change.path)
        return True
    return False


def _check(draft: Draft, now: View, below: View, known: Mapping[str, Identity | None]) -> None:
    ours = {path for sheet in below.sheets for path, item in sheet.manifest.items.items() if item.kind != "directory"}
    for path, piece in [*draft.wanted.items()]:
        current = now.base.entry(now.top, path)
        if diff.is_same(plain(current), plain(piece.entry if piece else None)):
            continue
        if path in ours:
            if not diff.is_same(plain(below.entry(path)), plain(current)):
                draft.conflicts.append(Conflict(path, OTHERS))
        elif path not in known or identity(place.about(now.top, path)) != known[path]:
            draft.conflicts.append(Conflict(path, YOURS))
        elif why := _no_way(draft, now, path):
            draft.conflicts.append(Conflict(path, why))


def _no_way(draft: Draft, now: View, path: str) -> str:
    """Why it cannot be written there."""
    last = ""
    for way in ways(path):
        seen = place.about(now.top, way)
        if seen is not None and place.kind_of(seen) == "directory":
            last = way
        elif draft.wanted.get(way) is None:
            return f"{way} is no directory any more"
    with place.directory(now.top, last) as inner:
        may_write = os.access(f"/proc/self/fd/{inner}", os.W_OK | os.X_OK, effective_ids=True)
    return "" if may_write else f"the directory {last or now.base.path} may not be written"


def _reversed(house: House, room: Room, change: Change) -> Draft:
    """What brings back what an apply replaced, if it is still what was applied."""
    draft = Draft()
    wanted = _wanted(house, room.family, change)
    back = _back(house, room.family, change)
    with house.shelf(room.family).base.opened() as top:
        base = house.shelf(room.family).base
        for path in change.plan.paths:
            now, applied, piece = base.entry(top, path), wanted[path], back[path]
            draft.wanted[path] = piece
            if diff.is_same(plain(now), plain(piece.entry if piece else None)):
                continue
            if not diff.is_same(plain(now), plain(applied.entry if applied else None)):
                draft.conflicts.append(Conflict(path, YOURS))
            draft.changes.append(Difference(path, now, piece.entry if piece else None))
        added = (path for path in back if back[path] is None)
        draft.conflicts += [Conflict(path, "you put something into it since") for path in added if _has_more(base.path, top, path, back)]
    return draft


def _has_more(base: str, top: int, path: str, back: dict[str, Piece | None]) -> bool:
    seen = place.about(top, path)
    if seen is None or place.kind_of(seen) != "directory":
        return False
    return any(f"{path}/{name}" not in back for name, _ in place.listed(top, path))


# doing


def _begin(house: House, room: Room, head: Point, draft: Draft, undoes: int | None = None) -> Change:
    """Builds what is needed to go back and to go on; when it returns, the change has begun for good."""
    index, shelf = house.index, house.shelf(room.family)
    reverse, rest = f"l{index.number('l')}", f"l{index.number('l')}" if draft.rest else None
    with shelf.view(()) as base, house.view(room.family, head) as now:
        _build(house, room, reverse, {path: piece_of(base, path) for path in draft.wanted}, base)
        if rest is not None:
            _build(house, room, rest, draft.rest, now)
    family = index.family(room.family)
    newer = replace(family, generation=family.generation + 1)
    begun = Change(
        number=index.number("k"), workspace=room.id, kind="apply", before=head.id, after=head.id, state="begun", layer=reverse,
        plan=Plan(tuple(draft.wanted), tuple(draft.left), rest), undoes=undoes,
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
    wanted, before = _wanted(house, family, begun), _back(house, family, begun)
    steps = [Step(path, piece.entry if (piece := before[path]) else None, wanted[path]) for path in begun.plan.paths]
    with shelf.base.opened() as top:
        writer = Writer(shelf.base, top, f".daimon-{begun.number}.part")
        writer.write(steps)
    return (f"left as they are, since you changed them meanwhile: {', '.join(writer.skipped)}",) if writer.skipped else ()


def _wanted(house: House, family: str, change: Change) -> dict[str, Piece | None]:
    """What an apply writes: as the workspace had it, or, for one that takes another back, as that one's reverse layer has it."""
    if change.undoes is not None:
        undone = house.index.change(change.undoes)
        assert undone is not None
        return _back(house, family, undone)
    with house.view(family, house.point(change.before)) as now:
        return {path: piece_of(now, path) for path in change.plan.paths}


def _back(house: House, family: str, change: Change) -> dict[str, Piece | None]:
    """What the owner's directory had before."""
    assert change.layer is not None
    sheet = house.shelf(family).sheet(house.index.layers(family)[change.layer])
    found: dict[str, Piece | None] = {}
    for path in change.plan.paths:
        item = sheet.manifest.items.get(path)
        found[path] = Piece(item.entry(), sheet.tree, path) if item is not None and item.kind != "whiteout" else None
    return found


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


async def recover(house: House, family: str = "") -> tuple[str, ...]:
    """Carries on what a crash or a full disk interrupted: in a family, or everywhere."""
    notes: list[str] = []
    for begun in house.index.begun():
        room = house.room(begun.workspace)
        if family not in ("", room.family):
            continue
        room, _ = await house.freeze(room, "before an apply is carried on")
        skipped = await asyncio.to_thread(write, house, room.family, begun)
        await _end(house, room, begun)
        notes += [f"an apply of {room.name} that was interrupted has been carried on", *skipped]
    return tuple(notes)
