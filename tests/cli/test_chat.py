import json
import signal

import pytest
from tests.cli.processes import Daimon, finish, wait_until


@pytest.mark.parametrize("is_running", [True, False])
def test_a_message_is_answered_whether_a_gateway_runs_or_not(daimon: Daimon, is_running: bool) -> None:
    if is_running:
        daimon.up()

    done = daimon.run("chat", "remember", "that my locker code is 4711")
    again = daimon.run("chat", "what did I say about the locker?")

    assert (done.code, again.code) == (0, 0)
    assert "4711" in again.out


def test_the_answer_as_json_tells_which_turn_gave_it(daimon: Daimon) -> None:
    daimon.use_patient_model()
    told = json.loads(daimon.run("chat", "hello", "--json").out)

    assert (told["state"], told["ending"], told["reply"]) == ("done", "answered", "hello")
    trace = json.loads(daimon.run("trace", told["turn"], "--json").out)
    assert trace["event"]["id"] == told["event"]
    assert trace["steps"] == told["steps"]


def test_a_pipe_gets_the_reply_and_nothing_else(daimon: Daimon) -> None:
    daimon.use_patient_model()
    assert daimon.run("chat", "one\ntwo").out == "one\ntwo\n"


def test_lines_of_stdin_are_messages_one_after_the_other(daimon: Daimon) -> None:
    daimon.use_patient_model()
    done = daimon.run("chat", given="first\n\nsecond äöü\n".encode())
    assert done.out.splitlines() == ["first", "second äöü"]


def test_conversations_are_kept_apart(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.run("chat", "hello", "--conversation", "work")
    assert json.loads(daimon.run("turns", "--conversation", "work", "--json").out)[0]["conversation"] == "work"
    assert json.loads(daimon.run("turns", "--conversation", "main", "--json").out) == []


def test_a_turn_that_asks_says_how_to_answer(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.up()

    done = daimon.run("chat", "ask")

    assert done.code == 0
    assert "Tea or coffee?" in done.out
    (asked,) = json.loads(daimon.run("questions", "--json").out)
    assert f"daimon answer {asked['to']['turn']}:{asked['to']['n']}" in done.err


def test_in_a_chat_the_next_line_is_the_answer(daimon: Daimon) -> None:
    daimon.use_patient_model()
    done = daimon.run("chat", given=b"ask\nwater\nCOFFEE with milk\n")
    assert json.loads(done.out.splitlines()[-1])["data"] == {"choice": "coffee", "text": "with milk"}
    assert "tea / coffee" in done.err


def test_a_failed_turn_is_a_failed_command(daimon: Daimon) -> None:
    daimon.configure('extensions = ["lively"]\n[model]\nuse = "lively"\n[limits]\nsteps = 3\n')
    done = daimon.run("chat", "bad")
    assert done.code == 1
    assert "limits.steps" in done.out


def test_a_chat_outlives_a_gateway_that_is_killed_and_sends_its_message_once(daimon: Daimon) -> None:
    daimon.use_patient_model()
    gateway = daimon.up()
    chat = daimon.start("chat", "wait")
    wait_until((daimon.signs / "started").exists)

    gateway.kill()
    gateway.wait()
    (daimon.signs / "go").touch()
    daimon.up()
    done = finish(chat)

    assert (done.code, done.out) == (0, "slow and steady\n")
    assert json.loads(daimon.run("status", "--json").out)["count"]["events"] == 1


def test_an_interrupted_chat_stops_its_turn(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.up()
    chat = daimon.start("chat", "wait")
    wait_until((daimon.signs / "started").exists)

    done = finish(chat, signal.SIGINT)

    assert done.code == 130
    assert json.loads(daimon.run("trace", "last", "--json").out)["turn"]["ending"] == "stopped"


def test_what_a_stranger_wrote_cannot_steer_the_terminal(daimon: Daimon) -> None:
    daimon.use_patient_model()
    done = daimon.run("chat", "a\x1b[2Jb\x9bc\u202ed")
    assert "\x1b" not in done.out
    assert done.out == "a␛[2Jb\ufffdc\ufffdd\n"
