"""Takes away every label that a home keeps on disk, as a careless tool, an old backup or somebody's editor would."""

import json
from pathlib import Path
from typing import Any

import apsw

from daimon.journal.rows import PLAIN, ZLIB, packed, unpack

TABLES = ("events", "turns", "steps", "timers", "outbox")


def strip_journal(path: Path) -> None:
    strip_columns(path)
    strip_payloads(path)


def strip_columns(path: Path, tables: tuple[str, ...] = TABLES, label: bytes | None = None) -> None:
    connection = apsw.Connection(str(path))
    with connection:
        for table in tables:
            connection.execute(f"UPDATE {table} SET label = ?", (label,))
    connection.close()


def strip_payloads(path: Path) -> None:
    """Labels of results, of their fields, and of events that are on their way to another conversation."""
    connection = apsw.Connection(str(path))
    with connection:
        for pos, digest, codec, body in connection.execute("SELECT pos, hash, codec, body FROM payloads").fetchall():
            if codec in (PLAIN, ZLIB) and body is not None:
                value = packed(json.dumps(without_labels(json.loads(unpack(digest, codec, body)))).encode())
                row = (value.digest, value.codec, value.body, pos)
                connection.execute("UPDATE payloads SET hash = ?, codec = ?, body = ? WHERE pos = ?", row)
    connection.close()


def strip_notes(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE items SET label = ''")
    connection.close()


def without_labels(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_labels(inner) for name, inner in value.items() if name not in ("label", "labels")}
    return [without_labels(inner) for inner in value] if isinstance(value, list) else value
