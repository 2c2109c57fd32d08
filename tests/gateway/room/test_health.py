"""The view of costs and health, of a whole Daimon: its figures are those that the other routes tell one by one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.live import Live, live
from tests.noon import noon

from daimon.abi.hook import Hook, secret_of


@pytest.fixture
def daimon(tmp_path: Path) -> Iterator[Live]:
    """One for each test, which counts all that is there."""
    with live(tmp_path / "home", noon().key) as running:
        yield running


def test_an_empty_home_answers_with_noughts(daimon: Live) -> None:
    seen = daimon.get("/v1/health")
    assert seen["figures"]["taken"] == {"accepted": 0, "ended": 0, "open": 0, "waiting": 0, "late": 0, "lost": 0}
    assert [each["by"] for each in seen["spent"]] == ["day", "job", "model", "agent", "conversation"]
    assert all(each["rows"] == [] for each in seen["spent"])
    assert [each["account"]["scope"] for each in seen["balances"]] == ["day", "month"]
    assert (seen["unsure"], seen["undelivered"], seen["letters"]) == ([], [], [])


def test_the_figures_are_those_of_the_trace(daimon: Live) -> None:
    turns = [daimon.ask("say hello", "f-1"), daimon.ask("mail bob@x.org", "f-2"), daimon.ask("say again", "f-1")]
    steps = [step["body"] for turn in turns for step in daimon.get(f"/v1/turns/{turn['id']}")["steps"]]
    seen = daimon.get("/v1/health?days=1")["figures"]
    assert seen["taken"] == {"accepted": 3, "ended": 2, "open": 1, "waiting": 0, "late": 0, "lost": 0}
    assert seen["endings"] == {"answered": 2}
    assert seen["answers"]["n"] == 2
    assert seen["prompts"]["calls"] == sum(body["kind"] == "reply" for body in steps) == 3
    assert 0 < seen["prompts"]["new_bytes"] < seen["prompts"]["bytes"]
    assert seen["judged"]["asked"] == sum(body["kind"] == "intent" and body["gate"]["verdict"] == "ask" for body in steps) == 1
    assert seen["interventions"]["questions"] == sum(body["kind"] == "question" for body in steps) == 1


def test_an_answer_of_the_owner_is_an_intervention(daimon: Live) -> None:
    before = daimon.get("/v1/health")["figures"]
    turn = daimon.ask("mail ann@x.org", "f-3")
    question = next(each for each in daimon.get("/v1/questions") if each["to"]["turn"] == turn["id"])
    with daimon.feed("f-3") as feed:
        answer = {"type": "answer", "to": f"{turn['id']}:{question['to']['n']}", "choice": "allow", "conversation": "f-3"}
        assert daimon.call("POST", "/v1/events", answer).status == 202
        feed.until_rest()
    after = daimon.get("/v1/health")["figures"]
    assert after["interventions"]["allowed"] == before["interventions"]["allowed"] + 1
    assert after["interventions"]["took"]["n"] == 1
    (mail,) = after["tools"]
    assert (mail["tool"], mail["calls"], mail["failed"], mail["refused"]) == ("mail", 1, 0, 0)


def test_what_could_not_be_used_is_shown_as_text_and_cut(daimon: Live) -> None:
    assert daimon.call("POST", "/v1/events", b"<script>alert(1)</script>" * 1_000).status == 400
    seen = daimon.get("/v1/health")
    assert (seen["figures"]["letters"], seen["status"]["count"]["dead_letters"]) == (1, 1)
    assert len(seen["letters"][0]["body"]) == 500


@pytest.mark.parametrize("query", ["days=0", "days=91", "days=x", "weeks=1"])
def test_a_stretch_that_cannot_be_is_refused(daimon: Live, query: str) -> None:
    answer = daimon.call("GET", f"/v1/health?{query}")
    assert (answer.status, answer.code) == (400, "bad_input")


def test_deliveries_and_ticks_are_counted(daimon: Live) -> None:
    assert daimon.call("PUT", "/v1/automations/still", {"schedule": "daily at 8", "task": "say hi"}).status == 200
    assert daimon.call("POST", "/v1/automations/still/run").json["outcome"] == "ran"
    hook = Hook(name="ci", scheme="generic", secret=secret_of("ci"))
    assert daimon.call("PUT", "/v1/hooks/ci", {"name": "ci", "scheme": "generic", "secret": hook.secret}).status == 200
    assert daimon.call_as("POST", "/hooks/ci", {"a": 1}, {"content-type": "application/json"}).status == 401
    seen = daimon.get("/v1/health")["figures"]
    assert (seen["ticks"], seen["idle_calls"], seen["deliveries"]) == ({"ran": 1}, 0, {"refused": 1})
