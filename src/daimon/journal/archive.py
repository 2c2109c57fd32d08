"""Reading the journal: turns, steps, changes, counts."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import apsw

from daimon.abi.errors import BadInput, JournalDamaged, NotFound
from daimon.abi.event import Event
from daimon.abi.ids import EventId, SpaceId, TurnId
from daimon.abi.memory import Amendment
from daimon.abi.ports import Change, Count, Cursor, DeadLetter, Erasure
from daimon.abi.step import Step
from daimon.abi.turn import State, Turn
from daimon.journal import mailings
from daimon.journal.rows import AMENDMENT, EVENT, STEP, TURN, moment, read_amendment, read_event, read_step, read_turn

T = TypeVar("T")
BATCH = 256
MOST_DIGITS = 18
"""Of a position: more are no number that SQLite counts to."""


def turn(db: apsw.Connection, id_: TurnId) -> Turn:
    found = known_turn(db, id_)
    if found is None:
        raise NotFound(f"there is no turn {id_!r}; `daimon turns` lists them")
    return found


def known_turn(db: apsw.Connection, id_: TurnId) -> Turn | None:
    row = db.execute(TURN + " WHERE id = ?", (id_,)).get
    return None if row is None else read_turn(row)


def event(db: apsw.Connection, id_: EventId) -> Event:
    row = db.execute(EVENT + " WHERE e.id = ?", (id_,)).get
    if row is None:
        raise NotFound(f"there is no event {id_!r}")
    return read_event(row)


def steps(db: apsw.Connection, id_: TurnId) -> tuple[Step, ...]:
    return tuple(read_step(row) for row in db.execute(STEP + " WHERE s.turn = ? ORDER BY s.n", (id_,)))


def turn_of(db: apsw.Connection, id_: EventId) -> Turn | None:
    row = db.execute("SELECT turn FROM events WHERE id = ?", (id_,)).fetchone()
    if row is None:
        raise NotFound(f"there is no event {id_!r}")
    return None if row[0] is None else turn(db, row[0])


def late(db: apsw.Connection, id_: TurnId) -> tuple[Event, ...]:
    """`taken = 2` is written out, so that the index of such events is used."""
    return tuple(read_event(row) for row in db.execute(EVENT + " WHERE e.turn = ? AND e.taken = 2 ORDER BY e.pos", (id_,)))


def turns(db: apsw.Connection, space: SpaceId, limit: int, conversation: str | None, state: State | None) -> tuple[Turn, ...]:
    query = TURN + " WHERE +space = ?" if conversation is None and state is None else TURN + " WHERE space = ?"  # by id, not by space
    values: list[str | int] = [space]
    if conversation is not None:
        query += " AND conversation = ?"
        values.append(conversation)
    if state is not None:
        query += " AND state = ?"
        values.append(state)
    return tuple(read_turn(row) for row in db.execute(query + " ORDER BY id DESC LIMIT ?", (*values, limit)))


def changes(db: apsw.Connection, after: Cursor, limit: int = BATCH, *, passes_damaged: bool = False) -> list[Change]:
    """Events, steps, amendments and erasures in order of commit.

    `passes_damaged`: for a reader that goes on without what cannot be read, or would stand before it for ever; `daimon doctor` tells it.
    """
    found: list[tuple[int, Event | Step | Erasure | Amendment]] = []
    with db:  # one snapshot: a change must not be passed over because it was committed between two of the reads
        asked = (int(after or 0), limit)
        for row in db.execute(_with_pos(EVENT, "e") + " WHERE e.pos > ? ORDER BY e.pos LIMIT ?", asked):
            found += _read(read_event, row, passes_damaged)
        for row in db.execute(_with_pos(STEP, "s") + " WHERE s.pos > ? ORDER BY s.pos LIMIT ?", asked):
            found += _read(read_step, row, passes_damaged)
        for row in db.execute(_with_pos(AMENDMENT, "a") + " WHERE a.pos > ? ORDER BY a.pos LIMIT ?", asked):
            found += _read(read_amendment, row, passes_damaged)
        for pos, *erasure in db.execute("SELECT pos, turn, at, reason, only FROM erasures WHERE pos > ? ORDER BY pos LIMIT ?", asked):
            found.append((pos, _erasure(*erasure)))
    found.sort(key=lambda pair: pair[0])
    return [Change(Cursor(str(pos)), item) for pos, item in found[:limit]]


def _read(read: Callable[[tuple[Any, ...]], T], row: tuple[Any, ...], passes_damaged: bool) -> list[tuple[int, T]]:
    try:
        return [(row[0], read(row[1:]))]
    except JournalDamaged:
        if passes_damaged:
            return []
        raise


def end(db: apsw.Connection) -> Cursor:
    with db:
        found = [db.execute(f"SELECT MAX(pos) FROM {table}").get or 0 for table in ("events", "steps", "amendments", "erasures")]
    return Cursor(str(max(found)))


def require(db: apsw.Connection, cursor: Cursor) -> None:
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= MOST_DIGITS and int(cursor) <= int(end(db))):
        raise BadInput(f"{cursor[:40]!r} is no cursor of this journal; begin without one, and read what there is by the other routes")


def erasures(db: apsw.Connection) -> int:
    """Amendments count too: one may take words out of an earlier one."""
    return int(db.execute("SELECT (SELECT COUNT(*) FROM erasures) + (SELECT COUNT(*) FROM amendments)").get)


def count(db: apsw.Connection) -> Count:
    with db:  # one snapshot
        counted = _count(db)
    return counted  # noqa: RET504 - returning inside `with` hides from mypy that it returns


def _count(db: apsw.Connection) -> Count:
    def how_many(table: str, where: str = "1") -> int:
        return int(db.execute(f"SELECT COUNT(*) FROM {table} WHERE {where}").get)

    states = dict(db.execute("SELECT state, COUNT(*) FROM turns GROUP BY state"))
    queued = how_many("events", "taken = 0 AND turn IS NULL")
    return Count(
        events=how_many("events"),
        turns={state: queued if state is State.QUEUED else states.get(state.value, 0) for state in State},
        steps=how_many("steps"),
        timers=how_many("timers", "state = 'set'"),
        outgoing=how_many("outbox", "state IN ('queued', 'sending')"),
        dead_letters=how_many("dead_letters"),
        bytes=int(db.execute("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()").get),
        mail=mailings.counted(db),
    )


def letters(db: apsw.Connection, limit: int) -> tuple[DeadLetter, ...]:
    rows = db.execute("SELECT source, reason, body, at FROM dead_letters ORDER BY pos DESC LIMIT ?", (limit,))
    return tuple(DeadLetter(source, reason, body, moment(at)) for source, reason, body, at in rows)


def _erasure(turn: Any, at: Any, reason: Any, only: Any) -> Erasure:
    return Erasure(TurnId(turn), moment(at), reason, tuple(json.loads(only)))


def _with_pos(query: str, table: str) -> str:
    return query.replace("SELECT ", f"SELECT {table}.pos, ", 1)
