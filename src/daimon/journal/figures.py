"""Figures of a stretch of time, read from the tables in one snapshot.

Positions grow with time, so the stretch is found by walking back from the newest row: its cost is that of the stretch, not of the journal.
What is asked of payloads (the tool, its code, the verdict) SQLite takes out of the JSON itself; only what is compressed passes through
Python. A payload that was erased or is damaged counts as a row, and says nothing else.
"""

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import apsw

from daimon.abi.event import INTERNAL
from daimon.abi.figures import Figures, Interventions, Judged, Prompts, Spread, Taken, ToolUse
from daimon.abi.ids import SpaceId
from daimon.journal.rows import BLOB_FROM, PLAIN, ROPE, ZLIB, micros

_TEXT = f"""CASE p.codec WHEN {PLAIN} THEN CAST(p.body AS TEXT)
    WHEN {ZLIB} THEN unpacked(p.codec, p.body) ELSE (SELECT unpacked(b.codec, b.body) FROM blobs b WHERE b.hash = p.body) END"""
_YES, _NO = ("allow", "grant", "send"), ("deny", "stop")


def figures(db: apsw.Connection, space: SpaceId, since: datetime) -> Figures:
    db.create_scalar_function("unpacked", _unpacked, 2, deterministic=True)
    at = micros(since)
    with db:  # one snapshot: the parts of a sum must be of the same moment
        made = _figures(db, (space, _before(db, "steps", "at", at), at), since)
    return made  # noqa: RET504 - returning inside `with` hides from mypy that it returns


_Asked = tuple[str, int, int]
"""The space, the last position of steps before the stretch, its first moment."""


def _figures(db: apsw.Connection, asked: _Asked, since: datetime) -> Figures:
    space, _, at = asked
    ticks = dict(db.execute("SELECT outcome, COUNT(*) FROM ticks WHERE space = ? AND at >= ? GROUP BY 1", (space, at)))
    return Figures(
        since=since, taken=_taken(db, space, at), endings=_endings(db, space, at), answers=_answers(db, asked), prompts=_prompts(db, asked),
        tools=_tools(db, asked), judged=_judged(db, asked), interventions=_interventions(db, asked),
        checkpoints=_one(db, "SELECT COUNT(*) FROM steps WHERE pos > ?2 AND space = ?1 AND kind = 'checkpoint' AND at >= ?3", asked),
        mail=_mail(db, space, at), letters=_one(db, "SELECT COUNT(*) FROM dead_letters WHERE at >= ?", (at,)),
        ticks=ticks, idle_calls=_idle_calls(db, space, at), deliveries=_deliveries(db, space, at),
    )  # fmt: skip


# -- what came and what became of it -----------------------------------------------------------------------------------


def _taken(db: apsw.Connection, space: str, at: int) -> Taken:
    edge = _before(db, "events", "received_at", at)
    found = Counter(
        dict(
            db.execute(
                """SELECT CASE WHEN e.taken = 2 THEN 'late' WHEN e.taken = 0 AND e.turn IS NULL THEN 'waiting'
                    WHEN t.state IN ('done', 'failed') THEN 'ended' WHEN t.state IS NULL THEN 'lost' ELSE 'open' END, COUNT(*)
                   FROM events e LEFT JOIN turns t ON t.id = e.turn WHERE e.pos > ? AND e.space = ? AND e.received_at >= ? GROUP BY 1""",
                (edge, space, at),
            )
        )
    )
    return Taken(found.total(), found["ended"], found["open"], found["waiting"], found["late"], found["lost"])


def _endings(db: apsw.Connection, space: str, at: int) -> dict[str, int]:
    return dict(db.execute("SELECT ending, COUNT(*) FROM turns WHERE +space = ? AND ended_at >= ? GROUP BY 1", (space, at)))


def _answers(db: apsw.Connection, asked: _Asked) -> Spread:
    space, edge, at = asked
    rows = db.execute(
        """WITH patient AS (SELECT DISTINCT turn FROM steps WHERE pos > ?2 AND kind IN ('question', 'answer'))
           SELECT (t.ended_at - e.received_at) / 1000.0 FROM turns t JOIN events e ON e.id = t.event
           WHERE +t.space = ?1 AND t.ended_at >= ?3 AND t.ending = 'answered' AND t.parent IS NULL AND t.forked_from IS NULL
             AND e.kind = 'message' AND t.id NOT IN patient""",
        (space, edge, at),
    )
    return _spread(took for (took,) in rows)


