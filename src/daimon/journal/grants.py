"""What the owner allowed ahead of time.

A grant is written in the transaction of its step (`Granted`), under the name of that step, so it exists exactly when the step does. Taking
one back only marks its row. Whether it has run out is a question to the clock, asked by whoever reads.
"""

from datetime import datetime
from typing import Any

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import NotFound
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.judgement import Grant
from daimon.abi.ports import Given
from daimon.abi.step import Granted, Step
from daimon.journal.now import Now
from daimon.journal.rows import micros, moment

GIVEN = "SELECT body, revoked_at, revoked_by FROM grants"


def give(db: apsw.Connection, step: Step, body: Granted) -> None:
    db.execute(
        "INSERT INTO grants (space, id, body, at) VALUES (?, ?, ?, ?)",
        (step.space, body.grant.id, encode(Grant, body.grant), micros(step.at)),
    )


def grants(db: apsw.Connection, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
    rows: list[Any] = db.execute(GIVEN + " WHERE space = ? AND revoked_at IS NULL ORDER BY at, id", (space,)).fetchall()
    return tuple(found.grant for found in map(_read, rows) if found.is_in_force(now))


def given(db: apsw.Connection, space: SpaceId) -> tuple[Given, ...]:
    rows: list[Any] = db.execute(GIVEN + " WHERE space = ? ORDER BY at DESC, id DESC", (space,)).fetchall()
    return tuple(map(_read, rows))


def revoke(db: apsw.Connection, now: Now, space: SpaceId, id_: str, by: PrincipalId) -> Given:
    db.execute(
        "UPDATE grants SET revoked_at = ?, revoked_by = ? WHERE space = ? AND id = ? AND revoked_at IS NULL",
        (micros(now.at), by, space, id_),
    )
    row: Any = db.execute(GIVEN + " WHERE space = ? AND id = ?", (space, id_)).fetchone()
    if row is None:
        raise NotFound(f"there is no grant {id_!r}; `daimon grants --all` lists them")
    return _read(row)


def _read(row: tuple[Any, ...]) -> Given:
    body, revoked_at, revoked_by = row
    return Given(
        decode(Grant, body), None if revoked_at is None else moment(revoked_at), None if revoked_by is None else PrincipalId(revoked_by)
    )
