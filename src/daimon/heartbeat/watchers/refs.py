"""Branches and tags of a git repository that moved, came or went; without git.

An address is asked as `git ls-remote` asks it (`info/refs`). A directory is read as git lays it out: `refs/` over `packed-refs`.
What is handed over are names and ids, not what was committed.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import JsonValue

from daimon.abi.errors import WatchFailed, WebFailed
from daimon.abi.ids import OWNER
from daimon.abi.label import Author, Label, Origin
from daimon.abi.watch import Look, Watch, WatchRefs
from daimon.abi.web import Web, WebRequest
from daimon.heartbeat.watchers.fetching import site_label

MOST_REFS = 5_000
MOST_TOLD = 50
_USUAL = ("refs/heads/*", "refs/tags/*")
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ADVERTISED = "application/x-git-upload-pack-advertisement"


class RefsWatcher:
    def __init__(self, web: Web, directory: Callable[[str], Path] = Path) -> None:
        """`directory`: what a path of a watch means."""
        self._web = web
        self._directory = directory

    async def look(self, watch: Watch, state: JsonValue) -> Look:
        assert isinstance(watch, WatchRefs)
        is_remote = "://" in watch.repository
        every = await self._remote(watch.repository) if is_remote else await asyncio.to_thread(_local, self._directory(watch.repository))
        now = {name: id_ for name, id_ in sorted(every.items()) if _is_wanted(name, watch.refs)}
        if len(now) > MOST_REFS:
            raise WatchFailed(f"{watch.repository} has {len(now):,} such refs; name those that count")
        kept: JsonValue = {**now}
        if not isinstance(state, dict):
            return Look(kept, note=f"first look: {len(now)} refs")
        change, note = _change({name: str(id_) for name, id_ in state.items()}, now)
        if not change:
            return Look(kept, note="unchanged")
        own = Label.of(Origin(Author.STRANGER, f"file:{watch.repository}"), readers=(OWNER,))
        label = site_label(watch.repository) if is_remote else own
        return Look(kept, {"repository": watch.repository, **change}, label, note)

    async def _remote(self, address: str) -> dict[str, str]:
        url = f"{address.rstrip('/')}/info/refs?service=git-upload-pack"
        try:
            response = await self._web.request(WebRequest(url=url, headers={"Accept": _ADVERTISED}))
        except WebFailed as failed:
            raise WatchFailed(f"{address}: {failed}") from failed
        if response.status != 200 or not response.headers.get("content-type", "").startswith(_ADVERTISED):
            raise WatchFailed(
                f"{address} is no git repository that can be read over HTTP without a password (it answered {response.status})"
            )
        if response.is_cut:
            raise WatchFailed(f"{address} has more refs than are read")
        return dict(_advertised(response.body, address))


def _advertised(data: bytes, address: str) -> Iterator[tuple[str, str]]:
    """Lines with their length before them; the first is about the service."""
    at = 0
    while at < len(data):
        try:
            size = int(data[at : at + 4], 16)
        except ValueError as bad:
            raise WatchFailed(f"{address} speaks no git: a line has no length") from bad
        line = data[at + 4 : at + max(size, 4)]
        at += max(size, 4)
        id_, _, name = line.split(b"\0")[0].decode("utf-8", "replace").rstrip("\n").partition(" ")
        if _ID.fullmatch(id_) and name.startswith("refs/") and not name.endswith("^{}"):
            yield name, id_


def _local(place: Path) -> dict[str, str]:
    git = _git_directory(place)
    found: dict[str, str] = {}
    packed = git / "packed-refs"
    if packed.is_file():
        for line in packed.read_text(encoding="utf-8", errors="replace").splitlines():
            id_, _, name = line.partition(" ")
            if _ID.fullmatch(id_):
                found[name] = id_
    for directory, _, names in os.walk(git / "refs"):
        for name in names:
            file = Path(directory, name)
            if not file.is_symlink() and _ID.fullmatch(id_ := file.read_text(encoding="utf-8", errors="replace")[:100].strip()):
                found[file.relative_to(git).as_posix()] = id_
    return found


def _git_directory(place: Path) -> Path:
    """Raises WatchFailed."""
    git = place / ".git"
    if git.is_file():  # a work tree of its own: it says where the rest is
        told = git.read_text(encoding="utf-8", errors="replace").strip().removeprefix("gitdir: ")
        git = place / told
    if not git.is_dir():
        git = place
    common = git / "commondir"
    if common.is_file():
        git = git / common.read_text(encoding="utf-8", errors="replace").strip()
    if not (git / "HEAD").is_file():
        raise WatchFailed(f"{place} is no git repository; name its directory")
    if (git / "reftable").is_dir():
        raise WatchFailed(f"{place} keeps its refs in a reftable, which is not read here; watch its address instead")
    return git


def _is_wanted(name: str, patterns: tuple[str, ...]) -> bool:
    """`main` is `refs/heads/main` and the tag of that name too."""
    short = name.removeprefix("refs/heads/").removeprefix("refs/tags/")
    if not patterns:
        return any(fnmatchcase(name, each) for each in _USUAL)
    return any(fnmatchcase(name, each) or fnmatchcase(short, each) for each in patterns)


def _change(before: dict[str, str], now: dict[str, str]) -> tuple[dict[str, JsonValue], str]:
    moved: list[JsonValue] = [{"ref": name, "old": before[name], "new": id_} for name, id_ in now.items() if before.get(name, id_) != id_]
    made: list[JsonValue] = [{"ref": name, "new": id_} for name, id_ in now.items() if name not in before]
    gone: list[JsonValue] = [{"ref": name, "old": id_} for name, id_ in before.items() if name not in now]
    found = {what: refs for what, refs in (("moved", moved), ("made", made), ("gone", gone)) if refs}
    told: dict[str, JsonValue] = {what: refs[:MOST_TOLD] for what, refs in found.items()}
    return told, ", ".join(f"{len(refs)} {what}" for what, refs in found.items())
