import os
import signal

import pytest

from daimon.cli.interrupt import Interrupt


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interruption_outside_of_a_window_waits_for_the_next_one() -> None:
    with Interrupt() as interrupt:
        press()
        press()
        with pytest.raises(KeyboardInterrupt), interrupt.window():
            pytest.fail("it must not be entered")
        with interrupt.window():
            pass


def test_inside_of_a_window_it_comes_at_once() -> None:
    with Interrupt() as interrupt, pytest.raises(KeyboardInterrupt), interrupt.window():
        press()


def test_whoever_presses_again_where_nothing_moves_is_heard() -> None:
    with Interrupt(hangs_s=0.0):
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_afterwards_all_is_as_it_was() -> None:
    with Interrupt():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_ignores_interruptions_goes_on_doing_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupt():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
