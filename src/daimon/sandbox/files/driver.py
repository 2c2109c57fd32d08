"""The files of one session: every operation opens the tree anew, does its work, and notes what the session now knows.

Small things are done at once, in the thread of the event loop: they take less time than handing them over. What turns out to be large
(`Large`), and all that goes through directories, is done by a thread. What the session knows is only touched by the event loop's thread.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from daimon.abi.box import Role
from daimon.abi.errors import ToolFailed
from daimon.abi.files import (
    ALL,
    Binary,
    Deleted,
    Found,
    Handle,
    Hits,
    Listing,
    Moved,
    Page,
    Picture,
    Query,
    Replacement,
    Trace,
    Version,
    Window,
    Written,
)
from daimon.sandbox.files import changing, hits, moving, reading, searching, walking, writing
from daimon.sandbox.files.content import INLINE, MOST, Large, Stamp
from daimon.sandbox.files.handles import Handles
from daimon.sandbox.files.news import News
from daimon.sandbox.files.paths import Granted
from daimon.sandbox.files.tree import Tree
from daimon.sandbox.files.writing import Known, Wrote
from daimon.sandbox.ground import Ground

T = TypeVar("T")


class Driver:
    """Implements `Files`. `base` is the owner's directory that lies below the tree, if there is one: what changes there shows through."""

    def __init__(self, ground: Ground, role: Role, base: str = "") -> None:
        self._ground, self._granted = ground, Granted(role)
        self._handles, self._news = Handles(), News(base)
        self._untold: tuple[str, ...] = ()
        self._engine = searching.Engine(searching.ripgrep())

    def close(self) -> None:
        self._news.close()

    async def read(self, path: str, window: Window = ALL) -> Page | Picture | Binary:
        found = await self._do(lambda tree, most: reading.read(tree, path, window, most))
        self._hold(found.result.path, found.result.version, found.stamp)
        return found.result

    async def write(self, path: str, content: str, expects: str = "", *, overwrite: bool = False) -> Written:
        known = Known(expects) if overwrite else Known(expects, self._handles.known)
        data = _bytes(content)
        return self._wrote(await self._do(lambda tree, most: writing.write(tree, path, data, known, most)))

    async def edit(self, path: str, replacements: Sequence[Replacement]) -> Written:
        return self._wrote(await self._do(lambda tree, most: changing.edit(tree, path, replacements, most)))

    async def patch(self, patch: str) -> tuple[Written, ...]:
        wrote = await self._do(lambda tree, most: changing.patch(tree, patch, most))
        return tuple(self._wrote(each) for each in wrote)

    async def list(self, path: str = ".") -> Listing:
        return await self._do(lambda tree, most: walking.listing(tree, path, walking.INLINE if most == INLINE else walking.MOST_SEEN))

    async def find(self, pattern: str, path: str = ".") -> Found:
        return await self._in_thread(lambda tree: walking.found(tree, pattern, path))

    async def search(self, query: Query) -> Hits:
        async with self._ground.used():
            with Tree(self._ground, self._granted) as tree:
                start = searching.start_of(tree, query.path)
        try:
            raw = await searching.lines(start, query, self._ground.user, self._engine)
        finally:
            os.close(start.folder)
        lines = raw.spotted if self._granted.reads_all else [each for each in raw.spotted if self._granted.may_read(each.path)]
        found, has_more = await self._in_thread(lambda tree: hits.told(tree, lines, query))
        late = (f"the search was stopped after {self._engine.longest_s:g} s; name a directory or files",) if raw.is_late else ()
        return Hits(tuple(found), raw.engine, has_more or raw.is_cut, late)

    async def move(self, source: str, target: str, *, overwrite: bool = False) -> Moved:
        moved = await self._in_thread(lambda tree: moving.move(tree, source, target, overwrite))
        self._handles.moved(moved.source, moved.target)
        self._watch(moved.target)
        return moved

    async def delete(self, path: str, *, recursive: bool = False) -> Deleted:
        deleted = await self._in_thread(lambda tree: moving.delete(tree, path, recursive))
        self._handles.drop(deleted.path)
        return deleted

    async def make_directory(self, path: str) -> None:
        await self._do(lambda tree, most: moving.make_directory(tree, path))

    async def exists(self, path: str) -> bool:
        return await self._do(lambda tree, most: tree.kind(tree.entry(path)) is not None)

    async def was_edited(self, path: str, replacements: Sequence[Replacement]) -> Trace:
        return await self._in_thread(lambda tree: changing.was_edited(tree, path, replacements, MOST))

    async def was_patched(self, patch: str) -> Trace:
        return await self._in_thread(lambda tree: changing.was_patched(tree, patch, MOST))

    def open_files(self) -> tuple[Handle, ...]:
        return self._handles.open_files()

    def changed(self) -> tuple[str, ...]:
        found, self._untold = (*self._untold, *self._looked()), ()
        return tuple(dict.fromkeys(found))

    def stale(self) -> tuple[str, ...]:
        """All that are not as this session knows them now. Each change is still told once, by `changed`."""
        self._untold = (*self._untold, *self._looked())
        return self._handles.stale()

    def _looked(self) -> tuple[str, ...]:
        try:
            with Tree(self._ground, self._granted) as tree:
                return self._news.changed(tree, self._handles)
        except ToolFailed:
            return ()  # there is no tree at the moment; whoever uses it next will hear

    def searches_with(self, program: str | None, longest_s: float = searching.LONGEST_S) -> None:
        """The path of ripgrep, or None: the one of our own; and how long a search may take."""
        self._engine = searching.Engine(program, longest_s)

    async def _do(self, work: Callable[[Tree, int], T]) -> T:
        try:
            async with self._ground.used():
                with Tree(self._ground, self._granted) as tree:
                    return work(tree, INLINE)
        except Large:
            return await self._in_thread(lambda tree: work(tree, MOST))

    async def _in_thread(self, work: Callable[[Tree], T]) -> T:
        def done() -> T:
            with Tree(self._ground, self._granted) as tree:
                return work(tree)

        async with self._ground.used():
            working = asyncio.ensure_future(asyncio.to_thread(done))
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                await asyncio.wait((working,))  # a thread cannot be stopped: what it still writes must not end up in another tree
                raise

    def _wrote(self, wrote: Wrote) -> Written:
        result, known = wrote.result, self._handles.known(wrote.result.path)
        if result.what == "removed":
            self._handles.drop(result.path)
        else:
            self._hold(result.path, result.version, wrote.stamp)
        if known and wrote.before and known != wrote.before:
            return replace(
                result, notes=(*result.notes, "somebody else had changed it since you read it; the diff is against what was there")
            )
        return result

    def _hold(self, path: str, version: Version, stamp: Stamp) -> None:
        self._handles.hold(path, version, stamp)
        self._watch(path)

    def _watch(self, path: str) -> None:
        if not self._news.is_watched(path):
            with Tree(self._ground, self._granted) as tree:
                self._news.watch(tree, path)


def _bytes(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError as broken:
        raise ToolFailed("bad_text", f"the content holds half a character, at {broken.start:,}; leave it out") from None
