"""The chat as a person sees it: on a pseudo-terminal."""

import json
import signal
import stat
from collections.abc import Iterator

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, wait_until
from tests.cli.pseudo import CTRL_C, CTRL_D, ENTER, PASTE, PASTED, UP, Terminal, sitting_at


@pytest.fixture
def terminal(daimon: Daimon) -> Iterator[Terminal]:
    daimon.use_patient_model()
    with sitting_at(daimon) as made:
        yield made


def said(daimon: Daimon) -> list[str]:
    """What was sent, the oldest first."""
    turns = json.loads(daimon.run("turns", "--json").out)
    traces = [json.loads(daimon.run("trace", turn["id"], "--json").out) for turn in reversed(turns)]
    return ["".join(part["text"] for part in trace["event"]["body"]["parts"]) for trace in traces]


def test_a_message_is_answered_and_ctrl_d_leaves(terminal: Terminal) -> None:
    terminal.type(b"hello\r")
    terminal.wait_for("\r\nhello\r\n")
    terminal.wait_for("› ")
    terminal.type(CTRL_D)
    assert terminal.process.wait(DEADLINE_S) == 0


# -- several lines


def test_a_backslash_goes_on_in_the_next_line(terminal: Terminal) -> None:
    terminal.type(b"one\\\r")
    terminal.wait_for("… ")
    terminal.type(b"two\r")
    terminal.wait_for("\r\none\r\ntwo\r\n")


def test_three_quotes_begin_a_block_and_end_it(terminal: Terminal, daimon: Daimon) -> None:
    for line in (b'"""def f():\r', b"    return 1\\\r", b"\r"):
        terminal.type(line)
        terminal.wait_for("… ")
    terminal.type(b'f()"""\r')
    terminal.wait_for("\r\nf()\r\n")
    assert said(daimon) == ["def f():\n    return 1\\\n\nf()"]


def test_ctrl_d_in_a_block_ends_it_and_ctrl_c_gives_it_up(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b'"""one\r')
    terminal.wait_for("… ")
    terminal.type(CTRL_D)
    terminal.wait_for("\r\none\r\n")
    terminal.wait_for("› ")
    terminal.type(b'"""two\r')
    terminal.wait_for("… ")
    terminal.press(CTRL_C, "› ")
    terminal.type(b"three\r")
    terminal.wait_for("\r\nthree\r\n")
    assert said(daimon) == ["one", "three"]


@pytest.mark.parametrize("kind", ["xterm-256color", "dumb"], ids=["marked", "unmarked"])
def test_a_paste_is_one_message_however_many_lines_it_has(daimon: Daimon, kind: str) -> None:
    daimon.use_patient_model()
    with sitting_at(daimon, kind=kind) as terminal:
        if kind == "dumb":
            terminal.type(b"one\rtwo\r\rthree\r")
        else:
            terminal.type(PASTE + b"one\rtwo\r\rthree" + PASTED)
            terminal.wait_for("three")
            terminal.type(ENTER)
        terminal.wait_for("patient ·")
        terminal.wait_for("› ")
    assert said(daimon) == ["one\ntwo\n\nthree"]


# -- stopping


def test_ctrl_c_stops_the_turn_and_stays(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"wait\r")
    terminal.wait_for("slow ")
    terminal.type(CTRL_C)
    terminal.wait_for("(stopped; what it had said so far stands in the trace)")
    terminal.wait_for("› ")
    terminal.type(b"still here\r")
    terminal.wait_for("\r\nstill here\r\n")


def test_ctrl_c_again_and_again_breaks_nothing(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"wait\r")
    terminal.wait_for("slow ")
    for _ in range(20):
        terminal.process.send_signal(signal.SIGINT)
    terminal.wait_for("› ")
    terminal.type(b"still here\r")
    terminal.wait_for("patient ·")
    terminal.wait_for("› ")
    terminal.type(CTRL_D)
    assert terminal.process.wait(DEADLINE_S) == 0
    assert [turn["ending"] for turn in json.loads(daimon.run("turns", "--json").out)] == ["answered", "stopped"]


