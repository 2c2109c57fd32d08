"""Files that were made, changed or went.

A file counts as changed when its size or its time differs and then its content does, so touching one is no change. What has the same size
and the same time is not read again: whoever writes both back on purpose is not seen. Links are not followed out of the workspace, and
directories behind links not at all. The workspace is stood on for the time of a look only (`ground`).
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed
from daimon.abi.files import shown
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.watch import Look, Watch, WatchFiles

MOST_FILES = 5_000
MOST_TOLD = 100
MOST_HASHED = 64 * 1024 * 1024
MOST_WALKED = 200_000
Ground = Callable[[], AbstractAsyncContextManager[Path]]
"""The workspace's top, while somebody stands on it."""
Known = dict[str, list[Any]]
"""Size, time and hash by path."""


class FilesWatcher:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._threads = ThreadPoolExecutor(1, "daimon-files")

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchFiles)
        before: Known = {path: list(each) for path, each in state.items() if isinstance(each, list)} if isinstance(state, dict) else {}
        async with self._ground() as top:
            now = await asyncio.get_running_loop().run_in_executor(self._threads, _seen, top, watch.globs, before)
        if not isinstance(state, dict):
            return Look(_kept(now), note=f"first look: {len(now)} files")
        change = _changes(before, now)
        if not change:
            return Look(_kept(now), note=f"unchanged: {len(now)} files")
        label = Label.of(Origin(Author.STRANGER, f"file:{watch.globs[0]}"), readers=(OWNER,))
        note = ", ".join(f"{len(paths)} {what}" for what, paths in change.items())
        return Look(_kept(now), {what: _told(paths) for what, paths in change.items()}, label, note)


def _seen(top: Path, globs: tuple[str, ...], before: Known) -> Known:
    found: Known = {}
    for glob in globs:
        for name, file in _matching(top, glob):
            if name not in found and (known := _looked_at(file, before.get(name))) is not None:
                found[name] = known
            if len(found) > MOST_FILES:
                raise WatchFailed(f"{glob} matches more than {MOST_FILES:,} files; choose a narrower one")
    return found


def _matching(top: Path, glob: str) -> Iterator[tuple[str, Path]]:
    is_absolute = glob.startswith("/")
    if not is_absolute and ".." in glob.split("/"):
        raise WatchFailed(f"{glob} leads out of the workspace; write the whole path")
    fixed = glob.split("*")[0].split("?")[0].split("[")[0].rpartition("/")[0]
    start = Path(fixed or "/") if is_absolute else top / fixed
    pattern, real = _pattern(glob), Path(os.path.realpath(top))
    for file in _walked(start):
        name = str(file) if is_absolute else file.relative_to(top).as_posix()
        if pattern.fullmatch(name) and (is_absolute or Path(os.path.realpath(file)).is_relative_to(real)):
            yield shown(name), file


def _walked(start: Path) -> Iterator[Path]:
    count = 0
    for directory, names, files in os.walk(start):
        names.sort()
        for name in sorted(files):
            count += 1
            if count > MOST_WALKED:
                raise WatchFailed(f"below {start} are more than {MOST_WALKED:,} files; choose a narrower place")
            yield Path(directory, name)


def _pattern(glob: str) -> re.Pattern[str]:
    """`*` and `?` stay within a name, `**/` is any depth."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    signs = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts), re.DOTALL)


def _looked_at(file: Path, before: list[Any] | None) -> list[Any] | None:
    """None: it has just gone, or is no plain file."""
    try:
        about = file.stat()
        if not file.is_file():
            return None
        if before is not None and before[:2] == [about.st_size, about.st_mtime_ns]:
            return before
        return [about.st_size, about.st_mtime_ns, _hash(file) if about.st_size <= MOST_HASHED else ""]
    except OSError:
        return None


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        whole = sha256()
        while piece := data.read(1 << 20):
            whole.update(piece)
    return whole.hexdigest()[:24]


def _changes(before: Known, now: Known) -> dict[str, list[str]]:
    made = [path for path in now if path not in before]
    gone = [path for path in before if path not in now]
    changed = [path for path, each in now.items() if path in before and _differs(before[path], each)]
    return {what: paths for what, paths in (("made", made), ("changed", changed), ("gone", gone)) if paths}


def _differs(old: list[Any], new: list[Any]) -> bool:
    return bool(old[2] != new[2] if old[2] and new[2] else old[:2] != new[:2])


def _told(paths: list[str]) -> JsonValue:
    more = len(paths) - MOST_TOLD
    return [*paths[:MOST_TOLD], f"… and {more:,} more"] if more > 0 else [*paths]


def _kept(known: Known) -> JsonValue:
    return {**known}
