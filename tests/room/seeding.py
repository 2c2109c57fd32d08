"""A conversation of thousands of turns, made of one that really happened: its rows are written again under older ids, with other words.

Saying them all would take minutes. Nothing else may have the journal open."""

import hashlib
from pathlib import Path
from typing import Any

import apsw


def repeat(journal: Path, conversation: str, word: str, times: int) -> None:
    """The turn in which `word` was said and answered, so many times before it with `word` followed by a number."""
    db = apsw.Connection(str(journal))
    try:
        with db:
            _Copies(db, conversation, word).make(times)
    finally:
        db.close()


class _Copies:
    def __init__(self, db: apsw.Connection, conversation: str, word: str) -> None:
        self._db, self._word = db, word
        self._turn = _row(db, "turns", "conversation = ?", conversation)
        self._event = _row(db, "events", "id = ?", self._turn["event"])
        self._steps = _rows(db, "steps", "turn = ? ORDER BY n", self._turn["id"])
        self._sent = _rows(db, "outbox", "turn = ?", self._turn["id"])
        self._pos: int = db.execute("SELECT MAX(pos) FROM payloads").get

    def make(self, times: int) -> None:
        for n in range(times):
            turn, event = f"t00{n:022d}", f"e00{n:022d}"
            self._put("events", {**self._event, "id": event, "key": event, "turn": turn, "seq": -times + n}, n)
            _insert(self._db, "turns", {**self._turn, "id": turn, "event": event, "root": turn})
            for step in self._steps:
                self._put("steps", {**step, "turn": turn}, n)
            for sent in self._sent:
                self._put("outbox", {**sent, "key": f"{turn}:reply", "turn": turn}, n)

    def _put(self, table: str, row: dict[str, Any], n: int) -> None:
        payload = _row(self._db, "payloads", "pos = ?", row["pos"])
        assert payload["codec"] == 0, "short words are kept as they are"
        self._pos += 1
        body = bytes(payload["body"]).replace(self._word.encode(), f"{self._word}-{n}".encode())
        _insert(self._db, "payloads", {**payload, "pos": self._pos, "body": body, "hash": hashlib.sha256(body).digest()})
        _insert(self._db, table, {**row, "pos": self._pos})


def _rows(db: apsw.Connection, table: str, where: str, value: Any) -> list[dict[str, Any]]:
    found = db.execute(f"SELECT * FROM {table} WHERE {where}", (value,))
    rows = list(found)
    names = [each[1] for each in db.execute(f"PRAGMA table_info({table})")]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _row(db: apsw.Connection, table: str, where: str, value: Any) -> dict[str, Any]:
    return _rows(db, table, where, value)[0]


def _insert(db: apsw.Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
