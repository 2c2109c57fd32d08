from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.live import Live, live


@pytest.fixture(scope="module")
def daimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """One for all tests of a file; each keeps to conversations of its own."""
    home: Path = tmp_path_factory.mktemp("daimon") / "home"
    with live(home) as running:
        yield running
