"""Facts: what holds of a subject, with its history.

Of the facts about one thing of one subject the newest trusted one holds; those before it are history. What somebody says who may not
override the owner is kept beside it: `disputed`, or, if it says the same, as one more voice for it. Where nobody who is trusted has said
anything, the newest claim holds, with its own label.

`settle` works this out from the rows of such a group in their order, so it gives the same answer after a row was deleted as if it had never
been there. Ends that have another cause (forgotten, rewound, superseded by name) are taken as they are.
"""

from dataclasses import dataclass

import apsw

from daimon.abi.memory import Item, Learn
from daimon.memory import items, notes
from daimon.memory.receipt import Receipt

Group = tuple[str, str, str, str]
"""Space, principal, subject, and which thing of it."""

_ROWS = """
    SELECT n, is_trusted, text, standing, recorded_at, ended_at, ended_by, source, supersedes <> '[]'
    FROM items INDEXED BY items_by_subject
    WHERE space = ? AND principal = ? AND subject = ? AND subject <> '' AND about = ? AND about <> '' AND kind = 'fact' AND is_deleted = 0
    ORDER BY n
"""


@dataclass(frozen=True, slots=True)
class _Row:
    n: int
    is_trusted: bool
    text: str
    standing: str
    recorded_at: int
    ended_at: int | None
    ended_by: str
    source: str
    names_others: bool


Outcome = tuple[str, int | None, str]
"""Standing, when it ended, by what."""


def learn(connection: apsw.Connection, receipt: Receipt, operation: Learn) -> None:
    if items.is_known(connection, receipt, operation.fact):
        return
    fact = Item(
        id=operation.fact, kind="fact", text=operation.statement, at=receipt.at, label=receipt.label,
        source=operation.source or receipt.source, span=operation.span, subject=operation.subject, about=operation.about,
        confidence=operation.confidence, supersedes=operation.supersedes,
    )  # fmt: skip
    n = items.add(connection, receipt, fact)
    others = [id_ for id_ in operation.supersedes if id_ != operation.fact]
    refused = [id_ for id_ in others if not notes.supersede(connection, receipt, id_)]
    if refused:
        connection.execute("UPDATE items SET standing = 'disputed' WHERE n = ?", (n,))
    settle(connection, (receipt.space, receipt.principal, items.sane(operation.subject), items.sane(operation.about)))


def settle(connection: apsw.Connection, group: Group) -> None:
    rows = [_Row(*row) for row in connection.execute(_ROWS, group)]
    for row, (standing, ended_at, ended_by) in _outcomes(rows):
        if (row.standing, row.ended_at, row.ended_by) == (standing, ended_at, ended_by):
            continue
        if row.ended_at is None and ended_at is not None:
            items.end(connection, row.n, standing, ended_at, ended_by)
            continue
        if row.ended_at is not None and ended_at is None and not items.revive(connection, row.n):
            continue
        changed = (standing, ended_at, ended_by, row.n)
        connection.execute("UPDATE items SET standing = ?, ended_at = ?, ended_by = ? WHERE n = ?", changed)


def _outcomes(rows: list[_Row]) -> list[tuple[_Row, Outcome]]:
    sources = {row.source for row in rows}
    fixed = {row.n for row in rows if row.standing in ("forgotten", "rewound") or (row.ended_by and row.ended_by not in sources)}
    found: dict[int, Outcome] = {}
    live: list[_Row] = []
    for row in rows:
        live = [other for other in live if other.n not in fixed or (other.ended_at or 0) > row.recorded_at]
        is_ruled = not row.is_trusted and any(other.is_trusted for other in live)
        if not is_ruled:
            found |= {other.n: ("superseded", row.recorded_at, row.source) for other in live if other.n not in fixed}
            live = []
        found[row.n] = (_standing(row, live), None, "")
        live.append(row)
    return [(row, found[row.n]) for row in rows if row.n not in fixed]


def _standing(row: _Row, live: list[_Row]) -> str:
    is_refused = row.standing == "disputed" and row.names_others
    is_otherwise = any(other.is_trusted and notes.plain(other.text) != notes.plain(row.text) for other in live)
    return "disputed" if not row.is_trusted and (is_refused or is_otherwise) else "holds"
