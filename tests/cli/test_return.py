"""Coming back to a conversation, and what happens in it while the prompt waits: on a pseudo-terminal."""

import json
from collections.abc import Iterator

import pytest
from tests.cli.processes import DEADLINE_S, Daimon, wait_until
from tests.cli.pseudo import CTRL_D, Terminal, sitting_at

SCARCE = 'extensions = ["lively"]\n[model]\nuse = "lively"\n[budget.day]\ncost = 0.01\n'
TALL = "xterm-256color"


@pytest.fixture
def patient(daimon: Daimon) -> Daimon:
    daimon.use_patient_model()
    daimon.up()
    return daimon


@pytest.fixture
def terminal(patient: Daimon) -> Iterator[Terminal]:
    with sitting_at(patient) as made:
        yield made


def inject(daimon: Daimon, text: str) -> None:
    assert daimon.run("inject", given=json.dumps({"type": "message", "text": text}).encode()).code == 0


def answered(daimon: Daimon, text: str) -> None:
    """The gateway takes a message in before it is answered."""
    before = states(daimon).count("done")
    inject(daimon, text)
    wait_until(lambda: states(daimon).count("done") > before)


def states(daimon: Daimon) -> list[str]:
    return [turn["state"] for turn in json.loads(daimon.run("turns", "--json").out)]


def turns(daimon: Daimon) -> int:
    return len(states(daimon))


def banner(daimon: Daimon, columns: int = 80) -> list[str]:
    """What a chat shows before its first prompt, after the greeting."""
    made = Terminal(daimon, columns=columns)
    try:
        lines = made.shown_until("› ")
        made.type(CTRL_D)
        assert made.process.wait(DEADLINE_S) == 0
    finally:
        made.close()
    return [line.rstrip() for line in lines[lines.index("") :] if line.strip()]


# -- open questions


@pytest.mark.parametrize("columns", [80, 40])
def test_an_open_question_is_asked_on_return_and_the_next_line_answers_it(patient: Daimon, columns: int) -> None:
    patient.run("chat", "ask")
    assert banner(patient, columns) == ["Tea or coffee? [tea / coffee]"]
    with sitting_at(patient, columns=columns) as terminal:
        terminal.type(b"coffee with milk\r")
        terminal.wait_for("ask_owner: ok")
        terminal.wait_for("with milk")
        terminal.wait_for("patient ·")
    assert turns(patient) == 1
    assert json.loads(patient.run("questions", "--json").out) == []


def test_a_question_of_another_conversation_is_not_asked_here(patient: Daimon) -> None:
    patient.run("chat", "ask", "--conversation", "work")
    assert banner(patient) == []


def test_open_questions_are_asked_one_after_the_other(patient: Daimon) -> None:
    patient.run("chat", "ask")
    patient.run("chat", "ask")
    with sitting_at(patient) as terminal:
        terminal.type(b"tea\r")
        terminal.wait_for('"choice": "tea"')
        terminal.wait_for("[tea / coffee]")
        terminal.wait_for("› ")
        terminal.type(b"coffee\r")
        terminal.wait_for('"choice": "coffee"')
        terminal.wait_for("patient ·")
        assert "tea" not in terminal.wait_for("› ")


def test_a_question_that_comes_up_while_the_prompt_waits_is_answered_by_the_next_line(terminal: Terminal, patient: Daimon) -> None:
    inject(patient, "ask")
    terminal.wait_for("· on “ask”:\r\nTea or coffee? [tea / coffee]\r\n")
    terminal.type(b"tea\r")
    terminal.wait_for('"choice": "tea"')
    assert turns(patient) == 1


def test_a_line_that_is_no_option_is_not_sent_unless_it_is_said(terminal: Terminal, patient: Daimon) -> None:
    terminal.type(b"ask\r")
    terminal.wait_for("[tea / coffee]")
    terminal.wait_for("› ")
    terminal.type(b"water\r")
    terminal.wait_for("please choose one of: tea / coffee; `/say TEXT` sends it as a message")
    terminal.wait_for("› ")
    assert turns(patient) == 1
    terminal.type(b"/say water\r")
    terminal.wait_for("\r\nwater\r\n")
    terminal.wait_for("[tea / coffee]")
    terminal.wait_for("› ")
    terminal.type(b"tea\r")
    terminal.wait_for('"choice": "tea"')


def test_an_answer_to_what_was_settled_meanwhile_is_not_sent(terminal: Terminal, patient: Daimon) -> None:
    terminal.type(b"ask\r")
    terminal.wait_for("[tea / coffee]")
    terminal.wait_for("› ")
    (asked,) = json.loads(patient.run("questions", "--json").out)
    patient.run("answer", f"{asked['to']['turn']}:{asked['to']['n']}", "tea")
    terminal.wait_for('"choice": "tea"')
    terminal.type(b"tea\r")
    terminal.wait_for("(the question was settled in the meantime)")
    terminal.wait_for("nothing was sent")
    terminal.wait_for("› ")
    terminal.type(b"hello\r")
    terminal.wait_for("\r\nhello\r\n")
    assert turns(patient) == 2


