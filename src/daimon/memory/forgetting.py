"""Deleting for good: what a turn, an event, a step or a source left in memory, and what was made of it.

A deleted row keeps its number and id and loses everything else: words, names, label, origins, vectors. The message after it gets the one
before it as its context, and is indexed anew. What the deleted thing had taken the place of holds again, as if it had never been there;
what somebody told to forget stays forgotten. The index is then rewritten (`index.rewrite`, once for all deletions of a transaction), so
that the words are in no byte of the file; the store empties the write-ahead log afterwards.

What is made of something: by label, everything that it had a part in, because labels are joined and never dropped. By event: all of the
turn that took it in. By step: that step and the later ones of its turn. A later turn that repeats the words is not found by an event or a
step; its label tells only which sources they came from.
"""

import json
from collections.abc import Callable, Collection
from typing import Any

import apsw

from daimon.abi.ids import StepRef, TurnId
from daimon.abi.label import UNLABELLED
from daimon.abi.memory import ForgetSource, Kind
from daimon.abi.ports import Erasure
from daimon.abi.turn import Turn
from daimon.memory import facts, index, items
from daimon.memory.graph import rows as graph

_FROM = "SELECT n FROM items WHERE source = ?1 UNION SELECT n FROM origins WHERE source = ?1"
_OF_TURN = "SELECT n FROM items WHERE turn = ?"
_EPISODE = "SELECT n FROM items WHERE turn = ? AND kind = 'episode'"
_SUMMARIES = "SELECT n FROM items, json_each(items.supersedes) named WHERE kind = 'summary' AND named.value = ?"
_MESSAGES = "SELECT DISTINCT source FROM items WHERE turn = ? AND kind = 'message'"
_STEPS = "SELECT DISTINCT source FROM items WHERE turn = ?1 AND source LIKE ?1 || ':%'"
_TURN = "SELECT turn FROM items WHERE source = ? AND kind = 'message'"
_EMPTY = """
    UPDATE items SET text = '', label = ?, is_trusted = 0, span = NULL, conversation = '', speaker = '', previous = NULL, subject = '',
        about = '', supersedes = '[]', on_page = 0, standing = 'forgotten', ended_at = coalesce(ended_at, recorded_at), is_deleted = 1
    WHERE n = ?
"""
_BY_KIND = "SELECT kind, count(*) FROM items WHERE n IN (SELECT value FROM json_each(?)) AND is_deleted = 0 GROUP BY kind ORDER BY kind"
_RELINK = "UPDATE items SET previous = ? WHERE previous = ? RETURNING n, ended_at IS NULL"
_ENDED_BY = """
    SELECT n, space, principal, subject, about FROM items
    WHERE ended_by = ? AND ended_by <> '' AND standing = 'superseded' AND is_deleted = 0 ORDER BY n DESC
"""
_ITS_GROUP = "SELECT space, principal, subject, about FROM items WHERE n = ? AND kind = 'fact' AND about <> ''"


def erase(connection: apsw.Connection, erasure: Erasure, turns: Callable[[TurnId], Turn | None]) -> None:
    """What the journal has deleted the words of."""
    turn = turns(erasure.turn)
    own = {turn.event} if turn is not None and turn.forked_from is None else set()  # a fork's event is that of another turn
    sources = set(erasure.only) or own | _column(connection, _MESSAGES, erasure.turn)
    found = _summaries(connection, erasure.turn) | _column(connection, _EPISODE if erasure.only else _OF_TURN, erasure.turn)
    delete(connection, found.union(*(_column(connection, _FROM, source) for source in sources)))
    graph.delete_from(connection, sources, "" if erasure.only else erasure.turn)
    if not erasure.only:
        connection.execute("DELETE FROM acts WHERE turn = ?", (erasure.turn,))


