"""The notebook's SQLite file: rows, a word index, and how far the journal has been applied, changed together or not at all.

    notes     one row for each note ever seen. A forgotten one keeps its row, without its text, so that it stays forgotten.
    words     the FTS5 index of the texts. It holds no text itself; its row numbers are those of notes.
    position  one row: the cursor of the last change that is in here.

Nothing here is the only copy, so `synchronous` is NORMAL: after a power cut the last transactions may be gone, but together with their
cursor, and are applied again. Application id and `user_version` tell whose file it is and of which schema; `aside.py` looks at them first.

All of this blocks, and belongs to the one thread of `notebook.py`.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import apsw

from daimon.abi.codec import decode, encode
from daimon.abi.errors import JournalDamaged
from daimon.abi.ids import PrincipalId, SpaceId, TurnId
from daimon.abi.label import UNLABELLED, Label, stated
from daimon.abi.memory import Forget, Remember
from daimon.abi.ports import START, Change, Cursor, Erasure, Note
from daimon.abi.step import Asked, Happened, Started, Step, StepBody
from daimon.abi.tool import Operation
from daimon.memory import query

APPLICATION = 0x4461694E
SCHEMA = 1

_TABLES = """
    CREATE TABLE notes (
        n INTEGER PRIMARY KEY, id TEXT NOT NULL, space TEXT NOT NULL, principal TEXT NOT NULL, text TEXT NOT NULL, at TEXT NOT NULL,
        label TEXT, source TEXT NOT NULL, forgotten INTEGER NOT NULL DEFAULT 0, UNIQUE (space, principal, id)
    ) STRICT;
    CREATE INDEX sources ON notes (source);
    CREATE INDEX newest ON notes (space, principal, forgotten, at);
    CREATE VIRTUAL TABLE words USING fts5 (text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
    CREATE TABLE position (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL) STRICT;
"""

_NEWEST = """
    SELECT id, text, at, label FROM notes WHERE space = ? AND principal = ? AND forgotten = 0 ORDER BY at DESC, n DESC LIMIT ?
"""
# Rounded, so that of two notes that match about equally well the newer one comes first.
_MATCHING = """
    SELECT id, notes.text, at, label FROM words JOIN notes ON n = words.rowid
    WHERE space = ? AND principal = ? AND forgotten = 0 AND words MATCH ? ORDER BY round(bm25(words), 2), at DESC, n DESC LIMIT ?
"""


class Database:
    def __init__(self, path: Path) -> None:
        """The file must be sound, empty or absent."""
        self._connection = connection = apsw.Connection(str(path))
        connection.set_busy_timeout(2000)
        connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
        connection.transaction_mode = "IMMEDIATE"
        with connection:
            if connection.pragma("user_version") == 0:
                connection.execute(_TABLES)
                connection.execute("INSERT INTO position VALUES (1, ?)", (START,))
                connection.pragma("application_id", APPLICATION)
                connection.pragma("user_version", SCHEMA)

    def close(self) -> None:
        self._connection.close()

    def cursor(self) -> Cursor:
        return Cursor(str(self._connection.execute("SELECT cursor FROM position").get))

    def apply(self, changes: list[Change]) -> None:
        with self._connection:
            for change in changes:
                match change.item:
                    case Step():
                        self._apply(change.item)
                    case Erasure(turn=turn):
                        self._erase(turn)
                    case _:
                        pass
            self._connection.execute("UPDATE position SET cursor = ?", (changes[-1].cursor,))

    def find(self, space: SpaceId, principal: PrincipalId, text: str, limit: int) -> tuple[Note, ...]:
        words = query.words(text)
        if not words:
            return _notes(self._connection.execute(_NEWEST, (space, principal, max(limit, 0))))
        for match in (query.all_of(words), query.any_of(words)):
            if found := _notes(self._connection.execute(_MATCHING, (space, principal, match, max(limit, 0)))):
                return found
        return ()

    def _apply(self, step: Step) -> None:
        for operation in _operations(step.body):
            match operation:
                case Remember():
                    self._remember(step, operation)
                case Forget():
                    self._forget(step, operation)
                case _:
                    pass

    def _erase(self, turn: TurnId) -> None:
        gone = self._connection.execute(
            "UPDATE notes SET text = '', forgotten = 1 WHERE source >= ? AND source < ? RETURNING n", (f"{turn}:", f"{turn};")
        )
        for (n,) in gone.fetchall():
            self._connection.execute("DELETE FROM words WHERE rowid = ?", (n,))

    def _remember(self, step: Step, operation: Remember) -> None:
        label = encode(Label, step.label).decode()
        added = self._connection.execute(
            "INSERT INTO notes (id, space, principal, at, source, text, label) VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING RETURNING n",
            (*_key(step, operation), operation.text, label),
        ).get
        if added is not None:
            self._connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (added, operation.text))

    def _forget(self, step: Step, operation: Forget) -> None:
        # Also if it is not here yet: conversations have no common order, and what was forgotten must not come up after all.
        gone = self._connection.execute(
            "INSERT INTO notes (id, space, principal, at, source, text, forgotten) VALUES (?, ?, ?, ?, ?, '', 1) "
            "ON CONFLICT DO UPDATE SET text = '', forgotten = 1 RETURNING n",
            _key(step, operation),
        ).get
        self._connection.execute("DELETE FROM words WHERE rowid = ?", (gone,))


def _operations(body: StepBody) -> tuple[Operation, ...]:
    match body:
        case Happened(code="") | Started() | Asked():
            return body.operations
        case _:
            return ()


def _notes(rows: Iterable[tuple[str, str, str, str | None]]) -> tuple[Note, ...]:
    return tuple(Note(note, text, datetime.fromisoformat(at), _label(label)) for note, text, at, label in rows)


def _label(stored: str | None) -> Label:
    try:
        return stated(decode(Label, stored.encode()) if stored else None)
    except JournalDamaged:
        return UNLABELLED


def _key(step: Step, operation: Remember | Forget) -> tuple[str, ...]:
    at = step.at.astimezone(UTC).isoformat(timespec="microseconds")
    return operation.note, step.space, step.principal, at, str(step.ref)
