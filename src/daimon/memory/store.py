"""Everything that is kept, found again: the one reader of the journal that memory is.

Steps, events and amendments become rows (`apply.py`). The invariant: the rows are what the journal says up to the stored cursor, because
both change in one transaction. So a kill at any line loses nothing: the next question goes on from the cursor, and without the file at all
it goes on from the start.

Every question first catches up to the end of the journal, so it sees whatever was recorded before it was asked. An item belongs to the
principal and the space of its step and is shown to no other; nor is it told by itself to somebody who may not read it. A damaged file is
moved aside and made again; on a full disk the question fails, and nothing is lost, for the journal has it.

SQLite blocks, so all of it happens in one thread of the store's own, named `memory`, one job after the other. Whoever opens closes.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, Self, TypeVar

import apsw

from daimon.abi.errors import JournalFailed, Misconfigured, ToolFailed
from daimon.abi.ids import PrincipalId, SpaceId, TurnId
from daimon.abi.memory import Answered, Embedder, Item, Kind, Page, Query, Recalled
from daimon.abi.people import may_read
from daimon.abi.ports import Change, Cursor
from daimon.abi.turn import Turn
from daimon.abi.unbroken import unbroken
from daimon.memory import file, page, reading
from daimon.memory.aside import DAMAGE, make_way, set_aside
from daimon.memory.meaning import Recall

T = TypeVar("T")
_BATCH = 500
_TURNS = 1_024
_WARNINGS = 100


class Changes(Protocol):
    """The journal, read on the calling thread. Both may block."""

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        """At most so many changes after the cursor, in order. None at all means the end of the journal."""
        ...

    def known_turn(self, turn: TurnId) -> Turn | None:
        """None: there is none of this name."""
        ...


class MemoryStore:
    """Implements `abi.memory.Memory`. Made by `MemoryStore.open`."""

    def __init__(self, path: Path, changes: Changes, thread: ThreadPoolExecutor, embedder: Embedder | None = None) -> None:
        self.warnings: list[str] = []
        """What the operator should know: each file that had to be moved aside, at the start or later, and what could not be taken in."""
        self._path = path
        self._changes = changes
        self._turns: dict[TurnId, Turn] = {}
        self._thread = thread
        self._connection: apsw.Connection | None = None
        self._ending: asyncio.Future[None] | None = None
        self._recall = Recall(embedder, self.run)

    @classmethod
    async def open(cls, path: Path, changes: Changes, embedder: Embedder | None = None) -> tuple[Self, list[str]]:
        """The store, and warnings for the operator. Whoever made the embedder closes it. Raises Misconfigured if there can be no file."""
        store = cls(path, changes, ThreadPoolExecutor(1, "memory"), embedder)
        try:
            await store._call(store._opened)
        except BaseException as broken:
            await store.close()  # whoever gives up waits for the thread: it may be reading the journal, which is closed next
            if isinstance(broken, apsw.Error | OSError):
                raise Misconfigured(f"the memory file {path} cannot be opened: {broken}; check its folder and permissions") from broken
            raise
        return store, store.warnings

    async def recall(self, query: Query) -> Recalled:
        found = await self._recall(query)
        return replace(found, hits=tuple(hit for hit in found.hits if may_read(query.principal, hit.item.label)))

    async def page(self, space: SpaceId, principal: PrincipalId) -> Page:
        found = await self.run(lambda connection: page.page(connection, space, principal))
        return replace(found, notes=tuple(note for note in found.notes if may_read(principal, note.label)))

    async def value(self, space: SpaceId, principal: PrincipalId, key: str) -> Item | None:
        return await self.run(lambda connection: reading.value(connection, space, principal, key))

    async def item(self, space: SpaceId, principal: PrincipalId, id_: str) -> Item:
        return await self.run(lambda connection: reading.item(connection, space, principal, id_))

    async def history(self, space: SpaceId, principal: PrincipalId, about: str) -> tuple[Item, ...]:
        return await self.run(lambda connection: reading.history(connection, space, principal, about))

    async def items(
        self, space: SpaceId, principal: PrincipalId, kinds: tuple[Kind, ...], after: str = "", limit: int = 500
    ) -> tuple[Item, ...]:
        return await self.run(lambda connection: reading.page_of(connection, space, principal, kinds, after, limit))

    async def ask_graph(self, space: SpaceId, principal: PrincipalId, query: str) -> Answered:
        from daimon.memory.graph import ask  # a language of its own, which few homes are ever asked in

        return await self.run(lambda connection: ask.ask(connection, space, principal, query, datetime.now(UTC)))

    async def catch_up(self) -> None:
        """Applies what the journal has and memory has not. Not needed, but it keeps the next question short."""
        await self.run(lambda _: None)

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Work on the rows, in the thread, after all that was recorded. Raises ToolFailed where the file cannot be used."""
        return await self._call(lambda: self._mended(lambda: work(self._caught_up())))

    async def close(self) -> None:
        """May be called twice. What was asked before is answered."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        await unbroken(self._ending)

    async def _end(self) -> None:
        last = asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)
        await last

    async def _call(self, work: Callable[[], T]) -> T:
        if self._ending is not None:
            raise ToolFailed("memory_closed", "memory is closed: Daimon ends")
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    # From here on: only in the thread.

    def _mended(self, work: Callable[[], T]) -> T:
        try:
            try:
                return work()
            except DAMAGE as broken:
                self._close()
                self.warnings.append(set_aside(self._path, f"damaged: {broken}"))
                return work()
        except apsw.FullError as full:
            told = f"memory cannot take in what is new: the disk of {self._path} is full; make room. Nothing is lost: the journal has it"
            raise ToolFailed("memory_full", told, retryable=True) from full
        except apsw.Error as broken:
            raise ToolFailed("memory_failed", f"memory cannot be read now: {broken}", retryable=True) from broken

    def _caught_up(self) -> apsw.Connection:
        connection = self._opened()
        while changes := self._read(lambda: self._changes.since(file.cursor(connection), _BATCH)):
            self.warnings.extend(file.advance(connection, changes, self._turn)[: max(0, _WARNINGS - len(self.warnings))])
        return connection

    def _turn(self, id_: TurnId) -> Turn | None:
        """What memory asks of a turn never changes, so it may be kept."""
        if id_ not in self._turns and (found := self._read(lambda: self._changes.known_turn(id_))) is not None:
            if len(self._turns) >= _TURNS:
                self._turns.clear()
            self._turns[id_] = found
        return self._turns.get(id_)

    def _read(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except apsw.Error as broken:
            # The journal's own trouble: it must not pass for damage of this file.
            raise JournalFailed(f"memory cannot read the journal: {broken}") from broken

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            self.warnings.extend(make_way(self._path))
            self._connection = self._of_this_journal(file.connect(self._path))
        return self._connection

    def _of_this_journal(self, connection: apsw.Connection) -> apsw.Connection:
        """A file that is ahead would tell of what never was, and pass over all that is new until it is caught up with."""
        try:
            is_of_it = file.is_of(connection, lambda after: self._read(lambda: self._changes.since(after, 1)))
        except BaseException:
            connection.close()
            raise
        if is_of_it:
            return connection
        connection.close()
        self.warnings.append(set_aside(self._path, "it has read another journal, or a later state of this one"))
        return file.connect(self._path)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
