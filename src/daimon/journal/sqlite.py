"""The embedded journal: one SQLite file in WAL mode, one writer, a few readers. It implements every journal port.

Opening is careful, because the worst answer to a damaged journal is an empty one. A home that once had a journal keeps a
marker beside it; if the marker is there and the file is missing or empty, opening fails and says so. A foreign file, one from
a newer release, or one that SQLite calls corrupt fails as well. Nothing is ever repaired or recreated in silence.

Calling order: `open`, any methods, `close`. `stopped` completes when a write failed for good; the process should then end.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Literal, TypeVar

import apsw

from daimon.abi.errors import JournalDamaged, JournalFailed, JournalStopped
from daimon.abi.event import Erased, Event
from daimon.abi.ids import BlobHash, Conversation, EventId, PrincipalId, SpaceId, StepRef, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.memory import Amendment
from daimon.abi.money import Account, Limit, Scope
from daimon.abi.ports import (
    Accepted,
    Balance,
    Blob,
    Busy,
    Change,
    Claim,
    Clock,
    Count,
    Cursor,
    Damaged,
    DeadLetter,
    Delivery,
    Due,
    Ended,
    Given,
    Grouping,
    Idle,
    Ids,
    More,
    Noticed,
    NotYet,
    Outgoing,
    Parked,
    Released,
    Reminder,
    Spending,
)
from daimon.abi.step import Step
from daimon.abi.turn import Pins, State, Turn
from daimon.journal import amendments, archive, blobs, erasure, forgetting, fork, grants, intake, ledger, outbox, residue, timers, work
from daimon.journal.now import Held, Now
from daimon.journal.rows import written
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.journal.writer import Writer, explain

T = TypeVar("T")
READERS = 2
MOST_TRIES = 20
TRY_AGAIN_S = 0.1
"""How long a lock of somebody else (a backup, a curious shell) is waited for."""


class SqliteJournal:
    def __init__(self, path: Path, connection: apsw.Connection, clock: Clock, ids: Ids) -> None:
        self._path = path
        self._connection = connection
        self._clock = clock
        self._ids = ids
        self._boot = ids.new("b")
        self._positions = count(last_position(connection) + 1)
        self._loop = asyncio.get_running_loop()
        self._committed = asyncio.Event()
        self._holds: dict[Conversation, Held] = {}
        self._writer = Writer(connection, self._tell_readers, self._holds.clear)
        self._readers = Readers(path)

    @classmethod
    async def open(cls, path: Path, clock: Clock, ids: Ids) -> "SqliteJournal":
        return cls(path, await asyncio.to_thread(prepare, path), clock, ids)

    async def close(self) -> None:
        await self._writer.close()
        await self._readers.close()
        with suppress(apsw.Error):  # closing tidies up; what was promised is on disk already, and the reason to close is known
            await asyncio.to_thread(self._connection.close)

    @property
    def stopped(self) -> "asyncio.Future[JournalFailed]":
        return self._writer.stopped

    @property
    def commits(self) -> int:
        """How many transactions, and so fsyncs, this process has made."""
        return self._writer.commits

    async def probe(self) -> None:
        """Returns when the writer is alive and finds space. Raises JournalFailed. Writes only where the last write found no space."""
        if self._writer.refused is None:
            await self._writer.alone(lambda db: None)
        else:
            await self._writer.run(rewrite_version)
            self._writer.refused = None

    async def newest(self) -> str:
        """The youngest turn's id; empty if there is none."""
        return await self._readers.run(lambda db: db.execute("SELECT COALESCE(MAX(id), '') FROM turns").get)

    # -- Intake

    async def accept(self, event: Event) -> Accepted:
        return await self._writer.run(lambda db: intake.accept(db, self._now(), event))

    async def bury(self, letter: DeadLetter) -> None:
        await self._writer.run(lambda db: intake.bury(db, letter))

    # -- Journal

    async def claim(self, conversation: Conversation, worker: str, ttl_s: float, pins: Pins) -> Claim | Busy | Idle | NotYet | Damaged:
        return await self._writer.run(lambda db: work.claim(db, self._now(), conversation, worker, ttl_s, pins))

    async def renew(self, claim: Claim, ttl_s: float) -> Noticed:
        return await self._writer.run(lambda db: work.renew(db, self._now(), claim, ttl_s))

    async def record(self, claim: Claim, steps: Sequence[Step], blobs: Sequence[Blob] = ()) -> Noticed:
        made = [written(step) for step in steps]
        return await self._writer.run(lambda db: work.record(db, self._now(), claim, made, blobs))

    async def finish(self, claim: Claim, steps: Sequence[Step], rest: Ended | Parked, blobs: Sequence[Blob] = ()) -> More | Released:
        made = [written(step) for step in steps]
        return await self._writer.run(lambda db: work.finish(db, self._now(), claim, made, rest, blobs))

    async def reconsider(self, limits: Mapping[Scope, Limit], models: Collection[str]) -> None:
        await self._writer.run(lambda db: ledger.reconsider(db, self._now(), limits, models))

    async def due(self, now: datetime, limit: int) -> Due:
        next_at = await self._readers.run(timers.next_moment)
        if next_at is not None and next_at <= now:
            await self._writer.run(lambda db: timers.fire(db, replace(self._now(), at=now), limit))
        moment = self._now()
        return await self._readers.run(lambda db: Due(work.workable(db, moment, limit), timers.next_moment(db)))

    # -- Archive

    async def turn(self, turn: TurnId) -> Turn:
        return await self._readers.run(lambda db: archive.turn(db, turn))

    async def event(self, event: EventId) -> Event:
        return await self._readers.run(lambda db: archive.event(db, event))

    async def steps(self, turn: TurnId) -> tuple[Step, ...]:
        return await self._readers.run(lambda db: archive.steps(db, turn))

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        return await self._readers.run(lambda db: archive.turns(db, space, limit, conversation, state))

    async def turn_of(self, event: EventId) -> Turn | None:
        return await self._readers.run(lambda db: archive.turn_of(db, event))

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        return await self._readers.run(lambda db: archive.late(db, turn))

    async def watch(self, after: Cursor) -> AsyncIterator[Change]:
        while True:
            committed = self._committed
            found = await self._readers.run(lambda db, after=after: archive.changes(db, after))  # type: ignore[misc]
            for change in found:
                after = change.cursor
                yield change
            if not found:
                await committed.wait()

    async def end(self) -> Cursor:
        return await self._readers.run(archive.end)

    async def require(self, cursor: Cursor) -> None:
        await self._readers.run(lambda db: archive.require(db, cursor))

    async def erasures(self) -> int:
        return await self._readers.run(archive.erasures)

    async def count(self) -> Count:
        return await self._readers.run(archive.count)

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        return await self._readers.run(lambda db: archive.letters(db, limit))

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        """Changes after the cursor, read on the calling thread: for projections that catch up in a thread of their own."""
        return self._readers.here(lambda db: archive.changes(db, cursor, limit, passes_damaged=True))

    def known_turn(self, turn: TurnId) -> Turn | None:
        """The same way, the turn that a step belongs to."""
        return self._readers.here(lambda db: archive.known_turn(db, turn))

    # -- Ledger

    async def spending(self, space: SpaceId, by: Grouping, since: str = "", until: str = "") -> tuple[Spending, ...]:
        return await self._readers.run(lambda db: ledger.spending(db, space, by, since, until))

    async def balances(self, space: SpaceId, accounts: Sequence[Account]) -> tuple[Balance, ...]:
        return await self._readers.run(lambda db: ledger.balances(db, space, accounts))

    # -- Grants

    async def grants(self, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
        return await self._readers.run(lambda db: grants.grants(db, space, now))

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        return await self._readers.run(lambda db: grants.given(db, space))

    async def revoke(self, space: SpaceId, grant: str, by: PrincipalId) -> Given:
        return await self._writer.run(lambda db: grants.revoke(db, self._now(), space, grant, by))

    # -- Store

    async def put(self, data: bytes) -> BlobHash:
        return await self._writer.run(lambda db: blobs.put(db, data, self._clock.now()))

    async def get(self, blob: BlobHash) -> bytes:
        return await self._readers.run(lambda db: blobs.get(db, blob))

    # -- Eraser, Amender, Forks

    async def erase_turn(self, turn: TurnId, reason: str) -> tuple[Erased, ...]:
        erased = await self._writer.run(lambda db: erasure.erase(db, self._now(), turn, reason))
        await self._scrub()
        return erased

    async def amend(self, amendment: Amendment) -> None:
        await self._writer.run(lambda db: amendments.amend(db, self._now(), amendment))

    async def forget_source(self, amendment: Amendment) -> int:
        erased = await self._writer.run(lambda db: forgetting.forget(db, self._now(), amendment))
        await self._scrub()
        return erased

    async def amendment(self, id_: str) -> Amendment:
        return await self._readers.run(lambda db: amendments.find(db, id_))

    async def foresee_forgetting(self, space: SpaceId, source: str) -> int:
        return await self._readers.run(lambda db: forgetting.foreseen(db, self._now(), space, source))

    async def _scrub(self) -> None:
        """What was erased must not stay in the files: neither in what nothing names, nor in a gap of a page, nor in the log."""
        for some in batched(await self._readers.run(lambda db: blobs.unnamed(db, self._clock.now())), 500):
            await self._writer.run(lambda db, some=some: blobs.delete(db, some, self._clock.now()))  # type: ignore[misc]
        try:
            last = await self._writer.alone(residue.rewrite)
        except JournalFailed:
            await self._empty_log()
            raise
        if last and await self._empty_log():
            await self._writer.run(lambda db: residue.settle(db, last))

    async def _empty_log(self) -> bool:
        for _ in range(MOST_TRIES):
            if await self._writer.alone(residue.truncate_log):
                return True
            await self._clock.sleep(TRY_AGAIN_S)  # a reader is in the way; the log is emptied at the next close at the latest
        return False

    async def fork(self, at: StepRef, effects: Literal["world", "record"] = "record") -> Turn:
        return await self._writer.run(lambda db: fork.fork(db, self._positions, self._ids, at, effects, self._clock.now()))

    # -- Timers, Outbox

    async def pending(self, conversation: Conversation) -> tuple[Reminder, ...]:
        return await self._readers.run(lambda db: timers.pending(db, conversation))

    async def outgoing(self, limit: int) -> tuple[Outgoing, ...]:
        return await self._readers.run(lambda db: outbox.outgoing(db, self._boot, self._clock.now(), limit))

    async def sending(self, message: Outgoing) -> None:
        await self._writer.run(lambda db: outbox.sending(db, self._boot, message))

    async def delivered(self, message: Outgoing, state: Delivery, note: str = "", retry_at: datetime | None = None) -> None:
        await self._writer.run(lambda db: outbox.delivered(db, message, state, note, retry_at))

    def _now(self) -> Now:
        return Now(self._boot, self._clock.now(), self._clock.monotonic(), self._ids, self._positions, self._holds)

    def _tell_readers(self) -> None:
        self._loop.call_soon_threadsafe(self._announce)

    def _announce(self) -> None:
        self._committed.set()
        self._committed = asyncio.Event()


class Readers:
    """Read-only connections, one to a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mine = threading.local()
        self._pool = ThreadPoolExecutor(READERS, thread_name_prefix="journal-reader")

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self.here, work)

    def here(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            if not hasattr(self._mine, "connection"):
                self._mine.connection = open_reader(self._path)
            return work(self._mine.connection)
        except apsw.Error as error:
            raise explain(error) from error

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.shutdown)


def open_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(5_000)
    connection.pragma("query_only", True)
    return connection


def prepare(path: Path) -> apsw.Connection:
    """Opens or creates the file, checks that it is ours and whole, brings it to today's schema."""
    marker = path.with_name(path.name + ".exists")
    is_known = marker.exists()
    if is_known and (not path.exists() or path.stat().st_size == 0):
        raise JournalDamaged(
            f"the journal {path} is {'empty' if path.exists() else 'missing'}, but this home had one. Restore it from a backup; "
            f"if you really want to start anew, delete {marker}"
        )
    try:
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(residue.BUSY_MS)
        _check_identity(path, connection)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        connection.pragma("secure_delete", True)
        connection.pragma("wal_autocheckpoint", 4_000)
        connection.pragma("journal_size_limit", 64 * 1024 * 1024)
        _migrate(path, connection)
        residue.clean(connection)
        last_position(connection)  # reads where damage would hurt first
    except apsw.Error as error:
        failure = explain(error)
        raise type(failure)(f"{path}: {failure}") from error
    if not is_known:
        _write_marker(marker)
    return connection


def _check_identity(path: Path, connection: apsw.Connection) -> None:
    if connection.pragma("application_id") == 0 and connection.execute("SELECT COUNT(*) FROM sqlite_schema").get == 0:
        connection.pragma("application_id", APPLICATION_ID)
    if connection.pragma("application_id") != APPLICATION_ID:
        raise JournalDamaged(f"{path} is a database of another program; move it away or choose another --home")
    if (version := connection.pragma("user_version")) > len(MIGRATIONS):
        raise JournalDamaged(
            f"{path} has format {version}, this release knows up to {len(MIGRATIONS)}: a newer Daimon wrote it. Update, then start again"
        )


def _migrate(path: Path, connection: apsw.Connection) -> None:
    if connection.readonly("main"):
        raise JournalStopped(f"the journal {path} cannot be written: the file or its file system is read-only")
    for version in range(connection.pragma("user_version"), len(MIGRATIONS)):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(MIGRATIONS[version])
        connection.pragma("user_version", version + 1)
        connection.execute("COMMIT")


def rewrite_version(connection: apsw.Connection) -> None:
    """A write that changes nothing: it needs space all the same."""
    connection.pragma("user_version", connection.pragma("user_version"))


def last_position(connection: apsw.Connection) -> int:
    return int(connection.execute("SELECT MAX(COALESCE(MAX(pos), 0), (SELECT COALESCE(MAX(pos), 0) FROM erasures)) FROM payloads").get)


def _write_marker(marker: Path) -> None:
    marker.write_text("This home has a journal. Delete this file only to start anew after the journal was lost.\n", encoding="utf-8")
    directory = os.open(marker.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def batched(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
