"""A signal of which a waiting main thread is not told by the system: as one that comes just before the wait."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from tests.cli.processes import wait_until

from daimon.cli.attention import NUDGE, attentive

DEADLINE_S = 60.0


class Pressed(Exception):
    pass


def _pressed(number: int, frame: object) -> NoReturn:
    raise Pressed


@pytest.fixture
def unheard() -> Iterator[None]:
    """The main thread does not take SIGINT itself, so another one does: its mark is left, and no wait of the main thread is interrupted."""
    before = signal.signal(signal.SIGINT, _pressed)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    yield
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, before)


def press(reading: int) -> None:
    """By a thread that takes it, when the main thread waits for the descriptor."""
    called = Path(f"/proc/self/task/{threading.main_thread().native_id}/syscall")
    wait_until(lambda: called.read_text().split()[1:2] == [hex(reading)])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)


def waited_for(reading: int) -> bytes:
    """As a prompt does: one call, which only a key or a signal ends."""
    thread = threading.Thread(target=press, args=(reading,))
    thread.start()
    try:
        return os.read(reading, 1)
    finally:
        thread.join(DEADLINE_S)


@pytest.mark.usefixtures("unheard")
def test_it_is_noticed_without_a_further_key() -> None:
    reading, writing = os.pipe()
    needed = threading.Event()

    def type_a_key() -> None:  # it ends the wait, and then the other would be noticed too
        needed.set()
        os.write(writing, b"x")

    late = threading.Timer(DEADLINE_S, type_a_key)
    late.start()
    try:
        with pytest.raises(Pressed), attentive():
            waited_for(reading)
        assert not needed.is_set()
    finally:
        late.cancel()
        late.join()
        os.close(reading)
        os.close(writing)


def test_afterwards_all_is_as_it_was_and_a_key_is_a_key() -> None:
    before = signal.getsignal(NUDGE)
    reading, writing = os.pipe()
    with attentive():
        os.write(writing, b"x")
        assert os.read(reading, 1) == b"x"
    os.close(reading)
    os.close(writing)
    assert signal.getsignal(NUDGE) == before
    assert "attention" not in [thread.name for thread in threading.enumerate()]
    assert signal.set_wakeup_fd(-1) == -1


def test_in_another_thread_nothing_is_done() -> None:
    found: list[object] = []

    def ask() -> None:
        with attentive():
            found.append(signal.getsignal(NUDGE))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(DEADLINE_S)
    assert found == [signal.getsignal(NUDGE)]
