"""A home that somebody holds who does not listen: a gateway that starts or ends, another command."""

import os
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, wait_until

from daimon.abi.errors import HomeBusy
from daimon.cli.awake import is_awake
from daimon.machine.home import Home


@pytest.fixture
def home(daimon: Daimon) -> Home:
    made = Home(daimon.home)
    made.ensure()
    return made


@contextmanager
def held(home: Home) -> Iterator[None]:
    descriptor = home.lock()
    try:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def asking(home: Home) -> Iterator[Future[bool]]:
    with ThreadPoolExecutor(1) as threads:
        yield threads.submit(is_awake, home, DEADLINE_S)


def test_nobody_holds_it_and_nobody_listens(home: Home) -> None:
    assert not is_awake(home)


def test_a_gateway_that_is_starting_is_waited_for(home: Home) -> None:
    with held(home), asking(home) as asked, socket.socket(socket.AF_UNIX) as gateway:
        gateway.bind(str(home.socket))
        gateway.listen()
        assert asked.result(DEADLINE_S)


def test_another_command_is_waited_for(home: Home) -> None:
    with asking(home) as asked:
        with held(home):
            pass
        assert not asked.result(DEADLINE_S)


def test_who_holds_it_for_longer_is_named(home: Home) -> None:
    named = f"process {os.getpid()} holds {home.path}, and no gateway listens there yet; if it is starting, try again in a moment"
    with held(home), pytest.raises(HomeBusy, match=named):
        is_awake(home, 0.0)


def test_a_command_right_after_a_start_is_answered_by_the_gateway(daimon: Daimon) -> None:
    process = daimon.start("up", "--port", "0")
    wait_until(lambda: Home(daimon.home).holder() == process.pid)  # it may or may not listen yet
    assert daimon.run("automations", "add", "plants", "every monday at 18:00", "Water the plants").code == 0
    assert daimon.run("devices").code == 0


def test_status_says_who_holds_it(daimon: Daimon, home: Home) -> None:
    assert daimon.run("people", "invite", "Anna").code == 0
    with held(home):
        assert f"does not listen: process {os.getpid()} holds this home" in " ".join(daimon.run("status").out.split())
