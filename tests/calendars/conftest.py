from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from tests.calendars.rig import USER, Server, serving

USERS = 500


@pytest.fixture(scope="session")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Iterator[Server]]:
    """One server for all tests, with another user for each."""
    with serving(tmp_path_factory.mktemp("radicale"), USERS) as server:
        yield (replace(server, user=f"{USER}{i}", vault=type(server.vault)()) for i in count(1))


@pytest.fixture
def server(radicale: Iterator[Server]) -> Server:
    return next(radicale).make()
