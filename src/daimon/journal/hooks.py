"""Webhooks: which there are, and what came through them.

A delivery and its event are one transaction, in the group that the writer commits anyway. What makes a delivery known is not its row but
its key in `intake_keys`, under the source `hook:NAME`: rows age out, keys do not, so a replay is recognised however late it comes.
Where the service's own id is not part of what it signed, the hash of the content stands there too (`=HEX`), since anybody who saw a
delivery could send it again under another id. Both are written by one statement, which writes both or neither: a refused replay leaves
nothing behind that could make a later, honest delivery look like one.

Only what waits to be collected has its body in its row; of the others the event has it, or nobody needs it. Rows age out by count, the
refused ones by a count of their own, so that strangers cannot push out what counts. What no automation has collected since this process
began to ask is never dropped; when too much waits, deliveries are refused instead. The newest row of all stays: `n` never goes back.
"""

from collections.abc import Sequence
from typing import Any, Literal

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalFull, NotFound
from daimon.abi.event import Event
from daimon.abi.hook import Hook, Hooked, MakeHook, Posted, require_version
from daimon.abi.ids import EventId, PrincipalId, SpaceId
from daimon.abi.label import Label
from daimon.abi.ports import Accepted
from daimon.abi.step import Asked, Happened, Started, Step
from daimon.journal.intake import place
from daimon.journal.now import Now
from daimon.journal.rows import micros, moment, packed, read_label, unpack, write_label

MOST_KEPT = 10_000
MOST_REFUSED = 200
MOST_WAITING = 100_000
"""Deliveries that wait to be collected."""
LOOK_EACH = 256
"""So many deliveries, then it is looked whether old ones can go."""
MOST_WHY = 300
Outcome = Literal["accepted", "collected", "filtered", "refused"]


class Marks:
    """Up to where automations have collected. Kept in memory: until one asks again after a start, nothing of it ages out."""

    def __init__(self) -> None:
        self._marks: dict[tuple[SpaceId, str], dict[str, int]] = {}

    def note(self, space: SpaceId, hook: str, by: str, after: int) -> None:
        self._marks.setdefault((space, hook), {})[by] = after

    def lowest(self, space: SpaceId, hook: str) -> int:
        return min(self._marks.get((space, hook), {}).values(), default=0)


def hooks(db: apsw.Connection, space: SpaceId) -> tuple[Hooked, ...]:
    rows = db.execute("SELECT body, by, label, at FROM hooks WHERE space = ? ORDER BY name", (space,))
    return tuple(Hooked(decode(Hook, body), PrincipalId(by), read_label(label), moment(at)) for body, by, label, at in rows)


def make(db: apsw.Connection, now: Now, space: SpaceId, hook: Hook, by: PrincipalId, label: Label) -> Hooked:
    """Made or changed; of a changed one it stays known since when it is there."""
    at: int = db.execute(
        """INSERT INTO hooks VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (space, name) DO UPDATE SET body = excluded.body, label = excluded.label, by = excluded.by RETURNING at""",
        (space, hook.name, encode(Hook, hook), write_label(label), by, micros(now.at)),
    ).get
    return Hooked(hook, by, label, moment(at))


def require(db: apsw.Connection, space: SpaceId, name: str, if_version: str) -> None:
    body: Any = db.execute("SELECT body FROM hooks WHERE space = ? AND name = ?", (space, name)).get
    require_version(name, None if body is None else decode(Hook, body), if_version)


def remove(db: apsw.Connection, space: SpaceId, name: str) -> None:
    if not db.execute("DELETE FROM hooks WHERE space = ? AND name = ? RETURNING 1", (space, name)).get:
        raise NotFound(f"there is no hook {name!r}; `daimon hooks list` shows all")
    _empty(db, space, name)


def post(db: apsw.Connection, now: Now, space: SpaceId, posted: Posted, event: Event | None, marks: Marks) -> Accepted | None:
    if posted.outcome == "refused":
        n = _put(db, space, posted, "")
        _age_refused(db, space, posted.hook)
        return Accepted(EventId(""), n, is_new=True)
    event_id = EventId("") if event is None else event.id
    if not _keep_keys(db, space, posted, event_id):
        return None
    accepted = None if event is None else place(db, now, event)
    n = _put(db, space, posted, event_id)
    if n % LOOK_EACH == 0:
        _age(db, space, posted.hook, marks)
    return Accepted(event_id, n, is_new=True) if accepted is None else accepted


def posted(db: apsw.Connection, space: SpaceId, hook: str, limit: int) -> tuple[Posted, ...]:
    rows = db.execute(_ROW + " WHERE space = ? AND hook = ? ORDER BY n DESC LIMIT ?", (space, hook, limit))
    return tuple(map(_read, rows))


