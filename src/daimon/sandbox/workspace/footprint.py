"""What a copied tree was like when its layers were put in place, kept beside it: so what was done since is known even after a crash.

`STORE/WORKSPACE/.footprint` has lines of JSON. `[path, kind, mode, size, mtime, ctime, inode]`, or `[path]` for what is gone; then
`{"tree": NAME, "live": …, "frozen": […], "closed": …}`: from this line on these layers are in place, and what stands above it counts. With
`"live": null` none are: the tree is being rewritten. A line that is cut off, and what stands above it without such an end, was never
written. It is written as a whole when the tree is opened and only grows afterwards, until it is long.

Times of change (ctime) cannot be set by programs, but they are coarse: a file that was written just before it was looked at may be written
again without looking different. So what is that young has no time of change here, and is read again the next time.
"""

import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from daimon.sandbox.ground import Stack
from daimon.sandbox.workspace import place

FILE = ".footprint"
_LONGEST_NAME = 255
YOUNG_NS = 50_000_000
MOST_LINES = 10_000
"""Of what was added, before it is written as a whole again, unless the tree is larger."""
Stamp = tuple[str, int, int, int, int, int]
"""Kind, mode, size, times of modification and change, inode. Of a directory kind and mode alone count."""
Seen = dict[str, Stamp]
UNKNOWN: Stamp = ("", 0, 0, 0, 0, 0)
"""Something was there, and must be compared the next time."""


@dataclass(frozen=True, slots=True)
class Last:
    """The newest line that says which layers are in place."""

    tree: str
    stack: Stack | None
    is_closed: bool

    def is_of(self, stack: Stack) -> bool:
        """A checkpoint that never counted has left the tree as it was."""
        return self.stack is not None and (self.stack.live == stack.live or self.stack.frozen[:1] == (stack.live,))


def stamp(seen: os.stat_result) -> Stamp:
    mode = seen.st_mode
    if stat.S_ISDIR(mode):
        return ("directory", mode & 0o7777, 0, 0, 0, 0)
    kind = "file" if stat.S_ISREG(mode) else place.kind_of(seen)
    return (kind, mode & 0o7777, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


def stamps(top: int, *, is_ours: bool = True) -> Seen:
    """All that is in a tree that somebody may be changing. Who is not root opens what a program has closed to its own user, if the tree is
    ours: nobody could read it otherwise."""
    is_opening = is_ours and os.geteuid() != 0
    found: Seen = {}
    pending = [""]
    while pending:
        where = pending.pop()
        try:
            inside = place.listed(top, where)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # gone meanwhile, or closed
        prefix = f"{where}/" if where else ""
        is_short = 4 * (len(prefix) + _LONGEST_NAME) < place.LONGEST
        for name, seen in inside:
            path = prefix + name
            if is_short or len(os.fsencode(path)) <= place.LONGEST:
                found[path] = about = stamp(seen)
                if about[0] == "directory":
                    pending.append(path)
                    if is_opening and about[1] & stat.S_IRWXU != stat.S_IRWXU:
                        found[path] = _opened(top, path, about)
    return found


def _opened(top: int, path: str, about: Stamp) -> Stamp:
    with suppress(OSError), place.directory(top, path) as inner:
        os.chmod(f"/proc/self/fd/{inner}", about[1] | stat.S_IRWXU)
        return (about[0], about[1] | stat.S_IRWXU, 0, 0, 0, 0)
    return about


def settled(seen: Seen, at_ns: int) -> Seen:
    """Without times of change of what was young then."""
    young = {path: (*about[:4], 0, about[5]) for path, about in seen.items() if about[4] > at_ns - YOUNG_NS}
    return {**seen, **young} if young else seen


def read(directory: str) -> tuple[Last, Seen] | None:
    """None: there is none."""
    last, seen, pending = None, Seen(), Seen()
    gone: set[str] = set()
    try:
        file = open(f"{directory}/{FILE}", "rb")  # noqa: SIM115  # closed below; here only its absence is of interest
    except FileNotFoundError:
        return None
    with file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                break
            if isinstance(row, dict):
                stack = None if row["live"] is None else Stack(row["live"], tuple(row["frozen"]))
                last = Last(row["tree"], stack, row["closed"])
                for path in gone:
                    seen.pop(path, None)
                seen.update(pending)
                pending, gone = Seen(), set()
            elif len(row) == 1:
                gone.add(row[0])
                pending.pop(row[0], None)
            else:
                gone.discard(row[0])
                pending[row[0]] = tuple(row[1:])
    return None if last is None else (last, seen)


@dataclass(slots=True)
class Footprint:
    """One that is being written."""

    directory: str
    tree: str
    _added: int = 0
    _lines: int = 0
    _file: int = field(default=-1)

    def write(self, stack: Stack, seen: Seen) -> None:
        """As a whole."""
        self.close()
        path = f"{self.directory}/{FILE}"
        lines = [json.dumps([each, *about]) for each, about in seen.items()]
        made = os.open(f"{path}.new", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            _written(made, "\n".join([*lines, self._said(stack, False)]) + "\n")
            os.rename(f"{path}.new", path)
            _sync(self.directory)
        except BaseException:
            os.close(made)
            raise
        self._file, self._lines, self._added = made, len(lines), 0

    def add(self, stack: Stack | None, seen: Seen, paths: Iterable[str] = (), *, is_closed: bool = False) -> None:
        """These layers are in place now, or none; with what is different at these paths. What is half written is taken back."""
        lines = [json.dumps([path, *seen.get(path, ())]) for path in paths]
        if stack is not None and self._added + len(lines) > max(MOST_LINES, self._lines):
            self.write(stack, seen)
            return
        end = os.fstat(self._file).st_size
        try:
            _written(self._file, "\n".join([*lines, self._said(stack, is_closed)]) + "\n")
        except OSError:
            os.ftruncate(self._file, end)
            raise
        self._added += len(lines)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _said(self, stack: Stack | None, is_closed: bool) -> str:
        live, frozen = (None, ()) if stack is None else (stack.live, stack.frozen)
        return json.dumps({"tree": self.tree, "live": live, "frozen": frozen, "closed": is_closed})


def removed(directory: str) -> None:
    """Nothing is in place any more."""
    os.unlink(f"{directory}/{FILE}")
    _sync(directory)


def _written(to: int, text: str) -> None:
    rest = memoryview(text.encode("ascii"))
    while rest:
        rest = rest[os.write(to, rest) :]
    os.fsync(to)


def _sync(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
