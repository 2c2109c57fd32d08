"""What the owner changed in memory with their own hands. It stands in the journal like a step.

An amendment is a row with its payload, written once: a second one with the same id is the first. Like everything else it can hold words
from a source that is forgotten later: then it goes, or, if it only brought some such items among others, goes on without them. Its hash is
then that of what is left, and a reader that begins anew makes the same of it as one that has followed all along.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import BadInput, JournalDamaged, NotFound
from daimon.abi.ids import SpaceId
from daimon.abi.label import Label
from daimon.abi.memory import AmendedBy, Amendment, ForgetSource, Import, Learn
from daimon.journal import erasure
from daimon.journal.now import Now
from daimon.journal.rows import AMENDMENT, Amending, micros, packed, put_amendment, put_payload, read_amendment, read_label

IsFrom = Callable[[str, Label], bool]
"""Is what has this name, or this label, from what is forgotten?"""


def amend(db: apsw.Connection, now: Now, amendment: Amendment) -> None:
    if any(isinstance(operation, ForgetSource) for operation in amendment.operations):
        raise BadInput(f"amendment {amendment.id} forgets a source: the journal must forget it too; hand it to forget_source")
    put(db, now, amendment)


def put(db: apsw.Connection, now: Now, amendment: Amendment) -> bool:
    """False: there is one with this id."""
    if db.execute("SELECT 1 FROM amendments WHERE id = ?", (amendment.id,)).get:
        return False
    _require_readable(amendment)
    put_amendment(db, next(now.positions), amendment)
    return True


def _require_readable(amendment: Amendment) -> None:
    """What comes from a file may hold what JSON cannot say, such as a number that is none."""
    try:
        decode(Amending, encode(Amending, amendment.operations))
    except JournalDamaged as unreadable:
        raise BadInput(f"this cannot be kept, for it could not be read again: {unreadable}") from unreadable


def find(db: apsw.Connection, id_: str) -> Amendment:
    row = db.execute(AMENDMENT + " WHERE a.id = ?", (id_,)).get
    if row is None:
        raise NotFound(f"there is no amendment {id_[:80]!r}")
    return read_amendment(row)


def forget(db: apsw.Connection, now: Now, space: SpaceId, is_from: IsFrom, reason: str) -> tuple[tuple[str, ...], int]:
    """Those that are gone, and how many lost something."""
    gone, found = [], lessened(db, space, is_from)
    for pos, id_, left in found:
        erasure.empty(db, now, [(pos, id_)], reason)
        if left:
            db.execute("DELETE FROM payloads WHERE pos = ?", (pos,))
            put_payload(db, pos, packed(encode(Amending, left)), micros(now.at))
        else:
            gone.append(id_)
    return tuple(gone), len(found)


def lessened(db: apsw.Connection, space: SpaceId, is_from: IsFrom) -> list[tuple[int, str, Amending]]:
    """Those that would lose something: position, id, and what would be left."""
    rows: list[Any] = db.execute(
        "SELECT a.pos, a.id, a.label FROM amendments a JOIN payloads p USING (pos) WHERE a.space = ? AND p.body IS NOT NULL", (space,)
    ).fetchall()
    found = ((pos, id_, () if is_from(id_, read_label(label)) else _left(db, pos, is_from)) for pos, id_, label in rows)
    return [(pos, id_, left) for pos, id_, left in found if left is not None]


def _left(db: apsw.Connection, pos: int, is_from: IsFrom) -> Amending | None:
    """None: all of it."""
    try:
        operations = read_amendment(db.execute(AMENDMENT + " WHERE a.pos = ?", (pos,)).get).operations
    except JournalDamaged:
        return None  # what cannot be read cannot be looked through
    left = tuple(operation for each in operations if (operation := _without(each, is_from)) is not None)
    return None if left == operations else left


def _without(operation: AmendedBy, is_from: IsFrom) -> AmendedBy | None:
    match operation:
        case Import(items=items):
            kept = tuple(item for item in items if not is_from(item.source, item.label) and not is_from(item.id, item.label))
            return replace(operation, items=kept) if kept else None
        case Learn(source=source) if source and is_from(source, _NO_LABEL):
            return None
        case _:
            return operation


_NO_LABEL = Label(())
