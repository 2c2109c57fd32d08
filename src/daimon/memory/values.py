"""Values by key. An item of its own for each time that one was put: the newest holds, the others are its history.

The id is `value:KEY`, the subject the key, the text the value as JSON. What a stranger puts where the owner's value stands is kept as
disputed, and has no effect.
"""

import json

import apsw

from daimon.abi.memory import Item, Put
from daimon.abi.plain import mended
from daimon.memory import items, notes
from daimon.memory.receipt import Receipt

_SAME = """
    SELECT EXISTS (
        SELECT 1 FROM items INDEXED BY items_by_id WHERE id = ? AND space = ? AND principal = ? AND source = ? AND text = ?)
"""


def put(connection: apsw.Connection, receipt: Receipt, operation: Put) -> None:
    id_ = id_of(operation.key)
    text = json.dumps(mended(operation.value), ensure_ascii=False, sort_keys=True)
    if _is_repeated(connection, receipt, id_, text):
        return
    value = Item(
        id=id_, kind="value", text=text, at=receipt.at, label=receipt.label, source=receipt.source, subject=operation.key,
    )  # fmt: skip
    if notes.supersede(connection, receipt, id_):
        items.add(connection, receipt, value)
    else:
        items.add(connection, receipt, items.ended(value, "disputed", receipt))


def id_of(key: str) -> str:
    return f"value:{key}"


def _is_repeated(connection: apsw.Connection, receipt: Receipt, id_: str, text: str) -> bool:
    asked = (items.sane(id_), receipt.space, receipt.principal, receipt.source, items.sane(text))
    return bool(connection.execute(_SAME, asked).get)
