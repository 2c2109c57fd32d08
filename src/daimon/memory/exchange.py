"""Items that come from an export, with their dates and labels.

What is known here by the same id is left as it is: an import adds, it never overwrites. What was over stays over, as history. The words
stand in the amendment that brought them, so that is their source here.
"""

from collections.abc import Iterable
from dataclasses import replace

import apsw

from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.memory import Import, Item
from daimon.memory import facts, items, transcript
from daimon.memory.receipt import Receipt

_KNOWN = "SELECT EXISTS (SELECT 1 FROM items INDEXED BY items_by_id WHERE id = ? AND space = ? AND principal = ? AND is_deleted = 0)"


def known(connection: apsw.Connection, space: SpaceId, principal: PrincipalId, ids: Iterable[str]) -> set[str]:
    """Those of the ids that an import would leave as they are."""
    return {id_ for id_ in ids if connection.execute(_KNOWN, (items.sane(id_), space, principal)).get}


def take_in(connection: apsw.Connection, receipt: Receipt, operation: Import) -> None:
    for item in operation.items:
        if not connection.execute(_KNOWN, (items.sane(item.id), receipt.space, receipt.principal)).get:
            _add(connection, receipt, item)
    for subject, about in sorted({(item.subject, item.about) for item in operation.items if item.kind == "fact" and item.about}):
        facts.settle(connection, (receipt.space, receipt.principal, items.sane(subject), items.sane(about)))


def _add(connection: apsw.Connection, receipt: Receipt, item: Item) -> None:
    is_over = item.standing in ("superseded", "forgotten", "rewound")
    ended_at = (item.ended_at or receipt.at) if is_over else item.ended_at
    previous = transcript.last(connection, receipt, item.conversation) if item.kind == "message" else None
    items.add(connection, receipt, replace(item, source=receipt.source, span=None, ended_at=ended_at), previous)
