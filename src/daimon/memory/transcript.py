"""What was said, by whom, in order: events with words and replies become messages by themselves.

A message knows the one before it in the same conversation, of the same owner: what it says is often only half of what it means. An event
stands here before anybody knows which turn takes it in; the first step of that turn, or the step that received it, tells. An event whose
words were erased leaves a row without words, so that a rebuild knows what its turn lost.
"""

from collections.abc import Sequence
from datetime import datetime

import apsw

from daimon.abi.event import Answer, Erased, Event, FromAgent, Said
from daimon.abi.ids import EventId, TurnId
from daimon.abi.label import UNLABELLED
from daimon.abi.memory import Item, Summarise
from daimon.abi.message import Audio, File, Image, Part, Text
from daimon.abi.step import Replied, Step
from daimon.memory import items
from daimon.memory.moments import micros
from daimon.memory.receipt import Receipt

_LAST = """
    SELECT n FROM items INDEXED BY items_by_conversation
    WHERE space = ? AND conversation = ? AND kind = 'message' AND principal = ? AND is_deleted = 0
    ORDER BY n DESC LIMIT 1
"""


def hear(connection: apsw.Connection, event: Event) -> None:
    receipt = receipt_of(event)
    if items.is_known(connection, receipt, event.id):
        return
    if isinstance(event.body, Erased):
        _leave_blank(connection, receipt)
    elif text := said(event):
        _write(connection, receipt, text, event.conversation, speaker_of(event), event.occurred_at)


def reply(connection: apsw.Connection, receipt: Receipt, step: Step, body: Replied, conversation: str) -> None:
    text = worded(body.parts)
    if text and not items.is_known(connection, receipt, receipt.source):
        _write(connection, receipt, text, conversation, step.agent, step.at)


def summarise(connection: apsw.Connection, receipt: Receipt, operation: Summarise, conversation: str) -> None:
    """`supersedes` names the turns that it stands for."""
    id_ = f"summary:{receipt.source}"
    if not items.is_known(connection, receipt, id_):
        items.add(connection, receipt, Item(
            id=id_, kind="summary", text=operation.text, at=receipt.at, label=receipt.label, source=receipt.source,
            conversation=conversation, supersedes=operation.turns,
        ))  # fmt: skip


def belongs(connection: apsw.Connection, event: EventId, turn: TurnId) -> None:
    """This turn took the event in. The first one to say so is right: a fork has the event of what it was forked from."""
    # Row by row: see `index.py`.
    for (n,) in connection.execute("SELECT n FROM items WHERE source = ? AND +turn = ''", (event,)).fetchall():
        connection.execute("UPDATE items SET turn = ? WHERE n = ?", (turn, n))


def receipt_of(event: Event) -> Receipt:
    turn = "" if event.resolves is None else event.resolves.turn
    return Receipt(event.space, event.principal, event.id, turn, event.label, event.received_at)


def said(event: Event) -> str:
    match event.body:
        case Said(parts=parts) | FromAgent(parts=parts):
            return worded(parts)
        case Answer(text=text):
            return text
        case _:
            return ""


def worded(parts: Sequence[Part]) -> str:
    return "\n".join(text for part in parts if (text := _text(part)))


def last(connection: apsw.Connection, receipt: Receipt, conversation: str) -> int | None:
    found: int | None = connection.execute(_LAST, (receipt.space, items.sane(conversation), receipt.principal)).get
    return found


def _write(connection: apsw.Connection, receipt: Receipt, text: str, conversation: str, speaker: str, at: datetime) -> None:
    message = Item(
        id=receipt.source, kind="message", text=text, at=at, label=receipt.label, source=receipt.source, conversation=conversation,
        speaker=speaker,
    )  # fmt: skip
    items.add(connection, receipt, message, last(connection, receipt, conversation))


def _leave_blank(connection: apsw.Connection, receipt: Receipt) -> None:
    blank = Item(id=receipt.source, kind="message", text="", at=receipt.at, label=UNLABELLED, source=receipt.source, ended_at=receipt.at)
    n = items.add(connection, receipt, blank)
    connection.execute("DELETE FROM origins WHERE n = ?", (n,))
    connection.execute("UPDATE items SET is_deleted = 1, standing = 'forgotten', ended_at = ? WHERE n = ?", (micros(receipt.at), n))


def speaker_of(event: Event) -> str:
    match event.body:
        case Said(speaker=speaker) if speaker:
            return speaker
        case FromAgent(agent=agent):
            return agent
        case _:
            return event.principal


def _text(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case Image(description=words) | Audio(transcript=words) | File(name=words):
            return words
        case _:
            return ""
