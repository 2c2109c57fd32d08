"""The chat as a person sees it: on a pseudo-terminal."""

import os
import pty
import select
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.cli.processes import DEADLINE_S, Daimon

CTRL_C, CTRL_D = b"\x03", b"\x04"


class Terminal:
    def __init__(self, daimon: Daimon) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            daimon.command("chat"),
            env=daimon.environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self._seen = b""

    def type(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def wait_for(self, text: str) -> str:
        """Returns what came before it."""
        deadline = time.monotonic() + DEADLINE_S
        while text.encode() not in self._seen:
            ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"{text!r} did not come; seen: {self._seen!r}"
            self._seen += os.read(self._master, 65536)
        before, _, self._seen = self._seen.partition(text.encode())
        return before.decode(errors="replace")

    def close(self) -> None:
        self.process.kill()
        self.process.wait(DEADLINE_S)
        os.close(self._master)


def _own_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def sitting_at(daimon: Daimon) -> Iterator[Terminal]:
    made = Terminal(daimon)
    try:
        made.wait_for("› ")
        yield made
    finally:
        made.close()


@pytest.fixture
def terminal(daimon: Daimon) -> Iterator[Terminal]:
    daimon.use_patient_model()
    with sitting_at(daimon) as made:
        yield made


def test_a_message_is_answered_and_ctrl_d_leaves(terminal: Terminal) -> None:
    terminal.type(b"hello\r")
    terminal.wait_for("\r\nhello\r\n")
    terminal.wait_for("› ")
    terminal.type(CTRL_D)
    assert terminal.process.wait(DEADLINE_S) == 0


def test_a_backslash_goes_on_in_the_next_line(terminal: Terminal) -> None:
    terminal.type(b"one\\\r")
    terminal.wait_for("… ")
    terminal.type(b"two\r")
    terminal.wait_for("\r\none\r\ntwo\r\n")


def test_ctrl_c_stops_the_turn_and_stays(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"wait\r")
    terminal.wait_for("slow ")
    terminal.type(CTRL_C)
    terminal.wait_for("(stopped)")
    terminal.wait_for("› ")
    terminal.type(b"still here\r")
    terminal.wait_for("\r\nstill here\r\n")


def test_a_tool_call_is_shown_and_its_question_answered(terminal: Terminal) -> None:
    terminal.type(b"ask\r")
    terminal.wait_for("· ask_owner(")
    terminal.wait_for("[tea / coffee]")
    terminal.wait_for("› ")
    terminal.type(b"tea\r")
    terminal.wait_for('"choice": "tea"')


def test_the_history_is_kept_for_the_owner_only(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"hello\r")
    terminal.wait_for("\r\nhello\r\n")
    terminal.wait_for("› ")
    terminal.type(CTRL_D)
    terminal.process.wait(DEADLINE_S)
    history = daimon.home / "chat_history"
    assert history.read_text() == "hello\n"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_what_arrives_while_somebody_types_is_shown_above_the_line(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"half a sen")
    terminal.wait_for("half a sen")
    assert daimon.run("inject", given=b'{"type":"message","text":"news"}').code == 0
    terminal.wait_for("news\r\n")
    terminal.wait_for("half a sen")
    terminal.type(b"tence\r")
    terminal.wait_for("\r\nhalf a sentence\r\n")


def test_what_was_said_while_the_gateway_restarted_is_shown_when_it_is_back(daimon: Daimon) -> None:
    daimon.use_patient_model()
    gateway = daimon.up()
    with sitting_at(daimon) as terminal:
        gateway.kill()
        gateway.wait()
        assert daimon.run("inject", given=b'{"type":"message","text":"news"}').code == 0
        daimon.up()
        terminal.wait_for("news\r\n")
        terminal.type(b"hello\r")
        terminal.wait_for("\r\nhello\r\n")
