"""The index: which workspaces, layers and checkpoints count. One SQLite file; what it does not name is garbage.

Whatever changes does so in one transaction, after the directories that it names are there: so a crash leaves the old state and a stray
directory at worst. Numbers are never given twice, since others remember them: they come from a counter of each kind. Those of layers are
taken before the transaction in which they count, and so are counted in memory.

Format. `families`: a base directory and the newest generation of it (an apply begins a new one). `generations`: the layer that shows the
base as it was before. `checkpoints.stack`: names of layers, topmost first, without those of generations. `changes`: what can be undone.
`workspaces.under`: the checkpoint that the live layer lies on, if that is not the head.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from daimon.abi.errors import Misconfigured
from daimon.sandbox.workspace.rows import Change, Family, Layer, Point, Room

SCHEMA = 1
TABLES = """
    CREATE TABLE counters (kind TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE families (id TEXT PRIMARY KEY, base TEXT NOT NULL UNIQUE, generation INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE generations (
        family TEXT NOT NULL, number INTEGER NOT NULL, layer TEXT NOT NULL, PRIMARY KEY (family, number)) WITHOUT ROWID;
    CREATE TABLE workspaces (
        id TEXT PRIMARY KEY, family TEXT NOT NULL, name TEXT NOT NULL, head TEXT NOT NULL, live TEXT NOT NULL, forked_from TEXT,
        engine TEXT NOT NULL, under TEXT) WITHOUT ROWID;
    CREATE TABLE layers (
        name TEXT PRIMARY KEY, family TEXT NOT NULL, sealed INTEGER NOT NULL, replaces TEXT NOT NULL, size INTEGER)
        WITHOUT ROWID;
    CREATE TABLE checkpoints (
        number INTEGER PRIMARY KEY, workspace TEXT NOT NULL, parent TEXT, merged TEXT, generation INTEGER NOT NULL, stack TEXT NOT NULL,
        why TEXT NOT NULL, at INTEGER NOT NULL, sealed INTEGER NOT NULL, state TEXT NOT NULL);
    CREATE INDEX checkpoints_by_workspace ON checkpoints (workspace);
    CREATE TABLE changes (
        number INTEGER PRIMARY KEY, workspace TEXT NOT NULL, kind TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL,
        undone INTEGER NOT NULL, state TEXT NOT NULL, layer TEXT, plan TEXT NOT NULL, undoes INTEGER);
    CREATE INDEX changes_by_workspace ON changes (workspace);
"""
BUSY_MS = 10_000
Value = str | int | float | bytes | None


class Index:
    """Its methods may be called from any thread; what is written is written inside of `transaction`."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._db = apsw.Connection(str(path))
        self._db.set_busy_timeout(BUSY_MS)
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        self._prepare(path)
        self._last: dict[str, int] = dict(self._db.execute("SELECT kind, last FROM counters"))

    def _prepare(self, path: Path) -> None:
        (version,) = next(iter(self._db.execute("PRAGMA user_version")))
        if version not in (0, SCHEMA):
            raise Misconfigured(f"{path} is from another version of Daimon (format {version}, here {SCHEMA}); use the one that wrote it")
        if version == 0:
            with self._db:
                self._db.execute(f"{TABLES} PRAGMA user_version = {SCHEMA}")

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing; on disk when it ends."""
        with self._lock, self._db:
            yield
            for kind, last in self._last.items():
                self._db.execute("INSERT INTO counters VALUES (?1, ?2) ON CONFLICT DO UPDATE SET last = max(last, ?2)", (kind, last))

    def number(self, kind: str) -> int:
        with self._lock:
            self._last[kind] = self._last.get(kind, 0) + 1
            return self._last[kind]

    # reading

    def family(self, id: str) -> Family:
        return self._families("WHERE id = ?", id)[0]

    def family_of(self, base: str) -> Family | None:
        return next(iter(self._families("WHERE base = ?", base)), None)

    def families(self) -> list[Family]:
        return self._families("")

    def _families(self, where: str, *values: str) -> list[Family]:
        return [Family(*row) for row in self._rows(f"SELECT id, base, generation FROM families {where}", values)]  # type: ignore[arg-type]

    def reverses(self, family: str, after: int) -> tuple[str, ...]:
        """The layers of the generations that came after this one, the next one first."""
        rows = self._rows("SELECT layer FROM generations WHERE family = ? AND number > ? ORDER BY number", (family, after))
        return tuple(str(layer) for (layer,) in rows)

    def generations(self, family: str) -> list[tuple[int, str]]:
        rows = self._rows("SELECT number, layer FROM generations WHERE family = ? ORDER BY number", (family,))
        return [(int(str(number)), str(layer)) for number, layer in rows]

    def room(self, id: str) -> Room | None:
        return next(iter(self._rooms("WHERE id = ?", id)), None)

    def rooms(self, family: str = "") -> list[Room]:
        return self._rooms("WHERE family = ?", family) if family else self._rooms("")

    def _rooms(self, where: str, *values: str) -> list[Room]:
        rows = self._rows(f"SELECT id, family, name, head, live, forked_from, engine, under FROM workspaces {where}", values)
        return sorted((Room(*row) for row in rows), key=lambda room: int(room.id[1:]))  # type: ignore[arg-type]

    def point(self, id: str) -> Point | None:
        if not (id[:1] == "c" and id[1:].isascii() and id[1:].isdigit() and len(id) < 18):
            return None
        return next(iter(self._points("WHERE number = ?", int(id[1:]))), None)

    def points(self, workspace: str) -> list[Point]:
        """Newest first."""
        return self._points("WHERE workspace = ? ORDER BY number DESC", workspace)

    def _points(self, where: str, *values: str | int) -> list[Point]:
        columns = "number, workspace, parent, merged, generation, stack, why, at, sealed, state"
        return [Point.of(row) for row in self._rows(f"SELECT {columns} FROM checkpoints {where}", values)]

    def layers(self, family: str) -> dict[str, Layer]:
        rows = self._rows("SELECT name, family, sealed, replaces, size FROM layers WHERE family = ?", (family,))
        return {str(row[0]): _layer(row) for row in rows}

    def changes(self, workspace: str) -> list[Change]:
        """Newest first."""
        return self._changes("WHERE workspace = ? ORDER BY number DESC", workspace)

    def begun(self) -> list[Change]:
        return self._changes("WHERE state = 'begun' ORDER BY number")

    def change(self, number: int) -> Change | None:
        return next(iter(self._changes("WHERE number = ?", number)), None)

    def last_change(self) -> Change | None:
        return next(iter(self._changes("WHERE undone = 0 AND state = 'done' ORDER BY number DESC LIMIT 1")), None)

    def _changes(self, where: str, *values: str | int) -> list[Change]:
        columns = "number, workspace, kind, before, after, undone, state, layer, plan, undoes"
        return [Change.of(row) for row in self._rows(f"SELECT {columns} FROM changes {where}", values)]

    def _rows(self, query: str, values: tuple[str | int, ...] = ()) -> list[tuple[Value, ...]]:
        with self._lock:
            return list(self._db.execute(query, values))

    # writing

    def put_family(self, family: Family) -> None:
        self._put("families", (family.id, family.base, family.generation))

    def put_generation(self, family: str, number: int, layer: str) -> None:
        self._put("generations", (family, number, layer))

    def put_room(self, room: Room) -> None:
        row = (room.id, room.family, room.name, room.head, room.live, room.forked_from, room.engine, room.under)
        self._put("workspaces", row)

    def put_layer(self, layer: Layer) -> None:
        self._put("layers", (layer.name, layer.family, layer.sealed, json.dumps(layer.replaces), layer.size))

    def put_size(self, layer: str, size: int) -> None:
        """Of one that may have gone meanwhile."""
        self._db.execute("UPDATE layers SET size = ? WHERE name = ?", (size, layer))

    def put_point(self, point: Point) -> None:
        self._put("checkpoints", point.row())

    def put_change(self, change: Change) -> None:
        self._put("changes", change.row())

    def _put(self, table: str, row: tuple[Value, ...]) -> None:
        self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    def drop(self, table: str, column: str, value: str | int) -> None:
        self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (value,))


def _layer(row: tuple[Value, ...]) -> Layer:
    name, family, is_sealed, replaces, size = row
    return Layer(str(name), str(family), bool(is_sealed), tuple(json.loads(str(replaces))), None if size is None else int(str(size)))
