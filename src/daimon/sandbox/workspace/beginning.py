"""A workspace begins: on a directory of the owner's, or as a fork of another at a checkpoint."""

import os
from dataclasses import replace
from pathlib import Path

from daimon.abi.errors import BadInput
from daimon.sandbox.workspace.house import House
from daimon.sandbox.workspace.rows import Family, Layer, Point, Room
from daimon.sandbox.workspace.shelf import Shelf


def new(house: House, directory: str, name: str) -> Room:
    """For a directory that has one already, that one."""
    base = os.path.realpath(directory)
    _check(house, Path(base), directory)
    index = house.index
    of = index.family_of(base) or Family(f"f{index.number('f')}", base)
    if (found := next((room for room in index.rooms(of.id) if room.forked_from is None), None)) is not None:
        return found
    id = f"w{index.number('w')}"
    first = Point(
        number=index.number("c"), workspace=id, parent=None, generation=of.generation, stack=(), why="the beginning",
        at=house.clock.now(),
    )  # fmt: skip
    room = Room(id, of.id, name or Path(base).name, first.id, f"l{index.number('l')}", engine=house.engine)
    return _made(house, of, room, first)


def family(house: House, directory: str) -> Family | None:
    return house.index.family_of(os.path.realpath(directory))


def _check(house: House, base: Path, given: str) -> None:
    if not base.is_dir():
        raise BadInput(f"{given} is no directory; a workspace begins at one that is there")
    if house.root.is_relative_to(base) or base.is_relative_to(house.root):
        raise BadInput(f"{given} and the place where workspaces are kept, {house.root}, lie in each other; take a directory further down")


def fork(house: House, room: Room, at: Point, name: str) -> Room:
    id = f"w{house.index.number('w')}"
    first = replace(
        house.new_point(replace(room, id=id), at, f"fork of {room.name} at {at.id}", at.stack), state=at.state, sealed=at.sealed
    )
    made = Room(id, room.family, name or f"{room.name}-{id}", first.id, f"l{house.index.number('l')}", at.id, room.engine)
    return _made(house, house.index.family(room.family), made, first)


def _made(house: House, family: Family, room: Room, first: Point) -> Room:
    place = house.root / family.id
    place.mkdir(mode=0o700, exist_ok=True)
    top = Path(family.base)
    if layers := house.layers(family.id, first):
        top = place / layers[0] / "tree"
    Shelf(str(place), family.base).make(room.live, top.stat().st_mode & 0o7777)
    with house.index.transaction():
        house.index.put_family(family)
        house.index.put_layer(Layer(room.live, family.id, sealed=False))
        house.index.put_point(first)
        house.index.put_room(room)
    return room