def collected(db: apsw.Connection, space: SpaceId, hook: str, after: int, limit: int) -> tuple[Posted, ...]:
    rows = db.execute(
        _ROW + " WHERE space = ? AND hook = ? AND n > ? AND outcome = 'collected' AND body IS NOT NULL ORDER BY n LIMIT ?",
        (space, hook, after, limit),
    )
    return tuple(map(_read, rows))


def forget(db: apsw.Connection, space: SpaceId, source: str) -> int:
    """What came through the hook that this source is; how many bodies went."""
    return _empty(db, space, source.removeprefix("webhook:")) if source.startswith("webhook:") else 0


def count(db: apsw.Connection, space: SpaceId, source: str) -> int:
    """How many would go."""
    where = (space, source.removeprefix("webhook:"))
    found: int = db.execute("SELECT COUNT(*) FROM deliveries WHERE space = ? AND hook = ? AND body IS NOT NULL", where).get
    return found if source.startswith("webhook:") else 0


def count_made(steps: Sequence[Step]) -> int:
    """How many hooks these steps make."""
    bodies = [step.body for step in steps if isinstance(step.body, Happened | Started | Asked)]
    return sum(isinstance(operation, MakeHook) for body in bodies for operation in body.operations)


_KEY = "INSERT INTO intake_keys VALUES (?1, ?2, ?3, ?4, ?5)"
_KEY_AND_CONTENT = _KEY + ", (?1, ?2, ?6, ?4, ?5)"


def _keep_keys(db: apsw.Connection, space: SpaceId, posted: Posted, event: EventId) -> bool:
    """False, and nothing is written: one of them is known."""
    key = (space, f"hook:{posted.hook}", posted.key, event, micros(posted.at))
    try:
        if posted.content:
            db.execute(_KEY_AND_CONTENT, (*key, f"={posted.content}"))
        else:
            db.execute(_KEY, key)
    except apsw.ConstraintError as refused:
        if getattr(refused, "extendedresult", 0) != apsw.SQLITE_CONSTRAINT_PRIMARYKEY:
            raise
        return False
    return True


_ROW = "SELECT n, hook, key, at, outcome, why, event, body FROM deliveries"


def _put(db: apsw.Connection, space: SpaceId, posted: Posted, event: str) -> int:
    body = _written(posted) if posted.outcome == "collected" else None
    db.execute(
        "INSERT INTO deliveries (space, hook, key, at, outcome, why, event, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (space, posted.hook, posted.key, micros(posted.at), posted.outcome, posted.why[:MOST_WHY], event, body),
    )
    return db.last_insert_rowid()


def _written(posted: Posted) -> bytes:
    """Codec and digest stand before the bytes."""
    value = packed(encode(_BODY, {"data": posted.data, "headers": posted.headers}))
    return bytes([value.codec]) + value.digest + value.body


def _read(row: tuple[Any, ...]) -> Posted:
    n, hook, key, at, outcome, why, event, body = row
    kept = {"data": None, "headers": {}} if body is None else decode(_BODY, unpack(body[1:33], body[0], body[33:]))
    return Posted(
        hook=hook, key=key, at=moment(at), outcome=outcome, why=why, event=event, data=kept["data"], headers=kept["headers"], n=n
    )  # fmt: skip


_BODY: Any = dict[str, Any]


def _empty(db: apsw.Connection, space: SpaceId, hook: str) -> int:
    rows = db.execute("UPDATE deliveries SET body = NULL WHERE space = ? AND hook = ? AND body IS NOT NULL RETURNING 1", (space, hook))
    return len(rows.fetchall())


def _age(db: apsw.Connection, space: SpaceId, hook: str, marks: Marks) -> None:
    mark = marks.lowest(space, hook)
    where = (space, hook)
    waiting: int = db.execute("SELECT COUNT(*) FROM deliveries WHERE space = ? AND hook = ? AND outcome = 'collected' AND n > ?",
                              (*where, mark)).get  # fmt: skip
    if waiting > MOST_WAITING:
        raise JournalFull(f"{waiting:,} deliveries of the hook {hook} wait to be collected; let an automation look at it, or remove it")
    db.execute(
        """DELETE FROM deliveries WHERE space = ?1 AND hook = ?2 AND outcome <> 'refused' AND (outcome <> 'collected' OR n <= ?3)
           AND n <= (SELECT n FROM deliveries WHERE space = ?1 AND hook = ?2 AND outcome <> 'refused' ORDER BY n DESC LIMIT 1 OFFSET ?4)""",
        (*where, mark, MOST_KEPT),
    )


def _age_refused(db: apsw.Connection, space: SpaceId, hook: str) -> None:
    db.execute(
        """DELETE FROM deliveries WHERE space = ?1 AND hook = ?2 AND outcome = 'refused' AND n <= (SELECT n FROM deliveries
           WHERE space = ?1 AND hook = ?2 AND outcome = 'refused' ORDER BY n DESC LIMIT 1 OFFSET ?3)""",
        (space, hook, MOST_REFUSED),
    )
