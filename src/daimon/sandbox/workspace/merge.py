"""What a fork did becomes part of another workspace of its family.

The origin is the newest checkpoint that both come from. A path that only one side changed since is taken from there; changed on both sides
to the same is no question; text whose edits do not touch is put together line by line (`lines.py`). Anything else is a conflict, is named,
and then nothing at all is changed. The result is one new layer over where the target was, or, where that has not moved since the origin,
the fork's own layers.
"""

import asyncio
from dataclasses import dataclass, field, replace

from daimon.abi.errors import BadInput
from daimon.abi.workspace import Change, Conflict, Entry, Outcome
from daimon.sandbox.workspace import course, diff, layer, lines
from daimon.sandbox.workspace.build import Builder, Piece, mode_in, piece_of
from daimon.sandbox.workspace.house import Commit, House
from daimon.sandbox.workspace.rows import Layer, Point, Room
from daimon.sandbox.workspace.stack import View

LARGEST = 4 << 20
"""Bytes of a text that is merged by lines."""


@dataclass(slots=True)
class Plan:
    wanted: dict[str, Piece | None] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Sides:
    origin: View
    ours: View
    theirs: View


async def merge(house: House, fork: Room, into: Room) -> Outcome:
    if fork.family != into.family or fork.id == into.id:
        raise BadInput(f"{fork.id} and {into.id} are not two workspaces of one directory, so there is nothing to merge")
    _, theirs = await house.freeze(fork, f"before it is merged into {into.name}")
    into, ours = await house.freeze(into, f"before {fork.name} is merged")
    origin = origin_of(house, ours, theirs)
    start = course.outcome("merge", into, ours, ours)
    if theirs.id == origin.id or is_like(theirs, origin):
        return replace(start, notes=(f"{fork.name} has nothing that is not here already",))
    if is_like(ours, origin):
        made = replace(house.new_point(into, ours, f"{fork.name} merged", theirs.stack), generation=theirs.generation, sealed=theirs.sealed)
        return await _landed(house, into, (ours, replace(made, merged=theirs.id)), ())
    name = f"l{house.index.number('l')}"
    plan = await asyncio.to_thread(_planned, house, into, (origin, ours, theirs), name)
    if plan.conflicts:
        late = await asyncio.to_thread(house.notes, into.family, ours, theirs)
        return replace(start, conflicts=tuple(plan.conflicts), notes=late)
    if not plan.wanted:
        return replace(start, notes=(f"{fork.name} has nothing that is not here already",))
    made = house.new_point(into, ours, f"{fork.name} merged", (name, *ours.stack))
    return await _landed(house, into, (ours, replace(made, merged=theirs.id)), (Layer(name, into.family),))


async def _landed(house: House, into: Room, way: tuple[Point, Point], layers: tuple[Layer, ...]) -> Outcome:
    before, made = way[0], replace(way[1], state=way[0].state)
    commit = Commit(points=(made,), changes=(house.change(into, "merge", before, made),), layers=layers)
    _, is_sealed = await house.land(into, made, commit)
    return await course.told(house, into, "merge", way, is_sealed)


def is_like(one: Point, other: Point) -> bool:
    return one.generation == other.generation and one.stack == other.stack


def origin_of(house: House, ours: Point, theirs: Point) -> Point:
    """The newest checkpoint that both come from. Where that is gone: as many layers as they still share."""
    here, there = _ancestors(house, ours), _ancestors(house, theirs)
    if common := here.keys() & there.keys():
        return here[max(common)]
    one, other = [*ours.stack], [*theirs.stack]
    shared: list[str] = []
    while one and other and one[-1] == other[-1] and ours.generation == theirs.generation:
        shared.insert(0, one.pop())
        other.pop()
    return replace(ours, number=0, stack=tuple(shared), generation=max(ours.generation, theirs.generation))


def _ancestors(house: House, point: Point) -> dict[int, Point]:
    found: dict[int, Point] = {}
    pending = [point]
    while pending:
        each = pending.pop()
        if each.number in found:
            continue
        found[each.number] = each
        above = (house.index.point(id) for id in (each.parent, each.merged) if id)
        pending += [other for other in above if other is not None]
    return found


