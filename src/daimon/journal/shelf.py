"""What channels keep, what the house says without a turn, and where questions were told.

A value that is remembered takes the place of the one before. A notice is a row of the outbox like any other, but of no turn; its key is
its identity, so that whoever is not sure may put it in again.
"""

from typing import Any

import apsw

from daimon.abi.codec import encode
from daimon.abi.event import SCHEMA, Address, Said
from daimon.abi.ids import Conversation, Key, PrincipalId, SpaceId, StepRef
from daimon.abi.label import Author, Label, Origin
from daimon.abi.message import Text
from daimon.journal.now import Now
from daimon.journal.rows import micros, packed, put_payload, write_label

OURS = Label.of(Origin(Author.SERVICE, "gateway"))


def recalled(db: apsw.Connection, channel: str, name: str) -> str:
    value: str | None = db.execute("SELECT value FROM kept WHERE channel = ? AND name = ?", (channel, name)).get
    return value or ""


def remembered(db: apsw.Connection, channel: str, name: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (channel, name, value))


def notify(db: apsw.Connection, now: Now, key: Key, conversation: Conversation, to: Address, text: str) -> None:
    if db.execute("SELECT 1 FROM outbox WHERE key = ?", (key,)).get is not None:
        return
    pos, at, said = next(now.positions), micros(now.at), Said((Text(text),))
    db.execute(
        """INSERT INTO outbox (pos, key, space, conversation, turn, channel, dest, is_event, label, created_at, schema, state)
           VALUES (?, ?, ?, ?, '', ?, ?, 0, ?, ?, ?, 'queued')""",
        (pos, key, conversation.space, conversation.name, to.channel, to.to, write_label(OURS), at, SCHEMA),
    )
    put_payload(db, pos, packed(encode(Said, said)), at)


def told_in(db: apsw.Connection, question: StepRef) -> tuple[Address, ...]:
    """As it was sent, and as it was addressed: not every channel names what went out."""
    bounds = (f"{question}:", f"{question};")
    rows: Any = db.execute(
        """SELECT channel, dest FROM sent WHERE key >= ?1 AND key < ?2
           UNION SELECT channel, dest FROM outbox WHERE key >= ?1 AND key < ?2 AND state <> 'failed'""",
        bounds,
    )
    return tuple(Address(channel, dest) for channel, dest in rows)


def unfinished(db: apsw.Connection, space: SpaceId, principal: PrincipalId) -> int:
    """By the indexes of what waits and of what is open, which are as short as the work that there is."""
    query = """SELECT (SELECT COUNT(*) FROM events WHERE taken = 0 AND space = ?1 AND turn IS NULL AND principal = ?2)
        + (SELECT COUNT(*) FROM turns WHERE state IN ('running', 'parked') AND space = ?1 AND principal = ?2)"""
    return int(db.execute(query, (space, principal)).get)
