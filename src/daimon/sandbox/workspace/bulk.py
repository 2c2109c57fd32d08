"""What all layers take on the disk, and how they are made to fit.

Each layer's size is in the index, so what all take is a sum. Files that layers share by links are in it more than once: only when the sum
is too much the disk is walked, each file counted once, and what is shared is remembered until a layer goes (`House.shared`).

A checkpoint that goes frees nothing by itself, since those after it stand on its layer. So three things are done, in this order: the oldest
checkpoints go (`thin.outgrown`); the layers that all others stand on become one, in which there is nothing that was removed or
overwritten; what then nobody needs is collected. An open workspace has its layers in place, and keeps them until it is put onto the new
one (`House.restack`).

Counted are frozen layers, and live ones of open workspaces. What is written between two looks is bounded by a role's `disk_mb`.
"""

import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass, replace

from daimon.abi.errors import ToolFailed
from daimon.sandbox.workspace import garbage, place, squash
from daimon.sandbox.workspace.house import House
from daimon.sandbox.workspace.rows import Room
from daimon.sandbox.workspace.thin import KEPT, Mark, outgrown

MIB = 1 << 20
RESERVE, SHARE = 1 << 30, 20
"""Of the disk so much stays free, or one part of so many if that is less."""
SPARE = 10
"""One part of so many of what all may take is made free at once, so that it is not done for each checkpoint."""
A_NAME = 512
"""Bytes of a name and of what is known about it, besides its blocks."""


@dataclass(frozen=True, slots=True)
class Excess:
    """What is too much; none of both: it fits."""

    layers: int = 0
    disk: int = 0

    @property
    def size(self) -> int:
        return max(self.layers, self.disk)


def excess(house: House) -> Excess:
    if _sum(house) > house.limit:
        for family in house.index.families():
            _look(house, family.id)
    return Excess(max(_sum(house) - house.limit, 0), max(_reserve(house) - shutil.disk_usage(house.root).free, 0))


