"""What of a home goes into a backup, in which order, and how much it is.

    memory.db, journal.db, other databases    as SQLite copies them, not as files lie there (`copies.py`)
    workspace/, workspaces/                   what agents work on: only layers that the copied index names
    all else                                  as it is found
    workspaces/marks.json                     last, since labels only grow: a label is never older than what it is about

The order is the invariant. Memory may be behind the journal and never ahead of it; files of agents may be newer than the journal, as after
a crash, and their labels newer than the files. What is only for the running process (the lock, sockets, logs of databases, drafts) stays
out, and so do older backups. Trees of agents were written by boxes and may change under our hands: see `sandbox/workspace/place.py`.
Elsewhere a link is replaced by the file behind it: a home that is put back must not depend on what lies around it.
"""

import fnmatch
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from daimon.backup.manifest import Kind
from daimon.sandbox.workspace import layer, place

TREES = ("workspace", "workspaces")
INDEX = "workspaces/index.db"
MARKS = "workspaces/marks.json"
KEY = "vault.key"
BACKUPS, SCRATCH, LOCK = "backups", "backup.part", "backup.lock"
UNFINISHED = "restore.unfinished"
DRAFTS = (SCRATCH, UNFINISHED, "*.new", ".*.check", ".*.part", ".*.scratch")
TRANSIENT = ("lock", "daimon.sock", "vault.lock", LOCK, BACKUPS, "*.db-wal", "*.db-shm", "*.damaged-*", *DRAFTS)
LAYER = re.compile(r"workspaces/([^/]+)/(l\d+)(?:/(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    path: str
    seen: os.stat_result
    kind: Kind


@dataclass(frozen=True, slots=True)
class Scope:
    """What the owner wants in a backup, besides what always is."""

    workspaces: bool = True
    key: bool = True
    """What opens the vault, where that is a file in the home."""


WHOLE = Scope()


@dataclass(slots=True)
class Inventory:
    """One walk through a home. `left_out` fills while it lasts."""

    home: Path
    scope: Scope = WHOLE
    layers: frozenset[tuple[str, str]] | None = None
    """Families and names of those that count. None: all."""
    skipped: Path | None = None
    """A directory that backups go to."""
    unusable: set[str] = field(default_factory=set)
    """Databases that are damaged, and can do without."""
    left_out: list[str] = field(default_factory=list)

    def databases(self) -> list[str]:
        """Memory first, then the journal."""
        found = sorted(path.name for path in self.home.glob("*.db") if path.is_file() and path.name not in self.unusable)
        found.sort(key=lambda name: {"memory.db": 0, "journal.db": 1}.get(name, 2))
        return [*found, INDEX] if self.scope.workspaces and (self.home / INDEX).is_file() else found

    def walk(self) -> Iterator[Found]:
        with place.opened(os.path.realpath(self.home)) as top:
            databases = frozenset((*self.databases(), *self.unusable))
            yield Found("", os.fstat(top), "directory")
            yield from self._below(top, lambda path: path.split("/")[0] in TREES, databases)
            yield from self._below(top, lambda path: path.split("/")[0] not in TREES, databases)
            if (seen := place.about(top, MARKS)) is not None and stat.S_ISREG(seen.st_mode):
                yield Found(MARKS, seen, "file")

    def estimate(self) -> int:
        """Bytes, unpacked."""
        logs = ("", "-wal")
        held = [self.home / f"{name}{log}" for name in self.databases() for log in logs]
        return sum(found.seen.st_size + 512 for found in self.walk()) + sum(path.stat().st_size for path in held if path.exists())

    def _below(self, top: int, is_wanted: Callable[[str], bool], databases: frozenset[str]) -> Iterator[Found]:
        pending = [""]
        while pending:
            for path, seen in self._listed(top, pending.pop()):
                if path in databases or not is_wanted(path) or not self._counts(path):
                    continue
                found = self._found(top, path, seen)
                if found is not None:
                    yield found
                    if found.kind == "directory" and not _is_for_the_kernel(path):
                        pending.append(path)

    def _listed(self, top: int, where: str) -> list[tuple[str, os.stat_result]]:
        try:
            found = place.listed(top, where)
        except (FileNotFoundError, NotADirectoryError):
            return []  # it has gone since
        except OSError as failure:
            self.left_out.append(f"{where}: {failure.strerror}")
            return []
        return [(f"{where}/{name}" if where else name, seen) for name, seen in found]

    def _counts(self, path: str) -> bool:
        if path == KEY and not self.scope.key:
            self.left_out.append(f"{path}: as you asked; without it the secrets in the vault stay closed")
            return False
        if path == MARKS or (self.skipped is not None and self.home / path == self.skipped):
            return False
        if "/" not in path:
            return not any(fnmatch.fnmatchcase(path, pattern) for pattern in TRANSIENT) and (self.scope.workspaces or path != "workspace")
        if path.startswith("workspaces/"):
            return self.scope.workspaces and self._is_layer_known(path) and not path.startswith(("workspaces/index.db-", f"{MARKS}."))
        return True

    def _is_layer_known(self, path: str) -> bool:
        match = LAYER.fullmatch(path)
        return match is None or self.layers is None or (match[1], match[2]) in self.layers

    def _found(self, top: int, path: str, seen: os.stat_result) -> Found | None:
        if len(os.fsencode(path)) > place.LONGEST:
            self.left_out.append(f"{path[:100]}…: its path is too long")
            return None
        if not path.startswith(tuple(f"{tree}/" for tree in TREES)) and stat.S_ISLNK(seen.st_mode):
            return self._behind(path)
        if (kind := _kind(self.home, path, seen)) is None:
            if not stat.S_ISSOCK(seen.st_mode):  # of a socket nothing is left without whoever listens there
                self.left_out.append(f"{path}: a pipe or a device")
            return None
        return None if path.endswith(f"/{layer.SOCKETS}") and LAYER.fullmatch(path) else Found(path, seen, kind)

    def _behind(self, path: str) -> Found | None:
        """A link of the owner's, such as settings that are kept with other dotfiles: what is there counts."""
        try:
            seen = (self.home / path).stat()
        except OSError as failure:
            self.left_out.append(f"{path}: a link that leads nowhere ({failure.strerror})")
            return None
        if stat.S_ISREG(seen.st_mode):
            return Found(path, seen, "file")
        self.left_out.append(f"{path}: a link to {os.path.realpath(self.home / path)}, which is not in the home")
        return None


def _kind(home: Path, path: str, seen: os.stat_result) -> Kind | None:
    match = LAYER.fullmatch(path)
    in_tree = match is not None and (match[3] or "").startswith("tree/")
    if stat.S_ISREG(seen.st_mode):
        return "file"
    if stat.S_ISDIR(seen.st_mode):
        return "directory"
    if stat.S_ISLNK(seen.st_mode):
        return "link"
    if match is not None and in_tree and (layer.is_whiteout(seen) or _stands_for_one(home, match, seen)):
        return "whiteout"
    return None


def _stands_for_one(home: Path, match: re.Match[str], seen: os.stat_result) -> bool:
    return stat.S_ISSOCK(seen.st_mode) and (home / f"workspaces/{match[1]}/{match[2]}/{layer.SOCKETS}").exists()


def _is_for_the_kernel(path: str) -> bool:
    """The working directory of a mounted layer: it must be there, and what is in it is nobody's."""
    match = LAYER.fullmatch(path)
    return match is not None and match[3] == "work"
