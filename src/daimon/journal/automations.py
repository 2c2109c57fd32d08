"""Automations and their ticks.

An automation is one row that its next version replaces; taking it away marks the row. What its watcher keeps stands in the same row and
begins anew with another watch. A tick is written once, under (automation, due), with the event that it becomes and what the watcher keeps,
in one transaction: so a change is handed over once, and a moment that comes again, because the clock was set back or two processes looked,
changes nothing.

Ticks age out, each time now and then: beyond the newest 1,000 of an automation, those that found nothing new or were skipped go at once,
the others after 90 days.
"""

import zlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import apsw
from pydantic import JsonValue

from daimon.abi.automation import Automate, Automation, Cease, Kept, Tick, require_version
from daimon.abi.codec import decode, encode
from daimon.abi.errors import BadInput, NotFound
from daimon.abi.event import Event
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.label import Label
from daimon.abi.ports import Accepted
from daimon.abi.step import Step
from daimon.journal.intake import accept
from daimon.journal.now import Now
from daimon.journal.rows import micros, moment, read_label, write_label

NEWEST = 1_000
OLDEST = timedelta(days=90)
EVER = datetime.max.replace(tzinfo=UTC)
"""As now, for who only looks and has no clock."""
EVERY = 64
"""How seldom anybody looks for what is too old."""
MOST_STATE = 8 * 1024 * 1024
TICK = "SELECT automation, due, at, outcome, why, event, by_hand FROM ticks"
KEPT = """SELECT a.body, a.label, a.by, a.at, a.version, a.state,
        (SELECT due FROM ticks WHERE space = a.space AND automation = a.id AND by_hand = 0 AND due <= ?2
            ORDER BY due DESC LIMIT 1),
        (SELECT event FROM ticks WHERE space = a.space AND automation = a.id AND event <> '' ORDER BY due DESC LIMIT 1),
        t.automation, t.due, t.at, t.outcome, t.why, t.event, t.by_hand
    FROM automations a LEFT JOIN ticks t ON t.space = a.space AND t.automation = a.id
        AND t.due = (SELECT MAX(due) FROM ticks WHERE space = a.space AND automation = a.id)
    WHERE a.space = ?1 AND a.ceased_at IS NULL"""
"""What was recorded for moments that are still to come, because the clock was wrong for a while, is not how far the schedule has come."""
IN_FORCE = "space = ? AND id = ? AND ceased_at IS NULL"


@dataclass(frozen=True, slots=True)
class Setting:
    by: PrincipalId
    label: Label
    at: datetime
    if_version: int | None = None


@dataclass(frozen=True, slots=True)
class Ticking:
    tick: Tick
    event: Event | None
    state: JsonValue
    version: int | None


def apply(db: apsw.Connection, step: Step, operation: Automate | Cease) -> None:
    """With its step: a name that is gone by now is no reason to fail what has happened."""
    if isinstance(operation, Automate):
        automate(db, step.space, operation.automation, Setting(step.principal, step.label, step.at))
    else:
        _cease(db, step.space, operation.automation, step.principal, step.at)


def automations(db: apsw.Connection, space: SpaceId, now: datetime) -> tuple[Kept, ...]:
    return tuple(map(_kept, db.execute(KEPT + " ORDER BY a.id", (space, micros(now)))))


def automate(db: apsw.Connection, space: SpaceId, automation: Automation, setting: Setting) -> Kept:
    body, label, at = encode(Automation, automation), write_label(setting.label), micros(setting.at)
    before, version = db.execute("SELECT body, version FROM automations WHERE " + IN_FORCE, (space, automation.id)).get or (None, 0)
    require_version(automation.id, version, setting.if_version)
    keeps_state = before is not None and decode(Automation, before).watch == automation.watch
    db.execute(
        f"""INSERT INTO automations (space, id, body, label, by, at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (space, id) DO UPDATE SET body = excluded.body, label = excluded.label, by = excluded.by, at = excluded.at,
            version = version + 1, state = {"state" if keeps_state else "NULL"}, ceased_at = NULL""",
        (space, automation.id, body, label, setting.by, at),
    )
    return _kept(db.execute(KEPT + " AND a.id = ?3", (space, at, automation.id)).get)


