"""The page: notes that stand in every prompt, the oldest first, so that it changes at its end.

It holds so many characters and no more. Whoever adds to it asks first whether there is room; what would not fit is refused with what to
merge, never dropped. Should there be too much all the same (two turns at once), the oldest that fit are on the page, the rest are notes
like any other, and the page says which those are. Only trusted notes stand on it: a stranger's words in every prompt would make every turn
a stranger's.
"""

import apsw

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.memory import Item, Page
from daimon.memory import items

MOST_CHARACTERS = 4_000


def page(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, most: int = MOST_CHARACTERS) -> Page:
    where = "kind = 'note' AND on_page = 1 AND ended_at IS NULL AND is_trusted = 1 ORDER BY at, n"
    notes: list[Item] = []
    left_out: list[str] = []
    left = most
    for note in items.find(connection, (space, principal), "items_on_page", where):
        if len(note.text) + 1 <= left:
            notes.append(note)
            left -= len(note.text) + 1
        else:
            left_out.append(note.id)
    return Page(tuple(notes), most, tuple(left_out))
