"""Is a home that was unpacked the one that was packed? Told by reading it from the disk again, not by trusting what wrote it.

Every file has the bytes of the manifest, and there is no other; every database is whole by SQLite's own check; the journal holds as many
events, turns and steps as it did, and opens; every layer that the index of workspaces names is there.
"""

import hashlib
import os
import stat
from pathlib import Path

from daimon.abi.errors import BadInput, DaimonError, JournalDamaged
from daimon.backup import copies, manifest
from daimon.backup.inventory import INDEX, Inventory
from daimon.backup.manifest import Entry, Manifest
from daimon.journal import opening
from daimon.sandbox.workspace import layer, place

PIECE = 1 << 20


def compare(tree: Path, told: Manifest) -> None:
    """Raises BadInput for the first difference."""
    with place.opened(str(tree)) as top:
        for entry in told.entries:
            if (found := _found(top, manifest.unquoted(entry.path), entry)) != entry:
                raise BadInput(f"{entry.path} came back as {_said(found)}, and was {_said(entry)}")
    inventory = Inventory(tree)
    count = sum(1 for _ in inventory.walk()) + len(inventory.databases())
    if count != len(told.entries):
        raise BadInput(f"{count} files came back, and there were {len(told.entries)}")
    _databases(tree, inventory, told)


def opens(tree: Path) -> None:
    """As a start would open it, which may change it: for a copy that is thrown away. Raises JournalFailed."""
    if (tree / "journal.db").exists():
        opening.prepare(tree / "journal.db").close()


def fault_of(database: Path) -> str:
    """Of a database that nobody writes to; empty: it is whole."""
    try:
        with copies.immutable(database) as connection:
            verdict = connection.pragma("integrity_check", 1)
            return "" if verdict == "ok" else str(verdict)
    except DaimonError as damaged:
        return str(damaged)


def require_whole(copied: Path, original: Path) -> None:
    """Raises JournalDamaged: what is damaged already makes no backup."""
    if fault := fault_of(copied):
        raise JournalDamaged(f"{original} is damaged ({fault[:200]}), so no good copy can be made of it; `daimon doctor` says what to do")


def _databases(tree: Path, inventory: Inventory, told: Manifest) -> None:
    for name in inventory.databases():
        if fault := fault_of(tree / name):
            raise BadInput(f"{name} is damaged: {fault}")
    if told.head.journal is not None:
        with copies.immutable(tree / "journal.db") as connection:
            counted = copies.journal_in(connection)
        if counted != told.head.journal:
            raise BadInput(f"the journal came back with {counted}, and had {told.head.journal}")
    if told.head.has_workspaces and (tree / INDEX).exists():
        for family, name in copies.layers_in(tree / INDEX):
            if not (tree / "workspaces" / family / name).is_dir():
                raise BadInput(f"layer {name} of workspaces/{family} is missing")


def _found(top: int, path: str, told: Entry) -> Entry | None:
    seen = place.about(top, path)
    if seen is None:
        return None
    if stat.S_ISREG(seen.st_mode):
        return Entry(told.path, "file", seen.st_size, _hash(top, path))
    if stat.S_ISLNK(seen.st_mode):
        return Entry(told.path, "link", 0, hashlib.sha256(os.fsencode(place.target(top, path))).hexdigest())
    if stat.S_ISDIR(seen.st_mode):
        return Entry(told.path, "directory")
    is_one = layer.is_whiteout(seen) or stat.S_ISSOCK(seen.st_mode)  # where a file system takes no whiteouts
    return Entry(told.path, "whiteout") if is_one else None


def _hash(top: int, path: str) -> str:
    running = hashlib.sha256()
    with place.file(top, path) as file:
        while piece := file.read(PIECE):
            running.update(piece)
    return running.hexdigest()


def _said(entry: Entry | None) -> str:
    return "nothing" if entry is None else f"a {entry.kind} of {entry.size} bytes ({entry.hash[:12] or '-'})"