def _planned(house: House, into: Room, points: tuple[Point, Point, Point], name: str) -> Plan:
    """Builds the layer, if there is anything in it and no conflict."""
    family = into.family
    with house.view(family, points[0]) as origin, house.view(family, points[1]) as ours, house.view(family, points[2]) as theirs:
        plan = compared(Sides(origin, ours, theirs))
        if plan.wanted and not plan.conflicts:
            shelf = house.shelf(family)
            shelf.make(name, ours.top_mode())
            Builder(shelf.tree(name), mode_in(ours), shelf.owner()).build(plan.wanted)
            layer.sync(shelf.path(name))
    return plan


def compared(sides: Sides) -> Plan:
    plan = Plan()
    here = {change.path: change for change in diff.changes(sides.origin, sides.ours)}
    there = {change.path: change for change in diff.changes(sides.origin, sides.theirs)}
    for path, change in there.items():
        mine = here.get(path)
        if mine is None:
            if why := _is_in_the_way(change, here):
                plan.conflicts.append(Conflict(path, why))
            plan.wanted[path] = piece_of(sides.theirs, path)
        elif not diff.is_same(mine.after, change.after):
            _both(sides, plan, mine, change)
    return plan


def _is_in_the_way(change: Change, here: dict[str, Change]) -> str:
    """Something that is not at this path, but above or below it."""
    if change.after is None or change.after.kind != "directory":
        if change.before is not None and change.before.kind == "directory":
            kept = next((path for path, mine in here.items() if path.startswith(f"{change.path}/") and mine.after is not None), None)
            if kept is not None:
                return f"removed there, and {kept} changed here"
        if change.after is None:
            return ""
    parts = change.path.split("/")
    for number in range(1, len(parts)):
        above = here.get("/".join(parts[:number]))
        if above is not None and (above.after is None or above.after.kind != "directory"):
            return f"changed there, and {above.path} is {'removed' if above.after is None else f'a {above.after.kind}'} here"
    return ""


def _both(sides: Sides, plan: Plan, mine: Change, theirs: Change) -> None:
    path = theirs.path
    if mine.after is None or theirs.after is None:
        plan.conflicts.append(Conflict(path, "removed here, changed there" if mine.after is None else "changed here, removed there"))
    elif mine.after.kind != theirs.after.kind:
        plan.conflicts.append(Conflict(path, f"a {mine.after.kind} here, a {theirs.after.kind} there"))
    elif mine.after.kind == "directory":
        _mode_alone(plan, mine, theirs)
    elif mine.after.kind != "file":
        plan.conflicts.append(Conflict(path, f"changed in both, a {mine.after.kind}"))
    else:
        _by_lines(sides, plan, mine, theirs)


def _mode_alone(plan: Plan, mine: Change, theirs: Change) -> None:
    assert mine.after is not None
    assert theirs.after is not None
    mode = _mode(mine, theirs)
    if mode is None:
        plan.conflicts.append(Conflict(theirs.path, "its permissions changed in both"))
    else:
        plan.wanted[theirs.path] = Piece(replace(theirs.after, mode=mode))


def _mode(mine: Change, theirs: Change) -> int | None:
    """Whichever side changed it. None: both did, differently."""
    assert mine.after is not None
    assert theirs.after is not None
    before = mine.before.mode if mine.before is not None else None
    if mine.after.mode in (theirs.after.mode, before):
        return theirs.after.mode
    return mine.after.mode if theirs.after.mode == before else None


def _by_lines(sides: Sides, plan: Plan, mine: Change, theirs: Change) -> None:
    path, mode = theirs.path, _mode(mine, theirs)
    if mode is None:
        plan.conflicts.append(Conflict(path, "its permissions changed in both"))
        return
    views = (sides.origin, mine.before), (sides.ours, mine.after), (sides.theirs, theirs.after)
    texts = [_text(view, path, entry) for view, entry in views]
    origin, ours, other = texts
    if origin is None or ours is None or other is None:
        plan.conflicts.append(Conflict(path, "changed in both, and no text that can be merged: binary, or large, or made in both"))
        return
    together = lines.merged(origin, ours, other)
    if together is None:
        plan.conflicts.append(Conflict(path, "changed in both, at the same lines"))
        return
    data = together.encode("utf-8", "surrogateescape")
    plan.wanted[path] = Piece(Entry("file", mode, len(data)), data=data)


def _text(view: View, path: str, entry: Entry | None) -> str | None:
    if entry is None or entry.kind != "file" or entry.size > LARGEST:
        return None
    with view.file(path) as file:
        data = file.read(LARGEST + 1)
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")
