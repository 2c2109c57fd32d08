"""Conversations for people to look at: which there are, and what was said and done in them.

Made for long ones: a page is found by the index of turns, a turn's messages by the beginning of their keys, and of a turn with thousands
of steps only both ends are read. One read transaction serves a page, so that it shows one moment.
"""

from collections.abc import Iterator
from typing import Any

import apsw

from daimon.abi.chat import Chat, Sent, Spent, Told
from daimon.abi.errors import JournalDamaged, NotFound
from daimon.abi.event import Address, Erased, Event, Said
from daimon.abi.ids import Key, PrincipalId, SpaceId, TurnId
from daimon.abi.step import Received, Step
from daimon.abi.turn import Turn
from daimon.journal.archive import event, turn
from daimon.journal.ledger import money
from daimon.journal.rows import EVENT, PAYLOAD, STEP, TURN, moment, read_event, read_payload, read_step, read_turn

FIRST_STEPS, LAST_STEPS = 40, 360
"""Of a turn that has more."""
MOST_STEPS = 1_500
"""Of a page: then it ends, however few turns are on it."""
MOST_WAITING = 100
LATELY = 20
"""Turns whose people are those of a conversation."""

_HEADS = """WITH heads AS (
    SELECT c.name AS name,
        (SELECT MAX(t.id) FROM turns t WHERE t.space = c.space AND t.conversation = c.name) AS last,
        (SELECT MIN(t.id) FROM turns t WHERE t.space = c.space AND t.conversation = c.name) AS began,
        (SELECT MAX(e.id) FROM events e WHERE e.space = c.space AND e.conversation = c.name AND e.taken = 0 AND e.turn IS NULL) AS waiting
    FROM conversations c WHERE c.space = ?1),
ranked AS (SELECT *, MAX(substr(COALESCE(last, ''), 2), substr(COALESCE(waiting, ''), 2)) AS rank FROM heads)
SELECT name, rank, began, last, waiting FROM ranked
WHERE rank <> '' AND (?2 = '' OR rank < ?2) AND (began IS NULL OR (SELECT parent FROM turns WHERE id = began) IS NULL)
ORDER BY rank DESC LIMIT ?3"""
"""Ids sort by time after their first letter."""


def chats(db: apsw.Connection, space: SpaceId, limit: int, before: str) -> tuple[Chat, ...]:
    with db:  # one snapshot
        asking = dict(db.execute("SELECT conversation, COUNT(*) FROM waits WHERE space = ? AND kind = 'answer' GROUP BY 1", (space,)))
        heads: list[Any] = db.execute(_HEADS, (space, before, limit)).fetchall()
        found = [_chat(db, space, row, asking) for row in heads]
    return tuple(chat for chat in found if chat is not None)


def told(db: apsw.Connection, space: SpaceId, conversation: str, limit: int, before: str) -> tuple[tuple[Told, ...], bool]:
    query = TURN + " WHERE space = ?1 AND conversation = ?2 AND (?3 = '' OR id < ?3) ORDER BY id DESC LIMIT ?4"
    found: list[Told] = []
    with db:
        rows: list[Any] = db.execute(query, (space, conversation, before, limit + 1)).fetchall()
        for row in rows[:limit]:
            found.append(_told(db, read_turn(row)))
            if sum(len(each.steps) for each in found) >= MOST_STEPS:
                break
    return tuple(found), len(rows) > len(found)


def told_of(db: apsw.Connection, id_: TurnId) -> Told:
    with db:
        found = _told(db, turn(db, id_))
    return found  # noqa: RET504 - returning inside `with` hides from mypy that it returns


def waiting(db: apsw.Connection, space: SpaceId, conversation: str) -> tuple[Event, ...]:
    query = EVENT + " WHERE e.space = ? AND e.conversation = ? AND e.taken = 0 AND e.turn IS NULL ORDER BY e.seq LIMIT ?"
    return tuple(read_event(row) for row in db.execute(query, (space, conversation, MOST_WAITING)))


# -- one conversation in the list --------------------------------------------------------------------------------------


