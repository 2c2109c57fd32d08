"""So many and no more: connections of all, streams of one device. Whoever came before that goes on."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from tests.gateway.live import DEADLINE_S, Live
from tests.room.rig import gateway
from tests.room.visitor import Visitor, signed_in
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from daimon.gateway import door, lane

FEW = 6
ALIVE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """Nobody else is connected to it."""
    with gateway(tmp_path / "home") as running:
        yield running.live


@pytest.fixture
def few_connections() -> Iterator[None]:
    """The value of the module, as it would be set for a small machine."""
    before, lane.MOST_CONNECTIONS = lane.MOST_CONNECTIONS, FEW
    yield
    lane.MOST_CONNECTIONS = before


@pytest.fixture
def few_streams() -> Iterator[None]:
    before, door.MOST_STREAMS = door.MOST_STREAMS, FEW
    yield
    door.MOST_STREAMS = before


@contextmanager
def line(live: Live) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", live.connect().port), DEADLINE_S) as made:
        yield made


def answer(live: Live) -> bytes:
    with line(live) as asking:
        try:
            asking.sendall(ALIVE)
            return asking.recv(4_096)
        except ConnectionError:  # it was closed before the question was there
            return b""


@pytest.mark.usefixtures("few_connections")
def test_a_connection_too_many_is_told_so_and_those_that_are_open_go_on(live: Live) -> None:
    with ExitStack() as held:
        open_ = [held.enter_context(line(live)) for _ in range(FEW)]
        with line(live) as one_more:
            said = one_more.recv(4_096)
            assert said.startswith(b"HTTP/1.1 503 ")
            assert b'"too_many"' in said
            assert one_more.recv(1) == b"", "and is closed"
        assert live.call_socket("GET", "/v1/status").status == 200, "the owner's programs have a door of their own"
        open_[0].sendall(ALIVE)
        assert open_[0].recv(4_096).startswith(b"HTTP/1.1 200 ")
    until = time.monotonic() + DEADLINE_S
    while not answer(live).startswith(b"HTTP/1.1 200 "):  # it has to notice that they went
        assert time.monotonic() < until


@pytest.mark.usefixtures("few_streams")
async def test_a_device_has_so_many_streams_and_takes_none_from_others(live: Live) -> None:
    device, other = await asyncio.to_thread(signed_in, live), await asyncio.to_thread(signed_in, live)
    async with asyncio.timeout(DEADLINE_S):
        tabs = [await tab(live, device) for _ in range(FEW)]
        async with await tab(live, device) as one_more:
            with pytest.raises(ConnectionClosed) as closed:
                await one_more.recv()
        assert closed.value.rcvd is not None, "a page can read why it was closed, but not why it was never opened"
        assert (closed.value.rcvd.code, "close some of its tabs" in closed.value.rcvd.reason) == (door.CROWDED, True)
        feed = await asyncio.to_thread(device.call, "GET", "/v1/feed")
        assert (feed.status, feed.code) == (429, "too_many")
        tabs.append(await tab(live, other))
        await tabs.pop(0).close()
        await when_there_is_room(live, device)
        for each in tabs:
            assert await is_ready(each)
            await each.close()


async def tab(live: Live, device: Visitor) -> ClientConnection:
    url = f"{live.url.replace('http', 'ws')}/v1/socket"
    return await connect(url, additional_headers=device.authority, origin=live.url, proxy=None)  # type: ignore[arg-type]


async def is_ready(line: ClientConnection) -> bool:
    with suppress(ConnectionClosed):
        await line.send('{"kind": "begin"}')
        return '"ready"' in str(await line.recv())
    return False


async def when_there_is_room(live: Live, device: Visitor) -> None:
    """It has to notice that a tab went."""
    while True:
        async with await tab(live, device) as made:
            if await is_ready(made):
                return
