from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from tests.gateway.live import Live
from tests.steward.rig import furnished

from daimon.testing.provider.server import ProviderServer
from daimon.testing.telegram.server import TelegramServer


@pytest.fixture(autouse=True)
def without_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def daimon(tmp_path: Path) -> Iterator[Live]:
    with furnished(tmp_path / "home") as running:
        yield running.live


@pytest.fixture
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as opened:
        yield opened


@pytest.fixture
def provider(portal: BlockingPortal) -> Iterator[ProviderServer]:
    server: AbstractContextManager[ProviderServer] = portal.wrap_async_context_manager(ProviderServer(models=("test-model", "other")))
    with server as opened:
        yield opened


@pytest.fixture
def telegram(portal: BlockingPortal) -> Iterator[TelegramServer]:
    server: AbstractContextManager[TelegramServer] = portal.wrap_async_context_manager(TelegramServer())
    with server as opened:
        yield opened
