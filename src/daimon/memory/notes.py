"""Notes: what the agent was told to keep, or found worth keeping.

A note takes the place of others together with its own arrival, but one that is not trusted never replaces one that is: both stay. Nor is
what is trusted forgotten on the word of somebody who is not. What was forgotten before it was ever seen stays forgotten.
"""

from typing import Any

import apsw

from daimon.abi.memory import Forget, Item, Remember
from daimon.memory import items
from daimon.memory.moments import micros
from daimon.memory.receipt import Receipt

_KEPT = """
    SELECT n, is_trusted FROM items
    WHERE space = ? AND principal = ? AND id = ? AND ended_at IS NULL AND kind IN ('note', 'fact', 'value')
"""
_KEY = """
    SELECT n, is_trusted FROM items INDEXED BY items_by_subject
    WHERE space = ? AND principal = ? AND subject = ? AND subject <> '' AND ended_at IS NULL AND kind = 'value'
"""
_OVER = """
    UPDATE items INDEXED BY items_by_id SET standing = 'forgotten'
    WHERE space = ? AND principal = ? AND id = ? AND standing = 'superseded' AND is_trusted <= ?
"""
_SAID = """
    SELECT n, text FROM items INDEXED BY items_by_turn
    WHERE turn = ? AND space = ? AND principal = ? AND kind = 'fact' AND ended_at IS NULL AND turn <> '' AND source NOT LIKE turn || ':%'
"""


def remember(connection: apsw.Connection, receipt: Receipt, operation: Remember) -> None:
    if items.is_known(connection, receipt, operation.note):
        return
    items.add(connection, receipt, Item(
        id=operation.note, kind="note", text=operation.text, at=receipt.at, label=receipt.label, source=receipt.source,
        supersedes=operation.replaces, on_page=operation.on_page,
    ))  # fmt: skip
    for id_ in operation.replaces:
        if id_ != operation.note:
            supersede(connection, receipt, id_)
    _take_the_place_of_the_same(connection, receipt, operation.text)


def supersede(connection: apsw.Connection, receipt: Receipt, id_: str) -> bool:
    """Whether it may: what is there stays if it is trusted and this is not."""
    row = connection.execute(_KEPT, (receipt.space, receipt.principal, items.sane(id_))).get
    if row is None:
        return True
    n, is_trusted = row
    if is_trusted and not receipt.label.is_trusted:
        return False
    items.end(connection, n, "superseded", micros(receipt.at), receipt.source)
    return True


def forget(connection: apsw.Connection, receipt: Receipt, operation: Forget) -> None:
    asked = (receipt.space, receipt.principal, items.sane(operation.note))
    row = connection.execute(_KEPT, asked).get or connection.execute(_KEY, asked).get
    if row is not None:
        n, is_trusted = row
        if not is_trusted or receipt.label.is_trusted:
            items.end(connection, n, "forgotten", micros(receipt.at), receipt.source)
    elif items.is_known(connection, receipt, operation.note):
        # It is history already. From now on it is not to come back when what took its place is deleted.
        connection.execute(_OVER, (*asked, receipt.label.is_trusted))
    else:
        items.add(connection, receipt, Item(
            id=operation.note, kind="note", text="", at=receipt.at, label=receipt.label, source=receipt.source, standing="forgotten",
            ended_at=receipt.at, ended_by=receipt.source,
        ))  # fmt: skip


def _take_the_place_of_the_same(connection: apsw.Connection, receipt: Receipt, text: str) -> None:
    """Of a fact that rules made of the same words in the same turn: forgetting the note must not leave it behind."""
    if not receipt.label.is_trusted:
        return
    said: list[Any] = connection.execute(_SAID, (receipt.turn, receipt.space, receipt.principal)).fetchall()
    for n, statement in said:
        if plain(statement) == plain(text):
            items.end(connection, n, "superseded", micros(receipt.at), receipt.source)


def plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?")
