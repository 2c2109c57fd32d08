"""Finding again what was kept.

    scope      which rows the question is about; whatever follows sees no others
    names      the speakers that it names; left out of what is looked for, while anything is found without them
    lists      by words (one query of FTS5), by meaning (the nearest vectors), each `DEEP` long or as long as is asked for
    around     messages near the best ones come in, also where they match nothing themselves
    ranking    one score for all (`ranking.py`), and why

A scope is looked at in a list that is several times longer than needed; only where too little is left of it, everything in the scope is
looked at first. The outcome is the same: the best of the scope.

An empty question, or one of words that say nothing, gives the newest where there is no meaning to go by. Blocks; belongs to the thread of
the connection. It does not know how vectors are made or kept: whoever has them passes a `Meaning`.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

import apsw

from daimon.abi.memory import Hit, Query, Reason
from daimon.memory import query as typed
from daimon.memory import ranking
from daimon.memory.items import COLUMNS, read
from daimon.memory.ranking import DEEP, Candidate
from daimon.memory.scope import Scope, scope

_FURTHER = 2
"""So many times longer is a list before rows out of scope are taken from it."""
_AROUND = 3
"""Messages before and after."""
ENOUGH = 0.35
"""Of the best score: less than that is not told by itself."""
_BREAK = 6 * 3600 * 1_000_000
"""After so long a silence a conversation is another one."""
_BEGINNING = 400
_SPEAKERS = 1_000

_MATCHING = "SELECT rowid, -bm25(words, 1.0, 0.5) AS score FROM words WHERE words MATCH ? ORDER BY score DESC LIMIT ?"
# The order of the joins is given: SQLite cannot know that few rows match, and would go through all of an owner's.
_MATCHING_WITHIN = """
    SELECT words.rowid, -bm25(words, 1.0, 0.5) AS score FROM words CROSS JOIN items ON n = words.rowid WHERE words MATCH ? AND {}
    ORDER BY score DESC LIMIT ?
"""
_FACTS = f"n, at, kind, speaker, subject, substr(text, 1, {_BEGINNING}), uses, conversation"
_NEAR = f"""
    SELECT {_FACTS} FROM items INDEXED BY items_by_conversation
    WHERE kind = 'message' AND conversation = ? AND n {{}} ? AND {{}} ORDER BY n {{}} LIMIT {_AROUND}
"""
_NAMES = f"""
    WITH RECURSIVE one (name) AS (
        SELECT min(speaker) FROM items WHERE space = ?1 AND principal = ?2 AND speaker <> ''
        UNION ALL
        SELECT (SELECT min(speaker) FROM items WHERE space = ?1 AND principal = ?2 AND speaker <> '' AND speaker > one.name)
        FROM one WHERE one.name IS NOT NULL
    )
    SELECT name FROM one WHERE name IS NOT NULL LIMIT {_SPEAKERS}
"""


class Meaning(Protocol):
    """The vectors that were made, and the question's."""

    def nearest(self, among: Collection[int] | None, limit: int) -> list[tuple[int, float]]:
        """Row numbers with their similarity, the most similar first; among these, or all."""
        ...


def recall(connection: apsw.Connection, query: Query, meaning: Meaning | None) -> tuple[Hit, ...]:
    limit = max(query.limit, 0)
    within = scope(query)
    names = named(connection, query)
    words = typed.words(query.text, names)
    if query.by_itself and typed.is_small_talk(words):
        return ()
    if not limit or not (words or (meaning and query.text.strip())):
        return _newest(connection, within, limit)
    deep = max(DEEP, limit)
    by_words = ranking.words(_matching(connection, within, words, deep) or _matching(connection, within, sorted(names), deep))
    by_meaning = ranking.meaning(_nearest(connection, within, meaning, deep))
    scores = ranking.both(by_words, by_meaning)
    there, near = _surroundings(connection, within, scores, names)
    ranked = ranking.rank(there.values(), by_words, by_meaning, near, limit)
    return _hits(connection, [one for one in ranked if not query.by_itself or one.score >= ENOUGH * ranked[0].score])


