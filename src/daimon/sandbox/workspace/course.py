"""Going to another checkpoint: back to an old one, or back by one change.

What is live becomes a checkpoint first, so that nothing is lost: the outcome names it. An undo takes the last change that is not undone:
each freeze with something in it is one, each restore, merge and apply. They are a chain, so going to where one began is taking it back.
An undo is no change of its own: what it left is gone to again by a restore.
"""

import asyncio
from dataclasses import replace
from typing import Literal

from daimon.abi.errors import BadInput
from daimon.abi.workspace import Change as Difference
from daimon.abi.workspace import CheckpointId, Outcome, WorkspaceId
from daimon.sandbox.workspace import diff, underneath
from daimon.sandbox.workspace.house import Commit, House
from daimon.sandbox.workspace.rows import Change, Point, Room

Did = Literal["merge", "restore", "apply", "undo"]
STILL = "something that was running is still on the old files: it sees nothing of what is done here from now on; start it again"
NOTHING = "nothing is left to undo in workspace {}"


async def restore(house: House, room: Room, to: Point) -> Outcome:
    goal, points = _own(house, room, to)
    before, commit = await house.freezing(room, f"before going to {to.id}")
    if commit.frozen is None and goal.id == room.head:
        return outcome("restore", room, before, before)
    gone = house.change(room, "restore", before, goal)
    commit = replace(commit, points=(*commit.points, *points), changes=(*commit.changes, gone))
    _, is_sealed = await house.land(room, goal, commit)
    return await told(house, room, "restore", (before, goal), is_sealed)


def _own(house: House, room: Room, to: Point) -> tuple[Point, tuple[Point, ...]]:
    """One of another workspace of the family is taken over as one of this."""
    if to.workspace == room.id:
        return to, ()
    other = house.index.room(to.workspace)
    if other is None or other.family != room.family:
        raise BadInput(f"checkpoint {to.id} is of another directory than workspace {room.id}")
    taken = replace(house.new_point(room, to, f"taken over from {to.id}", to.stack), state=to.state, sealed=to.sealed)
    return taken, (taken,)


async def undo_work(house: House, room: Room) -> Outcome | None:
    """Takes back what is live. None: nothing is."""
    before, commit = await house.freezing(room, "before an undo")
    if commit.frozen is None:
        return None
    head = house.point(room.head)
    undone = tuple(replace(change, undone=True) for change in commit.changes)
    _, is_sealed = await house.land(room, head, replace(commit, changes=undone))
    return await told(house, room, "undo", (before, head), is_sealed)


async def undo_move(house: House, room: Room, change: Change) -> Outcome:
    """Takes back a change that touched nothing but layers."""
    before, goal = house.point(room.head), house.point(change.before)
    _, is_sealed = await house.land(room, goal, Commit(changes=(replace(change, undone=True),)))
    return await told(house, room, "undo", (before, goal), is_sealed)


def last(house: House, room: Room) -> Change:
    found = next((change for change in house.index.changes(room.id) if not change.undone and change.undoes is None), None)
    if found is None:
        raise BadInput(NOTHING.format(room.id))
    return found


async def told(house: House, room: Room, did: Did, way: tuple[Point, Point], is_sealed: bool) -> Outcome:
    before, after = way
    found, notes = await asyncio.to_thread(_compared, house, room, before, after)
    if not is_sealed:
        notes = (*notes, STILL)
    return replace(outcome(did, room, before, after), changes=found, notes=notes)


def _compared(house: House, room: Room, before: Point, after: Point) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    with house.view(room.family, before) as old, house.view(room.family, after) as new:
        found = diff.changes(old, new)
    return found, (*house.notes(room.family, before, after), *underneath.notes(house, room, after))


def outcome(did: Did, room: Room, before: Point, after: Point) -> Outcome:
    return Outcome(
        did=did, workspace=WorkspaceId(room.id), before=CheckpointId(before.id), after=CheckpointId(after.id),
    )  # fmt: skip
