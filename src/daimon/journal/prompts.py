"""The same words in the prompts of other turns.

Later turns of a conversation see earlier messages, calls and results in their prompts, as chunks of their own: a chunk is one message. What
is erased is looked for there: by its words, as it said them, or by the source that a message's label names. What somebody says again in
other words is theirs, and stays. Prompts of other conversations are found by what they quote (`quotes.py`).

A prompt may also hold a part of it: long things are shown shorter, and secrets are taken out of what is shown. Such a form names what it is
short for, or begins as that does, up to the sign for what is missing (`…`, `[secret`, `[redacted`). Rather one chunk too many than one too
few: what is lost with it is the bytes of an old request, not what anybody said.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apsw
from pydantic import JsonValue

from daimon.abi.codec import decode
from daimon.abi.errors import JournalDamaged
from daimon.abi.event import Answer, Event, Fired, FromAgent, Heartbeat, Late, Said, Webhook
from daimon.abi.ids import Conversation, TurnId
from daimon.abi.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.step import Happened, Replied, Step
from daimon.journal.blobs import chunks
from daimon.journal.rows import ROPE, unpack

LONG = 8
"""From so many characters on, words of an event that is shown as a sentence are looked for inside of messages."""

_ALTERED = re.compile(r"\n?\[…|…|\[secret |\[redacted ")
_SHORTER = re.compile(r"… \([\d,]+ characters\)|\"left_out\"")

IsGone = Callable[[Message], bool]


def said_in(things: Iterable[Event | Step]) -> IsGone:
    """Does a message say what one of these said?"""
    whole: set[str] = set()
    inside: set[str] = set()
    calls: set[str] = set()
    for thing in things:
        parts = _parts(thing)
        whole.update(texts(parts), ["\n".join(part.text for part in parts if isinstance(part, Text))])
        inside.update(text for text in _sentences(thing) if len(text) >= LONG)
        inside.add(f"recall ref={thing.id if isinstance(thing, Event) else thing.ref} ")
        inside.add(f"recall ref={thing.id if isinstance(thing, Event) else thing.ref}]")
        calls.update(f"{part.call} {part.tool}" for part in parts if isinstance(part, ToolCall))
    whole.discard("")

    def is_gone(message: Message) -> bool:
        found = list(texts(message.parts))
        is_told = not whole.isdisjoint(found) or any(text in each for each in found for text in inside)
        return is_told or any(_is_begun(each, whole) for each in found) or _is_called(message.parts, calls)

    return is_gone


def _is_begun(text: str, whole: set[str]) -> bool:
    """Is it one of these, with something left out?"""
    sign = _ALTERED.search(text)
    head = text[: sign.start()] if sign else ""
    return len(head) >= LONG and any(each.startswith(head) for each in whole)


def _is_called(parts: Iterable[Part], calls: set[str]) -> bool:
    """Is there one of these calls with shorter arguments?"""
    found = (part for part in parts if isinstance(part, ToolCall) and f"{part.call} {part.tool}" in calls)
    return any(_SHORTER.search(json.dumps(part.arguments, ensure_ascii=False)) for part in found)


def empty(db: apsw.Connection, where: Conversation, first: TurnId, most: int, is_gone: IsGone) -> None:
    """In the prompts of so many turns of the conversation, from this one on."""
    ropes: list[Any] = db.execute(
        """SELECT DISTINCT b.body FROM (SELECT id FROM turns WHERE space = ? AND conversation = ? AND id >= ? ORDER BY id LIMIT ?) t
           JOIN steps s ON s.turn = t.id JOIN blob_refs r ON r.pos = s.pos JOIN blobs b ON b.hash = r.hash
           WHERE b.codec = ? AND b.body IS NOT NULL""",
        (where.space, where.name, first, most, ROPE),
    ).fetchall()
    for digest in {chunk for (rope,) in ropes for chunk in chunks(rope)}:
        if (message := _message(db, digest)) is not None and is_gone(message):
            db.execute("UPDATE blobs SET body = NULL WHERE hash = ?", (digest,))


def texts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Text(text) | Reasoning(text=text) if text:
                yield text
            case ToolResult(parts=inner):
                yield from texts(inner)
            case ToolCall(call=call, arguments=arguments):
                yield f"{call} {json.dumps(arguments, sort_keys=True)}"
            case _:
                pass


def _parts(thing: Event | Step) -> tuple[Part, ...]:
    match thing.body:
        case Said(parts=parts) | FromAgent(parts=parts) | Replied(parts=parts):
            return parts
        case Happened(result=result):
            return (result,)
        case _:
            return ()


def _sentences(thing: Event | Step) -> Iterator[str]:
    """What stands inside of a sentence in a prompt."""
    match thing.body:
        case Fired(about=text) | Answer(text=text):
            yield text
        case Webhook(data=data, task=task) | Heartbeat(data=data, task=task):
            yield task
            yield from _leaves(data)
        case Late(data=data):
            yield from _leaves(data)
        case _:
            pass


def _leaves(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for inner in value:
                yield from _leaves(inner)
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case _:
            pass


def _message(db: apsw.Connection, digest: bytes) -> Message | None:
    row = db.execute("SELECT codec, body FROM blobs WHERE hash = ? AND body IS NOT NULL", (digest,)).get
    try:
        found: Message | None = None if row is None else decode(Message, unpack(digest, *row))
    except JournalDamaged:
        return None  # the list of tools, or a damaged chunk: no message of anybody
    return found