def test_ctrl_c_at_an_empty_prompt_says_how_to_leave_and_stays(terminal: Terminal) -> None:
    terminal.press(CTRL_C, "(Ctrl-D leaves")
    terminal.press(CTRL_C, "(Ctrl-D leaves")
    terminal.type(b"still here\r")
    terminal.wait_for("\r\nstill here\r\n")


def test_ctrl_c_gives_up_the_line_that_was_begun(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"half a line")
    terminal.wait_for("half a line")
    terminal.press(CTRL_C, "\r\n› ")
    terminal.type(b"a whole one\r")
    terminal.wait_for("\r\na whole one\r\n")
    assert said(daimon) == ["a whole one"]


# -- a gateway that comes and goes


def test_a_reply_is_streamed_anew_when_the_gateway_was_killed_in_the_middle_of_it(daimon: Daimon) -> None:
    daimon.use_patient_model()
    gateway = daimon.up()
    with sitting_at(daimon) as terminal:
        terminal.type(b"wait\r")
        terminal.wait_for("slow ")
        gateway.kill()
        gateway.wait()
        terminal.wait_for("the gateway went away; waiting for it")
        (daimon.signs / "started").unlink()
        daimon.up()
        terminal.wait_for("it is back")
        wait_until((daimon.signs / "started").exists)
        (daimon.signs / "go").touch()
        rest = terminal.wait_for("patient ·")
        terminal.wait_for("› ")
        assert rest.count("slow and steady\r\n") == 1
        assert rest.count("slow") == 1
        terminal.type(b"hello\r")
        terminal.wait_for("\r\nhello\r\n")
    assert said(daimon) == ["wait", "hello"]


def test_a_reply_that_came_while_nobody_could_hear_it_is_shown_once(daimon: Daimon) -> None:
    daimon.use_patient_model()
    gateway = daimon.up()
    with sitting_at(daimon) as terminal:
        terminal.type(b"wait\r")
        terminal.wait_for("slow ")
        gateway.kill()
        gateway.wait()
        terminal.wait_for("waiting for it")
        (daimon.signs / "go").touch()
        daimon.up()
        assert terminal.wait_for("patient ·").count("slow and steady\r\n") == 1


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


# -- the rest


def test_a_question_of_a_tool_is_answered_by_the_next_line(terminal: Terminal) -> None:
    terminal.type(b"ask\r")
    terminal.wait_for("· ask_owner(")
    terminal.wait_for("ask_owner: waits for your answer")
    terminal.wait_for("[tea / coffee]")
    terminal.wait_for("› ")
    terminal.type(b"tea\r")
    terminal.wait_for("· ask_owner: ok")
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


def test_a_message_of_several_lines_comes_back_whole_in_the_next_chat(daimon: Daimon) -> None:
    daimon.use_patient_model()
    for keys in (PASTE + b"one\rtwo" + PASTED, UP):
        with sitting_at(daimon, kind="xterm-256color") as terminal:
            terminal.type(keys)
            terminal.wait_for("two")
            terminal.type(ENTER)
            terminal.wait_for("patient ·")
            terminal.wait_for("› ")
            terminal.process.kill()
    assert said(daimon) == ["one\ntwo", "one\ntwo"]


def test_what_arrives_while_somebody_types_is_shown_above_the_line(terminal: Terminal, daimon: Daimon) -> None:
    terminal.type(b"half a sen")
    terminal.wait_for("half a sen")
    assert daimon.run("inject", given=b'{"type":"message","text":"news"}').code == 0
    terminal.wait_for("news\r\n")
    terminal.wait_for("half a sen")
    terminal.type(b"tence\r")
    terminal.wait_for("\r\nhalf a sentence\r\n")
