"""What lies in a directory and below it, by descriptors: no link is followed, and nothing can be moved under our feet to lead elsewhere."""

import heapq
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass

from daimon.abi.errors import ToolFailed
from daimon.abi.files import Found, Item, Listing
from daimon.abi.workspace import Kind
from daimon.sandbox.files.content import Large
from daimon.sandbox.files.failures import told
from daimon.sandbox.files.globs import Glob
from daimon.sandbox.files.tree import Tree

MOST_LISTED, MOST_FOUND, MOST_SEEN = 1_000, 1_000, 2_000_000
INLINE = 2_000
DEEPEST = 200
LONGEST_S = 20.0
SKIPPED = (".git",)
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def listing(tree: Tree, path: str, most: int = MOST_SEEN) -> Listing:
    """Sorted by name. Raises Large where there are more than `most`."""
    opened, real = tree.open_directory(path)
    try:
        names = []
        with os.scandir(opened) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > most:
                    if most < MOST_SEEN:
                        raise Large
                    break
        shown = sorted(names) if len(names) <= MOST_LISTED else heapq.nsmallest(MOST_LISTED, names)
        items = tuple(item for name in shown if (item := _item(opened, name)) is not None)
        return Listing(real or ".", items, len(names) - len(shown))
    except OSError as error:
        raise told(error, path, "list") from error
    finally:
        os.close(opened)


def kind_of(mode: int) -> Kind:
    return "file" if stat.S_ISREG(mode) else "directory" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"


def _item(folder: int, name: str) -> Item | None:
    try:
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        kind = kind_of(about.st_mode)
        target = os.readlink(name, dir_fd=folder) if kind == "link" else ""
    except OSError:
        return None  # it went meanwhile
    return Item(name, kind, about.st_size if kind == "file" else 0, target)


def found(tree: Tree, pattern: str, path: str) -> Found:
    glob = Glob(pattern)
    opened, real = tree.open_directory(path)
    walk, paths = _Walk(time.monotonic() + LONGEST_S), list[str]()
    try:
        for below, is_directory in walk.files(opened, ""):
            if not is_directory and glob.matches(below):
                paths.append(f"{real}/{below}" if real else below)
    finally:
        os.close(opened)
    shown = sorted(paths) if len(paths) <= MOST_FOUND else heapq.nsmallest(MOST_FOUND, paths)
    return Found(tuple(shown), len(paths) - len(shown), tuple(walk.notes))


@dataclass(slots=True)
class _Walk:
    until: float
    seen: int = 0
    is_cut: bool = False
    is_deep: bool = False

    def files(self, folder: int, above: str, depth: int = 0) -> Iterator[tuple[str, bool]]:
        """Paths below, with whether each is a directory. `.git` is left out."""
        for name, is_directory in self._entries(folder):
            if is_directory and name in SKIPPED:
                continue
            below = f"{above}{name}"
            yield below, is_directory
            if not is_directory or self.is_cut:
                continue
            if depth >= DEEPEST:
                self.is_deep = True
                continue
            try:
                deeper = os.open(name, _FLAGS, dir_fd=folder)
            except OSError:
                continue  # not to be entered, or no directory any more
            try:
                yield from self.files(deeper, f"{below}/", depth + 1)
            finally:
                os.close(deeper)

    def _entries(self, folder: int) -> list[tuple[str, bool]]:
        try:
            with os.scandir(folder) as entries:
                got = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            return []
        self.seen += len(got)
        self.is_cut = self.is_cut or self.seen > MOST_SEEN or time.monotonic() > self.until
        return got

    @property
    def notes(self) -> list[str]:
        notes = [f"not all was looked at: there is too much of it, after {self.seen:,} entries"] if self.is_cut else []
        return notes + ([f"directories nested deeper than {DEEPEST} were left out"] if self.is_deep else [])


def must_be_shallow(depth: int, path: str) -> None:
    if depth > DEEPEST:
        raise ToolFailed("too_deep", f"{path} has directories nested deeper than {DEEPEST}; use a command in the box")
