"""Turns as somebody looks through them, newest first, with what a row tells of each.

The order is that of ids, which is that of age, so a page goes on where the last one ended. Each way to narrow the list down has an index
that gives the newest first; only the times are compared row by row.
"""

import apsw

from daimon.abi.errors import JournalDamaged, NotFound
from daimon.abi.event import Event
from daimon.abi.ids import EventId, SpaceId, TurnId
from daimon.abi.money import Usage
from daimon.abi.runs import Run, Sought
from daimon.abi.step import Routed, Step, StepBody
from daimon.abi.turn import Turn
from daimon.journal import archive, ledger
from daimon.journal.rows import PAYLOAD, STEP, TURN, micros, read_payload, read_step, read_turn

MOST_ROUTES = 20
"""So many choices of a model are looked at."""
ASKING = "id IN (SELECT DISTINCT turn FROM steps WHERE kind IN ('question', 'started') AND turn < ? ORDER BY turn DESC LIMIT ?)"
"""Written as the index `steps_asking` is, so that it is used."""
LAST = "u"
"""Behind every id of a turn."""


def runs(db: apsw.Connection, space: SpaceId, sought: Sought, limit: int) -> tuple[Run, ...]:
    with db:  # one snapshot
        found = [_run(db, turn) for turn in _turns(db, space, sought, limit)]
    return tuple(found)


def steps_from(db: apsw.Connection, turn: TurnId, first: int) -> tuple[Step, ...]:
    return tuple(read_step(row) for row in db.execute(STEP + " WHERE s.turn = ? AND s.n >= ? ORDER BY s.n", (turn, first)))


def _turns(db: apsw.Connection, space: SpaceId, sought: Sought, limit: int) -> list[Turn]:
    where, values = _narrowed(space, sought, limit)
    return [read_turn(row) for row in db.execute(f"{TURN} WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?", (*values, limit))]


def _narrowed(space: SpaceId, sought: Sought, limit: int) -> tuple[list[str], list[str | int]]:
    is_by_index = bool(sought.conversation or sought.state or sought.job)
    where: list[str] = ["space = ?" if is_by_index else "+space = ?"]  # by id, not by space
    values: list[str | int] = [space]
    for column, value in (
        ("conversation", sought.conversation),
        ("state", sought.state or ""),
        ("agent", sought.agent),
        ("job", sought.job),
    ):
        if value:
            where.append(f"{column} = ?" if column != "job" else "job <> '' AND job = ?")
            values.append(value)
    for test, moment in (("created_at >= ?", sought.since), ("created_at < ?", sought.until)):
        if moment is not None:
            where.append(test)
            values.append(micros(moment))
    if sought.has_asked:
        where.append(ASKING)
        values += [sought.before or LAST, limit]
    elif sought.before:
        where.append("id < ?")
        values.append(sought.before)
    return where, values


def _run(db: apsw.Connection, turn: Turn) -> Run:
    steps, replies, intents = db.execute(
        """SELECT COUNT(*), COALESCE(SUM(kind IN ('reply', 'model_failed')), 0), COALESCE(SUM(kind = 'intent'), 0)
           FROM steps WHERE turn = ?""",
        (turn.id,),
    ).get
    return Run(
        turn=turn, event=_event(db, turn.event), models=_models(db, turn.id), steps=steps, model_calls=replies, tool_calls=intents,
        usage=_usage(db, turn.id),
    )  # fmt: skip


def _event(db: apsw.Connection, id_: EventId) -> Event | None:
    try:
        return archive.event(db, id_)
    except (JournalDamaged, NotFound):
        return None


def _models(db: apsw.Connection, id_: TurnId) -> tuple[str, ...]:
    rows = db.execute(
        f"SELECT s.schema, {PAYLOAD} FROM steps s JOIN payloads p USING (pos) WHERE s.turn = ? AND s.kind = 'route' ORDER BY s.n LIMIT ?",
        (id_, MOST_ROUTES),
    )
    found: dict[str, None] = {}
    for schema, *payload in rows:
        try:
            body = read_payload(StepBody, tuple(payload), schema)
        except JournalDamaged:
            continue
        if isinstance(body, Routed):
            found[body.chosen] = None
    return tuple(found)


def _usage(db: apsw.Connection, id_: TurnId) -> Usage:
    read, cached, written, output, cost, unpriced = db.execute(
        """SELECT COALESCE(SUM(input_tokens), 0), COALESCE(SUM(cached_tokens), 0), COALESCE(SUM(cache_write_tokens), 0),
           COALESCE(SUM(output_tokens), 0), COALESCE(SUM(cost), 0), COALESCE(SUM(cost IS NULL AND state NOT IN ('held', 'unused')), 0)
           FROM calls WHERE turn = ?""",
        (id_,),
    ).get
    return Usage(read, output, cached, written, None if unpriced else ledger.money(cost))