def named(connection: apsw.Connection, query: Query) -> frozenset[str]:
    """The speakers that the question names."""
    return typed.named(query.text, (name for (name,) in connection.execute(_NAMES, (query.space, query.principal))))


def meant(connection: apsw.Connection, query: Query) -> str:
    """The question as it is to be compared by meaning."""
    return typed.unnamed(query.text, named(connection, query))


def _matching(connection: apsw.Connection, within: Scope, words: list[str], deep: int) -> list[tuple[int, float]]:
    if not words:
        return []
    match = typed.any_of(words)
    found: list[Any] = connection.execute(_MATCHING, (match, deep * _FURTHER)).fetchall()
    kept = within.of(connection, found)
    if len(kept) < deep and len(found) == deep * _FURTHER:
        kept = list[Any](connection.execute(_MATCHING_WITHIN.format(within.where), (match, *within.values, deep)))
    return [(n, score) for n, score in kept[:deep] if score > 0]


def _nearest(connection: apsw.Connection, within: Scope, meaning: Meaning | None, deep: int) -> list[tuple[int, float]]:
    if meaning is None:
        return []
    found = meaning.nearest(None, deep * _FURTHER)
    kept = within.of(connection, found)
    if len(kept) < deep and len(found) == deep * _FURTHER:
        kept = meaning.nearest(within.among(connection), deep)
    return kept[:deep]


@dataclass(frozen=True, slots=True)
class _Row:
    candidate: Candidate
    conversation: str


def _surroundings(
    connection: apsw.Connection, within: Scope, scores: dict[int, float], names: frozenset[str]
) -> tuple[dict[int, Candidate], dict[int, float]]:
    """All that is to be ranked, and what it gets from what is around it."""
    numbers = json.dumps(list(scores))
    found = connection.execute(f"SELECT {_FACTS} FROM items WHERE n IN (SELECT value FROM json_each(?))", (numbers,))
    rows = {row.candidate.n: row for row in (_row(values, names) for values in found)}
    around: dict[int, list[int]] = {}
    for n in ranking.best(scores):
        if rows[n].candidate.is_message:
            near = _near(connection, within, rows[n], names)
            rows.update({row.candidate.n: row for row in near})
            around[n] = [row.candidate.n for row in near]
    return {n: row.candidate for n, row in rows.items()}, ranking.neighbours(scores, around)


def _near(connection: apsw.Connection, within: Scope, row: _Row, names: frozenset[str]) -> list[_Row]:
    place = (row.conversation, row.candidate.n, *within.values)
    near = []
    for comparison, order in (("<", "DESC"), (">", "ASC")):
        for values in connection.execute(_NEAR.format(comparison, within.where, order), place):
            if abs(values[1] - row.candidate.at) > _BREAK:
                break
            near.append(_row(values, names))
    return near


def _row(values: tuple[Any, ...], names: frozenset[str]) -> _Row:
    n, at, kind, speaker, subject, text, uses, conversation = values
    is_message = kind == "message"
    is_named = speaker in names if is_message else bool(names and typed.named(f"{subject} {text}", names))
    is_question = text.partition("\n")[0].rstrip().endswith("?")
    return _Row(Candidate(n, at, is_message, is_question, is_named, len(text), uses), conversation)


def _hits(connection: apsw.Connection, ranked: list[ranking.Ranked]) -> tuple[Hit, ...]:
    numbers = json.dumps([one.n for one in ranked])
    found = connection.execute(f"SELECT n, {COLUMNS} FROM items WHERE n IN (SELECT value FROM json_each(?))", (numbers,))
    items = {values[0]: read(values[1:]) for values in found}
    return tuple(Hit(items[one.n], round(one.score, 4), one.why) for one in ranked)


def _newest(connection: apsw.Connection, within: Scope, limit: int) -> tuple[Hit, ...]:
    found = connection.execute(
        f"SELECT {COLUMNS} FROM items WHERE {within.where} ORDER BY at DESC, n DESC LIMIT ?", (*within.values, limit)
    )
    return tuple(Hit(read(values), 0.0, (Reason("recent", place),)) for place, values in enumerate(found, 1))
