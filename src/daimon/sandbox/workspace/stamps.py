"""What can be told about a layer that is being written without reading its files, so that it can be told later what changed in it.

A file that was written has another time of change (ctime) than before, which nobody can set back. The kernel's clock for that ticks only
every few milliseconds: of a file that changed in the tick in which it was looked at, nothing is certain, and it has no stamp. Of
directories the times do not count, but what they hide does. Not noticed: what a program writes through memory (`mmap`) into a page that
it wrote to some seconds before, until the kernel has brought that page to the disk.

`LAYER/stamps`, one line of JSON: by path, of the layer that this one is a copy of. It is written when the copy is on disk for good.
"""

import json
import os
import stat
import time
from collections.abc import Iterator

from daimon.sandbox.workspace import layer, place

FILE = "stamps"
_COARSE = 5
"""CLOCK_REALTIME_COARSE, which Python has no name for."""
TICK_S, LONGEST_TICK_S = 0.001, 0.02
Stamp = tuple[str | int, ...]
Stamps = dict[str, Stamp | None]
"""By path. None: nothing is certain."""


class TooMuch(OSError):
    """There is more than can be looked through, or than can be copied."""


def taken(tree: str, most: int | None = None) -> Stamps:
    """Of a tree as it is. Whatever was written before this was called has one. Raises TooMuch, with `most`, where not all can be seen."""
    begun = _now()
    found = dict(_seen(tree, begun, most))
    if None not in found.values():
        return found
    begun = _next(begun)
    return dict(_seen(tree, begun, most))


def different(then: Stamps, now: Stamps) -> set[str]:
    """Paths that are not surely the same."""
    return {path for path in then.keys() | now.keys() if now.get(path) is None or now[path] != then.get(path)}


def _seen(tree: str, begun: int, most: int | None) -> Iterator[tuple[str, Stamp | None]]:
    number = 0
    with place.opened(tree) as top:
        for path, seen in _walked(top):
            number += 1
            is_short = len(os.fsencode(path)) <= place.LONGEST
            if most is not None and (number > most or not is_short):
                raise TooMuch(f"more than {most} files" if is_short else f"paths of more than {place.LONGEST} bytes")
            if is_short:
                yield path, _stamp(top, path, seen, begun)


def _walked(top: int) -> Iterator[tuple[str, os.stat_result]]:
    pending = [""]
    while pending:
        where = pending.pop()
        for name, seen in layer.listed(top, where):
            path = f"{where}/{name}" if where else name
            yield path, seen
            if stat.S_ISDIR(seen.st_mode) and len(os.fsencode(path)) <= place.LONGEST:
                pending.append(path)


def _stamp(top: int, path: str, seen: os.stat_result, begun: int) -> Stamp | None:
    if layer.is_whiteout(seen):
        return ("whiteout",)
    kind, mode = place.kind_of(seen), stat.S_IMODE(seen.st_mode)
    if kind == "directory":
        return (kind, mode, *_mark(top, path))
    if seen.st_ctime_ns >= begun:
        return None
    return (kind, mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


def _mark(top: int, path: str) -> tuple[str, ...]:
    try:
        return ("opaque",) if place.mark(top, path, layer.OPAQUE) == b"y" else ()
    except (FileNotFoundError, NotADirectoryError):
        return ("gone",)


def _now() -> int:
    """As the kernel writes it into files."""
    return time.clock_gettime_ns(_COARSE)


def _next(begun: int) -> int:
    """When the next tick has begun, which it has within some milliseconds."""
    end = time.monotonic() + LONGEST_TICK_S
    while (now := _now()) == begun and time.monotonic() < end:
        time.sleep(TICK_S)
    return now


def write(directory: str, known: Stamps) -> None:
    path = f"{directory}/{FILE}"
    with open(f"{path}.new", "w", encoding="ascii") as file:
        json.dump(known, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"{path}.new", path)


def read(directory: str) -> Stamps | None:
    """None: there are none."""
    try:
        with open(f"{directory}/{FILE}", encoding="ascii") as file:
            return {path: None if stamp is None else tuple(stamp) for path, stamp in json.load(file).items()}
    except FileNotFoundError:
        return None
