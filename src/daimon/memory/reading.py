"""Looking things up by name: an item, its history, a value, all of them in order."""

from typing import Any

import apsw

from daimon.abi.errors import NotFound
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.memory import Item, Kind
from daimon.memory import items
from daimon.memory.values import id_of

_FAMILY = """
    WITH RECURSIVE family (id) AS (
        SELECT ?3
        UNION SELECT older.value FROM family JOIN items INDEXED BY items_by_id USING (id), json_each(items.supersedes) older
            WHERE items.space = ?1 AND items.principal = ?2 AND items.kind <> 'summary'
        UNION SELECT items.id FROM family, items INDEXED BY items_replacing, json_each(items.supersedes) older
            WHERE older.value = family.id AND items.supersedes <> '[]' AND items.space = ?1 AND items.principal = ?2
                AND items.kind <> 'summary'
    )
    SELECT n FROM items INDEXED BY items_by_id WHERE id IN (SELECT id FROM family) AND space = ?1 AND principal = ?2
    UNION SELECT n FROM items INDEXED BY items_by_subject WHERE space = ?1 AND principal = ?2 AND subject = ?3 AND subject <> ''
    UNION SELECT other.n FROM items fact INDEXED BY items_by_id JOIN items other INDEXED BY items_by_subject
        ON other.space = ?1 AND other.principal = ?2 AND other.subject = fact.subject AND other.subject <> '' AND other.about = fact.about
        WHERE fact.id = ?3 AND fact.space = ?1 AND fact.principal = ?2 AND fact.kind = 'fact' AND fact.about <> '' AND other.kind = 'fact'
"""
_IDS = """
    SELECT DISTINCT id FROM items INDEXED BY items_by_id WHERE space = ? AND principal = ? AND is_deleted = 0 AND id > ? {kinds}
    ORDER BY id LIMIT ?
"""


def item(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, id_: str) -> Item:
    found = items.find(
        connection, (space, principal), "items_by_id", "id = ? ORDER BY ended_at IS NULL DESC, n DESC LIMIT 1", (items.sane(id_),)
    )
    if not found:
        raise NotFound(f"memory has nothing with the id {id_[:80]!r}")
    return found[0]


def source_of_deleted(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, id_: str) -> str:
    """What a deleted item came from. Raises NotFound if there never was one."""
    asked = "SELECT source FROM items WHERE id = ? AND space = ? AND principal = ? AND is_deleted = 1 ORDER BY n DESC LIMIT 1"
    source: str | None = connection.execute(asked, (items.sane(id_), space, principal)).get
    if source is None:
        raise NotFound(f"memory has nothing with the id {id_[:80]!r}")
    return source


def value(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, key: str) -> Item | None:
    found = items.find(connection, (space, principal), "items_by_id", "id = ? AND ended_at IS NULL", (items.sane(id_of(key)),))
    return found[0] if found else None


def history(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, about: str) -> tuple[Item, ...]:
    """Versions of an item, what it took the place of and what took its place; for a fact all about the same thing; or all of a subject."""
    family: list[Any] = connection.execute(_FAMILY, (space, principal, items.sane(about))).fetchall()
    asked = f"SELECT {items.COLUMNS} FROM items WHERE n = ? AND is_deleted = 0"
    return tuple(items.read(row) for (n,) in sorted(family) for row in connection.execute(asked, (n,)))


def page_of(
    connection: apsw.Connection, space: SpaceId, principal: PrincipalId, kinds: tuple[Kind, ...], after: str, limit: int
) -> tuple[Item, ...]:
    """One for each id: the version that holds, else the newest."""
    among = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    asked = (space, principal, items.sane(after), *kinds, max(limit, 0))
    found: list[Any] = connection.execute(_IDS.format(kinds=among), asked).fetchall()
    return tuple(item(connection, space, principal, id_) for (id_,) in found)