def _reserve(house: House) -> int:
    return min(RESERVE, shutil.disk_usage(house.root).total // SHARE)


def refused(house: House, found: Excess) -> ToolFailed:
    said = f"the layers of all workspaces take {_sum(house) // MIB} MB"
    if found.layers:
        said += f", {house.limit // MIB} MB are allowed (sandbox.layers_mb); the {KEPT} newest checkpoints of each workspace stay"
        return ToolFailed("disk_full", f"{said}. Apply what is wanted and discard workspaces, or allow more")
    said += f", and less than {_reserve(house) // MIB} MB are free on the disk of {house.root}"
    return ToolFailed("disk_full", f"{said}. Free some room there, or apply what is wanted and discard workspaces", retryable=True)


def chosen(house: House, found: Excess) -> dict[str, frozenset[str]]:
    """Checkpoints that go, by family."""
    families = [family.id for family in house.index.families()]
    marks = {room.id: _marks(house, room) for family in families for room in house.index.rooms(family)}
    gone = outgrown(marks.values(), found.size + house.limit // SPARE)
    of = {mark.id: room.family for room in house.index.rooms() for mark in marks[room.id]}
    return {family: frozenset(id for id in gone if of[id] == family) for family in families}


def _marks(house: House, room: Room) -> list[Mark]:
    """With a layer's size at the first checkpoint that has it."""
    needed, rows = garbage.kept(house, room.family), house.index.layers(room.family)
    counted: set[str] = set()
    marks = []
    for point in reversed(house.index.points(room.id)):
        own = [rows[name] for name in point.stack[:1] if name not in counted]
        counted.update(row.name for row in own)
        marks.append(Mark(point.id, point.at, point.id in needed, sum(row.size or 0 for row in own)))
    return marks


def is_applying(house: House, family: str) -> bool:
    """Something is half written, and goes by the layers as they were."""
    return any(house.room(begun.workspace).family == family for begun in house.index.begun())


def flatten(house: House, family: str) -> None:
    """What all checkpoints of a workspace stand on becomes one layer. Old ones that are there because something needs them keep theirs."""
    needed = garbage.kept(house, family)
    for room in house.index.rooms(family):
        rows, points = house.index.layers(family), house.index.points(room.id)
        course = [point for number, point in enumerate(points) if number < KEPT or point.id not in needed]
        house.squash(family, _common([squash.shortest(point.stack, rows) for point in course]))


def shorten(house: House, family: str) -> None:
    """Checkpoints stand on what was made so, except those that are in place somewhere."""
    rooms, rows = house.index.rooms(family), house.index.layers(family)
    in_place = {id for room in rooms if room.id in house.open or room.under for id in (room.head, room.under)}
    with house.index.transaction():
        for point in (point for room in rooms for point in house.index.points(room.id)):
            if point.id not in in_place and (short := squash.shortest(point.stack, rows)) != point.stack:
                house.index.put_point(replace(point, stack=short))


def _common(stacks: list[tuple[str, ...]]) -> tuple[str, ...]:
    """The end that all have."""
    first = stacks[0]
    return next(first[at:] for at in range(len(first) + 1) if all(stack[len(stack) - len(first) + at :] == first[at:] for stack in stacks))


def _sum(house: House) -> int:
    return sum(sum(_sizes(house, family.id).values()) - house.shared.get(family.id, 0) for family in house.index.families())


def _sizes(house: House, family: str) -> dict[str, int]:
    """By layer. What is not known, or not for good, is looked at."""
    found: dict[str, int] = {}
    new: dict[str, int] = {}
    resting, live = _live(house, family)
    for row in house.index.layers(family).values():
        if row.name in resting:
            continue
        size = row.size
        if size is None or row.name in live:
            size = taken(house.shelf(family).tree(row.name), set())
            if row.sealed and row.name not in live:
                new[row.name] = size
        found[row.name] = size
    if new:
        with house.index.transaction():
            for name, size in new.items():
                house.index.put_size(name, size)
    return found


def _live(house: House, family: str) -> tuple[set[str], set[str]]:
    """Of workspaces that nobody has open, and of the others."""
    rooms = house.index.rooms(family)
    resting = {room.live for room in rooms if room.id not in house.open}
    return resting, {room.live for room in rooms} - resting


def _look(house: House, family: str) -> None:
    """Finds what layers share."""
    sizes, seen = _sizes(house, family), set[int]()
    exact = sum(taken(house.shelf(family).tree(name), seen) for name in sizes)
    house.shared[family] = sum(sizes.values()) - exact


def taken(tree: str, seen: set[int]) -> int:
    """Bytes of what is in a tree and was not seen yet, by inode."""
    with suppress(FileNotFoundError), place.opened(tree) as top:
        return _below(top, seen)
    return 0


def _below(top: int, seen: set[int]) -> int:
    """However deep: nobody hides anything behind a long way."""
    total, pending = 0, [""]
    while pending:
        where = pending.pop()
        for name, about in _listed(top, where):
            total += A_NAME + (0 if about.st_ino in seen else about.st_blocks * 512)
            if about.st_nlink > 1:
                seen.add(about.st_ino)
            path = f"{where}/{name}" if where else name
            if stat.S_ISDIR(about.st_mode):
                if len(os.fsencode(path)) <= place.LONGEST:
                    pending.append(path)
                else:
                    total += _further(top, where, name, seen)
    return total


def _further(top: int, where: str, name: str, seen: set[int]) -> int:
    with suppress(FileNotFoundError, NotADirectoryError), place.directory(top, where) as above, place.directory(above, name) as inner:
        return _below(inner, seen)
    return 0


def _listed(top: int, where: str) -> list[tuple[str, os.stat_result]]:
    with suppress(FileNotFoundError, NotADirectoryError):
        return place.listed(top, where)
    return []
