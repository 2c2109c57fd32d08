"""What lies on the disk after all: files as they are, and databases value by value, unpacked, read with nothing of Daimon's own."""

import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_UNREAD = re.compile(r".*\.sock")


def files(below: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(below.rglob("*")):
        if path.is_file() and not path.is_symlink() and not _UNREAD.fullmatch(path.name):
            yield str(path.relative_to(below)), path.read_bytes()


def tables(database: Path) -> Iterator[tuple[str, bytes]]:
    """All that stands in a table, unpacked where it is packed."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            with suppress(sqlite3.OperationalError):  # an index that this SQLite does not know; what it is made of stands in other tables
                rows = connection.execute(f'SELECT * FROM "{name}"')
                yield name, b"\n".join(_plain(value) for row in rows for value in row)
    finally:
        connection.close()


def _plain(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode("utf-8", "surrogatepass")
    try:
        return value + b"\n" + zlib.decompress(value)
    except zlib.error:
        return value
