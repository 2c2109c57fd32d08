"""The layers of one family on disk, with their manifests.

A manifest is made once, when it is first needed or when there is time. That of a layer which somebody may still write into is made anew
each time, and what is different from the last one is remembered, to be said. That of a copy takes hashes from the copy that it was linked
with. Its methods block and may be called from several threads.
"""

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from daimon.sandbox.workspace import layer, manifest, place, stamps
from daimon.sandbox.workspace.manifest import Identity, Manifest
from daimon.sandbox.workspace.rows import Layer
from daimon.sandbox.workspace.stack import Base, Sheet, View
from daimon.sandbox.workspace.stamps import Stamps

NOTED_BYTES = 64 << 20
"""Of the owner's files that are read after a call, to know later whether they changed."""


class Shelf:
    def __init__(self, directory: str, base: str) -> None:
        self.directory = directory
        self.base = Base(base)
        self._known: dict[str, Manifest] = {}
        self._late: dict[str, set[str]] = {}
        self._stamps: dict[str, Stamps] = {}
        self._noted: dict[str, dict[str, Identity | None]] = {}
        self._linked: dict[str, str] = {}
        """Copies, and those that they share files with."""
        self._lock = threading.RLock()

    def path(self, name: str) -> str:
        return f"{self.directory}/{name}"

    def tree(self, name: str) -> str:
        return f"{self.directory}/{name}/tree"

    def owner(self) -> tuple[int, int] | None:
        """Root's boxes see the store as the owner of the base does."""
        if os.geteuid() != 0:
            return None
        seen = os.stat(self.base.path)
        return seen.st_uid, seen.st_gid

    def make(self, name: str, mode: int) -> None:
        layer.make(self.path(name), mode, self.owner())

    def remove(self, name: str) -> None:
        with self._lock:
            self._known.pop(name, None)
            self._late.pop(name, None)
            self._stamps.pop(name, None)
            self._noted.pop(name, None)
            self._linked.pop(name, None)
        layer.remove(self.path(name))

    def is_empty(self, name: str) -> bool:
        return layer.is_empty(self.path(name))

    def sheet(self, row: Layer) -> Sheet:
        """Of a frozen layer."""
        with self._lock:
            known = self._known.get(row.name) or manifest.read(self.path(row.name))
            if known is None or not row.sealed:
                known = self._anew(row.name, known)
            self._known[row.name] = known
        return Sheet(row.name, self.tree(row.name), known, row.sealed)

    def _anew(self, name: str, old: Manifest | None) -> Manifest:
        with self.base.opened() as top:
            made = manifest.scanned(self.tree(name), top, known=self._known_files(name))
        if (last := self._last(name)) is not None:
            made.base |= {path: last.base[path] for path in made.base.keys() & last.base.keys()}
        noted = self.noted(name)
        made.base |= {path: noted[path] for path in made.base.keys() & noted.keys()}
        if old is not None:
            made.base = {**made.base, **old.base}
            late = {path for path in made.items.keys() | old.items.keys() if made.items.get(path) != old.items.get(path)}
            if late:
                self._late.setdefault(name, set()).update(late)
        if old is None or made.items != old.items:
            manifest.write(self.path(name), made)
        return made

    def noted(self, name: str) -> dict[str, Identity | None]:
        """What the base had at places that a layer covers, as far as it was noted before there was a manifest."""
        with self._lock:
            if name not in self._noted:
                self._noted[name] = manifest.noted(self.path(name))
            return self._noted[name]

    def note(self, name: str, found: Mapping[str, Identity | None]) -> None:
        with self._lock:
            new = {path: seen for path, seen in found.items() if path not in self.noted(name)}
            if new:
                manifest.note(self.path(name), new)
                self._noted[name] |= new

    def notice(self, live: Sheet) -> None:
        """What the base has below a live layer, from now on; with the hash of files that are not many and not large."""
        found, room = {}, NOTED_BYTES
        with self._lock, self.base.opened() as top:
            known = self.noted(live.name)
            for path, seen in live.manifest.base.items():
                if path in known:
                    continue
                if seen is not None and seen.kind == "file" and path in live.manifest.items and seen.size <= room:
                    room -= seen.size + 4096
                    seen = replace(seen, hash=self.base.hash(top, path, seen))
                found[path] = seen
            self.note(live.name, found)

    def _last(self, name: str) -> Manifest | None:
        """What is known of the copy that this one shares files with."""
        last = self._linked.get(name)
        return None if last is None else self._known.get(last) or manifest.read(self.path(last))

    def _known_files(self, name: str) -> layer.Hashes:
        """Hashes by inode."""
        last, known = self._linked.get(name), self._last(name)
        if last is None or known is None:
            return {}
        with place.opened(self.tree(last)) as top:
            files = ((item, place.about(top, path)) for path, item in known.items.items() if item.kind == "file")
            return {seen.st_ino: item.hash for item, seen in files if seen is not None}

    def live(self, name: str, *, is_hashed: bool) -> Sheet:
        """Of a layer as it is at the moment."""
        with self.base.opened() as top:
            return Sheet(name, self.tree(name), manifest.scanned(self.tree(name), top, is_hashed=is_hashed), is_sealed=False)

    def stamps(self, name: str) -> Stamps | None:
        """Of what a layer is a copy of. None: they are not known, or it is none."""
        with self._lock:
            if name not in self._stamps and (found := stamps.read(self.path(name))) is not None:
                self._stamps[name] = found
            return self._stamps.get(name)

    def keep_stamps(self, name: str, known: Stamps, last: str | None) -> None:
        """`last`: the copy that it shares files with."""
        with self._lock:
            self._stamps[name] = known
            if last is not None:
                self._linked[name] = last

    def adopt(self, name: str, made: Manifest) -> None:
        """Of a layer that was just built, whose content is known."""
        manifest.write(self.path(name), made)
        with self._lock:
            self._known[name] = made

    def settle(self, row: Layer) -> None:
        """Brings a frozen layer to the disk for good, and its manifest."""
        self.sheet(row)
        layer.sync(self.path(row.name))
        if (known := self._stamps.get(row.name)) is not None:
            stamps.write(self.path(row.name), known)
            self._linked.pop(row.name, None)

    def late(self, names: Sequence[str]) -> list[str]:
        """Paths that were written after the checkpoint of their layer."""
        with self._lock:
            return sorted({path for name in names for path in self._late.get(name, ())})

    @contextmanager
    def view(self, sheets: tuple[Sheet, ...]) -> Iterator[View]:
        with self.base.opened() as top:
            yield View(sheets, self.base, top)
