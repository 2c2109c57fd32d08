from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes import Daimon


@pytest.fixture
def daimon(tmp_path: Path) -> Iterator[Daimon]:
    signs = tmp_path / "signs"
    signs.mkdir()
    made = Daimon(tmp_path / "home", signs)
    yield made
    made.close()
