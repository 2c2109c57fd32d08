"""Taking events in: number, key, row and payload in one transaction.

A key that was seen before changes nothing and answers with the first event. Keys stand in a table of their own, because they must
outlive the events: a channel may redeliver long after a conversation was aged out.

An event that resolves a step belongs to that step's turn if the turn still waits or runs; otherwise it is *late*: kept,
numbered, and without effect. A stop marks its turn at once and needs no turn of its own.
"""

import apsw

from daimon.abi.errors import BadInput
from daimon.abi.event import Event, Stop
from daimon.abi.ids import Conversation, EventId, TurnId
from daimon.abi.ports import MOST_LETTERS, Accepted, DeadLetter
from daimon.journal.now import Now
from daimon.journal.rows import micros, put_event

WAITING, TAKEN, LATE = 0, 1, 2


def accept(db: apsw.Connection, now: Now, event: Event) -> Accepted:
    is_new = db.execute(
        "INSERT INTO intake_keys VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1",
        (event.space, event.source, event.key, event.id, micros(event.received_at)),
    ).get
    if not is_new:
        return Accepted(*_first(db, event), is_new=False)
    return place(db, now, event)


def place(db: apsw.Connection, now: Now, event: Event) -> Accepted:
    """The row and payload of a new event, whose key has just been kept."""
    where = event.where
    turn, taken = _destination(db, event)
    seq = next_seq(db, where)
    put_event(db, next(now.positions), seq, event, turn, taken)
    if (held := now.holds.get(where)) is not None:
        held.may_have_waiting |= taken == WAITING
        held.is_stopped |= isinstance(event.body, Stop) and event.body.turn == held.turn
    return Accepted(event.id, seq, is_new=True)


def _first(db: apsw.Connection, event: Event) -> tuple[EventId, int]:
    """The event that this key brought, and its number; -1 if it has been aged out since."""
    first: str = db.execute(
        "SELECT event FROM intake_keys WHERE space = ? AND source = ? AND key = ?", (event.space, event.source, event.key)
    ).get
    seq = db.execute("SELECT seq FROM events WHERE id = ?", (first,)).get
    return EventId(first), -1 if seq is None else seq


def bury(db: apsw.Connection, letter: DeadLetter) -> None:
    db.execute(
        "INSERT INTO dead_letters (source, reason, body, at) VALUES (?, ?, ?, ?)",
        (letter.source, letter.reason, letter.body, micros(letter.at)),
    )
    db.execute("DELETE FROM dead_letters WHERE pos <= (SELECT MAX(pos) FROM dead_letters) - ?", (MOST_LETTERS,))


def next_seq(db: apsw.Connection, conversation: Conversation) -> int:
    seq: int = db.execute(
        """INSERT INTO conversations (space, name, next_seq) VALUES (?, ?, 1)
           ON CONFLICT (space, name) DO UPDATE SET next_seq = next_seq + 1 RETURNING next_seq - 1""",
        (conversation.space, conversation.name),
    ).get
    return seq


def _destination(db: apsw.Connection, event: Event) -> tuple[TurnId | None, int]:
    if isinstance(event.body, Stop):
        _require_same_conversation(db, event, event.body.turn)
        db.execute("UPDATE turns SET is_stopped = 1 WHERE id = ? AND state IN ('running', 'parked')", (event.body.turn,))
        return event.body.turn, TAKEN
    if event.resolves is None:
        return None, WAITING
    turn = event.resolves.turn
    _require_same_conversation(db, event, turn)
    is_open = db.execute("SELECT 1 FROM turns WHERE id = ? AND state IN ('running', 'parked')", (turn,)).get
    return turn, WAITING if is_open else LATE


def _require_same_conversation(db: apsw.Connection, event: Event, turn: TurnId) -> None:
    row = db.execute("SELECT space, conversation FROM turns WHERE id = ?", (turn,)).get
    if row is None:
        raise BadInput(f"there is no turn {turn!r}; `daimon turns` lists them")
    if row != (event.space, event.conversation):
        raise BadInput(f"turn {turn!r} belongs to conversation {row[1]!r}, not {event.conversation!r}; send the event there")
