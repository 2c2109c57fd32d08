"""What the agent was told to keep, found again by its words.

The notebook is a reader of the journal. `Remember` and `Forget` stand in recorded steps; here they become rows that can be searched. The
invariant: the rows are what the steps up to the stored cursor say, because both change in one transaction. So a kill at any line loses
nothing: the next search goes on from the cursor, and without the file at all it goes on from the start.

Every search first catches up to the end of the journal, so it sees whatever was recorded before it was called. A note belongs to the
principal and the space of its step and is shown to no other; its label is the step's. Of outcomes, only those that went well count.

SQLite blocks, so all of it happens in one thread of the notebook's own, named `memory`, one job after the other. Whoever opens closes.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, Self, TypeVar

import apsw

from daimon.abi.errors import JournalFailed, Misconfigured, ToolFailed
from daimon.abi.ids import PrincipalId, SpaceId
from daimon.abi.ports import Change, Cursor, Note
from daimon.memory.aside import DAMAGE, make_way, set_aside
from daimon.memory.database import Database

T = TypeVar("T")
_BATCH = 500


class Changes(Protocol):
    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        """At most so many changes after the cursor, in order. None at all means the end of the journal. May block; called in a thread."""
        ...


class Notebook:
    """Implements `abi.ports.Notes`. Made by `Notebook.open`."""

    def __init__(self, path: Path, changes: Changes, thread: ThreadPoolExecutor) -> None:
        self.warnings: list[str] = []
        """What the operator should know: each file that had to be moved aside, at the start or later."""
        self._path = path
        self._changes = changes
        self._thread = thread
        self._database: Database | None = None
        self._is_closed = False

    @classmethod
    async def open(cls, path: Path, changes: Changes) -> tuple[Self, list[str]]:
        """The notebook, and warnings for the operator. Raises Misconfigured if there can be no file."""
        notebook = cls(path, changes, ThreadPoolExecutor(1, "memory"))
        try:
            await notebook._call(notebook._opened)
        except BaseException as broken:
            notebook._thread.submit(notebook._close)
            notebook._thread.shutdown(wait=False)
            if isinstance(broken, apsw.Error | OSError):
                raise Misconfigured(f"the memory file {path} cannot be opened: {broken}; check its folder and permissions") from broken
            raise
        return notebook, notebook.warnings

    async def search(self, space: SpaceId, principal: PrincipalId, query: str, limit: int) -> tuple[Note, ...]:
        """The best matches first; an empty query gives the newest. Raises ToolFailed if the file cannot be used."""
        return await self._call(lambda: self._find(space, principal, query, limit))

    async def catch_up(self) -> None:
        """Applies what the journal has and the notebook has not. Not needed, but it keeps the next search short."""
        await self._call(lambda: self._mended(self._caught_up))

    async def close(self) -> None:
        """May be called twice."""
        if not self._is_closed:
            self._is_closed = True
            await self._call(self._close)
            self._thread.shutdown(wait=False)

    async def _call(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # From here on: only in the thread.

    def _find(self, space: SpaceId, principal: PrincipalId, query: str, limit: int) -> tuple[Note, ...]:
        return self._mended(lambda: self._caught_up().find(space, principal, query, limit))

    def _mended(self, work: Callable[[], T]) -> T:
        try:
            try:
                return work()
            except DAMAGE as broken:
                self._close()
                self.warnings.append(set_aside(self._path, f"damaged: {broken}"))
                return work()
        except apsw.Error as broken:
            raise ToolFailed("memory_failed", f"the notes cannot be read now: {broken}", retryable=True) from broken

    def _caught_up(self) -> Database:
        database = self._opened()
        while changes := self._since(database.cursor()):
            database.apply(changes)
        return database

    def _since(self, cursor: Cursor) -> list[Change]:
        try:
            return self._changes.since(cursor, _BATCH)
        except apsw.Error as broken:
            # The journal's own trouble: it must not pass for damage of the notebook.
            raise JournalFailed(f"the notebook cannot read the journal: {broken}") from broken

    def _opened(self) -> Database:
        if self._database is None:
            self.warnings.extend(make_way(self._path))
            self._database = Database(self._path)
        return self._database

    def _close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
