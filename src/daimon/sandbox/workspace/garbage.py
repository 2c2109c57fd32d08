"""What nothing refers to any more: strays of a crash, layers of what was thinned out or discarded.

Rows go first, then directories: a crash between leaves directories that the index does not know, and those go at the next start.
"""

import logging
import re
from dataclasses import replace
from pathlib import Path

from daimon.sandbox.workspace import layer
from daimon.sandbox.workspace.house import House
from daimon.sandbox.workspace.rows import Room
from daimon.sandbox.workspace.thin import Mark, thinned

_log = logging.getLogger(__name__)
_OURS = re.compile(r"[fl][0-9]+")


def strays(house: House) -> None:
    """At the start, when nothing is open: directories that the index does not know."""
    families = {family.id for family in house.index.families()}
    for family in _ours(house.root):
        if family.name not in families:
            _removed(family)
            continue
        known = house.index.layers(family.name)
        for found in _ours(family):
            if found.name not in known:
                _removed(found)


def _removed(stray: Path) -> None:
    """One that cannot be removed must not keep everything else from starting."""
    try:
        layer.remove(str(stray))
    except OSError as failure:
        _log.warning("%s is of no use any more and cannot be removed: %s", stray, failure)


def _ours(place: Path) -> list[Path]:
    return [path for path in place.iterdir() if _OURS.fullmatch(path.name)]


def collect(house: House, family: str) -> None:
    """Layers of a family that nothing needs."""
    needed = _needed(house, family)
    rows = house.index.layers(family)
    gone = [row for row in rows.values() if row.name not in needed and not (row.replaces and set(row.replaces) <= needed)]
    with house.index.transaction():
        for row in gone:
            house.index.drop("layers", "name", row.name)
        for _, name in house.index.generations(family):
            if name not in needed:
                house.index.drop("generations", "layer", name)
    for row in gone:
        house.shelf(family).remove(row.name)
    if gone:
        house.shared.pop(family, None)


def _needed(house: House, family: str) -> set[str]:
    rooms = house.index.rooms(family)
    points = [point for room in rooms for point in house.index.points(room.id)]
    changes = [change for room in rooms for change in house.index.changes(room.id)]
    oldest = min((point.generation for point in points), default=0)
    reverses = {name for number, name in house.index.generations(family) if number > oldest}
    live = {room.live for room in rooms}
    undoable = {name for change in changes if not change.undone for name in (change.layer, change.plan.rest) if name}
    return {name for point in points for name in point.stack} | live | reverses | undoable


def thin(house: House, family: str) -> None:
    """Removes checkpoints that are old and many (`thin.py`), and the layers that only they had."""
    needed = kept(house, family)
    for room in house.index.rooms(family):
        points = {point.id: point for point in house.index.points(room.id)}
        gone = thinned((Mark(id, point.at, id in needed) for id, point in points.items()), house.clock.now())
        if gone:
            with house.index.transaction():
                _unlink(house, room, gone)
    collect(house, family)


def drop(house: House, family: str, wanted: frozenset[str]) -> None:
    """Removes these checkpoints, except those that are needed by now. Their layers stay until they are collected."""
    gone = wanted - kept(house, family)
    with house.index.transaction():
        for room in house.index.rooms(family):
            _unlink(house, room, gone)


def kept(house: House, family: str) -> set[str]:
    """Where a workspace is, where it goes with its next undo, where a fork or a merge began, and both ends of an apply."""
    found: set[str | None] = set()
    for room in house.index.rooms(family):
        found |= {room.head, room.under, room.forked_from}
        found |= {point.merged for point in house.index.points(room.id)}
        changes = [change for change in house.index.changes(room.id) if not change.undone]
        found |= {change.before for change in changes[:1]}
        found |= {id for change in changes if change.kind == "apply" for id in (change.before, change.after)}
    return {id for id in found if id is not None}


def _unlink(house: House, room: Room, gone: frozenset[str]) -> None:
    """What pointed to one that goes points to where that one pointed; two changes that met there become one."""
    points = {point.id: point for point in house.index.points(room.id)}
    for point in points.values():
        parent = point.parent
        while parent in gone and parent in points:
            parent = points[parent].parent
        if point.id in gone:
            house.index.drop("checkpoints", "number", point.number)
        elif parent != point.parent:
            house.index.put_point(replace(point, parent=parent))
    begins: str | None = None
    for change in reversed(house.index.changes(room.id)):
        if change.undone or change.after in gone:
            begins = begins or (None if change.undone else change.before)
            house.index.drop("changes", "number", change.number)
            continue
        before, begins = begins or change.before, None
        if before in gone:  # there is no way back any more
            house.index.drop("changes", "number", change.number)
        elif before != change.before:
            house.index.put_change(replace(change, before=before))


def discard(house: House, id: str) -> None:
    room = house.room(id)
    is_last = len(house.index.rooms(room.family)) == 1
    with house.index.transaction():
        house.index.drop("workspaces", "id", id)
        house.index.drop("checkpoints", "workspace", id)
        house.index.drop("changes", "workspace", id)
        if is_last:
            house.index.drop("families", "id", room.family)
            house.index.drop("generations", "family", room.family)
            house.index.drop("layers", "family", room.family)
    if is_last:
        house.forget(room.family)
        layer.remove(str(house.root / room.family))
    else:
        layer.remove(str(house.root / room.family / id))  # where there was no overlay: the copy
        collect(house, room.family)
