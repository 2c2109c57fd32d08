"""How the store ends: its file is closed by whoever opened it, in its thread, and nothing opens it again."""

import asyncio
import threading
from pathlib import Path

import pytest
from tests.memory.writing import Written

from daimon.abi.errors import ToolFailed
from daimon.abi.ports import Change, Cursor
from daimon.memory.store import MemoryStore

DEADLINE_S = 60.0


class HeldUp(Written):
    """Whoever asks it waits until somebody lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.may_go = threading.Event(), threading.Event()
        self.may_go.set()

    def since(self, cursor: Cursor, limit: int) -> list[Change]:
        self.is_asked.set()
        self.may_go.wait(DEADLINE_S)
        return super().since(cursor, limit)


@pytest.fixture
def journal() -> HeldUp:
    return HeldUp()


def _files(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir())


async def test_whoever_gives_up_opening_it_waits_for_its_thread(path: Path, journal: HeldUp) -> None:
    journal.remember("one")
    store, _ = await MemoryStore.open(path, journal)
    await store.catch_up()
    await store.close()
    journal.is_asked.clear()
    journal.may_go.clear()
    opening = asyncio.create_task(MemoryStore.open(path, journal))
    await asyncio.to_thread(journal.is_asked.wait, DEADLINE_S)
    opening.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    has_gone = opening.done()
    journal.may_go.set()
    async with asyncio.timeout(DEADLINE_S):
        with pytest.raises(asyncio.CancelledError):
            await opening
    assert not has_gone  # else the journal may be closed while the thread still reads it
    assert _files(path) == ["memory.db"]


async def test_closing_closes_it_whenever_that_is_cancelled(path: Path, journal: HeldUp) -> None:
    for turns in range(1, 5):
        store, _ = await MemoryStore.open(path, journal)
        journal.remember(f"note {turns}")
        asking = asyncio.create_task(store.catch_up())
        closing = asyncio.create_task(store.close())
        for _ in range(turns):
            await asyncio.sleep(0)
        closing.cancel()
        async with asyncio.timeout(DEADLINE_S):
            await asyncio.gather(asking, closing, return_exceptions=True)
            await store.close()
        assert _files(path) == ["memory.db"], turns


async def test_who_comes_while_it_closes_does_not_open_it_again(path: Path, journal: HeldUp) -> None:
    store, _ = await MemoryStore.open(path, journal)
    journal.remember("one")
    closing = asyncio.create_task(store.close())
    await asyncio.sleep(0)
    with pytest.raises(ToolFailed, match="closed"):
        await store.catch_up()
    await closing
    with pytest.raises(ToolFailed, match="closed"):
        await store.catch_up()
    assert _files(path) == ["memory.db"]
