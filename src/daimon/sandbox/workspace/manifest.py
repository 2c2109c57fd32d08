"""What is in a frozen layer, and what the owner's directory had at those places when that was written down.

One line of JSON for each path, in `LAYER/manifest`: `p` path, `k` kind, `m` mode, `s` size, `h` hash, `o` opaque, and `b`: kind, size, time
of change and inode of what the base has there, or null. Where a layer hides a directory of the base, what is in that has lines with `b`
alone. So it can be told later whether the owner changed something that a layer covers. It is written some moments after the layer was
frozen. What the base has is noted earlier, after each call that wrote into the live layer, in `LAYER/noted`, with the hash of small files;
only what the owner does between a program's write and the end of its call is not noticed.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from daimon.abi.workspace import Kind
from daimon.sandbox.workspace import layer, place
from daimon.sandbox.workspace.layer import UNKNOWN, Hashes, Item

FILE, NOTES = "manifest", "noted"


@dataclass(frozen=True, slots=True)
class Identity:
    """Of a directory the kind alone counts: its times change with what is in it."""

    kind: Kind
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    hash: str = field(default="", compare=False)
    """Of its content, if it was read."""


@dataclass(slots=True)
class Manifest:
    items: dict[str, Item] = field(default_factory=dict)
    base: dict[str, Identity | None] = field(default_factory=dict)
    """None: the base had nothing there."""
    _children: dict[str, list[str]] | None = None

    def children(self, path: str) -> list[str]:
        if self._children is None:
            found: dict[str, list[str]] = {}
            for each in self.items:
                where, _, name = each.rpartition("/")
                found.setdefault(where, []).append(name)
            self._children = found
        return self._children.get(path, [])


def identity(seen: os.stat_result | None) -> Identity | None:
    if seen is None:
        return None
    kind = place.kind_of(seen)
    return Identity(kind) if kind == "directory" else Identity(kind, seen.st_size, seen.st_mtime_ns, seen.st_ino)


def scanned(tree: str, base: int, *, is_hashed: bool = True, known: Hashes = UNKNOWN) -> Manifest:
    """Of a layer as it is, over a base as it is. `known`: of files that need not be read."""
    made = Manifest()
    with place.opened(tree) as top:
        for path, item in layer.scan(top, is_hashed=is_hashed, known=known):
            made.items[path] = item
            made.base[path] = found = identity(place.about(base, path))
            if item.covers and found is not None and found.kind == "directory":
                made.base.update((below, identity(seen)) for below, seen in walked(base, path))
    return made


def walked(top: int, path: str) -> Iterator[tuple[str, os.stat_result]]:
    """What is below a directory of the owner's."""
    pending = [path]
    while pending:
        where = pending.pop()
        for name, seen in _listed(top, where):
            below = f"{where}/{name}" if where else name
            if len(os.fsencode(below)) > place.LONGEST:
                continue
            yield below, seen
            if place.kind_of(seen) == "directory":
                pending.append(below)


def _listed(top: int, where: str) -> list[tuple[str, os.stat_result]]:
    """What may not be read is not ours to know."""
    try:
        return place.listed(top, where)
    except (PermissionError, FileNotFoundError):
        return []


def write(directory: str, made: Manifest) -> None:
    path = f"{directory}/{FILE}"
    with open(f"{path}.new", "w", encoding="ascii") as file:
        file.writelines(json.dumps(_line(each, made)) + "\n" for each in made.items.keys() | made.base.keys())
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"{path}.new", path)


def _line(path: str, made: Manifest) -> dict[str, object]:
    seen = made.base.get(path)
    line: dict[str, object] = {"p": path, "b": _told(seen)}
    if path not in made.base:
        del line["b"]
    if item := made.items.get(path):
        line |= {"k": item.kind, "m": item.mode, "s": item.size, "h": item.hash, "o": item.is_opaque}
    return line


def read(directory: str) -> Manifest | None:
    """None: there is none yet."""
    made = Manifest()
    try:
        file = open(f"{directory}/{FILE}", encoding="ascii")  # noqa: SIM115  # closed below; here only its absence is of interest
    except FileNotFoundError:
        return None
    with file:
        for row in map(json.loads, file):
            if "k" in row:
                made.items[row["p"]] = Item(row["k"], row["m"], row["s"], row["h"], row["o"])
            if "b" in row:
                made.base[row["p"]] = Identity(*row["b"]) if row["b"] else None
    return made


def note(directory: str, found: Mapping[str, Identity | None]) -> None:
    """Adds what the base has at places that a layer covers."""
    with open(f"{directory}/{NOTES}", "a", encoding="ascii") as file:
        file.writelines(json.dumps({"p": path, "b": _told(seen)}) + "\n" for path, seen in found.items())


def noted(directory: str) -> dict[str, Identity | None]:
    """A line that was cut off says nothing."""
    found: dict[str, Identity | None] = {}
    with suppress(FileNotFoundError), open(f"{directory}/{NOTES}", encoding="ascii") as file:
        for line in file:
            with suppress(ValueError):
                row = json.loads(line)
                found.setdefault(row["p"], Identity(*row["b"]) if row["b"] else None)
    return found


def _told(seen: Identity | None) -> list[str | int] | None:
    return None if seen is None else [seen.kind, seen.size, seen.mtime_ns, seen.inode, seen.hash]
