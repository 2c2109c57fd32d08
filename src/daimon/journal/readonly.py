"""The journal of a home that nobody runs, to look at: nothing is created, changed or locked.

SQLite would write even through a read-only connection: it makes `-wal` and `-shm` beside a database in WAL mode. So there are two ways in:

    no -wal, or an empty one   the last process ended well, all is in the main file: opened as immutable
    a -wal with content        a process runs, or was killed: read through its -shm, which stays as it is

When a process starts while the first way is in use, the files change; what was read may then be torn, so it is read again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import apsw

from daimon.abi.automation import Kept, Tick
from daimon.abi.errors import DaimonError, JournalDamaged, JournalFailed, JournalStopped, NotFound
from daimon.abi.event import Event
from daimon.abi.ids import BlobHash, EventId, SpaceId, TurnId
from daimon.abi.judgement import Grant
from daimon.abi.money import Account
from daimon.abi.people import Contact, Knock, Person
from daimon.abi.ports import Balance, Change, Count, Cursor, DeadLetter, Given, Grouping, Mailing, Spending
from daimon.abi.step import Step
from daimon.abi.turn import State, Turn
from daimon.journal import archive, automations, blobs, grants, ledger, mailings, people
from daimon.journal.schema import APPLICATION_ID, MIGRATIONS
from daimon.journal.writer import explain

T = TypeVar("T")
FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


class ReadOnlyJournal:
    """Archive, Overview, Ledger, what Grants, Directory and Automations read, `get` of Store. It stands still: nobody can `watch` it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="journal-viewer")
        self._connection: apsw.Connection | None = None
        self._opened_at: tuple[int, ...] = ()

    @classmethod
    async def open(cls, path: Path) -> "ReadOnlyJournal":
        """Raises NotFound where there is no journal yet, JournalFailed where there is one that cannot be read."""
        journal = cls(path)
        await journal._run(lambda db: None)
        return journal

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.shutdown)
        if self._connection is not None:
            self._connection.close()

    async def turn(self, turn: TurnId) -> Turn:
        return await self._run(lambda db: archive.turn(db, turn))

    async def event(self, event: EventId) -> Event:
        return await self._run(lambda db: archive.event(db, event))

    async def steps(self, turn: TurnId) -> tuple[Step, ...]:
        return await self._run(lambda db: archive.steps(db, turn))

    async def turn_of(self, event: EventId) -> Turn | None:
        return await self._run(lambda db: archive.turn_of(db, event))

    async def late(self, turn: TurnId) -> tuple[Event, ...]:
        return await self._run(lambda db: archive.late(db, turn))

    async def turns(self, space: SpaceId, limit: int, conversation: str | None = None, state: State | None = None) -> tuple[Turn, ...]:
        return await self._run(lambda db: archive.turns(db, space, limit, conversation, state))

    def watch(self, after: Cursor) -> AsyncIterator[Change]:
        raise JournalStopped("nobody runs on this home, so there is nothing to watch; start Daimon with `daimon up`")

    async def count(self) -> Count:
        return await self._run(archive.count)

    async def mailings(self, limit: int, channel: str = "", state: str = "") -> tuple[Mailing, ...]:
        return await self._run(lambda db: mailings.mailings(db, limit, channel, state))

    async def letters(self, limit: int) -> tuple[DeadLetter, ...]:
        return await self._run(lambda db: archive.letters(db, limit))

    async def spending(self, space: SpaceId, by: Grouping, since: str = "", until: str = "") -> tuple[Spending, ...]:
        return await self._run(lambda db: ledger.spending(db, space, by, since, until))

    async def balances(self, space: SpaceId, accounts: Sequence[Account]) -> tuple[Balance, ...]:
        return await self._run(lambda db: ledger.balances(db, space, accounts))

    async def grants(self, space: SpaceId, now: datetime) -> tuple[Grant, ...]:
        return await self._run(lambda db: grants.grants(db, space, now))

    async def given(self, space: SpaceId) -> tuple[Given, ...]:
        return await self._run(lambda db: grants.given(db, space))

    async def people(self) -> tuple[tuple[Person, tuple[Contact, ...]], ...]:
        return await self._run(people.people)

    async def knocks(self) -> tuple[Knock, ...]:
        return await self._run(people.knocks)

    async def automations(self, space: SpaceId) -> tuple[Kept, ...]:
        return await self._run(lambda db: automations.automations(db, space, automations.EVER))

    async def ticks(self, space: SpaceId, automation: str = "", limit: int = 50) -> tuple[Tick, ...]:
        return await self._run(lambda db: automations.ticks(db, space, automation, limit))

    async def get(self, blob: BlobHash) -> bytes:
        return await self._run(lambda db: blobs.get(db, blob))

    async def _run(self, work: Callable[[apsw.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read, work)

    def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        try:
            result = work(self._connection or self._open())
        except (apsw.Error, DaimonError) as error:
            if not (self._is_torn() or self._has_lost_its_log()):
                raise _sentence(self._path, error) from error
        else:
            if not self._is_torn():
                return result
        try:
            return work(self._open())
        except apsw.Error as error:
            raise _sentence(self._path, error) from error

    def _open(self) -> apsw.Connection:
        if self._connection is not None:
            self._connection.close()
        _require_file(self._path)
        self._opened_at = () if _has_log(self._path) else _moment(self._path)
        how = "readonly_shm=1" if _has_log(self._path) else "immutable=1"
        self._connection = apsw.Connection(f"file:{quote(str(self._path))}?mode=ro&{how}", flags=FLAGS)
        self._connection.set_busy_timeout(5_000)
        _check(self._path, self._connection)
        return self._connection

    def _is_torn(self) -> bool:
        """Did somebody write while this was read as immutable?"""
        return bool(self._opened_at) and (_has_log(self._path) or _moment(self._path) != self._opened_at)

    def _has_lost_its_log(self) -> bool:
        """Was it to be read with a log that whoever closed the journal has merged and taken away?"""
        return not self._opened_at and not _has_log(self._path)


def _require_file(path: Path) -> None:
    if _size(path) > 0:
        return
    if path.with_name(path.name + ".exists").exists():
        raise JournalDamaged(
            f"the journal {path} is {'empty' if path.exists() else 'missing'}, but this home had one; restore it from a backup"
        )
    raise NotFound(f"there is nothing in {path.parent} yet; start Daimon with `daimon up`, or choose another --home")


def _has_log(path: Path) -> bool:
    return _size(path.with_name(path.name + "-wal")) > 0


def _size(path: Path) -> int:
    """0 where there is none: whoever closes a journal last takes its log away, at any moment."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _moment(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _check(path: Path, connection: apsw.Connection) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise JournalDamaged(f"{path} is a database of another program; choose another --home")
    if (version := connection.pragma("user_version")) != len(MIGRATIONS):
        what = "written by a newer Daimon; update" if version > len(MIGRATIONS) else "older; `daimon up` brings it up to date"
        raise JournalDamaged(f"{path} has format {version}, this release reads {len(MIGRATIONS)}: it is {what}")


def _sentence(path: Path, error: apsw.Error | DaimonError) -> DaimonError:
    if isinstance(error, DaimonError):
        return error
    if isinstance(error, apsw.CantOpenError):
        lost = _has_log(path) and not path.with_name(path.name + "-shm").exists()
        why = f"{path.name}-shm is missing beside its -wal; `daimon up` mends that" if lost else f"{error}; may this user read it?"
        return JournalStopped(f"the journal {path} cannot be opened: {why}")
    failure: JournalFailed = explain(error)
    return type(failure)(f"{path}: {failure}")