def test_a_question_about_money_that_was_put_off_is_not_asked_again_and_can_be_answered_later(daimon: Daimon) -> None:
    daimon.configure(SCARCE)
    daimon.up()
    with sitting_at(daimon, kind=TALL) as terminal:
        terminal.type(b"hello\r")
        terminal.wait_for("[wait / raise / stop]")
        terminal.wait_for("› ")
        terminal.type(b"wait\r")
        assert "stop]" not in terminal.wait_for("(it waits; `raise` or `stop` here, or later)")
        terminal.wait_for("› ")
        terminal.type(b"an ordinary message\r")
        assert "stop]" not in terminal.wait_for("(it waits until")
        terminal.wait_for("› ")
    with sitting_at(daimon, kind=TALL) as terminal:
        terminal.type(b"another message\r")
        terminal.wait_for("(it waits until")
        terminal.wait_for("› ")
        terminal.type(b"raise 5\r")
        terminal.wait_for("$5.00 more allowed for today")
        terminal.wait_for("lively ·")
    assert turns(daimon) == 3


# -- late answers


def test_what_was_answered_while_no_chat_was_open_is_shown_once_with_what_it_answers(patient: Daimon) -> None:
    answered(patient, "before anybody ever sat here")
    assert banner(patient) == []
    answered(patient, "what happened while I was away?")
    assert banner(patient) == ["  · on “what happened while I was away?”:", "what happened while I was away?"]
    assert banner(patient) == []


def test_of_many_late_answers_the_last_are_shown(patient: Daimon) -> None:
    banner(patient)
    for n in range(7):
        inject(patient, f"number {n}")
    patient.run("chat", "the last")
    shown = banner(patient)
    assert shown[0] == "  · 3 earlier answers are not shown; `daimon turns` lists them"
    assert shown[1:3] == ["  · on “number 3”:", "number 3"]
    assert len(shown) == 11


def test_a_late_answer_while_the_prompt_waits_says_what_it_answers(terminal: Terminal, patient: Daimon) -> None:
    inject(patient, "a message from elsewhere that is long enough to be cut off somewhere")
    terminal.wait_for("· on “a message from elsewhere that is long enough to b…”:\r\n")
    terminal.wait_for("a message from elsewhere that is long enough to be cut off somewhere\r\n")


# -- the rest


@pytest.mark.parametrize("word", [b"/quit\r", b"/exit\r", b"exit\r", b"quit\r"])
def test_a_word_leaves(terminal: Terminal, patient: Daimon, word: bytes) -> None:
    terminal.type(word)
    assert terminal.process.wait(DEADLINE_S) == 0
    assert turns(patient) == 0


def test_an_unknown_command_is_not_sent(terminal: Terminal, patient: Daimon) -> None:
    terminal.type(b"/nonsense\r")
    terminal.wait_for("/nonsense is no command of the chat")
    terminal.wait_for("› ")
    terminal.type(b"/help\r")
    terminal.wait_for("/say TEXT")
    terminal.wait_for("› ")
    assert turns(patient) == 0


def test_a_silent_model_gives_a_sign_of_life_that_is_taken_back(patient: Daimon) -> None:
    with sitting_at(patient, kind=TALL) as terminal:
        terminal.type(b"think\r")
        terminal.wait_for("· thinking … (Ctrl-C stops)")
        (patient.signs / "go").touch()
        assert terminal.wait_for("thought through").endswith("\r\x1b[K")


def test_words_stay_whole_while_they_stream(daimon: Daimon) -> None:
    daimon.configure('extensions = ["lively"]\n[model]\nuse = "lively"\n')
    text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    with sitting_at(daimon, kind=TALL, columns=40) as terminal:
        terminal.type(f"{text}\r".encode())
        terminal.wait_for("\x1b[?2004l")
        lines = [line.strip() for line in terminal.shown_until("lively ·") if line.strip()]
    assert lines == ["one two three four five six seven eight", "nine ten eleven twelve thirteen", "fourteen"]


def test_a_failure_is_not_told_again_by_the_question_after_it(daimon: Daimon) -> None:
    daimon.use_patient_model()
    with sitting_at(daimon) as terminal:
        terminal.type(b"fail\r")
        terminal.wait_for("patient failed (down): this model is out of order")
        before = terminal.wait_for("[retry / stop]")
        assert before.rpartition("No model can answer at the moment.")[2].startswith(" I try again at ")
