"""Erasing what was said: the payload of a row, its blobs, its timers, and the same words in prompts.

Number, hash and tombstone stay. A blob goes when no other row names it. A turn goes as a whole, with its forks; single rows of a turn go
when their source is forgotten (`forgetting.py`). Either way an entry in `erasures` tells readers what they must drop too.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from daimon.abi.errors import BadInput, JournalDamaged
from daimon.abi.event import Erased, Event
from daimon.abi.ids import SUMMARIES, SUMMARIZER, Conversation, TurnId
from daimon.abi.step import Step
from daimon.abi.turn import Turn
from daimon.journal import archive, prompts, quotes
from daimon.journal.now import Now
from daimon.journal.rows import EVENT, micros, read_event

MOST_LATER = 200
"""How many later turns may have this one in their prompts; the context reads back far fewer."""

Row = tuple[int, str]
"""Its position, and its name as event, step or amendment; empty for a message on its way out."""


def erase(db: apsw.Connection, now: Now, id_: TurnId, reason: str) -> tuple[Erased, ...]:
    gone = require_over(db, id_)
    copies = [tombstone for fork in forks(db, id_) for tombstone in erase(db, now, fork, reason)]
    prompts.empty(db, gone.where, gone.id, MOST_LATER, prompts.said_in(_said(db, gone)))
    rows = _rows(db, id_)
    announce(db, now, id_, reason)
    return (*copies, *empty(db, now, rows, reason))


def require_over(db: apsw.Connection, id_: TurnId) -> Turn:
    """The turn, if it may be erased. Raises BadInput."""
    gone = archive.turn(db, id_)
    if gone.ended_at is None:
        raise BadInput(f"turn {id_} is not over; stop it before it is erased")
    require_quiet(db, gone.where, gone.id)
    return gone


def count(db: apsw.Connection, id_: TurnId) -> int:
    """How many payloads `erase` would empty."""
    return len(_rows(db, id_)) + sum(count(db, fork) for fork in forks(db, id_))


def _rows(db: apsw.Connection, id_: TurnId) -> list[Any]:
    found: list[Any] = db.execute(
        """SELECT pos, id FROM events WHERE turn = ?1 UNION ALL SELECT pos, turn || ':' || n FROM steps WHERE turn = ?1
           UNION ALL SELECT pos, '' FROM outbox WHERE turn = ?1 ORDER BY 1""",
        (id_,),
    ).fetchall()
    return found


def empty(db: apsw.Connection, now: Now, rows: Sequence[Row], reason: str) -> tuple[Erased, ...]:
    """These rows keep their place and their hash, and nothing else."""
    at, erased = micros(now.at), []
    if rows:
        db.execute("INSERT INTO residues (at) VALUES (?)", (at,))
    for pos, ref in rows:
        digest = db.execute(
            "UPDATE payloads SET body = NULL, erased_at = ?, reason = ? WHERE pos = ? RETURNING hash", (at, reason, pos)
        ).get
        db.execute(
            """UPDATE blobs SET body = NULL WHERE (first_pos = ?1 OR hash IN (SELECT hash FROM blob_refs WHERE pos = ?1))
               AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.hash = blobs.hash AND r.pos <> ?1)""",
            (pos,),
        )
        db.execute("DELETE FROM blob_refs WHERE pos = ?", (pos,))
        if ref:
            quotes.erase(db, ref)
        erased.append(Erased(digest.hex(), now.at, reason))
    db.execute(
        "UPDATE timers SET about = '' WHERE set_by IN (SELECT value FROM json_each(?))", (json.dumps([ref for _, ref in rows if ref]),)
    )
    return tuple(erased)


def announce(db: apsw.Connection, now: Now, turn: TurnId, reason: str, only: Iterable[str] = ()) -> None:
    """Whoever made something of the turn reads of it here. A summary quotes a turn, whichever of its words are in it, and goes with it."""
    summaries = _summaries(db, turn)
    quotes.erase(db, turn)
    db.execute("INSERT INTO erasures VALUES (?, ?, ?, ?, ?)", (next(now.positions), turn, micros(now.at), reason, json.dumps(list(only))))
    for summary in summaries:
        erase(db, now, summary, reason)


def _summaries(db: apsw.Connection, turn: TurnId) -> tuple[TurnId, ...]:
    """The turns in which a model summarised this one."""
    rows: list[Any] = db.execute(
        """SELECT DISTINCT t.id FROM quotes q JOIN steps s USING (pos) JOIN turns t ON t.id = s.turn
           WHERE q.ref = ? AND t.agent = ? AND t.id <> ?1""",
        (turn, SUMMARIZER),
    ).fetchall()
    return tuple(TurnId(summary) for (summary,) in rows)


def forks(db: apsw.Connection, turn: TurnId) -> tuple[TurnId, ...]:
    """Those that were made of this turn itself."""
    rows: list[Any] = db.execute("SELECT id FROM turns WHERE forked_from >= ? AND forked_from < ?", (f"{turn}:", f"{turn};")).fetchall()
    return tuple(TurnId(fork) for (fork,) in rows)


def require_quiet(db: apsw.Connection, where: Conversation, after: TurnId) -> None:
    """A turn that thinks right now may have these words in its prompt, and would write them down again."""
    running = db.execute(
        "SELECT id FROM turns WHERE space = ? AND conversation IN (?, ?) AND id > ? AND state = 'running'",
        (where.space, where.name, f"{SUMMARIES}{where.name}", after),
    ).get
    if running is not None:
        raise BadInput(f"turn {running} of the same conversation is running and may quote it; wait or stop it, then erase")


def _said(db: apsw.Connection, gone: Turn) -> tuple[Event | Step, ...]:
    """What this turn was asked, said, called and was told. What cannot be read cannot be looked for."""
    try:
        events = tuple(read_event(row) for row in db.execute(EVENT + " WHERE e.turn = ? OR e.id = ?", (gone.id, gone.event)))
        return (*events, *archive.steps(db, gone.id))
    except JournalDamaged:
        return ()