def cease(db: apsw.Connection, space: SpaceId, id_: str, by: PrincipalId, at: datetime) -> None:
    if not _cease(db, space, id_, by, at):
        raise NotFound(f"there is no automation {id_!r}; `daimon automations` lists them")


def _cease(db: apsw.Connection, space: SpaceId, id_: str, by: PrincipalId, at: datetime) -> bool:
    db.execute("UPDATE automations SET ceased_at = ?, by = ?, state = NULL WHERE " + IN_FORCE, (micros(at), by, space, id_))
    return db.changes() > 0


def tick(db: apsw.Connection, now: Now, space: SpaceId, ticking: Ticking) -> Accepted | None:
    tick, event = ticking.tick, ticking.event
    version = db.execute("SELECT version FROM automations WHERE " + IN_FORCE, (space, tick.automation)).get
    is_current = version is not None and ticking.version in (None, version)
    if not is_current and ticking.version is not None:
        tick, event = replace(tick, outcome="skipped", why="it was changed meanwhile", event=""), None
    if not _put(db, space, replace(tick, event="" if event is None else event.id)):
        return None
    if is_current and ticking.state is not None:
        db.execute("UPDATE automations SET state = ? WHERE " + IN_FORCE, (_state(ticking.state), space, tick.automation))
    if zlib.crc32(str(micros(tick.due)).encode()) % EVERY == 0:
        _age(db, space, tick.automation, now.at)
    return None if event is None else accept(db, now, event)


def ticks(db: apsw.Connection, space: SpaceId, automation: str, limit: int) -> tuple[Tick, ...]:
    if automation:
        rows = db.execute(TICK + " WHERE space = ? AND automation = ? ORDER BY due DESC LIMIT ?", (space, automation, limit))
    else:
        rows = db.execute(TICK + " WHERE space = ? ORDER BY at DESC, due DESC LIMIT ?", (space, limit))
    return tuple(map(_tick, rows))


def _state(state: JsonValue) -> bytes:
    data = encode(JsonValue, state)
    if len(data) > MOST_STATE:
        raise BadInput(f"a watcher wants to keep {len(data):,} bytes; {MOST_STATE:,} are the most")
    return data


def _put(db: apsw.Connection, space: SpaceId, tick: Tick) -> bool:
    db.execute(
        "INSERT INTO ticks VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (space, tick.automation, micros(tick.due), micros(tick.at), tick.outcome, tick.why, tick.event, tick.by_hand),
    )
    return db.changes() > 0


def _age(db: apsw.Connection, space: SpaceId, automation: str, now: datetime) -> None:
    edge = db.execute(
        "SELECT due FROM ticks WHERE space = ? AND automation = ? ORDER BY due DESC LIMIT 1 OFFSET ?", (space, automation, NEWEST - 1)
    ).get
    if edge is not None:
        db.execute(
            "DELETE FROM ticks WHERE space = ? AND automation = ? AND due < ? AND (outcome IN ('unchanged', 'skipped') OR at < ?)",
            (space, automation, edge, micros(now - OLDEST)),
        )


def _kept(row: tuple[Any, ...]) -> Kept:
    body, label, by, at, version, state, reached, event = row[:8]
    return Kept(
        _automation(body), PrincipalId(by), read_label(label), moment(at), None if state is None else decode(JsonValue, state),
        None if row[8] is None else _tick(row[8:]), version, None if reached is None else moment(reached), event or "",
    )  # fmt: skip


@lru_cache(512)
def _automation(body: bytes) -> Automation:
    """The same bytes are read every half minute."""
    found: Automation = decode(Automation, body)
    return found


def _tick(row: tuple[Any, ...]) -> Tick:
    automation, due, at, outcome, why, event, by_hand = row
    return Tick(
        automation=automation, due=moment(due), at=moment(at), outcome=outcome, why=why, event=event, by_hand=bool(by_hand)
    )  # fmt: skip
