"""Rewinding: what was kept on purpose becomes as it was at a moment.

What holds now and did not then ends as `rewound`. What held then and has ended since comes back as a new version of the same id, with its
words, label and receipt; the old row stays as history. So a rewinding is itself a change like any other, and can be rewound. Messages,
episodes and summaries tell what happened, and stay; what was deleted stays deleted.

Moments are those of a clock that people set: after it was set back, two versions of one id may seem to have held at once. Then the one that
came later into the journal is right, and what holds already stays.
"""

from datetime import datetime
from typing import Any

import apsw

from daimon.abi.curator import Rewound
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.memory import Item
from daimon.memory import items
from daimon.memory.graph import rows as graph
from daimon.memory.moments import micros
from daimon.memory.receipt import Receipt

_MINE = "space = ? AND principal = ? AND is_deleted = 0 AND kind IN ('note', 'fact', 'value')"
_SINCE = f"SELECT n FROM items WHERE {_MINE} AND ended_at IS NULL AND recorded_at > ?"
_STILL = f"SELECT id FROM items WHERE {_MINE} AND ended_at IS NULL AND recorded_at <= ?"
_OVER = f"SELECT max(n) FROM items WHERE {_MINE} AND recorded_at <= ? AND ended_at > ? AND id NOT IN ({_STILL}) GROUP BY id ORDER BY 1"
_RULED = """
    SELECT EXISTS (SELECT 1 FROM items o WHERE o.space = i.space AND o.principal = i.principal AND o.subject = i.subject
        AND o.about = i.about AND o.kind = 'fact' AND o.ended_at IS NULL AND o.is_trusted = 1 AND o.text <> i.text)
    FROM items i WHERE i.n = ? AND i.kind = 'fact' AND i.about <> '' AND i.is_trusted = 0
"""


def rewind(connection: apsw.Connection, receipt: Receipt, to: datetime) -> None:
    newer, over = _changed(connection, receipt.space, receipt.principal, to)
    for n in newer:
        items.end(connection, n, "rewound", micros(receipt.at), receipt.source)
    for n in over:
        _bring_back(connection, receipt, n)
    graph.rewind(connection, receipt, to)


def foreseen(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, to: datetime) -> Rewound:
    """What would end, what would come back, and how many claims of the graph would do either."""
    newer, over = _changed(connection, space, principal, to)
    ended, returned = (tuple(item for n in rows for item in _one(connection, n)) for rows in (newer, over))
    return Rewound(to, ended, returned, sum(map(len, graph.changed_since(connection, space, principal, to))))


def _one(connection: apsw.Connection, n: int) -> list[Item]:
    return [items.read(row) for row in connection.execute(f"SELECT {items.COLUMNS} FROM items WHERE n = ? AND is_deleted = 0", (n,))]


def _changed(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, to: datetime) -> tuple[list[int], list[int]]:
    then = micros(to)
    newer: list[Any] = connection.execute(_SINCE, (space, principal, then)).fetchall()
    over: list[Any] = connection.execute(_OVER, (space, principal, then, then, space, principal, then)).fetchall()
    return [n for (n,) in newer], [n for (n,) in over]


def _bring_back(connection: apsw.Connection, receipt: Receipt, n: int) -> None:
    *row, turn = connection.execute(f"SELECT {items.COLUMNS}, items.turn FROM items WHERE n = ?", (n,)).get
    standing = "disputed" if connection.execute(_RULED, (n,)).get else "holds"
    version = items.read((*row[:14], standing, None, "", *row[17:]))
    items.add(connection, Receipt(receipt.space, receipt.principal, version.source, turn, version.label, receipt.at), version)
