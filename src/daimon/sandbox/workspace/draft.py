"""What an apply would do, and what forbids it. Nothing is written here.

A path may be written if it is still what a layer found there (`underneath.py`), or, where another apply has been there since, if it is the
same again. One that is already as wanted is left alone.
"""

import os
from dataclasses import dataclass, field

from daimon.abi.errors import BadInput
from daimon.abi.workspace import Change as Difference
from daimon.abi.workspace import Conflict, Entry
from daimon.sandbox.workspace import diff, place, programs, underneath
from daimon.sandbox.workspace.build import Piece, piece_of
from daimon.sandbox.workspace.comparing import is_at
from daimon.sandbox.workspace.house import House
from daimon.sandbox.workspace.manifest import Identity, identity
from daimon.sandbox.workspace.rows import Change, Point, Room
from daimon.sandbox.workspace.stack import Sheet, View
from daimon.sandbox.workspace.writer import plain, ways

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
    known: dict[str, Identity | None] = field(default_factory=dict)
    """What the owner's directory had at each path when a layer first covered it."""


@dataclass(frozen=True, slots=True)
class Pile:
    """All layers of a tree, topmost first: the workspace's own, and below them those that show the base as it was."""

    own: tuple[Sheet, ...]
    below: tuple[Sheet, ...]

    @classmethod
    def of(cls, house: House, room: Room, point: Point, *above: Sheet) -> "Pile":
        sheets = house.sheets(room.family, point)
        return cls((*above, *sheets[: len(point.stack)]), sheets[len(point.stack) :])


def drafted(house: House, room: Room, pile: Pile, paths: tuple[str, ...], *, with_programs: bool) -> Draft:
    """What the workspace's own layers changed over what lies below them."""
    draft = Draft()
    shelf = house.shelf(room.family)
    with shelf.view((*pile.own, *pile.below)) as now, shelf.view(pile.below) as below:
        found = {change.path: change for change in diff.changes(below, now)}
        taken = _taken(found, paths)
        for path, change in found.items():
            if path in taken and not _is_left(draft, change, now, with_programs=with_programs):
                draft.wanted[path] = piece_of(now, path)
                draft.changes.append(change)
            else:
                draft.rest[path] = piece_of(now, path)
        draft.rest = {path: piece for path, piece in draft.rest.items() if piece is not None or place.about(now.top, path) is not None}
        draft.known = underneath.known(pile.own)
        _check(draft, now, below)
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


def _check(draft: Draft, now: View, below: View) -> None:
    ours = {path for sheet in below.sheets for path, item in sheet.manifest.items.items() if item.kind != "directory"}
    for path, piece in [*draft.wanted.items()]:
        current = now.base.entry(now.top, path)
        if diff.is_same(plain(current), plain(piece.entry if piece else None)):
            del draft.wanted[path]  # somebody has done so already
        elif path in ours:
            if not diff.is_same(plain(below.entry(path)), plain(current)):
                draft.conflicts.append(Conflict(path, OTHERS))
        elif path not in draft.known or not _is_untouched(draft.known[path], identity(place.about(now.top, path)), current):
            draft.conflicts.append(Conflict(path, YOURS))
        elif why := _no_way(draft, now, path):
            draft.conflicts.append(Conflict(path, why))


def _is_untouched(known: Identity | None, seen: Identity | None, current: Entry | None) -> bool:
    """The same file, or one with the same content: whoever looked at it, or changed it and back, has changed nothing."""
    if known == seen:
        return True
    return known is not None and current is not None and known.kind == current.kind == "file" and "" != known.hash == current.hash


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


def taking_back(house: House, room: Room, change: Change) -> Draft:
    """What brings back what an apply replaced, if it is still what was applied."""
    draft = Draft()
    wanted = wanted_by(house, room.family, change)
    back = replaced_by(house, room.family, change)
    with house.shelf(room.family).base.opened() as top:
        base = house.shelf(room.family).base
        for path in change.plan.paths:
            now, applied, piece = base.entry(top, path), wanted[path], back[path]
            if diff.is_same(plain(now), plain(piece.entry if piece else None)):
                continue
            draft.wanted[path] = piece
            if not diff.is_same(plain(now), plain(applied.entry if applied else None)):
                draft.conflicts.append(Conflict(path, YOURS))
            draft.changes.append(Difference(path, now, piece.entry if piece else None))
        added = (path for path in back if back[path] is None)
        draft.conflicts += [Conflict(path, "you put something into it since") for path in added if _has_more(top, path, back)]
    return draft


def _has_more(top: int, path: str, back: dict[str, Piece | None]) -> bool:
    seen = place.about(top, path)
    if seen is None or place.kind_of(seen) != "directory":
        return False
    return any(f"{path}/{name}" not in back for name, _ in place.listed(top, path))


def wanted_by(house: House, family: str, change: Change) -> dict[str, Piece | None]:
    """What an apply writes: as the workspace had it, or, for one that takes another back, as that one's reverse layer has it."""
    if change.undoes is not None:
        undone = house.index.change(change.undoes)
        assert undone is not None
        return replaced_by(house, family, undone)
    with house.view(family, house.point(change.before)) as now:
        return {path: piece_of(now, path) for path in change.plan.paths}


def replaced_by(house: House, family: str, change: Change) -> dict[str, Piece | None]:
    """What the owner's directory had before."""
    assert change.layer is not None
    sheet = house.shelf(family).sheet(house.index.layers(family)[change.layer])
    found: dict[str, Piece | None] = {}
    for path in change.plan.paths:
        item = sheet.manifest.items.get(path)
        found[path] = Piece(item.entry(), sheet.tree, path) if item is not None and item.kind != "whiteout" else None
    return found
