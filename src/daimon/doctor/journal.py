"""The journal: is the file whole, do its rows fit together, have its values the bytes of their hashes?

SQLite's own check sees the structure of the file; that a value still is what was written only its hash tells. A quick look reads the
newest values and some of all others; a thorough one reads all, and every page.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from daimon.abi.errors import Erased, JournalDamaged, NotFound
from daimon.abi.ids import BlobHash
from daimon.doctor.finding import Finding
from daimon.doctor.looking import looked_at, steadily
from daimon.journal import blobs
from daimon.journal.opening import last_position
from daimon.journal.rows import PLAIN, ZLIB, unpack
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS

AREA = "journal"
RESTORE = "stop Daimon, keep the file for repair, and restore a backup (`daimon backups`, `daimon restore`)"
NEWEST, SAMPLE = 500, 500
MOST_NAMED = 5
_GAPS = "SELECT turn FROM steps GROUP BY turn HAVING MIN(n) <> 0 OR MAX(n) + 1 <> COUNT(*) LIMIT ?"
_ROWS = (
    ("steps without their words", "SELECT s.turn || ':' || s.n FROM steps s LEFT JOIN payloads p USING (pos) WHERE p.pos IS NULL"),
    ("events without their words", "SELECT e.id FROM events e LEFT JOIN payloads p USING (pos) WHERE p.pos IS NULL"),
    ("outgoing messages without their words", "SELECT o.key FROM outbox o LEFT JOIN payloads p USING (pos) WHERE p.pos IS NULL"),
    ("steps of turns that are not there", "SELECT DISTINCT s.turn FROM steps s LEFT JOIN turns t ON t.id = s.turn WHERE t.id IS NULL"),
    ("turns of events that are not there", "SELECT t.id FROM turns t LEFT JOIN events e ON e.id = t.event WHERE e.id IS NULL"),
    (
        "long words whose value is not there",
        "SELECT p.pos FROM payloads p LEFT JOIN blobs b ON b.hash = p.body WHERE p.codec = 2 AND p.erased_at IS NULL AND b.hash IS NULL",
    ),
)


def look(path: Path, *, everything: bool = False) -> tuple[Finding, ...]:
    if not path.exists() or path.stat().st_size == 0:
        return (_missing(path),)
    return steadily(path, lambda: tuple(_looked(path, everything=everything)), lambda found: all(each.severity == "ok" for each in found))


def position(path: Path) -> int | None:
    """None: it cannot be read."""
    try:
        with looked_at(path) as db:
            return last_position(db)
    except apsw.Error:
        return None


def _missing(path: Path) -> Finding:
    if path.with_name(f"{path.name}.exists").exists():
        is_gone = "empty" if path.exists() else "missing"
        return Finding(
            "error", AREA, f"{path} is {is_gone}, but this home had one", "restore a backup (`daimon backups`, `daimon restore`)"
        )
    return Finding("note", AREA, "there is none yet", "start Daimon with `daimon up`")


def _looked(path: Path, *, everything: bool) -> Iterator[Finding]:
    try:
        with looked_at(path) as db:
            if (odd := _identity(path, db)) is not None:
                yield odd
                return
            yield from _structure(db, everything=everything)
            yield from _rows(db)
            yield from _values(db, everything=everything)
    except apsw.CantOpenError as closed:
        yield Finding("error", AREA, f"{path} cannot be opened: {closed}", "run this as its owner; after a kill, `daimon up` mends its log")
    except apsw.Error as broken:
        yield Finding("error", AREA, f"{path} cannot be read: {broken}", RESTORE)


def _identity(path: Path, db: apsw.Connection) -> Finding | None:
    if db.pragma("application_id") != APPLICATION_ID:
        return Finding("error", AREA, f"{path} is a database of another program", "move it away, or choose another --home")
    if (version := db.pragma("user_version")) > len(MIGRATIONS):
        return Finding("error", AREA, f"it has format {version}, this release knows up to {len(MIGRATIONS)}", "update Daimon")
    if version < len(MIGRATIONS):
        return Finding(
            "note", AREA, f"it has format {version}, today's is {len(MIGRATIONS)}: rows were not looked at", "`daimon up` upgrades it"
        )
    return None


def _structure(db: apsw.Connection, *, everything: bool) -> Iterator[Finding]:
    check = "integrity_check" if everything else "quick_check"
    faults = [str(fault) for (fault,) in db.execute(f"PRAGMA {check}(10)")]
    if faults != ["ok"]:
        yield Finding("error", AREA, f"the file is damaged: {' '.join(' '.join(faults).split())[:200]}", RESTORE)
    else:
        yield Finding("ok", AREA, "the file is whole" + (", every page and index of it" if everything else ""))


def _rows(db: apsw.Connection) -> Iterator[Finding]:
    gaps = [str(turn) for (turn,) in db.execute(_GAPS, (MOST_NAMED,))]
    if gaps:
        yield Finding("error", AREA, f"steps are missing in turns {', '.join(gaps)}", RESTORE)
    found = False
    for what, query in _ROWS:
        names = [str(name) for (name,) in db.execute(f"{query} LIMIT {MOST_NAMED}")]
        if names:
            found = True
            yield Finding("error", AREA, f"there are {what}: {', '.join(names)}", RESTORE)
    dangling = db.execute("SELECT COUNT(*) FROM blob_refs r LEFT JOIN blobs b USING (hash) WHERE b.hash IS NULL").get
    if dangling:
        yield Finding(
            "note", AREA, f"{dangling} attachments are named that were never handed in", "nothing is lost; their senders named them wrongly"
        )
    if not gaps and not found:
        yield Finding("ok", AREA, "its rows fit together: no step is missing, all have their words")


def _values(db: apsw.Connection, *, everything: bool) -> Iterator[Finding]:
    bad: list[str] = []
    count = 0
    for name, read in (*_payloads(db, everything=everything), *_blobs(db, everything=everything)):
        count += 1
        try:
            read()
        except (JournalDamaged, NotFound) as broken:
            if not isinstance(broken, Erased):
                bad.append(f"{name} ({broken})")
        if len(bad) >= MOST_NAMED:
            break
    if bad:
        yield Finding("error", AREA, f"values are not what was written: {'; '.join(bad)[:700]}", RESTORE)
    else:
        yield Finding("ok", AREA, f"{count:,} values have the bytes of their hashes" + ("" if everything else " (--all reads every one)"))


def _chosen(db: apsw.Connection, table: str, *, everything: bool) -> str:
    """Which rows: all, or the newest and every so many of the others."""
    if everything:
        return "1"
    count = int(db.execute(f"SELECT COUNT(*) FROM {table}").get)
    return f"rowid > (SELECT MAX(rowid) FROM {table}) - {NEWEST} OR rowid % {max(1, count // SAMPLE)} = 0"


def _payloads(db: apsw.Connection, *, everything: bool) -> Iterator[tuple[str, Callable[[], bytes]]]:
    where = _chosen(db, "payloads", everything=everything)
    rows: Iterator[Any] = db.execute(f"SELECT pos, hash, codec, body FROM payloads WHERE body IS NOT NULL AND ({where})")
    for pos, digest, codec, body in rows:
        if codec in (PLAIN, ZLIB):
            yield f"position {pos}", partial(unpack, digest, codec, body)


def _blobs(db: apsw.Connection, *, everything: bool) -> Iterator[tuple[str, Callable[[], bytes]]]:
    most = -1 if everything else NEWEST
    for (digest,) in db.execute("SELECT hash FROM blobs WHERE body IS NOT NULL ORDER BY at DESC LIMIT ?", (most,)):
        yield f"blob {digest.hex()[:12]}", partial(blobs.get, db, BlobHash(digest.hex()))
