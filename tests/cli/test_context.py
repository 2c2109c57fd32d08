"""What the model saw, and why: asked of a gateway and of a home that nobody runs."""

import json

import pytest
from tests.cli.processes import Daimon


@pytest.mark.parametrize("is_up", [True, False], ids=["a gateway runs", "nobody runs"])
def test_each_message_is_told_with_where_it_comes_from(daimon: Daimon, is_up: bool) -> None:
    if is_up:
        daimon.up()
    daimon.run("chat", "remember that the spare key is under the blue pot", "--conversation", "one")
    asked = json.loads(daimon.run("chat", "what do you know about the spare key?", "--conversation", "two", "--json").out)
    seen = json.loads(daimon.run("context", asked["turn"], "--json").out)
    assert [message["sort"] for message in seen["messages"]][:3] == ["system", "memory", "said"]
    said = seen["messages"][2]
    assert (said["source"], said["text"]) == (asked["event"], "what do you know about the spare key?")
    recalled = seen["messages"][1]["lines"]
    assert any("blue pot" in line["text"] and "words" in line["why"] and line["item"] for line in recalled)
    assert "recall" in seen["tools"]

    table = daimon.run("context", asked["turn"]).out
    assert "recalled for what was said" in table
    why = daimon.run("context", asked["turn"], "--why", "blue pot").out
    assert "from note_" in why or "from e0" in why


def test_a_step_that_is_no_model_call_and_words_that_are_not_there_are_told_so(daimon: Daimon) -> None:
    turn = json.loads(daimon.run("chat", "hello", "--json").out)["turn"]
    no_call = daimon.run("context", turn, "999")
    assert no_call.code != 0
    assert "step 999" in no_call.err
    assert "is no model call; those are" in no_call.err
    nowhere = daimon.run("context", turn, "--why", "zebra")
    assert nowhere.code != 0
    assert "holds 'zebra'" in nowhere.err
