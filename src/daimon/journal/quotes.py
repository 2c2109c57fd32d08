"""Which chunks of prompts hold whose words.

A prompt may hold words from elsewhere: a recalled message of another conversation, a note of the page. The step that was made of it says
so in its `context`: the hash of a chunk, then a `quote` for each event, step or amendment whose words stand in it. Here that is kept the
other way round, so that whoever is erased is found in all prompts.

The invariant: no chunk has a body while one whose words it holds is erased. A turn that was under way when that happened sends its prompt
once more, and brings the chunk back; so what is new here is looked at again. A quote without a chunk before it is one of the whole request.
"""

from collections.abc import Iterator
from typing import Any

import apsw

from daimon.abi.step import ModelFailed, Replied, StepBody
from daimon.journal.blobs import chunks
from daimon.journal.rows import ROPE

QUOTE = "quote"
_HEX_DIGITS = 64


def note(db: apsw.Connection, pos: int, body: StepBody) -> None:
    """After the chunks are in their place."""
    if not isinstance(body, Replied | ModelFailed):
        return
    for ref, digest in _quoted(body):
        is_new = db.execute("INSERT INTO quotes VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1", (ref, digest, pos)).get
        if is_new and _is_erased(db, ref):
            erase(db, ref)


def erase(db: apsw.Connection, ref: str) -> None:
    """Empties every chunk that holds words of this one, in whichever conversation."""
    found: list[Any] = db.execute("DELETE FROM quotes WHERE ref = ? RETURNING hash", (ref,)).fetchall()
    for (digest,) in found:
        rope = db.execute("SELECT body FROM blobs WHERE hash = ? AND codec = ?", (digest, ROPE)).get
        for chunk in chunks(rope or b""):
            db.execute("UPDATE blobs SET body = NULL WHERE hash = ? AND first_pos IS NOT NULL", (chunk,))
        db.execute("UPDATE blobs SET body = NULL WHERE hash = ?", (digest,))


def _quoted(body: Replied | ModelFailed) -> Iterator[tuple[str, bytes]]:
    digest = _digest(body.request or "")
    for reference in body.context:
        if reference.what == QUOTE and digest is not None:
            yield reference.ref, digest
        elif reference.what != QUOTE:
            digest = _digest(reference.ref) or digest


def _digest(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) if len(text) == _HEX_DIGITS else None
    except ValueError:
        return None


def _is_erased(db: apsw.Connection, ref: str) -> bool:
    turn, _, n = ref.rpartition(":")
    is_erased = db.execute(
        """SELECT p.body IS NULL FROM payloads p WHERE p.pos = COALESCE(
               (SELECT pos FROM events WHERE id = ?1), (SELECT pos FROM steps WHERE turn = ?2 AND n = ?3),
               (SELECT pos FROM amendments WHERE id = ?1))""",
        (ref, turn, n),
    ).get
    return bool(is_erased)
