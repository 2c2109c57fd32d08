"""Out of the way with a memory file that cannot be used.

A file that is damaged, foreign or of a newer schema is not mended, because nothing in it is the only copy: it is moved aside as
`NAME.damaged-<time of its last change>`, for the curious, and a new one begins at the start of the journal. One of an older schema is
simply replaced: that is what happens with every update, and nobody need hear of it. What was moved aside goes with the next deletion: it
may hold what the owner wants gone.
"""

from datetime import UTC, datetime
from pathlib import Path

import apsw

from daimon.memory.schema import APPLICATION, SCHEMA

DAMAGE = (apsw.CorruptError, apsw.NotADBError)
_OLDER = "its schema is older"


def make_way(path: Path) -> list[str]:
    """Moves an unusable file aside. What was done, for the operator."""
    reason = _fault(path) if path.exists() else ""
    if reason == _OLDER:
        for part in _parts(path):
            part.unlink()
        return []
    return [set_aside(path, reason)] if reason else []


def set_aside(path: Path, reason: str) -> str:
    """Together with its write-ahead log, which would otherwise be played into the new file."""
    when = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = path.with_name(f"{path.name}.damaged-{when}")
    while aside.exists():
        aside = aside.with_name(f"{aside.name}+")
    for part in _parts(path):
        part.rename(aside.with_name(aside.name + part.name.removeprefix(path.name)))
    return f"the memory file {path} cannot be used ({reason}); it is rebuilt from the journal, the old one is kept as {aside.name}"


def remove_older(path: Path, at: datetime) -> None:
    """Those that were moved aside and last changed before that moment."""
    for old in path.parent.glob(f"{path.name}.damaged-*"):
        if old.stat().st_mtime <= at.timestamp():
            old.unlink()


def _parts(path: Path) -> list[Path]:
    return [part for suffix in ("", "-wal", "-shm") if (part := path.with_name(path.name + suffix)).exists()]


def _fault(path: Path) -> str:
    connection = apsw.Connection(str(path))
    try:
        application, schema = connection.pragma("application_id"), connection.pragma("user_version")
        if application == schema == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").get == 0:
            return ""
        if application != APPLICATION:
            return "it is not a memory file"
        if schema < SCHEMA:
            return _OLDER
        if schema > SCHEMA:
            return f"its schema is {schema}, this release has {SCHEMA}"
        verdict = connection.pragma("quick_check", 1)
        return "" if verdict == "ok" else f"damaged: {verdict}"
    except DAMAGE as broken:
        return f"damaged: {broken}"
    finally:
        connection.close()
