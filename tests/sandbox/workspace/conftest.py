from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.sandbox.workspace.hand import Hand

from daimon.sandbox.workspace.store import Store
from daimon.testing.clock import ManualClock


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / "src/deep").mkdir(parents=True)
    (made / "readme").write_text("one\ntwo\nthree\nfour\nfive\n")
    (made / "src/main.py").write_text("print(1)\n")
    (made / "src/deep/data").write_text("data\n")
    return made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    made = await Store.open(tmp_path / "workspaces", clock)
    yield made
    await made.close()


@pytest.fixture
async def hand(store: Store, base: Path) -> Hand:
    return Hand(store, (await store.new(str(base))).id, base)
