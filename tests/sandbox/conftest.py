from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.boxes import WORKER, opened

from daimon.sandbox.box import RunningBox


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """For the whole module, so that its tests can share a box."""
    return "asyncio"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("shared") / "my work (1)"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
async def box(workspace: Path) -> AsyncIterator[RunningBox]:
    """One that all tests of a module share: a start takes longer than most commands."""
    async with opened(WORKER, workspace) as box:
        yield box
