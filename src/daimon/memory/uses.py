"""How often an item stood in a prompt because it was recalled, and when it last did. Told by the references of recorded replies."""

from datetime import datetime

import apsw

from daimon.abi.step import ContextRef
from daimon.memory.items import sane
from daimon.memory.moments import micros
from daimon.memory.receipt import Receipt

MEMORY = "memory"
"""What a reference to an item is called among those of a reply."""

_COUNT = """
    UPDATE items SET uses = uses + 1, used_at = max(coalesce(used_at, ?1), ?1)
    WHERE id = ?2 AND space = ?3 AND principal = ?4 AND ended_at IS NULL
"""


def count(connection: apsw.Connection, receipt: Receipt, context: tuple[ContextRef, ...], at: datetime) -> None:
    for id_ in sorted({sane(ref.ref) for ref in context if ref.what == MEMORY}):
        connection.execute(_COUNT, (micros(at), id_, receipt.space, receipt.principal))
