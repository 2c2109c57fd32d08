import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from daimon.testing.matrix.homeserver import Homeserver, NoHomeserver, homeserver, install


@pytest.fixture(scope="session")
def synapse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homeserver]:
    """One for all tests, in all workers; each test makes people and rooms of its own."""
    base = tmp_path_factory.getbasetemp()
    try:
        python = install(Path(__file__).parents[3])
        serving = homeserver(python, (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "synapse")
        server = serving.__enter__()
    except NoHomeserver as error:
        pytest.skip(f"no Matrix homeserver here: {error}")
    try:
        yield server
    finally:
        serving.__exit__(None, None, None)
