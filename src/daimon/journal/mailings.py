"""What went out to people, for people to look at: the newest first, with what became of it."""

import apsw

from daimon.abi.errors import JournalDamaged
from daimon.abi.event import Address, Said
from daimon.abi.ids import Conversation, Key, SpaceId, TurnId
from daimon.abi.message import Text
from daimon.abi.ports import Mailing
from daimon.journal.rows import PAYLOAD, moment, read_payload

MOST_COUNTED = 10_000
SHOWN = 200
"""So many characters of a message are shown."""


def mailings(db: apsw.Connection, limit: int, channel: str, state: str) -> tuple[Mailing, ...]:
    rows = db.execute(
        f"""SELECT o.key, o.turn, o.space, o.conversation, o.channel, o.dest, o.state, o.created_at, o.attempts, o.done, o.note, o.retry_at,
            o.schema, {PAYLOAD}
            FROM outbox o JOIN payloads p USING (pos)
            WHERE NOT o.is_event AND (?1 = '' OR o.channel = ?1) AND (?2 = '' OR o.state = ?2) ORDER BY o.pos DESC LIMIT ?3""",
        (channel, state, limit),
    )
    return tuple(
        Mailing(
            key=Key(key), turn=TurnId(turn), conversation=Conversation(SpaceId(space), conversation), to=Address(to, dest), state=is_now,
            created_at=moment(at), attempts=attempts, done=done, note=note, retry_at=None if retry_at is None else moment(retry_at),
            text=_text(tuple(payload), schema),
        )
        for key, turn, space, conversation, to, dest, is_now, at, attempts, done, note, retry_at, schema, *payload in rows
    )  # fmt: skip


def counted(db: apsw.Connection) -> dict[str, int]:
    """The newest by state, and all that are still on their way: a count of all that ever was would take ever longer."""
    newest = dict(
        db.execute(
            f"""SELECT state, COUNT(*) FROM (SELECT state FROM outbox WHERE NOT is_event ORDER BY pos DESC LIMIT {MOST_COUNTED})
                WHERE state NOT IN ('queued', 'sending') GROUP BY state"""
        )
    )
    still = db.execute("SELECT state, COUNT(*) FROM outbox WHERE state IN ('queued', 'sending') AND NOT is_event GROUP BY state")
    return {**newest, **dict(still)}


def _text(payload: tuple[object, ...], schema: int) -> str:
    try:
        said = read_payload(Said, payload, schema)
    except JournalDamaged:
        return ""
    return "".join(part.text for part in said.parts if isinstance(part, Text))[:SHOWN] if isinstance(said, Said) else ""
