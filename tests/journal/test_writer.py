"""The one writer, on a file system that fails when it is told to."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from daimon.abi.errors import BadInput, JournalDamaged, JournalFailed, JournalFull, JournalStopped
from daimon.journal.opening import prepare
from daimon.journal.writer import MOST_PER_COMMIT, Writer, explain

DEADLINE_S = 60.0


class Disk(apsw.VFS):
    """The real file system, until `write` or `sync` is given an error to raise, or `gate` is closed."""

    def __init__(self) -> None:
        super().__init__("disk", "")
        self.write: apsw.Error | None = None
        self.sync: apsw.Error | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.at_the_gate = threading.Event()
        self.touched = 0

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return DiskFile(self, name, flags)


class DiskFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__("", name, flags)  # type: ignore[arg-type]
        self._disk = disk

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.touched += 1
        if self._disk.write is not None:
            raise self._disk.write
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.at_the_gate.set()
        assert self._disk.gate.wait(DEADLINE_S)
        if self._disk.sync is not None:
            raise self._disk.sync
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[Disk]:
    made = Disk()
    yield made
    made.unregister()


@pytest.fixture
def connection(disk: Disk, tmp_path: Path) -> Iterator[apsw.Connection]:
    prepared = prepare(tmp_path / "journal.db")
    prepared.execute("CREATE TABLE words (name TEXT PRIMARY KEY)")
    prepared.close()
    made = apsw.Connection(str(tmp_path / "journal.db"), vfs="disk")
    yield made
    disk.write = disk.sync = None
    made.close()


@pytest.fixture
async def writer(connection: apsw.Connection) -> AsyncIterator[Writer]:
    made = Writer(connection, lambda: None, lambda: None)
    yield made
    await asyncio.wait_for(made.close(), DEADLINE_S)


def put(name: str) -> "Put":
    return Put(name)


class Put:
    """A job that writes one row and says which."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, db: apsw.Connection) -> str:
        db.execute("INSERT INTO words VALUES (?)", (self.name,))
        return self.name


def rows(db: apsw.Connection) -> list[str]:
    return [name for (name,) in db.execute("SELECT name FROM words ORDER BY name")]


async def at_the_gate(disk: Disk) -> None:
    """Waits until a commit is about to be synced."""
    assert await asyncio.to_thread(disk.at_the_gate.wait, DEADLINE_S)
    disk.at_the_gate.clear()


async def settled(*calls: "asyncio.Future[object]") -> list[object]:
    async with asyncio.timeout(DEADLINE_S):
        return await asyncio.gather(*calls, return_exceptions=True)


# -- what a returned call means


async def test_nobody_hears_of_success_before_it_is_on_disk(writer: Writer, disk: Disk) -> None:
    disk.gate.clear()
    call = asyncio.ensure_future(writer.run(put("a")))
    await at_the_gate(disk)
    for _ in range(20):
        await asyncio.sleep(0)
    assert not call.done()
    disk.gate.set()
    assert await settled(call) == ["a"]


async def test_whoever_comes_while_the_disk_is_busy_shares_the_next_commit(writer: Writer, disk: Disk, connection: apsw.Connection) -> None:
    disk.gate.clear()
    calls = [asyncio.ensure_future(writer.run(put("first")))]
    await at_the_gate(disk)
    calls += [asyncio.ensure_future(writer.run(put(f"{n:04d}"))) for n in range(100)]
    await asyncio.sleep(0)
    disk.gate.set()
    assert await settled(*calls) == ["first", *(f"{n:04d}" for n in range(100))]
    assert writer.commits == 2
    assert len(rows(connection)) == 101


