"""What would come of a restore, a merge, an apply or an undo, without doing it.

The deeds themselves begin by making a checkpoint of what is live. A look must not: it would be a change to undo. So what is live is laid
on the checkpoint below it as one more sheet (`Now`), and then the same comparisons are made that the deed makes. What is foreseen is true
for as long as nobody writes; the deed looks again. Whoever calls holds the lock of the family.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import assert_never

from daimon.abi.errors import BadInput
from daimon.abi.workspace import Applying, Deed, Merging, Outcome, Restoring, Undoing
from daimon.abi.workspace import Change as Difference
from daimon.sandbox.workspace import course, diff, merge, underneath
from daimon.sandbox.workspace.draft import Pile, drafted, taking_back
from daimon.sandbox.workspace.house import House
from daimon.sandbox.workspace.rows import Change, Point, Room
from daimon.sandbox.workspace.stack import Sheet


@dataclass(frozen=True, slots=True)
class Now:
    """A workspace as it is: a checkpoint, and what was written since."""

    room: Room
    point: Point
    """What lies below."""
    live: tuple[Sheet, ...]
    """Empty: nothing was written since."""

    def frozen(self, number: int) -> Point:
        """The checkpoint that it would become. No real one has a number below zero."""
        if not self.live:
            return self.point
        stack = (self.room.live, *self.point.stack)
        return replace(self.point, number=number, parent=self.room.head, merged=None, stack=stack, workspace=self.room.id)


async def foresee(house: House, room: Room, deed: Deed) -> Outcome:
    now = await looked(house, room)
    match deed:
        case Restoring(to=to):
            return await asyncio.to_thread(_restored, house, now, house.point(to))
        case Merging(into=into):
            return await asyncio.to_thread(_merged, house, now, await looked(house, house.room(into)))
        case Applying():
            return await asyncio.to_thread(_applied, house, now, deed)
        case Undoing():
            return await asyncio.to_thread(_undone, house, now)
        case _:
            assert_never(deed)


async def looked(house: House, room: Room) -> Now:
    if not await house.is_changed(room):
        return Now(room, house.point(room.head), ())
    return await asyncio.to_thread(_live, house, room)


def _live(house: House, room: Room) -> Now:
    shelf = house.shelf(room.family)
    sheet = shelf.live(room.live, is_hashed=True)
    noted = shelf.noted(room.live)
    sheet.manifest.base.update({path: noted[path] for path in sheet.manifest.base.keys() & noted.keys()})
    return Now(room, house.footing(room), (sheet,))


def _restored(house: House, now: Now, goal: Point) -> Outcome:
    other = house.index.room(goal.workspace)
    if other is None or other.family != now.room.family:
        raise BadInput(f"checkpoint {goal.id} is of another directory than workspace {now.room.id}")
    return _moved(house, now, goal, course.outcome("restore", now.room, house.point(now.room.head), goal))


def _moved(house: House, now: Now, goal: Point, said: Outcome) -> Outcome:
    family = now.room.family
    with house.view(family, now.point, *now.live) as old, house.view(family, goal) as new:
        found = diff.changes(old, new)
    return replace(said, changes=found, notes=(*house.notes(family, goal), *underneath.notes(house, now.room, goal)))


def _merged(house: House, fork: Now, into: Now) -> Outcome:
    if fork.room.family != into.room.family or fork.room.id == into.room.id:
        raise BadInput(f"{fork.room.id} and {into.room.id} are not two workspaces of one directory, so there is nothing to merge")
    family, head = into.room.family, house.point(into.room.head)
    ours, theirs = into.frozen(-1), fork.frozen(-2)
    origin = merge.origin_of(house, ours, theirs)
    said = course.outcome("merge", into.room, head, head)
    with (
        house.view(family, origin) as common,
        house.view(family, into.point, *into.live) as here,
        house.view(family, fork.point, *fork.live) as there,
    ):
        if merge.is_like(ours, origin):
            return replace(said, changes=diff.changes(here, there))
        plan = merge.compared(merge.Sides(common, here, there))
        found = [Difference(path, here.entry(path), piece.entry if piece else None) for path, piece in sorted(plan.wanted.items())]
        is_none = not plan.wanted and not plan.conflicts
    notes = (f"{fork.room.name} has nothing that is not here already",) if is_none else ()
    return replace(said, changes=tuple(found), conflicts=tuple(plan.conflicts), notes=notes)


def _applied(house: House, now: Now, wish: Applying) -> Outcome:
    head = house.point(now.room.head)
    pile = Pile.of(house, now.room, now.point, *now.live)
    draft = drafted(house, now.room, pile, wish.paths, with_programs=wish.with_programs)
    return replace(
        course.outcome("apply", now.room, head, head), where=house.shelf(now.room.family).base.path, left_out=tuple(draft.left),
        changes=tuple(change for change in draft.changes if change.path in draft.wanted), conflicts=tuple(draft.conflicts),
    )  # fmt: skip


def _undone(house: House, now: Now) -> Outcome:
    head = house.point(now.room.head)
    if now.live:
        return _moved(house, now, head, replace(course.outcome("undo", now.room, head, head), of="work"))
    change = course.last(house, now.room)
    goal = house.point(change.before)
    said = replace(course.outcome("undo", now.room, head, goal), of=change.kind)
    return _taken_back(house, now, change, said) if change.kind == "apply" else _moved(house, now, goal, said)


def _taken_back(house: House, now: Now, change: Change, said: Outcome) -> Outcome:
    draft = taking_back(house, now.room, change)
    where = house.shelf(now.room.family).base.path
    return replace(said, where=where, changes=tuple(draft.changes), conflicts=tuple(draft.conflicts))