# -- models and tools --------------------------------------------------------------------------------------------------


def _prompts(db: apsw.Connection, asked: _Asked) -> Prompts:
    """A piece of a prompt is written once, with the position of the call that brought it. A call begins with the decision to make it."""
    rows: list[Any] = list(
        db.execute(
            """SELECT s.kind, (s.at - (SELECT d.at FROM steps d WHERE d.turn = s.turn AND d.n < s.n AND d.kind = 'decision'
                    ORDER BY d.n DESC LIMIT 1)) / 1000.0
               FROM steps s WHERE s.pos > ?2 AND s.space = ?1 AND s.at >= ?3 AND s.kind IN ('reply', 'model_failed')""",
            asked,
        )
    )
    failed = sum(kind == "model_failed" for kind, _ in rows)
    took = _spread(took for kind, took in rows if kind == "reply" and took is not None)
    return Prompts(len(rows) - failed, failed, _one(db, _SHOWN, asked), _one(db, _NEW, asked), took)


_CALLED = "(SELECT pos FROM steps WHERE pos > ?2 AND space = ?1 AND at >= ?3 AND kind IN ('reply', 'model_failed')) c"
_SHOWN = f"""SELECT COALESCE(SUM(b.size), 0) FROM {_CALLED} JOIN blob_refs r ON r.pos = c.pos JOIN blobs b ON b.hash = r.hash
    WHERE b.codec = {ROPE}"""
_NEW = f"""SELECT COALESCE(SUM(b.size), 0) FROM {_CALLED} JOIN blobs b ON b.first_pos = c.pos
    WHERE b.codec <> {ROPE} AND (b.size <= {BLOB_FROM} OR b.hash <> (SELECT hash FROM payloads WHERE pos = c.pos))"""
"""A long reply stands among the blobs, too, and is no part of a prompt."""


def _tools(db: apsw.Connection, asked: _Asked) -> tuple[ToolUse, ...]:
    by_tool: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
    for tool, code, how, took in _told(db, asked, "outcome", ("result.tool", "code", "how", "duration_ms")):
        by_tool[tool or ""].append((code or "", how or "", took or 0.0))
    return tuple(sorted((_use(tool, rows) for tool, rows in by_tool.items()), key=lambda use: (-use.calls, use.tool)))


def _use(tool: str, rows: Sequence[tuple[str, str, float]]) -> ToolUse:
    refused = sum(how in ("refused", "cancelled") for _, how, _ in rows)
    codes = Counter(code for code, how, _ in rows if code and how not in ("refused", "cancelled"))
    return ToolUse(tool, len(rows), codes.total(), refused, _spread(took for code, how, took in rows if how == "ran"), dict(codes))


def _judged(db: apsw.Connection, asked: _Asked) -> Judged:
    found = Counter(verdict for (verdict,) in _told(db, asked, "intent", ("gate.verdict",)))
    return Judged(found["allow"], found["ask"], found["deny"], found["invalid"])


# -- people ------------------------------------------------------------------------------------------------------------


def _interventions(db: apsw.Connection, asked: _Asked) -> Interventions:
    space, _, at = asked
    posed = _one(db, "SELECT COUNT(*) FROM steps WHERE pos > ?2 AND space = ?1 AND at >= ?3 AND kind = 'question'", asked)
    posed += sum(text is not None for (text,) in _told(db, asked, "started", ("question.text",)))
    answers = [(turn, *rest) for turn, *rest in _told(db, asked, "answer", ("question", "choice", "event"), "s.turn, s.at")]
    by_people = [(choice, when - _moment(db, turn, question)) for turn, when, question, choice, event in answers if event is not None]
    allowed, denied = (sum(choice in these for choice, _ in by_people) for these in (_YES, _NO))
    stops = _one(
        db,
        """SELECT COUNT(*) FROM events WHERE pos > ?1 AND space = ?2 AND kind = 'stop' AND received_at >= ?3 AND parent IS NULL
           AND source <> ?4""",
        (_before(db, "events", "received_at", at), space, at, INTERNAL),
    )
    took = _spread(took / 1_000 for _, took in by_people)
    return Interventions(posed, allowed, denied, len(by_people) - allowed - denied, len(answers) - len(by_people), stops, took)


