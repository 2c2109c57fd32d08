from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.room.rig import Gateway, Room, chromium, gateway, room_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file: while playwright runs, the thread has an event loop, which tests of other files need for themselves."""
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="module")
def daimon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One for all tests of a file; each keeps to conversations of its own."""
    home: Path = tmp_path_factory.mktemp("room") / "home"
    with gateway(home) as running:
        yield running


@pytest.fixture
def room(browser: Browser, daimon: Gateway) -> Iterator[Room]:
    """A signed-in browser; the test fails if a page of it complained."""
    with room_of(browser, daimon) as made:
        yield made
