"""A cut as it is written into a reply's references, and found again in another process.

Places are named by the entry before them: numbers would shift with what leaves the window, and with outcomes that come late. A name that is
not there any more stands before all that is.
"""

from collections.abc import Sequence

from daimon.abi.context import Entry
from daimon.context.policy import Cut

AFTER_NOTHING = "-"


def written(entries: Sequence[Entry], cut: Cut) -> str:
    if cut == Cut():
        return ""
    places = (cut.begin, cut.bare, cut.brief, cut.at)
    return " ".join([*(entries[n - 1].source if n else AFTER_NOTHING for n in places), str(cut.clip), str(cut.room)])


def placed_at(entries: Sequence[Entry], written: str) -> Cut:
    """The window never begins with a result: it would be torn from its call."""
    match written.split():
        case [begin, bare, brief, end, clip, room] if clip.isdecimal() and room.isdecimal():
            names = {begin, bare, brief, end}
            at = {entry.source: n + 1 for n, entry in enumerate(entries) if entry.source in names}
            first = at.get(begin, 0)
            while first < len(entries) and not entries[first].starts:
                first += 1
            after = {name: max(place, first) for name, place in at.items()}
            return Cut(first, after.get(bare, first), after.get(brief, first), after.get(end, first), int(clip), int(room))
        case _:
            return Cut()
