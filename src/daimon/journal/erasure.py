"""Erasing what a turn said: payloads, blobs, timers, and the same words in the prompts of later turns.

Number, hash and tombstone stay. A blob goes when no other row names it. Later turns of the conversation saw this turn's
messages, calls and results in their prompts, as chunks of their own: a chunk that holds one of them, word for word, goes too.
What somebody says again in other words is theirs, and stays. Forks of the turn are erased with it.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from daimon.abi.codec import decode
from daimon.abi.errors import BadInput, JournalDamaged
from daimon.abi.event import Erased, FromAgent, Said
from daimon.abi.ids import TurnId
from daimon.abi.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from daimon.abi.step import Happened, Replied
from daimon.abi.turn import Turn
from daimon.journal import archive
from daimon.journal.blobs import chunks
from daimon.journal.now import Now
from daimon.journal.rows import ROPE, micros, unpack

MOST_LATER = 200
"""How many later turns may have this one in their prompts; the context reads back far fewer."""


def erase(db: apsw.Connection, now: Now, id_: TurnId, reason: str) -> tuple[Erased, ...]:
    gone = archive.turn(db, id_)
    if gone.ended_at is None:
        raise BadInput(f"turn {id_} is not over; stop it before it is erased")
    _require_quiet(db, gone)
    forks: list[Any] = db.execute("SELECT id FROM turns WHERE forked_from >= ? AND forked_from < ?", (f"{id_}:", f"{id_};")).fetchall()
    copies = [tombstone for (fork,) in forks for tombstone in erase(db, now, TurnId(fork), reason)]
    _erase_quotes(db, gone, _words(db, gone))
    rows = db.execute(
        """SELECT pos FROM events WHERE turn = ?1 UNION SELECT pos FROM steps WHERE turn = ?1
           UNION SELECT pos FROM outbox WHERE turn = ?1 ORDER BY 1""",
        (id_,),
    ).fetchall()
    at = micros(now.at)
    db.execute("INSERT INTO erasures VALUES (?, ?, ?, ?)", (next(now.positions), id_, at, reason))
    erased = copies
    for (pos,) in rows:
        digest = db.execute(
            "UPDATE payloads SET body = NULL, erased_at = ?, reason = ? WHERE pos = ? RETURNING hash", (at, reason, pos)
        ).get
        db.execute(
            """UPDATE blobs SET body = NULL WHERE (first_pos = ?1 OR hash IN (SELECT hash FROM blob_refs WHERE pos = ?1))
               AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.hash = blobs.hash AND r.pos <> ?1)""",
            (pos,),
        )
        db.execute("DELETE FROM blob_refs WHERE pos = ?", (pos,))
        erased.append(Erased(digest.hex(), now.at, reason))
    db.execute("UPDATE timers SET about = '' WHERE set_by >= ? AND set_by < ?", (f"{id_}:", f"{id_};"))
    return tuple(erased)


def _require_quiet(db: apsw.Connection, gone: Turn) -> None:
    """A turn that thinks right now may have these words in its prompt, and would write them down again."""
    running = db.execute(
        "SELECT id FROM turns WHERE space = ? AND conversation = ? AND id > ? AND state = 'running'",
        (gone.space, gone.conversation, gone.id),
    ).get
    if running is not None:
        raise BadInput(f"turn {running} of the same conversation is running and may quote it; wait or stop it, then erase")


def _words(db: apsw.Connection, gone: Turn) -> frozenset[str]:
    """Everything that this turn was asked, said, called and was told."""
    said: list[Part] = []
    try:
        event = archive.event(db, gone.event).body
        said += event.parts if isinstance(event, Said | FromAgent) else ()
        for step in archive.steps(db, gone.id):
            match step.body:
                case Replied(parts=parts):
                    said += parts
                case Happened(result=result):
                    said.append(result)
                case _:
                    pass
    except JournalDamaged:
        pass  # what cannot be read cannot be looked for
    return frozenset(_texts(said))


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        match part:
            case Text(text) | Reasoning(text=text) if text:
                yield text
            case ToolResult(parts=inner):
                yield from _texts(inner)
            case ToolCall(call=call, arguments=arguments):
                yield f"{call} {json.dumps(arguments, sort_keys=True)}"
            case _:
                pass


def _erase_quotes(db: apsw.Connection, gone: Turn, words: frozenset[str]) -> None:
    ropes: list[Any] = db.execute(
        """SELECT DISTINCT b.body FROM (SELECT id FROM turns WHERE space = ? AND conversation = ? AND id > ? ORDER BY id LIMIT ?) t
           JOIN steps s ON s.turn = t.id JOIN blob_refs r ON r.pos = s.pos JOIN blobs b ON b.hash = r.hash
           WHERE b.codec = ? AND b.body IS NOT NULL""",
        (gone.space, gone.conversation, gone.id, MOST_LATER, ROPE),
    ).fetchall()
    for digest in {chunk for (rope,) in ropes for chunk in chunks(rope)}:
        if _quotes(db, digest, words):
            db.execute("UPDATE blobs SET body = NULL WHERE hash = ?", (digest,))


def _quotes(db: apsw.Connection, digest: bytes, words: frozenset[str]) -> bool:
    row = db.execute("SELECT codec, body FROM blobs WHERE hash = ? AND body IS NOT NULL", (digest,)).get
    try:
        message: Message | None = None if row is None else decode(Message, unpack(digest, *row))
    except JournalDamaged:
        return False  # the list of tools, or a damaged chunk: no message of anybody
    return message is not None and not words.isdisjoint(_texts(message.parts))
