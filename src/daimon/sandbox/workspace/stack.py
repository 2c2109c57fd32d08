"""What is at a path, seen through layers over the base, as the kernel would show it.

A directory is put together from all layers that have it, from the top down to the first one that is opaque, or that has something else
there: a whiteout or a file ends it. Everything else is what the topmost layer says. The base is the owner's directory as it is now.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import FileIO

from daimon.abi.workspace import Entry
from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.manifest import Identity, Manifest, identity


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A layer with its manifest."""

    name: str
    tree: str
    manifest: Manifest
    is_sealed: bool = True


class Base:
    """The owner's directory. Hashes are remembered as long as nothing about a file changes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._hashes: dict[str, tuple[Identity, str]] = {}

    @contextmanager
    def opened(self) -> Iterator[int]:
        with place.opened(self.path) as top:
            yield top

    def entry(self, top: int, path: str) -> Entry | None:
        """What is there now, with its hash."""
        seen = place.about(top, path)
        if seen is None:
            return None
        found, now = _entry(top, path, seen), identity(seen)
        return replace(found, hash=self.hash(top, path, now)) if found.kind == "file" and now is not None else found

    def hash(self, top: int, path: str, seen: Identity) -> str:
        known = self._hashes.get(path)
        if known is None or known[0] != seen:
            known = self._hashes[path] = (seen, layer.hash_of(top, path))
        return known[1]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the content of a path lies. `sheet` is None for the base."""

    sheet: Sheet | None
    entry: Entry


class View:
    def __init__(self, sheets: tuple[Sheet, ...], base: Base, top: int) -> None:
        self.sheets = sheets
        self.base = base
        self.top = top
        """A descriptor of the base."""
        self._directories: dict[str, tuple[tuple[Sheet, ...], bool]] = {"": (sheets, True)}

    def source(self, path: str) -> Source | None:
        """None: nothing is there. Files of the base have no hash yet."""
        if not path:
            return Source(None, Entry("directory", self.top_mode()))
        sheets, is_on_base = self._directory(path.rpartition("/")[0])
        for sheet in sheets:
            if (item := sheet.manifest.items.get(path)) is not None:
                return None if item.kind == "whiteout" else Source(sheet, item.entry())
        seen = place.about(self.top, path) if is_on_base else None
        return None if seen is None else Source(None, _entry(self.top, path, seen))

    def entry(self, path: str) -> Entry | None:
        """With its hash."""
        found = self.source(path)
        return None if found is None else self.hashed(path, found)

    def hashed(self, path: str, found: Source) -> Entry:
        if found.sheet is not None or found.entry.kind != "file":
            return found.entry
        return self.base.entry(self.top, path) or found.entry

    def names(self, path: str) -> list[str]:
        """What is in a directory."""
        sheets, is_on_base = self._directory(path)
        found = {name for sheet in sheets for name in sheet.manifest.children(path)}
        if is_on_base:
            with suppress(PermissionError):
                found.update(name for name, _ in place.listed(self.top, path))
        return sorted(name for name in found if self.source(f"{path}/{name}" if path else name) is not None)

    def below(self, path: str) -> Iterator[str]:
        """Everything below a directory, each directory before what is in it."""
        pending = [path]
        while pending:
            where = pending.pop()
            for name in self.names(where):
                each = f"{where}/{name}" if where else name
                if len(os.fsencode(each)) > place.LONGEST:
                    continue
                yield each
                pending.append(each)

    def is_directory(self, path: str) -> bool:
        sheets, is_on_base = self._directory(path)
        return bool(sheets) or is_on_base

    @contextmanager
    def file(self, path: str) -> Iterator[FileIO]:
        """Its content, to read."""
        found = self.source(path)
        if found is None:
            raise FileNotFoundError(path)
        if found.sheet is None:
            with place.file(self.top, path) as file:
                yield file
        else:
            with place.opened(found.sheet.tree) as top, place.file(top, path) as file:
                yield file

    def top_mode(self) -> int:
        if self.sheets:
            return stat.S_IMODE(os.lstat(self.sheets[0].tree).st_mode)
        return stat.S_IMODE(os.fstat(self.top).st_mode)

    def _directory(self, path: str) -> tuple[tuple[Sheet, ...], bool]:
        """Of which layers a directory is made, and whether the base is one of them. Nothing at all: it is none."""
        if path in self._directories:
            return self._directories[path]
        way, done = path.split("/"), ""
        for name in way:
            above, done = done, f"{done}/{name}" if done else name
            if done not in self._directories:
                self._directories[done] = self._merged(done, *self._directories[above])
        return self._directories[path]

    def _merged(self, path: str, sheets: tuple[Sheet, ...], is_on_base: bool) -> tuple[tuple[Sheet, ...], bool]:
        found: list[Sheet] = []
        for sheet in sheets:
            item = sheet.manifest.items.get(path)
            if item is None:
                continue
            if item.kind != "directory":
                return tuple(found), False
            found.append(sheet)
            if item.is_opaque:
                return tuple(found), False
        seen = place.about(self.top, path) if is_on_base else None
        return tuple(found), seen is not None and stat.S_ISDIR(seen.st_mode)


def _entry(top: int, path: str, seen: os.stat_result) -> Entry:
    kind = place.kind_of(seen)
    if kind == "link":
        return Entry(kind, 0o777, hash=place.target(top, path))
    return Entry(kind, stat.S_IMODE(seen.st_mode), seen.st_size if kind == "file" else 0)