def _moment(db: apsw.Connection, turn: str, n: int) -> int:
    return _one(db, "SELECT at FROM steps WHERE turn = ? AND n = ?", (turn, n))


# -- out and by itself -------------------------------------------------------------------------------------------------


def _mail(db: apsw.Connection, space: str, at: int) -> dict[str, int]:
    edge = _before(db, "outbox", "created_at", at)
    return dict(
        db.execute(
            "SELECT state, COUNT(*) FROM outbox WHERE pos > ? AND space = ? AND NOT is_event AND created_at >= ? GROUP BY 1",
            (edge, space, at),
        )
    )


def _idle_calls(db: apsw.Connection, space: str, at: int) -> int:
    """By the event of the tick: what found nothing has none, so there is no turn and no call."""
    return _one(
        db,
        """SELECT COUNT(*) FROM ticks k JOIN turns t ON t.event = k.event JOIN calls c ON c.turn = t.id
           WHERE k.space = ? AND k.at >= ? AND k.outcome = 'unchanged' AND k.event <> ''""",
        (space, at),
    )


def _deliveries(db: apsw.Connection, space: str, at: int) -> dict[str, int]:
    edge = db.execute("SELECT n FROM deliveries WHERE at < ? ORDER BY n DESC LIMIT 1", (at,)).get or 0
    return dict(db.execute("SELECT outcome, COUNT(*) FROM deliveries WHERE n > ? AND space = ? AND at >= ? GROUP BY 1", (edge, space, at)))


# -- measuring ---------------------------------------------------------------------------------------------------------


def _told(db: apsw.Connection, asked: _Asked, kind: str, fields: tuple[str, ...], columns: str = "") -> list[list[Any]]:
    """These fields of the payloads of all steps of a kind, behind these columns. Taken out at one go: each payload is parsed once."""
    paths = ", ".join(f"'$.{field}'" for field in fields)
    before = f"{columns}, " if columns else ""
    query = f"""SELECT {before}json_array(json_extract({{}}, {paths})) FROM steps s JOIN payloads p USING (pos)
        WHERE s.pos > ?2 AND s.space = ?1 AND s.at >= ?3 AND s.kind = '{kind}'"""
    try:
        rows = db.execute(query.format(_TEXT), asked).fetchall()
    except apsw.SQLError:  # one of them is damaged: they are looked at one by one
        rows = db.execute(query.format(f"IIF(json_valid({_TEXT}), {_TEXT}, NULL)"), asked).fetchall()
    return [[*row[:-1], *_values(row[-1], len(fields))] for row in rows]


def _values(found: Any, n: int) -> list[Any]:
    """Of several paths comes a list, of one its value; of what is erased nothing."""
    (value,) = json.loads(found)
    if n == 1:
        return [value]
    return [None] * n if value is None else value


def _before(db: apsw.Connection, table: str, column: str, at: int) -> int:
    """The last position before this moment."""
    return int(db.execute(f"SELECT pos FROM {table} WHERE {column} < ? ORDER BY pos DESC LIMIT 1", (at,)).get or 0)


def _one(db: apsw.Connection, query: str, values: tuple[Any, ...]) -> int:
    return int(db.execute(query, values).get)


def _spread(found: Iterable[float]) -> Spread:
    """The nearest rank: each percentile is a measurement that was really made."""
    took = sorted(found)
    if not took:
        return Spread()
    return Spread(len(took), round(took[_rank(50, len(took))], 1), round(took[_rank(95, len(took))], 1))


def _rank(percent: int, n: int) -> int:
    return max(0, -(-percent * n // 100) - 1)


def _unpacked(*row: Any) -> str | None:
    codec, body = row
    if body is None:
        return None
    try:
        return str(zlib.decompress(body) if codec == ZLIB else body, "utf-8")
    except (zlib.error, UnicodeDecodeError):
        return None
