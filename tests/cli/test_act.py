import json

import pytest
from tests.cli.processes import Daimon, finish, wait_until

from daimon.abi.ids import StepRef
from daimon.gateway.codes import code_of


def test_a_running_turn_is_stopped(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.up()
    chat = daimon.start("chat", "wait", "--json")
    wait_until((daimon.signs / "started").exists)

    stopped = daimon.run("stop", "last")

    assert stopped.code == 0
    assert json.loads(finish(chat).out)["ending"] == "stopped"
    again = daimon.run("stop", "last")
    assert again.code == 0
    assert "over already" in again.out


def test_a_turn_that_does_not_exist_cannot_be_stopped(daimon: Daimon) -> None:
    daimon.run("chat", "hello")
    assert daimon.run("stop", "t123").code == 3


@pytest.mark.parametrize("is_running", [True, False])
def test_an_answer_lets_the_turn_go_on(daimon: Daimon, is_running: bool) -> None:
    daimon.use_patient_model()
    if is_running:
        daimon.up()
    (asked,) = json.loads(daimon.run("chat", "ask", "--json").out)["questions"]
    assert asked["options"] == ["tea", "coffee"]
    code = code_of(StepRef.parse(asked["to"]))
    shown = daimon.run("questions").out
    assert asked["to"] in shown
    assert code in shown
    assert f"1 waits for you ({code})" in daimon.run("status").out

    assert daimon.run("answer", asked["to"], "coffee", "with milk").code == 0

    if not is_running:
        daimon.up()
    turn = asked["to"].partition(":")[0]
    wait_until(lambda: json.loads(daimon.run("trace", turn, "--json").out)["turn"]["state"] == "done")
    assert '"choice": "coffee", "text": "with milk"' in daimon.run("trace", turn).out
    assert json.loads(daimon.run("questions", "--json").out) == []


def test_an_answer_must_be_one_of_the_options_and_have_a_question(daimon: Daimon) -> None:
    daimon.use_patient_model()
    (asked,) = json.loads(daimon.run("chat", "ask", "--json").out)["questions"]

    wrong = daimon.run("answer", asked["to"], "water")
    assert wrong.code == 4
    assert "tea / coffee" in wrong.err
    assert daimon.run("answer", "t123:4", "tea").code == 3
    assert daimon.run("answer", "nonsense", "tea").code == 4


def test_a_parked_turn_is_stopped_where_nobody_runs(daimon: Daimon) -> None:
    daimon.use_patient_model()
    daimon.run("chat", "ask")
    told = daimon.run("stop", "last")
    assert told.code == 0
    assert "daimon up" in told.out

    daimon.up()

    wait_until(lambda: json.loads(daimon.run("trace", "last", "--json").out)["turn"]["ending"] == "stopped")


def test_settings_are_read_again_without_a_restart(daimon: Daimon) -> None:
    daimon.up()
    daimon.configure("[budget.day]\ncost = 1\n[kernel]\nslots = 3\n")
    done = daimon.run("reload")
    assert (done.code, done.out) == (0, "read again; reflex will answer\n")
    assert "kernel" in done.err
    daimon.configure("[budget.day]\ncost = -1\n")
    done = daimon.run("reload")
    assert done.code != 0
    assert "budget.day.cost" in done.err


def test_without_a_gateway_there_is_nobody_to_read_them(daimon: Daimon) -> None:
    assert daimon.run("reload").code == 69
