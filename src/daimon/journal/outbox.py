"""What goes out: written with the steps that cause it, sent later by whoever tails it.

A row is queued in the transaction of its cause, so it exists exactly when its cause does. It goes out in pieces; `done` counts those
that are out, and `sent` holds what the channel calls them. Before a try it becomes `sending`; a row found `sending` from an earlier boot,
or without one, is in doubt, and only its channel knows whether a second try is harmless. Of each place only the oldest open row is handed
out, so that messages arrive in order.

Work for another conversation (a child turn, a child's report, a stop for children) goes this way too, on the channel `daimon`: no
transaction ever spans two conversations.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import apsw

from daimon.abi.codec import encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.event import INTERNAL, SCHEMA, Address, Body, Erased, Event, FromAgent, Late, Said, Stop
from daimon.abi.ids import Conversation, EventId, Key, SpaceId, StepRef, TurnId
from daimon.abi.label import Label
from daimon.abi.message import Text
from daimon.abi.ports import Delivery, Ended, Outgoing
from daimon.abi.step import Step
from daimon.abi.tool import Post, Send
from daimon.abi.turn import Ending, Turn
from daimon.journal.now import Now
from daimon.journal.rows import PAYLOAD, micros, moment, packed, put_payload, read_label, read_payload, write_label

OUTGOING = f"""SELECT o.key, o.space, o.conversation, o.channel, o.dest, o.label, o.created_at, o.attempts, o.done, o.unsure, o.state,
        o.is_event, o.schema, {PAYLOAD}
    FROM outbox o JOIN payloads p USING (pos)
    WHERE o.state IN ('queued', 'sending') AND (o.retry_at IS NULL OR o.retry_at <= ?1)
      AND (o.not_before IS NULL OR o.not_before <= ?1) AND (o.state = 'queued' OR o.boot <> ?2)
      AND o.channel NOT IN (SELECT value FROM json_each(?4))
      AND NOT EXISTS (SELECT 1 FROM outbox older WHERE older.state IN ('queued', 'sending') AND older.pos < o.pos
                      AND older.channel = o.channel AND older.dest = o.dest
                      AND (older.not_before IS NULL OR older.not_before <= ?1))
    ORDER BY o.pos LIMIT ?3"""
"""Whether something older waits for the same place is asked of each row, so it must be found by place (the index `outbox_places`): else ten
thousand rows of a dead channel cost every message of another one seconds."""


def say(db: apsw.Connection, now: Now, turn: Turn, to: Address, end: Ended) -> None:
    _put(db, now, turn, Draft(f"{turn.id}:reply", to, Said(end.reply), end.label))


def tell(db: apsw.Connection, now: Now, turn: Turn, end: Ended) -> None:
    for n, send in enumerate(end.told):
        _put(db, now, turn, Draft(f"{turn.id}:told:{n}", send.to, Said(send.parts), end.label, send.not_before))


def apply(db: apsw.Connection, now: Now, turn: Turn, step: Step, key: str, operation: Send | Post) -> None:
    if isinstance(operation, Send):
        _put(db, now, turn, Draft(key, operation.to, Said(operation.parts, asks=operation.asks), step.label, operation.not_before))
        return
    intent = StepRef(turn.id, int(key.split(":")[1]))
    event = _event(now, turn, key, operation.conversation, FromAgent(step.agent, operation.parts), step.label)
    _post(db, now, turn, replace(event, agent=operation.agent, parent=intent))


def withdraw(db: apsw.Connection, now: Now, turn: Turn, origin: int | None = None) -> None:
    """What asks something that is settled by now, and has not gone out because it waits for its moment, does not go out any more.

    None: the turn is over, and so is all that it asked.
    """
    first, last = (f"{turn.id}:", f"{turn.id};") if origin is None else (f"{turn.id}:{origin}:", f"{turn.id}:{origin};")
    db.execute(
        """UPDATE outbox SET state = 'failed', note = 'what it asks was settled before it went out'
           WHERE state = 'queued' AND not_before > ? AND key >= ? AND key < ?""",
        (micros(now.at), first, last),
    )


def report(db: apsw.Connection, now: Now, turn: Turn, end: Ended) -> None:
    """A child turn tells its parent how it ended."""
    parent = turn.parent
    assert parent is not None
    home = db.execute("SELECT conversation FROM turns WHERE id = ?", (parent.turn,)).get
    if home is None:
        return
    text = "\n".join(part.text for part in end.reply if isinstance(part, Text))
    body = Late({"ending": end.ending.value, "text": text}, is_error=end.ending not in (Ending.ANSWERED, Ending.SILENT))
    event = _event(now, turn, f"{turn.id}:report", home, body, end.label)
    _post(db, now, turn, replace(event, resolves=parent))


def stop_children(db: apsw.Connection, now: Now, turn: Turn) -> None:
    children: list[tuple[str, str]] = db.execute(
        "SELECT id, conversation FROM turns WHERE parent >= ? AND parent < ? AND state IN ('running', 'parked')",
        (f"{turn.id}:", f"{turn.id};"),
    ).fetchall()  # type: ignore[assignment]
    for child, conversation in children:
        stop = Stop(TurnId(child), f"its parent {turn.id} ended")
        _post(db, now, turn, _event(now, turn, f"{turn.id}:stop:{child}", conversation, stop, turn.label))


def abandon(db: apsw.Connection, now: Now, turn: Turn) -> None:
    """A turn that cannot be read has failed: its parent hears of it, its children end."""
    if turn.reports:
        report(db, now, turn, Ended(Ending.FAILED, turn.label))
    stop_children(db, now, turn)


def outgoing(db: apsw.Connection, boot: str, now: datetime, limit: int, without: Collection[str] = ()) -> tuple[Outgoing, ...]:
    rows = db.execute(OUTGOING, (micros(now), boot, limit, json.dumps(list(without))))
    return tuple(
        Outgoing(
            key=Key(key), conversation=Conversation(SpaceId(space), conversation), to=Address(channel, dest), label=read_label(label),
            content=_content(is_event, tuple(payload), schema), created_at=moment(created_at),
            attempts=attempts, done=done, unsure=unsure, in_doubt=state == "sending",
        )
        for key, space, conversation, channel, dest, label, created_at, attempts, done, unsure, state, is_event, schema, *payload in rows
    )  # fmt: skip


def saying(db: apsw.Connection, turn: TurnId, said: set[str]) -> list[int]:
    """The turn's messages that hold one of these texts."""
    rows: list[Any] = db.execute(
        f"SELECT o.pos, o.is_event, o.schema, {PAYLOAD} FROM outbox o JOIN payloads p USING (pos) WHERE o.turn = ?", (turn,)
    ).fetchall()
    found = ((pos, _texts(_content(is_event, tuple(payload), schema))) for pos, is_event, schema, *payload in rows)
    return [pos for pos, texts in found if any(each and each in text for text in texts for each in said)]


