from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.files.grounds import driver_on

from daimon.sandbox.files.driver import Driver


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The top of a workspace; beside it lies what must never be seen."""
    (tmp_path / "secret").write_text("the owner's own")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("the owner's own")
    (made := tmp_path / "work (1)").mkdir()
    return made


@pytest.fixture
def driver(tree: Path) -> Iterator[Driver]:
    with driver_on(tree) as driver:
        yield driver
