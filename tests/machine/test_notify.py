"""What the service manager hears: real datagrams on a real socket, with a path and without."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from daimon.abi.errors import JournalStopped
from daimon.machine.notify import Manager, manager_of
from daimon.testing.clock import ManualClock

DEADLINE_S = 60.0


@pytest.fixture(params=["path", "abstract"])
def heard(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@daimon-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(address.replace("@", "\0", 1) if address.startswith("@") else address)
        ear.settimeout(DEADLINE_S)
        yield address, ear


async def alive() -> None:
    return


def test_ready_and_stopping_are_told_and_children_cannot_speak_for_it(heard: tuple[str, socket.socket]) -> None:
    address, ear = heard
    environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7", "PATH": "/bin"}
    manager = manager_of(environment, 7)
    assert environment == {"PATH": "/bin"}
    manager.ready("http://127.0.0.1:1")
    manager.stopping("turns rest", 2.5)
    assert ear.recv(4096) == b"READY=1\nSTATUS=http://127.0.0.1:1"
    assert ear.recv(4096) == b"STOPPING=1\nSTATUS=turns rest\nEXTEND_TIMEOUT_USEC=2500000"


def test_what_is_said_once_waits_for_room_and_a_beat_does_not(heard: tuple[str, socket.socket]) -> None:
    address, ear = heard
    manager = Manager(address, 30.0)
    before = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as others:
        others.setblocking(False)
        others.connect(ear.getsockname())
        with suppress(BlockingIOError):
            while others.send(b"of others"):
                before.append(b"of others")
    manager._tell("WATCHDOG=1")
    told = threading.Thread(target=manager.ready, args=("here",))
    told.start()
    assert [ear.recv(4096) for _ in before] == before
    assert ear.recv(4096) == b"READY=1\nSTATUS=here"
    told.join(DEADLINE_S)


async def test_it_beats_three_times_within_the_limit_and_only_while_the_proof_comes_back(heard: tuple[str, socket.socket]) -> None:
    address, ear = heard
    ear.setblocking(False)
    clock, trouble = ManualClock(), list[Exception]()

    async def prove() -> None:
        if trouble:
            raise trouble[0]

    beating = asyncio.ensure_future(Manager(address, 30.0).keep_beating(prove, clock))
    async with asyncio.timeout(DEADLINE_S):
        for _ in range(3):
            await asyncio.sleep(0)
            assert ear.recv(4096) == b"WATCHDOG=1"
            await clock.advance(10)
        assert ear.recv(4096) == b"WATCHDOG=1"
        trouble.append(JournalStopped("gone"))
        await clock.advance(10)
        with pytest.raises(BlockingIOError):
            ear.recv(4096)
        trouble.clear()
        await clock.advance(10)
        assert ear.recv(4096) == b"WATCHDOG=1"
    beating.cancel()


@pytest.mark.parametrize(
    "environment",
    [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "relative"}, {"NOTIFY_SOCKET": "/no/such/socket"}, {"NOTIFY_SOCKET": "/nowhere" * 40}],
)
async def test_nobody_who_listens_is_no_reason_to_fail(environment: dict[str, str]) -> None:
    manager = manager_of(environment, 1)
    manager.ready("here")
    manager.stopping("", 1)
    async with asyncio.timeout(DEADLINE_S):
        await manager.keep_beating(alive, ManualClock())


@pytest.mark.parametrize("more", [{}, {"WATCHDOG_USEC": "0"}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "2"}])
async def test_no_beat_is_sent_where_none_is_wanted_of_this_process(heard: tuple[str, socket.socket], more: dict[str, str]) -> None:
    address, ear = heard
    ear.setblocking(False)
    async with asyncio.timeout(DEADLINE_S):
        await manager_of({"NOTIFY_SOCKET": address, **more}, 1).keep_beating(alive, ManualClock())
    with pytest.raises(BlockingIOError):
        ear.recv(4096)