def _texts(content: Said | Event | None) -> list[str]:
    match content.body if isinstance(content, Event) else content:
        case Said(parts=parts) | FromAgent(parts=parts):
            return [part.text for part in parts if isinstance(part, Text)]
        case Late(data={"text": str(text)}):
            return [text]
        case _:
            return []


def _content(is_event: bool, payload: tuple[Any, ...], schema: int) -> Said | Event | None:
    """None where nothing readable is left: one such row must not hold up the others."""
    try:
        content: Said | Event | Erased = read_payload(Event if is_event else Said, payload, schema)
    except JournalDamaged:
        return None
    return None if isinstance(content, Erased) else content


def sending(db: apsw.Connection, boot: str, message: Outgoing, piece: int) -> None:
    db.execute("UPDATE outbox SET state = 'sending', boot = ?, done = ? WHERE key = ?", (boot, piece, message.key))


def progressed(db: apsw.Connection, message: Outgoing, piece: int, state: Delivery, ref: str, unsure: str) -> None:
    db.execute(
        """UPDATE outbox SET state = ?1, done = ?2, note = ?3, unsure = ?3, retry_at = NULL,
               attempts = CASE WHEN ?1 = 'queued' THEN 0 ELSE attempts + 1 END
           WHERE key = ?4""",
        (state, piece + 1, unsure, message.key),
    )
    if ref:
        db.execute(
            "INSERT OR REPLACE INTO sent (channel, dest, ref, key, piece) VALUES (?, ?, ?, ?, ?)",
            (message.to.channel, message.to.to, ref, message.key, piece),
        )


def delivered(db: apsw.Connection, message: Outgoing, state: Delivery, note: str, retry_at: datetime | None) -> None:
    db.execute(
        "UPDATE outbox SET state = ?1, note = ?2, retry_at = ?3, attempts = attempts + 1, boot = '' WHERE key = ?4",
        (state, note, None if retry_at is None else micros(retry_at), message.key),
    )


def postponed(db: apsw.Connection, message: Outgoing, note: str, retry_at: datetime | None) -> None:
    state = "sending" if message.in_doubt else "queued"
    db.execute(
        "UPDATE outbox SET state = ?, note = ?, retry_at = ?, boot = '' WHERE key = ?",
        (state, note, None if retry_at is None else micros(retry_at), message.key),
    )


def readdress(db: apsw.Connection, message: Outgoing, to: Address) -> None:
    db.execute("UPDATE outbox SET channel = ?, dest = ? WHERE key = ? AND done = 0", (to.channel, to.to, message.key))


def sent_as(db: apsw.Connection, channel: str, place: str, ref: str) -> Key | None:
    key = db.execute("SELECT key FROM sent WHERE channel = ? AND dest = ? AND ref = ?", (channel, place, ref)).get
    return None if key is None else Key(key)


@dataclass(frozen=True, slots=True)
class Draft:
    key: str
    to: Address
    content: Said | Event
    label: Label
    not_before: datetime | None = None


def _event(now: Now, turn: Turn, key: str, conversation: str, body: Body, label: Label) -> Event:
    return Event(
        id=EventId(now.ids.new("e")), source=INTERNAL, key=Key(key), space=turn.space, conversation=conversation,
        principal=turn.principal, agent=turn.agent, body=body, label=label, occurred_at=now.at, received_at=now.at,
    )  # fmt: skip


def _post(db: apsw.Connection, now: Now, turn: Turn, event: Event) -> None:
    _put(db, now, turn, Draft(event.key, Address(INTERNAL, event.conversation), event, event.label))


def _put(db: apsw.Connection, now: Now, turn: Turn, draft: Draft) -> None:
    pos, at, where = next(now.positions), micros(now.at), turn.where
    db.execute(
        """INSERT INTO outbox (pos, key, space, conversation, turn, channel, dest, is_event, label, created_at, schema, not_before, state)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued')""",
        (
            pos, draft.key, where.space, where.name, turn.id, draft.to.channel, draft.to.to,
            isinstance(draft.content, Event), write_label(draft.label), at, SCHEMA,
            None if draft.not_before is None else micros(draft.not_before),
        ),
    )  # fmt: skip
    put_payload(db, pos, packed(encode(type(draft.content), draft.content)), at)
