"""What a source left besides words: see `abi/trace.py`. Found by labels; ended by taking the rows away, since they hold its words."""

import json
from typing import Any

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.ids import SpaceId
from daimon.abi.judgement import Grant
from daimon.abi.step import Happened
from daimon.abi.trace import Traces
from daimon.journal import hooks
from daimon.journal.now import Now
from daimon.journal.rows import STEP, micros, read_label, read_step

_OUTCOMES = STEP + " WHERE s.space = ? AND s.kind = 'outcome' AND s.pos >= ? AND p.body IS NOT NULL ORDER BY s.pos"
_FIRST = "SELECT pos, label FROM steps WHERE space = ? AND kind = 'outcome' AND instr(label, ?) ORDER BY pos"
_BEFORE_IT = "SELECT label FROM steps WHERE turn = ? AND n < ? AND instr(label, ?)"


def traces(db: apsw.Connection, space: SpaceId, source: str, tools: tuple[str, ...]) -> Traces:
    made, changed = _files(db, space, source)
    return Traces(
        made=made,
        changed=changed,
        reminders=_labelled(db, "SELECT id, label FROM timers WHERE state = 'set' AND space = ? AND instr(label, ?)", space, source),
        automations=_labelled(db, "SELECT id, label FROM automations WHERE space = ? AND instr(label, ?)", space, source),
        hooks=_labelled(db, "SELECT name, label FROM hooks WHERE space = ? AND instr(label, ?)", space, source),
        grants=_grants(db, space, source, tools),
    )


def end(db: apsw.Connection, now: Now, space: SpaceId, source: str, tools: tuple[str, ...]) -> Traces:
    found = traces(db, space, source, tools)
    db.execute("INSERT INTO residues (at) VALUES (?)", (micros(now.at),))
    for table, column, names in (
        ("timers", "id", _labelled(db, "SELECT id, label FROM timers WHERE space = ? AND instr(label, ?)", space, source)),
        ("automations", "id", found.automations),
        ("ticks", "automation", found.automations),
        ("grants", "id", found.grants),
    ):
        db.execute(f"DELETE FROM {table} WHERE space = ? AND {column} IN (SELECT value FROM json_each(?))", (space, json.dumps(names)))
    for name in found.hooks:
        hooks.remove(db, space, name)
    return found


def _labelled(db: apsw.Connection, query: str, space: SpaceId, source: str) -> tuple[str, ...]:
    rows: list[Any] = db.execute(query, (space, encode(str, source))).fetchall()
    return tuple(sorted(name for name, label in rows if _names(label, source)))


def _names(label: bytes | None, source: str) -> bool:
    """One that cannot be read, but holds the letters, counts as naming it."""
    try:
        return any(origin.source == source for origin in read_label(label).origins)
    except JournalDamaged:
        return True


def _grants(db: apsw.Connection, space: SpaceId, source: str, tools: tuple[str, ...]) -> tuple[str, ...]:
    """A grant has the name of its step; what the turn had read by then is on the steps before."""
    rows: list[Any] = db.execute("SELECT id, body FROM grants WHERE space = ? AND revoked_at IS NULL ORDER BY id", (space,)).fetchall()
    return tuple(id_ for id_, body in rows if decode(Grant, body).tool in tools or _was_read(db, id_, source))


def _was_read(db: apsw.Connection, grant: str, source: str) -> bool:
    turn, _, n = grant.rpartition(":")
    return n.isdecimal() and any(_names(label, source) for (label,) in db.execute(_BEFORE_IT, (turn, int(n), encode(str, source))))


def _files(db: apsw.Connection, space: SpaceId, source: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """From the first outcome that has its label: who touched what, and how."""
    first = next((pos for pos, label in db.execute(_FIRST, (space, encode(str, source))) if _names(label, source)), None)
    if first is None:
        return (), ()
    made: set[str] = set()
    changed: set[str] = set()
    for row in db.execute(_OUTCOMES, (space, first)):
        try:
            step = read_step(row)
        except JournalDamaged:
            continue
        if isinstance(step.body, Happened):
            is_its = any(origin.source == source for origin in step.label.origins)
            for touched in step.body.touched:
                if touched.kind == "file":
                    _note(touched.what, touched.outcome if is_its else "others", made, changed)
    return tuple(sorted(made)), tuple(sorted(changed))


def _note(path: str, outcome: str, made: set[str], changed: set[str]) -> None:
    match outcome:
        case "added":
            made.add(path)
            changed.discard(path)
        case "removed":
            made.discard(path)
        case "others":
            if path in made:
                made.discard(path)
                changed.add(path)
        case _:
            if path not in made:
                changed.add(path)
