"""Answers about what is different: between checkpoints, the base and now; in the live layer; and which workspace changed last."""

import asyncio
import os
from collections.abc import Collection
from dataclasses import dataclass, replace

from daimon.abi.errors import BadInput
from daimon.abi.workspace import Change, Entry
from daimon.sandbox.workspace import diff
from daimon.sandbox.workspace.house import House
from daimon.sandbox.workspace.manifest import walked
from daimon.sandbox.workspace.rows import Point, Room
from daimon.sandbox.workspace.stack import Sheet


@dataclass(frozen=True, slots=True)
class Span:
    since: Point | None
    """None: the base as it is."""
    until: Point | None
    """None: now."""


def compare(house: House, room: Room, span: Span, paths: tuple[str, ...], *, is_text: bool) -> tuple[tuple[Change, ...], str]:
    until = span.until or house.footing(room)
    above = () if span.until else (house.shelf(room.family).live(room.live, is_hashed=True),)
    with house.view(room.family, span.since) as before, house.view(room.family, until, *above) as after:
        found = tuple(change for change in diff.changes(before, after) if is_at(change.path, paths))
        text = diff.text(before, after, found) if is_text else ""
    late = house.notes(room.family, *(point for point in (span.since, until) if point))
    return found, "".join([text, *(f"[{note}]\n" for note in late)]) if is_text else ""


def is_at(path: str, paths: tuple[str, ...]) -> bool:
    """At one of these or below it; empty: all."""
    return not paths or any(path == each or path.startswith(f"{each}/") for each in (each.strip("/") for each in paths))


async def live(house: House, room: Room) -> tuple[Change, ...]:
    await house.is_changed(room)
    return await asyncio.to_thread(_live, house, room)


def _live(house: House, room: Room) -> tuple[Change, ...]:
    sheet = house.shelf(room.family).live(room.live, is_hashed=False)
    house.shelf(room.family).notice(sheet)
    found = []
    with house.view(room.family, house.point(room.head)) as below, house.view(room.family, house.footing(room), sheet) as now:
        for path in sorted(_written(house, room, sheet)):
            item, old, new = sheet.manifest.items.get(path), below.source(path), now.source(path)
            is_on_the_way = item is not None and not item.covers and old is not None and new is not None and old.entry == new.entry
            if not is_on_the_way and (old or new):
                found.append(Change(path, _plain(old.entry if old else None), _plain(new.entry if new else None)))
    return tuple(found)


def _written(house: House, room: Room, sheet: Sheet) -> Collection[str]:
    """Paths in the live layer; if the head has a copy of it, those that are not there or not as they were then."""
    if room.under is None:
        return sheet.manifest.items.keys()
    return house.since_copy(room)


def _plain(entry: Entry | None) -> Entry | None:
    return replace(entry, hash="") if entry is not None and entry.kind == "file" else entry


def last_changed(house: House) -> str:
    """The workspace whose live layer was written last, or else the one that moved last."""
    written = [(newest, room.id) for room in house.index.rooms() if (newest := _newest(house, room)) is not None]
    if written:
        return max(written)[1]
    if (change := house.index.last_change()) is None:
        raise BadInput("nothing is left to undo: no workspace was changed")
    return change.workspace


def _newest(house: House, room: Room) -> int | None:
    if not house.is_written(room):
        return None
    top = os.open(house.shelf(room.family).tree(room.live), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return max((seen.st_ctime_ns for _, seen in walked(top, "")), default=0)
    finally:
        os.close(top)