def _chat(db: apsw.Connection, space: SpaceId, row: tuple[Any, ...], asking: dict[str, int]) -> Chat | None:
    """None where nothing of it can be read: the others are shown all the same."""
    name, rank, began, last, waits = row
    try:
        newest = None if last is None else turn(db, last)
        came = event(db, waits or _event_of(db, last))
        return Chat(
            name=name, rank=rank, began=came if began is None else event(db, _event_of(db, began)), last=came,
            reply=None if newest is None or waits else _reply(db, newest.id), at=_moved(newest, came), principals=_people(db, space, name),
            is_running=_is_running(db, space, name), questions=asking.get(name, 0),
        )  # fmt: skip
    except (JournalDamaged, NotFound):
        return None


def _event_of(db: apsw.Connection, id_: str) -> Any:
    return db.execute("SELECT event FROM turns WHERE id = ?", (id_,)).get


def _moved(newest: Turn | None, came: Event) -> Any:
    return came.received_at if newest is None else max(came.received_at, newest.ended_at or newest.created_at)


def _reply(db: apsw.Connection, id_: TurnId) -> Said | None:
    return next((sent.said for sent in _sent(db, id_) if sent.key == f"{id_}:reply"), None)


def _people(db: apsw.Connection, space: SpaceId, name: str) -> tuple[PrincipalId, ...]:
    query = "SELECT principal FROM turns WHERE space = ? AND conversation = ? ORDER BY id DESC LIMIT ?"
    return tuple(dict.fromkeys(PrincipalId(who) for (who,) in db.execute(query, (space, name, LATELY))))


def _is_running(db: apsw.Connection, space: SpaceId, name: str) -> bool:
    query = "SELECT 1 FROM turns WHERE space = ? AND conversation = ? AND state = 'running' AND state IN ('running', 'parked') LIMIT 1"
    return db.execute(query, (space, name)).get is not None


# -- one turn ----------------------------------------------------------------------------------------------------------


def _told(db: apsw.Connection, found: Turn) -> Told:
    steps, skipped = _steps(db, found.id)
    taken = (step.body.event for step in steps if isinstance(step.body, Received))
    return Told(
        turn=found, event=event(db, found.event), steps=steps, skipped=skipped, events=tuple(event(db, id_) for id_ in taken),
        sent=tuple(_sent(db, found.id)), spent=_spent(db, found.id),
    )  # fmt: skip


def _steps(db: apsw.Connection, id_: TurnId) -> tuple[tuple[Step, ...], int]:
    count: int = (db.execute("SELECT MAX(n) FROM steps WHERE turn = ?", (id_,)).get or 0) + 1
    first, last = (count, count) if count <= FIRST_STEPS + LAST_STEPS else (FIRST_STEPS, count - LAST_STEPS)
    ends = ((0, first), (last, count)) if last > first else ((0, count),)
    query = STEP + " WHERE s.turn = ? AND s.n >= ? AND s.n < ? ORDER BY s.n"
    return tuple(read_step(row) for low, high in ends for row in db.execute(query, (id_, low, high))), last - first


def _sent(db: apsw.Connection, id_: TurnId) -> Iterator[Sent]:
    """The keys of a turn's messages begin with its id; of those to other conversations people see nothing."""
    rows = db.execute(
        f"""SELECT o.key, o.channel, o.dest, o.state, o.note, o.created_at, o.schema, {PAYLOAD}
            FROM outbox o JOIN payloads p USING (pos) WHERE o.key >= ? AND o.key < ? AND NOT o.is_event ORDER BY o.pos""",
        (f"{id_}:", f"{id_};"),
    )
    for key, channel, dest, state, note, at, schema, *payload in rows:
        said: Said | Erased = read_payload(Said, tuple(payload), schema)
        yield Sent(
            key=Key(key), to=Address(channel, dest), said=said if isinstance(said, Said) else None, state=state, note=note, at=moment(at)
        )


def _spent(db: apsw.Connection, id_: TurnId) -> Spent:
    calls, fresh, cached, output, cost, unknown = db.execute(
        """SELECT COUNT(*), COALESCE(SUM(input_tokens), 0), COALESCE(SUM(cached_tokens), 0), COALESCE(SUM(output_tokens), 0),
           COALESCE(SUM(cost), 0), COALESCE(SUM(cost IS NULL AND state NOT IN ('held', 'unused')), 0) FROM calls WHERE turn = ?""",
        (id_,),
    ).get
    return Spent(calls, fresh, cached, output, None if unknown else money(cost))
