"""Looking things up by name: an item, its history, a value, all of them in order."""

from typing import Any

import apsw

from daimon.abi.errors import NotFound
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.memory import Item, Kind
from daimon.memory import items
from daimon.memory.values import id_of

_FAMILY = """
    WITH RECURSIVE
    mine AS (SELECT n, id, kind, subject, about, supersedes FROM items WHERE space = ?1 AND principal = ?2 AND is_deleted = 0),
    named AS (SELECT mine.id AS newer, each.value AS older FROM mine, json_each(mine.supersedes) each WHERE mine.kind <> 'summary'),
    family (id) AS (
        SELECT ?3
        UNION SELECT named.older FROM named JOIN family ON named.newer = family.id
        UNION SELECT named.newer FROM named JOIN family ON named.older = family.id
    )
    SELECT n FROM mine WHERE id IN (SELECT id FROM family) OR subject = ?3
    UNION SELECT other.n FROM mine JOIN mine other ON other.subject = mine.subject AND other.about = mine.about
        WHERE mine.id = ?3 AND mine.kind = 'fact' AND mine.about <> '' AND other.kind = 'fact'
"""
_PAGE = """id IN (SELECT DISTINCT id FROM items WHERE space = ? AND principal = ? AND is_deleted = 0 AND id > ? {kinds} ORDER BY id LIMIT ?)
    {kinds} AND n = (SELECT n FROM items o WHERE o.id = items.id AND o.space = items.space AND o.principal = items.principal
        AND o.is_deleted = 0 ORDER BY o.ended_at IS NULL DESC, o.n DESC LIMIT 1)
    ORDER BY id"""


def item(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, id_: str) -> Item:
    found = items.find(connection, space, principal, "id = ? ORDER BY ended_at IS NULL DESC, n DESC LIMIT 1", (items.sane(id_),))
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
    found = items.find(connection, space, principal, "id = ? AND ended_at IS NULL", (items.sane(id_of(key)),))
    return found[0] if found else None


def history(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, about: str) -> tuple[Item, ...]:
    """Versions of an item, what it took the place of and what took its place; for a fact all about the same thing; or all of a subject."""
    family = connection.execute(_FAMILY, (space, principal, items.sane(about))).fetchall()
    return tuple(each for (n,) in sorted(family) for each in items.find(connection, space, principal, "n = ?", (n,)))


def page_of(
    connection: apsw.Connection, space: SpaceId, principal: PrincipalId, kinds: tuple[Kind, ...], after: str, limit: int
) -> tuple[Item, ...]:
    """One for each id: the version that holds, else the newest."""
    among = f"AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    values: tuple[Any, ...] = (space, principal, items.sane(after), *kinds, max(limit, 0), *kinds)
    return tuple(items.find(connection, space, principal, _PAGE.format(kinds=among), values))
