"""Looking at a journal that nobody runs, without leaving a trace. What the archive says is proved by the journal's contract."""

import asyncio
import signal
from pathlib import Path

import pytest
from tests.journal.world import child, ended, event, opened

from daimon.abi.errors import JournalDamaged, JournalFailed, NotFound
from daimon.abi.ids import EventId
from daimon.abi.ports import START as BEGINNING
from daimon.journal.readonly import ReadOnlyJournal

DIES = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.journal.world import event, opened

async def main():
    async with opened(Path(sys.argv[1])) as journal:
        await journal.accept(event("a"))
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""

COMES_AND_GOES = """
import os, sys

while True:
    os.close(os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY))
    os.unlink(sys.argv[1])
"""


async def test_what_was_written_is_read_and_no_file_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.accept(event("a"))
        written = await journal.event(EventId("e-a"))
    before = _files(tmp_path)

    viewer = await ReadOnlyJournal.open(path)
    assert await viewer.event(EventId("e-a")) == written
    assert (await viewer.count()).events == 1
    with pytest.raises(NotFound):
        await viewer.event(EventId("e-b"))
    await viewer.close()

    assert _files(tmp_path) == before


async def test_what_a_killed_process_left_in_its_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    await asyncio.to_thread(_write_and_die, path)
    before = _files(tmp_path)
    assert before["journal.db-wal"][0] > 0

    viewer = await ReadOnlyJournal.open(path)
    assert (await viewer.event(EventId("e-a"))).key == "a"
    await viewer.close()

    assert _files(tmp_path) == before


async def test_a_log_without_its_index_is_a_sentence_and_not_a_wrong_answer(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    await asyncio.to_thread(_write_and_die, path)
    (tmp_path / "journal.db-shm").unlink()
    with pytest.raises(JournalFailed, match="daimon up"):
        await ReadOnlyJournal.open(path)


async def test_a_process_that_starts_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.accept(event("a"))
    viewer = await ReadOnlyJournal.open(path)
    assert (await viewer.count()).events == 1

    async with opened(path) as journal:
        await journal.accept(event("b"))
        assert (await viewer.event(EventId("e-b"))).key == "b"
        await journal.accept(event("c"))
        assert (await viewer.count()).events == 3
    assert (await viewer.count()).events == 3
    await viewer.close()


async def test_a_log_that_comes_and_goes_while_it_is_looked_for_harms_nobody(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path) as journal:
        await journal.accept(event("a"))
    viewer = await ReadOnlyJournal.open(path)
    with child(COMES_AND_GOES, f"{path}-wal") as process:
        try:
            for _ in range(5_000):
                assert (await viewer.event(EventId("e-a"))).key == "a"
        finally:
            process.kill()
            await viewer.close()


async def test_no_journal_yet_is_not_found_and_makes_none(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="daimon up"):
        await ReadOnlyJournal.open(tmp_path / "home" / "journal.db")
    assert _files(tmp_path) == {}


async def test_a_journal_that_was_there_and_is_gone_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    async with opened(path):
        pass
    path.unlink()
    with pytest.raises(JournalDamaged, match="missing"):
        await ReadOnlyJournal.open(path)


@pytest.mark.parametrize("content", [b"this is no database" * 1_000, b"SQLite format 3\0" + b"\xff" * 8_000])
async def test_a_file_that_is_no_journal_is_damage(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with pytest.raises(JournalDamaged, match=r"journal\.db"):
        await ReadOnlyJournal.open(path)


async def test_a_journal_at_rest_cannot_be_watched(tmp_path: Path) -> None:
    async with opened(tmp_path / "journal.db"):
        pass
    viewer = await ReadOnlyJournal.open(tmp_path / "journal.db")
    with pytest.raises(JournalFailed, match="daimon up"):
        viewer.watch(BEGINNING)
    await viewer.close()


def _files(directory: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_size, path.stat().st_mtime_ns) for path in directory.iterdir()}


def _write_and_die(path: Path) -> None:
    """In another process, since a journal that is closed merges its log."""
    _, code = ended(child(DIES, path))
    assert code == -signal.SIGKILL
