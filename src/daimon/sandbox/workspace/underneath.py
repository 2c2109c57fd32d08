"""Host edits underneath: what the owner changed at places that a layer covers.

The oldest layer that has a path knows what the base had there. A path that one of the reverse layers covers was changed by an apply of
ours; that is no edit of the owner's, and is not named.
"""

from daimon.sandbox.workspace import place
from daimon.sandbox.workspace.house import House, some
from daimon.sandbox.workspace.manifest import Identity, identity
from daimon.sandbox.workspace.rows import Point, Room
from daimon.sandbox.workspace.stack import Sheet


def known(own: tuple[Sheet, ...]) -> dict[str, Identity | None]:
    """What the base had at each path when a layer first covered it. Topmost first."""
    found: dict[str, Identity | None] = {}
    for sheet in own:
        found.update(sheet.manifest.base)
    return found


def changed(house: House, room: Room, point: Point) -> tuple[str, ...]:
    sheets = house.sheets(room.family, point)
    own, reverses = sheets[: len(point.stack)], sheets[len(point.stack) :]
    ours = {path for sheet in reverses for path in sheet.manifest.items}
    with house.shelf(room.family).base.opened() as top:
        return tuple(
            path
            for path, before in sorted(known(own).items())
            if path not in ours and identity(place.about(top, path)) != before
        )  # fmt: skip


def notes(house: House, room: Room, point: Point) -> tuple[str, ...]:
    found = changed(house, room, point)
    return (f"you changed these in your directory since a layer covers them: {some([*found])}",) if found else ()
