"""Looking over what is kept: counts, pages, sources, latest changes. Reads only.

Pages go by row number, the newest first: a row is never moved, so nothing is shown twice or left out while something new is kept. Of an id
with several versions each is a row of its own; at most one of them holds.
"""

from collections.abc import Iterable
from typing import Any

import apsw

from daimon.abi.errors import BadInput
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import Label
from daimon.abi.memory import Kind
from daimon.abi.survey import Counts, Listed, Listing, Spring, Standing, Turned
from daimon.memory import items
from daimon.memory.moments import moment

Owner = tuple[SpaceId, PrincipalId]
_MINE = "+space = ? AND +principal = ? AND is_deleted = 0"
"""The plus signs keep SQLite from walking an index of all that the owner has, only to sort it by number."""
_STANDING: dict[Standing, str] = {"holds": "ended_at IS NULL", "over": "ended_at IS NOT NULL", "any": "1"}
_COUNTS = "SELECT kind, ended_at IS NULL, count(*) FROM items WHERE space = ? AND principal = ? AND is_deleted = 0 GROUP BY 1, 2"
_FROM = "n IN (SELECT n FROM items INDEXED BY items_by_source WHERE source = ? UNION SELECT n FROM origins WHERE source = ?)"
_SPRINGS = """
    SELECT origins.source, count(*), max(items.at), items.label FROM origins CROSS JOIN items USING (n)
    WHERE items.space = ? AND items.principal = ? AND items.is_deleted = 0 GROUP BY origins.source
"""
_TURNED = f"""
    SELECT began, did, n FROM (
        SELECT recorded_at AS began, 'kept' AS did, n FROM items WHERE {_MINE} AND kind IN ('note', 'fact', 'value')
        UNION ALL
        SELECT ended_at, standing, n FROM items WHERE {_MINE} AND kind IN ('note', 'fact', 'value') AND ended_at > recorded_at
    ) ORDER BY began DESC, n DESC LIMIT ?
"""
_ROW = f"SELECT {items.COLUMNS} FROM items WHERE n = ?"
MOST_SPRINGS = 500


def counts(connection: apsw.Connection, owner: Owner) -> Counts:
    rows: list[Any] = connection.execute(_COUNTS, owner).fetchall()
    found: tuple[dict[Kind, int], dict[Kind, int]] = ({}, {})
    for kind, holds, number in rows:
        found[0 if holds else 1][kind] = number
    return Counts(*found)


def listed(connection: apsw.Connection, owner: Owner, listing: Listing) -> Listed:
    where, values = _condition(listing)
    total: int = connection.execute(f"SELECT count(*) FROM items WHERE {_MINE} AND {where}", (*owner, *values)).get
    page = (*owner, *values, _number(listing.after), listing.limit + 1)
    asked = f"SELECT n, {items.COLUMNS} FROM items WHERE {_MINE} AND {where} AND n < ? ORDER BY n DESC LIMIT ?"
    rows: list[Any] = connection.execute(asked, page).fetchall()
    is_more, rows = len(rows) > listing.limit, rows[: listing.limit]
    return Listed(tuple(items.read(row) for _, *row in rows), total, str(rows[-1][0]) if is_more else "")


def _condition(listing: Listing) -> tuple[str, tuple[str, ...]]:
    where: list[str] = [_STANDING[listing.standing]]
    values: list[str] = []
    if listing.kinds:
        where.append(f"kind IN ({', '.join('?' * len(listing.kinds))})")
        values += listing.kinds
    if listing.subject:
        where.append("subject = ?")
        values.append(items.sane(listing.subject))
    if listing.source:
        where.append(_FROM)
        values += [items.sane(listing.source)] * 2
    return " AND ".join(where), tuple(values)


def _number(after: str) -> int:
    if not after:
        return 1 << 62
    if not after.isascii() or not after.isdecimal() or len(after) > 18:
        raise BadInput(f"after={after[:40]!r} is no place in the list; take `next` of the page before")
    return int(after)


def springs(connection: apsw.Connection, owner: Owner) -> tuple[Spring, ...]:
    """Steps that items were made by are in the table too; what no label names is not meant here."""
    rows: Iterable[Any] = connection.execute(_SPRINGS, owner)
    found = []
    for source, number, at, stored in rows:
        named = next((origin for origin in items.read_label(stored).origins if origin.source == source), None)
        if named is not None:
            found.append(Spring(source, Label.of(named), number, moment(at)))
    return tuple(sorted(found, key=lambda each: (-each.items, each.source))[:MOST_SPRINGS])


def turned(connection: apsw.Connection, owner: Owner, limit: int) -> tuple[Turned, ...]:
    rows: list[Any] = connection.execute(_TURNED, (*owner, *owner, limit)).fetchall()
    return tuple(Turned(moment(at), moment(at - 1), did, items.read(row)) for at, did, n in rows for row in connection.execute(_ROW, (n,)))
