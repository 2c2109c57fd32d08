"""The one writer: a thread that owns the write connection and commits in groups.

Coroutines hand it small functions of the connection; it runs all that have queued up inside one transaction, commits once (one
fsync), and only then tells the callers. So a returned `run` means: on disk. A function may be run twice, the first time for
nothing: when one of a group refuses, the group is rolled back and run again, each in a savepoint of its own. Refusals are rare,
savepoints are not free.

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
from contextlib import suppress
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
    future: "asyncio.Future[Any]"
    is_alone: bool = False


class Writer:
    def __init__(self, connection: apsw.Connection, on_commit: Callable[[], None], on_rollback: Callable[[], None]) -> None:
        self._connection = connection
        self._on_commit = on_commit
        self._on_rollback = on_rollback
        self._gathered: list[_Job] = []
        self._jobs: queue.SimpleQueue[list[_Job] | None] = queue.SimpleQueue()
        self._failure: JournalFailed | None = None
        self._is_closed = False
        self.refused: JournalFull | None = None
        """The last write found no space, and none has succeeded since."""
        self.commits = 0
        """How many transactions wrote something."""
        self._loop = asyncio.get_running_loop()
        self.stopped: asyncio.Future[JournalFailed] = self._loop.create_future()
        self._thread = threading.Thread(target=self._serve, name="journal-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` in the next transaction and returns its result when that is on disk."""
        self._require_open()
        future: asyncio.Future[T] = self._loop.create_future()
        if not self._gathered:
            self._loop.call_soon(self._hand_over)  # all that this round of the loop brings goes over at once
        self._gathered.append(_Job(work, future))
        return await future

    async def alone(self, work: Callable[[apsw.Connection], T]) -> T:
        """Runs `work` on the connection outside of any transaction, after all that was handed over before."""
        self._require_open()
        future: asyncio.Future[T] = self._loop.create_future()
        self._hand_over()
        self._jobs.put([_Job(work, future, is_alone=True)])
        return await future

    async def close(self) -> None:
        self._is_closed = True
        self._hand_over()
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _require_open(self) -> None:
        if self._failure:
            raise self._failure
        if self._is_closed:
            raise JournalStopped("the journal is closed")

    def _hand_over(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._jobs.put(gathered)

    def _serve(self) -> None:
        while (batch := self._next_batch()) is not None:
            alone = [job for job in batch if job.is_alone]
            together = [job for job in batch if not job.is_alone]
            if together:
                self._tell([(job, None, self._failure) for job in together] if self._failure else self._commit(together))
            self._tell([self._by_itself(job) for job in alone])

    def _next_batch(self) -> list[_Job] | None:
        """Everything that waits, up to a limit. None when the writer is closed."""
        batch = self._jobs.get()
        while batch is not None and len(batch) < MOST_PER_COMMIT and not self._jobs.empty():
            more = self._jobs.get()
            if more is None:
                self._jobs.put(None)
                break
            batch += more
        return batch

    def _commit(self, batch: list[_Job]) -> "list[_Told]":
        before = self._connection.total_changes()
        try:
            try:
                told = self._transaction(batch, _run)
            except FATAL:
                raise
            except Exception:  # noqa: BLE001 - whoever it was is found, and told, the second time
                self._roll_back()
                told = self._transaction(batch, self._run_alone)
        except apsw.Error as error:
            self._roll_back()
            failure = explain(error)
            if isinstance(failure, JournalFull):
                self.refused = failure
            else:
                self._stop(failure)
            return [(job, None, failure) for job in batch]
        if self._connection.total_changes() > before:
            self.commits += 1
            self.refused = None
            self._on_commit()
        return told

    def _run_alone(self, connection: apsw.Connection, job: _Job) -> "_Told":
        connection.execute("SAVEPOINT job")
        try:
            result = job.work(connection)
        except FATAL:
            raise
        except Exception as refusal:  # noqa: BLE001 - a caller's own mistake must reach that caller, never the writer's other callers
            connection.execute("ROLLBACK TO job")
            connection.execute("RELEASE job")
            self._on_rollback()
            return job, None, refusal
        connection.execute("RELEASE job")
        return job, result, None

    def _by_itself(self, job: _Job) -> "_Told":
        try:
            return job, job.work(self._connection), None
        except apsw.Error as error:
            return job, None, explain(error)
        except Exception as bug:  # noqa: BLE001 - the writer must outlive whatever its callers bring
            return job, None, bug

    def _transaction(self, batch: list[_Job], run: "Callable[[apsw.Connection, _Job], _Told]") -> "list[_Told]":
        self._connection.execute("BEGIN IMMEDIATE")
        told = [run(self._connection, job) for job in batch]
        self._connection.execute("COMMIT")
        return told

    def _roll_back(self) -> None:
        self._on_rollback()
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except apsw.Error as error:
            self._stop(explain(error))

    def _tell(self, told: "list[_Told]") -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to hear it
            self._loop.call_soon_threadsafe(_settle, told)

    def _stop(self, failure: JournalFailed) -> None:
        if self._failure is None:
            self._failure = failure
            self._loop.call_soon_threadsafe(lambda: None if self.stopped.done() else self.stopped.set_result(failure))


_Told = tuple[_Job, Any, BaseException | None]


def _run(connection: apsw.Connection, job: _Job) -> _Told:
    return job, job.work(connection), None


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
