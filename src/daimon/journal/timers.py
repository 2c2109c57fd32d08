"""Timers and time-outs: moments that become events.

A timer is set by the outcome that carries `SetTimer`, in its transaction. When its moment comes it is turned into an event
with the timer's id as key, and marked as fired, in one transaction: it fires once, however often anybody looks, and however
the wall clock jumps. A wait's time-out becomes an event that resolves the wait.
"""

from datetime import datetime
from typing import Any

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.event import Address, Event, Fired
from daimon.abi.ids import AgentId, Conversation, EventId, Key, PrincipalId, SpaceId, StepRef, TimerId
from daimon.abi.label import Author, Label, Origin
from daimon.abi.ports import Reminder
from daimon.abi.step import Step
from daimon.abi.tool import CancelTimer, SetTimer
from daimon.journal.intake import accept
from daimon.journal.now import Now
from daimon.journal.rows import micros, moment, read_label, write_label


def apply(db: apsw.Connection, event: Event, step: Step, operation: SetTimer | CancelTimer) -> None:
    if isinstance(operation, CancelTimer):
        db.execute("UPDATE timers SET state = 'cancelled' WHERE space = ? AND id = ? AND state = 'set'", (step.space, operation.timer))
        return
    db.execute(
        "INSERT OR IGNORE INTO timers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'set')",
        (
            step.space, operation.timer, event.conversation, step.principal, step.agent, micros(operation.at), operation.about,
            write_label(step.label), None if event.reply_to is None else encode(Address, event.reply_to), str(step.ref),
        ),
    )  # fmt: skip


def fire(db: apsw.Connection, now: Now, limit: int) -> int:
    """Turns what is due into events; says how many."""
    rows: list[Any] = db.execute(
        """SELECT space, id, conversation, principal, agent, fire_at, about, label, reply_to FROM timers
           WHERE state = 'set' AND fire_at <= ? LIMIT ?""",
        (micros(now.at), limit),
    ).fetchall()
    for space, timer, conversation, principal, agent, fire_at, about, label, reply_to in rows:
        due = moment(fire_at)
        accept(db, now, Event(
            id=EventId(now.ids.new("e")), source="timer", key=Key(timer), space=SpaceId(space), conversation=conversation,
            principal=PrincipalId(principal), agent=AgentId(agent), label=read_label(label), occurred_at=due, received_at=now.at,
            reply_to=None if reply_to is None else decode(Address, reply_to),
            body=Fired(TimerId(timer), about, due, max(0.0, (now.at - due).total_seconds())),
        ))  # fmt: skip
        db.execute("UPDATE timers SET state = 'fired' WHERE space = ? AND id = ?", (space, timer))
    return len(rows) + _time_out(db, now, limit)


def next_moment(db: apsw.Connection) -> datetime | None:
    moments = [
        db.execute("SELECT MIN(fire_at) FROM timers WHERE state = 'set'").get,
        db.execute("SELECT MIN(until) FROM waits WHERE until IS NOT NULL").get,
    ]
    known = [us for us in moments if us is not None]
    return moment(min(known)) if known else None


def pending(db: apsw.Connection, conversation: Conversation) -> tuple[Reminder, ...]:
    rows = db.execute(
        "SELECT id, fire_at, about, label FROM timers WHERE space = ? AND conversation = ? AND state = 'set' ORDER BY fire_at",
        (conversation.space, conversation.name),
    )
    return tuple(Reminder(TimerId(timer), conversation, moment(at), about, read_label(label)) for timer, at, about, label in rows)


def _time_out(db: apsw.Connection, now: Now, limit: int) -> int:
    rows: list[Any] = db.execute(
        """SELECT w.turn, w.step, w.space, w.conversation, w.until, t.principal, t.agent FROM waits w JOIN turns t ON t.id = w.turn
           WHERE w.until <= ? LIMIT ?""",
        (micros(now.at), limit),
    ).fetchall()
    for turn, step, space, conversation, until, principal, agent in rows:
        due = moment(until)
        accept(db, now, Event(
            id=EventId(now.ids.new("e")), source="timeout", key=Key(step), space=SpaceId(space), conversation=conversation,
            principal=PrincipalId(principal), agent=AgentId(agent), label=Label.of(Origin(Author.SERVICE, "timeout")),
            occurred_at=due, received_at=now.at, resolves=StepRef.parse(step), body=Fired(TimerId(step), "", due),
        ))  # fmt: skip
        db.execute("UPDATE waits SET until = NULL WHERE turn = ? AND step = ?", (turn, step))
    return len(rows)