def forget_source(connection: apsw.Connection, operation: ForgetSource) -> None:
    source = items.sane(operation.source)
    turn, sources, found = _from(connection, source)
    delete(connection, found)
    graph.delete_source(connection, source)
    graph.delete_from(connection, sources, turn)


def foreseen(connection: apsw.Connection, source: str) -> tuple[dict[Kind, int], int]:
    """How many items of each kind would go, and how many claims of the graph."""
    source = items.sane(source)
    turn, sources, found = _from(connection, source)
    rows: list[Any] = connection.execute(_BY_KIND, (json.dumps(sorted(found)),)).fetchall()
    return dict(rows), graph.count_from(connection, source, sources, turn)


def _from(connection: apsw.Connection, source: str) -> tuple[str, set[str], set[int]]:
    """The turn that it stands for, if it does, the sources, and the rows that came from there."""
    turn, sources = _made_of(connection, source)
    found: set[int] = set().union(*(_column(connection, _FROM, each) for each in sources))
    if turn:
        found |= _column(connection, _OF_TURN, turn) | _summaries(connection, turn)
    elif (step := _step(source)) is not None:
        found |= _column(connection, _EPISODE, step.turn) | _summaries(connection, step.turn)
    return turn, sources, found


def delete(connection: apsw.Connection, rows: Collection[int]) -> None:
    groups = {tuple(group) for n in rows for group in connection.execute(_ITS_GROUP, (n,))}
    gone = {source for n in rows for source in _sources(connection, n)}
    followers = _relinked(connection, rows)
    for n in sorted(rows):
        index.remove(connection, n)
        connection.execute("DELETE FROM origins WHERE n = ?", (n,))
        connection.execute(_EMPTY, (items.write_label(UNLABELLED), n))
    for n in sorted(followers - set(rows)):
        index.remove(connection, n)
        index.add(connection, n)
    for source in sorted(gone):
        ended: list[Any] = connection.execute(_ENDED_BY, (source,)).fetchall()
        for n, *group in ended:
            items.revive(connection, n)
            groups.add(tuple(group))
    for space, principal, subject, about in sorted(groups):
        facts.settle(connection, (space, principal, subject, about))


def _made_of(connection: apsw.Connection, source: str) -> tuple[str, set[str]]:
    """The turn all of which was made of it, if there is one, and the sources that it stands for."""
    turn = next((turn for turn in _column(connection, _TURN, source) if turn and not source.startswith(f"{turn}:")), "")
    if not turn and connection.execute("SELECT EXISTS (SELECT 1 FROM items WHERE turn = ?)", (source,)).get:
        turn = source
    if turn:
        return turn, {source, *_column(connection, _MESSAGES, turn)}
    step = _step(source)
    later = () if step is None else (each for each in _column(connection, _STEPS, step.turn) if (_step(each) or step).n >= step.n)
    return "", {source, *later}


def _relinked(connection: apsw.Connection, rows: Collection[int]) -> set[int]:
    """Whatever came after a message that goes comes after the one before it. Gives those that must be indexed anew: rows that hold."""
    followers: set[int] = set()
    for n in sorted(rows, reverse=True):
        before = connection.execute("SELECT previous FROM items WHERE n = ?", (n,)).get
        after: list[Any] = connection.execute(_RELINK, (before, n)).fetchall()
        followers |= {follower for follower, holds in after if holds}
    return followers


def _sources(connection: apsw.Connection, n: int) -> set[str]:
    return _column(connection, "SELECT source FROM items WHERE n = ?1 UNION SELECT source FROM origins WHERE n = ?1", n)


def _summaries(connection: apsw.Connection, turn: str) -> set[int]:
    return _column(connection, _SUMMARIES, turn)


def _column(connection: apsw.Connection, query: str, value: str | int) -> set[Any]:
    return {found for (found,) in connection.execute(query, (value,))}


def _step(source: str) -> StepRef | None:
    try:
        return StepRef.parse(source)
    except ValueError:
        return None
