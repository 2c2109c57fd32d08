from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.memory.writing import Written

from daimon.memory.store import MemoryStore


@pytest.fixture
def journal() -> Written:
    return Written()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def store(path: Path, journal: Written) -> AsyncIterator[MemoryStore]:
    opened, warnings = await MemoryStore.open(path, journal)
    assert warnings == []
    yield opened
    await opened.close()