async def test_a_commit_takes_so_many_and_leaves_the_rest_for_the_next(writer: Writer, disk: Disk) -> None:
    disk.gate.clear()
    calls = [asyncio.ensure_future(writer.run(put("first")))]
    await at_the_gate(disk)
    for n in range(30):
        calls += [asyncio.ensure_future(writer.run(put(f"{n:02d}{m:02d}"))) for m in range(MOST_PER_COMMIT // 10)]
        for _ in range(3):
            await asyncio.sleep(0)
    disk.gate.set()
    await settled(*calls)
    assert 1 + 2 <= writer.commits <= 1 + 4


async def test_a_job_sees_what_its_predecessors_in_the_same_commit_wrote(writer: Writer) -> None:
    calls = [asyncio.ensure_future(writer.run(work)) for work in (put("a"), rows, put("b"), rows)]
    assert await settled(*calls) == ["a", ["a"], "b", ["a", "b"]]


async def test_reading_alone_is_no_commit(connection: apsw.Connection) -> None:
    told: list[int] = []
    writer = Writer(connection, lambda: told.append(1), lambda: None)
    assert await writer.run(rows) == []
    assert (writer.commits, told) == (0, [])
    await writer.run(put("a"))
    assert (writer.commits, told) == (1, [1])
    await writer.close()


# -- refusals


def refuse(db: apsw.Connection) -> None:
    put("refused")(db)
    raise BadInput("no")


def divide(db: apsw.Connection) -> None:
    put("divided")(db)
    _ = 1 / 0


def repeat(db: apsw.Connection) -> None:
    put("twice")(db)
    put("twice")(db)


async def test_a_refusal_undoes_its_own_work_and_nobody_elses(writer: Writer, connection: apsw.Connection) -> None:
    calls = [asyncio.ensure_future(writer.run(work)) for work in (put("a"), refuse, put("b"), divide, put("c"), repeat, put("d"))]  # type: ignore[arg-type, list-item]
    results = await settled(*calls)
    assert results[::2] == ["a", "b", "c", "d"]
    assert [type(result) for result in results[1::2]] == [BadInput, ZeroDivisionError, apsw.ConstraintError]
    assert rows(connection) == ["a", "b", "c", "d"]
    assert not writer.stopped.done()


async def test_a_caller_who_does_not_wait_harms_nobody(writer: Writer, disk: Disk, connection: apsw.Connection) -> None:
    disk.gate.clear()
    gone, stays = asyncio.ensure_future(writer.run(put("a"))), asyncio.ensure_future(writer.run(put("b")))
    await at_the_gate(disk)
    gone.cancel()
    with suppress(asyncio.CancelledError):
        await gone
    disk.gate.set()
    assert await settled(stays) == ["b"]
    assert rows(connection) == ["a", "b"]


# -- a full disk


async def test_a_full_disk_refuses_all_of_the_commit_and_a_later_one_succeeds(
    writer: Writer, disk: Disk, connection: apsw.Connection
) -> None:
    await writer.run(put("before"))
    disk.write = apsw.FullError("no space")
    results = await settled(*(asyncio.ensure_future(writer.run(put(name))) for name in "ab"))
    assert [type(result) for result in results] == [JournalFull, JournalFull]
    assert "until there is space in the home directory" in str(results[0])
    assert rows(connection) == ["before"]
    disk.write = None
    assert await writer.run(put("a")) == "a"
    assert rows(connection) == ["a", "before"]
    assert (writer.commits, writer.stopped.done()) == (2, False)


async def test_a_disk_that_is_full_for_long_does_not_stop_the_writer(writer: Writer, disk: Disk) -> None:
    for _ in range(20):
        disk.write = apsw.FullError("no space")
        with pytest.raises(JournalFull):
            await writer.run(put("a"))
        disk.write = None
        assert await writer.run(rows) == []
    assert await writer.run(put("a")) == "a"


# -- a broken disk


@pytest.mark.parametrize("where", ["write", "sync"])
@pytest.mark.parametrize("error", [apsw.IOError("the disk is gone"), apsw.CorruptError("malformed"), apsw.ReadOnlyError("read-only")])
async def test_a_failure_of_the_disk_stops_the_writer_for_good_and_nothing_is_retried(
    writer: Writer, disk: Disk, where: str, error: apsw.Error
) -> None:
    await writer.run(put("before"))
    setattr(disk, where, error)
    results = await settled(*(asyncio.ensure_future(writer.run(put(name))) for name in "ab"))
    assert {type(result) for result in results} == {type(explain(error))}
    failure = await asyncio.wait_for(asyncio.shield(writer.stopped), DEADLINE_S)
    assert isinstance(failure, JournalStopped | JournalDamaged)
    disk.write = disk.sync = None
    touched = disk.touched
    for work in (put("c"), rows):
        with pytest.raises(type(failure)):
            await writer.run(work)  # type: ignore[arg-type]
    assert disk.touched == touched
    assert writer.commits == 1


async def test_a_failed_sync_is_not_success_even_if_the_next_one_works(writer: Writer, disk: Disk, tmp_path: Path) -> None:
    await writer.run(put("before"))
    disk.sync = apsw.IOError("fsync failed")
    with pytest.raises(JournalStopped, match="is not retried; check the disk, then start again"):
        await writer.run(put("lost"))
    disk.sync = None
    with pytest.raises(JournalStopped):
        await writer.run(put("lost"))
    with apsw.Connection(str(tmp_path / "journal.db")) as reader:
        assert rows(reader) == ["before"]
    reader.close()


async def test_those_who_wait_behind_a_failing_commit_are_refused_too(writer: Writer, disk: Disk) -> None:
    disk.gate.clear()
    first = asyncio.ensure_future(writer.run(put("a")))
    await at_the_gate(disk)
    behind = [asyncio.ensure_future(writer.run(put(f"b{n}"))) for n in range(5)]
    await asyncio.sleep(0)
    disk.sync = apsw.IOError("fsync failed")
    disk.gate.set()
    assert {type(result) for result in await settled(first, *behind)} == {JournalStopped}


# -- the end


async def test_closing_completes_what_was_asked_before(connection: apsw.Connection) -> None:
    writer = Writer(connection, lambda: None, lambda: None)
    calls = [asyncio.ensure_future(writer.run(put(name))) for name in "abc"]
    await asyncio.sleep(0)
    await asyncio.wait_for(writer.close(), DEADLINE_S)
    assert await settled(*calls) == ["a", "b", "c"]


async def test_after_the_end_a_call_is_refused_and_not_left_waiting(connection: apsw.Connection) -> None:
    writer = Writer(connection, lambda: None, lambda: None)
    await writer.close()
    with pytest.raises(JournalStopped, match="closed"):
        await asyncio.wait_for(writer.run(rows), 60)


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (apsw.FullError("x"), JournalFull, "the disk is full"),
        (apsw.ReadOnlyError("x"), JournalStopped, "read-only"),
        (apsw.PermissionsError("x"), JournalStopped, "read-only"),
        (apsw.CorruptError("x"), JournalDamaged, "Restore a backup"),
        (apsw.NotADBError("x"), JournalDamaged, "Restore a backup"),
        (apsw.BusyError("x"), JournalStopped, "another process"),
        (apsw.LockedError("x"), JournalStopped, "another process"),
        (apsw.IOError("x"), JournalStopped, "check the disk"),
        (apsw.CantOpenError("x"), JournalStopped, "check the disk"),
        (apsw.SQLError("x"), JournalStopped, "check the disk"),
    ],
)
def test_what_sqlite_complains_of_is_said_to_the_owner_with_what_to_do(error: apsw.Error, kind: type[JournalFailed], words: str) -> None:
    said = explain(error)
    assert type(said) is kind
    assert words in str(said)


async def test_whatever_is_rolled_back_is_told_so_that_nothing_remembered_outlives_it(connection: apsw.Connection) -> None:
    rolled_back: list[int] = []
    writer = Writer(connection, lambda: None, lambda: rolled_back.append(1))

    def refuse(db: apsw.Connection) -> None:
        raise BadInput("no")

    with pytest.raises(BadInput):
        await writer.run(refuse)
    assert rolled_back
    await writer.close()


async def test_work_by_itself_is_refused_after_the_end_and_cannot_end_the_writer(connection: apsw.Connection) -> None:
    writer = Writer(connection, lambda: None, lambda: None)

    def broken(db: apsw.Connection) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(writer.alone(broken), DEADLINE_S)
    assert await asyncio.wait_for(writer.run(lambda db: 7), DEADLINE_S) == 7
    await writer.close()
    with pytest.raises(JournalStopped):
        await asyncio.wait_for(writer.alone(lambda db: 7), DEADLINE_S)
