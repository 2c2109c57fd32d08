"""One thing that was kept, as a row: added, ended, read.

A row is added with its receipt, indexed by its words while it is not over, and never moved. Ending keeps the row, as history; deleting
(`forgetting.py`) empties it. Texts are made fit for the file first: half surrogate pairs and zero bytes become replacement characters, and
of a very long text the row keeps the beginning and says where the whole is.
"""

import json
import math
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import UNLABELLED, Label, stated
from daimon.abi.memory import Item
from daimon.abi.text import clean
from daimon.memory import index, wording
from daimon.memory.moments import micros, moment
from daimon.memory.receipt import Receipt

MOST_CHARACTERS = 100_000
"""Of a text, in the row and in the index."""
MOST_USES = 1 << 53

COLUMNS = """items.id, items.kind, items.text, items.at, items.label, items.source, items.span, items.conversation, items.speaker,
    items.subject, items.about, items.confidence, items.supersedes, items.on_page, items.standing, items.ended_at, items.ended_by,
    items.uses, items.used_at"""
"""What `read` takes, for a query of `items`."""

_NONE = "[]"
"""An empty list, as it is stored."""

_ADD = """
    INSERT INTO items (space, principal, turn, recorded_at, previous, is_trusted, id, kind, text, at, label, source, span, conversation,
        speaker, subject, about, confidence, supersedes, on_page, standing, ended_at, ended_by, uses, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_REVIVE = """
    UPDATE items SET standing = 'holds', ended_at = NULL, ended_by = '' WHERE n = ? AND NOT EXISTS (
        SELECT 1 FROM items v WHERE v.id = items.id AND v.space = items.space AND v.principal = items.principal AND v.ended_at IS NULL)
    RETURNING n
"""


def add(connection: apsw.Connection, receipt: Receipt, item: Item, previous: int | None = None) -> int:
    """Its row number. At most one row of an id may hold; that is the caller's to see to."""
    label = stated(item.label)
    place = (receipt.space, receipt.principal, receipt.turn, micros(receipt.at), previous, label.is_trusted)
    connection.execute(_ADD, (*place, *_values(item, label)))
    n = connection.last_insert_rowid()
    named = {origin.source for origin in label.origins} | ({receipt.source} - {item.source})
    connection.executemany("INSERT OR IGNORE INTO origins VALUES (?, ?)", [(clean(source), n) for source in sorted(named)])
    if item.ended_at is None:
        index.write(connection, n, wording.own(moment(micros(item.at)), sane(item.speaker), fitting(item.text, item.source)), previous)
    return n


def is_known(connection: apsw.Connection, receipt: Receipt, id_: str) -> bool:
    """Was there ever a row of this id, deleted ones among them?"""
    found = "SELECT EXISTS (SELECT 1 FROM items INDEXED BY items_by_id WHERE id = ? AND space = ? AND principal = ?)"
    return bool(connection.execute(found, (sane(id_), receipt.space, receipt.principal)).get)


def end(connection: apsw.Connection, n: int, standing: str, at: int, by: str) -> None:
    connection.execute("UPDATE items SET standing = ?, ended_at = ?, ended_by = ? WHERE n = ?", (standing, at, by, n))
    index.remove(connection, n)


def revive(connection: apsw.Connection, n: int) -> bool:
    """What had ended it is gone. Not where another version of it holds."""
    changed = connection.execute(_REVIVE, (n,)).get
    if changed is not None:
        index.add(connection, n)
    return changed is not None


def read(row: tuple[Any, ...]) -> Item:
    id_, kind, text, at, label, source, span, conversation, speaker, *rest = row
    subject, about, confidence, supersedes, on_page, standing, ended_at, ended_by, uses, used_at = rest
    return Item(
        id=id_, kind=kind, text=text, at=moment(at), label=read_label(label), source=source, span=_span(span), conversation=conversation,
        speaker=speaker, subject=subject, about=about, confidence=confidence,
        supersedes=() if supersedes == _NONE else tuple(json.loads(supersedes)),
        on_page=bool(on_page), standing=standing, ended_at=None if ended_at is None else moment(ended_at), ended_by=ended_by, uses=uses,
        used_at=None if used_at is None else moment(used_at),
    )  # fmt: skip


Owner = tuple[SpaceId, PrincipalId]


def find(connection: apsw.Connection, owner: Owner, index: str, where: str, values: tuple[Any, ...] = ()) -> list[Item]:
    """Rows of this owner that were not deleted. Index and condition are literals of this package, with an order if one is wanted.

    Which index it is must be said: without statistics SQLite takes the owner, of whom there is one, for a rare thing to look for.
    """
    asked = f"SELECT {COLUMNS} FROM items INDEXED BY {index} WHERE space = ? AND principal = ? AND is_deleted = 0 AND {where}"
    return [read(row) for row in connection.execute(asked, (*owner, *values))]


@lru_cache(1_024)
def write_label(label: Label) -> str:
    return clean(encode(Label, label).decode())


@lru_cache(1_024)
def read_label(stored: str | None) -> Label:
    """One that was taken away, or spoilt, makes a stranger of whoever it named."""
    try:
        return stated(decode(Label, stored.encode()) if stored else None)
    except JournalDamaged:
        return UNLABELLED


def sane(text: str) -> str:
    return clean(text).replace("\0", "\ufffd")


def fitting(text: str, source: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return sane(text)
    return f"{sane(text[:MOST_CHARACTERS])}… [cut: {len(text)} characters in all; the whole is {source} in the journal]"


def _values(item: Item, label: Label) -> tuple[Any, ...]:
    confidence = min(max(item.confidence, 0.0), 1.0) if math.isfinite(item.confidence) else 0.0
    span = json.dumps(item.span) if item.span and 0 <= item.span[0] <= item.span[1] else None
    ended_at, used_at = (None if at is None else micros(at) for at in (item.ended_at, item.used_at))
    return (
        sane(item.id), item.kind, fitting(item.text, item.source), micros(item.at), write_label(label), sane(item.source), span,
        sane(item.conversation), sane(item.speaker), sane(item.subject), sane(item.about), confidence,
        json.dumps([sane(id_) for id_ in item.supersedes], ensure_ascii=False) if item.supersedes else _NONE,
        item.on_page, item.standing, ended_at, sane(item.ended_by), min(max(item.uses, 0), MOST_USES), used_at,
    )  # fmt: skip


def _span(stored: str | None) -> tuple[int, int] | None:
    if stored is None:
        return None
    first, last = json.loads(stored)
    return first, last


def ended(item: Item, standing: Literal["superseded", "disputed", "forgotten", "rewound"], receipt: Receipt) -> Item:
    """History from its first moment."""
    return replace(item, standing=standing, ended_at=receipt.at, ended_by=receipt.source)
