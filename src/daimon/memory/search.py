"""Finding by words alone: all of them first, then any of them; an empty question gives the newest."""

from dataclasses import replace
from typing import Any

import apsw

from daimon.abi.memory import Hit, Query, Reason, Recalled
from daimon.memory import query as typed
from daimon.memory.items import COLUMNS, read, sane
from daimon.memory.moments import micros

_NEWEST = f"SELECT {COLUMNS}, 0.0 FROM items WHERE {{where}} ORDER BY at DESC, n DESC LIMIT ?"
# Rounded, so that of two items that match about equally well the newer one comes first.
_MATCHING = f"""
    SELECT {COLUMNS}, -bm25(words) FROM words JOIN items ON n = words.rowid
    WHERE {{where}} AND words MATCH ? ORDER BY round(bm25(words), 2), at DESC, n DESC LIMIT ?
"""
HOW = "words only"


def search(connection: apsw.Connection, query: Query) -> Recalled:
    where, values = filters(query)
    words = typed.words(query.text)
    limit = max(query.limit, 0)
    if not words:
        return _recalled(connection.execute(_NEWEST.format(where=where), (*values, limit)).fetchall(), "recent")
    for match in (typed.all_of(words), typed.any_of(words)):
        asked = (*values, f"own : ({match})", limit)
        if rows := connection.execute(_MATCHING.format(where=where), asked).fetchall():
            return _recalled(rows, "words")
    return Recalled((), HOW)


def filters(query: Query) -> tuple[str, list[Any]]:
    """Which rows may be shown at all, as a condition on `items`."""
    where = ["space = ? AND principal = ? AND ended_at IS NULL AND is_deleted = 0"]
    values: list[Any] = [query.space, query.principal]
    for condition, given in (
        (f"kind IN ({', '.join('?' * len(query.kinds))})", query.kinds),
        ("at >= ?", () if query.since is None else (micros(query.since),)),
        ("at <= ?", () if query.until is None else (micros(query.until),)),
        ("n IN (SELECT n FROM origins WHERE source = ?)", (sane(query.source),) if query.source else ()),
        ("conversation = ?", () if query.conversation is None else (sane(query.conversation),)),
        (f"id NOT IN ({', '.join('?' * len(query.without))})", tuple(sane(id_) for id_ in query.without)),
    ):
        if given:
            where.append(condition)
            values += given
    if query.trusted_only:
        where.append("is_trusted = 1")
    return " AND ".join(where), values


def _recalled(rows: list[Any], by: Any) -> Recalled:
    return Recalled(tuple(Hit(read(row[:-1]), row[-1], (Reason(by, rank),)) for rank, row in enumerate(rows, 1)), HOW)


def without_turn(connection: apsw.Connection, query: Query) -> Query:
    """Whoever asks has what belongs to the turn under way: the question would be its own best answer."""
    if not query.turn:
        return query
    own = {id_ for (id_,) in connection.execute("SELECT id FROM items WHERE turn = ?", (query.turn,))}
    return replace(query, without=query.without | own)
