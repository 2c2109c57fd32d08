"""The one writer: a thread that owns the write connection and commits in groups.

Coroutines hand it small functions of the connection; it runs all that have queued up inside one transaction, each in a savepoint
of its own, commits once (one fsync), and only then tells the callers. So a returned `run` means: on disk.

The invariant: no caller hears of success before the commit, and a refusal of one (`DaimonError`) does not touch its
neighbours. When the commit itself fails, nobody's work counts. Lack of space is a refusal (`JournalFull`): the transaction
was rolled back, and a later one may succeed. Everything else (a failed fsync, an I/O error, corruption) stops the writer for
good: after a failed fsync the kernel may have dropped the very pages that failed, so a retry that "succeeds" proves nothing.
`stopped` then tells whoever runs the process to end it; the next start reads what is really on the disk.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import apsw

from daimon.abi.errors import JournalDamaged, JournalFailed, JournalFull, JournalStopped

T = TypeVar("T")
Work = Callable[[apsw.Connection], Any]
MOST_PER_COMMIT = 512
FATAL = (
    apsw.FullError,
    apsw.IOError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.CantOpenError,
    apsw.NoMemError,
    apsw.InternalError,
)
"""What is about the file, not about one caller's statement."""


@dataclass(frozen=True, slots=True)
class _Job:
    work: Work
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"


class Writer:
    def __init__(self, connection: apsw.Connection, on_commit: Callable[[], None]) -> None:
        self._connection = connection
        self._on_commit = on_commit
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._failure: JournalFailed | None = None
        self.commits = 0
        self.stopped: asyncio.Future[JournalFailed] = asyncio.get_running_loop().create_future()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._serve, name="journal-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` in the next transaction and returns its result when that is on disk."""
        if self._failure:
            raise self._failure
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        self._jobs.put(job)
        result: T = await job.future
        return result

    async def close(self) -> None:
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _serve(self) -> None:
        while (batch := self._next_batch()) is not None:
            if self._failure:
                _tell([(job, None, self._failure) for job in batch])
            else:
                _tell(self._commit(batch))
        _tell([(job, None, JournalStopped("the journal is closed")) for job in self._leftover()])

    def _next_batch(self) -> list[_Job] | None:
        batch: list[_Job] = []
        item = self._jobs.get()
        while item is not None:
            batch.append(item)
            if len(batch) == MOST_PER_COMMIT or self._jobs.empty():
                return batch
            item = self._jobs.get()
        if batch:
            self._jobs.put(None)
            return batch
        return None

    def _leftover(self) -> list[_Job]:
        left: list[_Job] = []
        while not self._jobs.empty():
            if (job := self._jobs.get()) is not None:
                left.append(job)
        return left

    def _commit(self, batch: list[_Job]) -> "list[_Told]":
        connection = self._connection
        told: list[_Told] = []
        before = connection.total_changes()
        try:
            connection.execute("BEGIN IMMEDIATE")
            for job in batch:
                told.append(_attempt(connection, job))
            connection.execute("COMMIT")
        except apsw.Error as error:
            self._roll_back()
            failure = explain(error)
            if not isinstance(failure, JournalFull):
                self._stop(failure)
            return [(job, None, failure) for job in batch]
        if connection.total_changes() > before:
            self.commits += 1
            self._on_commit()
        return told

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._stop(explain(error))

    def _stop(self, failure: JournalFailed) -> None:
        if self._failure is None:
            self._failure = failure
            self._loop.call_soon_threadsafe(lambda: None if self.stopped.done() else self.stopped.set_result(failure))


_Told = tuple[_Job, Any, BaseException | None]


def _attempt(connection: apsw.Connection, job: _Job) -> _Told:
    connection.execute("SAVEPOINT job")
    try:
        result = job.work(connection)
    except FATAL:
        raise
    except Exception as refusal:  # noqa: BLE001 - a caller's own mistake must reach that caller, never the writer's other callers
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        return job, None, refusal
    connection.execute("RELEASE job")
    return job, result, None


def _tell(told: list[_Told]) -> None:
    for loop in {job.loop for job, _, _ in told}:
        mine = [t for t in told if t[0].loop is loop]
        if not loop.is_closed():
            loop.call_soon_threadsafe(_settle, mine)


def _settle(told: list[_Told]) -> None:
    for job, result, error in told:
        if job.future.done():
            continue
        if error is None:
            job.future.set_result(result)
        else:
            job.future.set_exception(error)


def explain(error: apsw.Error) -> JournalFailed:
    """What SQLite's complaint means for the owner, and what to do."""
    code = getattr(error, "extendedresult", 0)
    detail = f"{error} (SQLite {type(error).__name__}, code {code})"
    match error:
        case apsw.FullError():
            return JournalFull(f"the disk is full: nothing new can be accepted until there is space in the home directory. {detail}")
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return JournalStopped(f"the journal cannot be written: the file or its file system is read-only. {detail}")
        case apsw.CorruptError() | apsw.NotADBError():
            return JournalDamaged(
                f"the journal file is damaged; nothing was changed. Restore a backup, or move the file away to keep it for repair. {detail}"
            )
        case apsw.BusyError() | apsw.LockedError():
            return JournalStopped(f"another process writes to this journal; only one may. {detail}")
        case _:
            return JournalStopped(f"writing the journal failed and is not retried; check the disk, then start again. {detail}")
