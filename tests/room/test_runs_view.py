"""Turns as the pages of runs get them: the list with its filters, and one as stretches of time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.live import Live
from tests.room import long_run
from tests.room.rig import Gateway, gateway


@pytest.fixture
def live(daimon: Gateway) -> Live:
    return daimon.live


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Live, str]]:
    """A gateway with a run of ten thousand steps."""
    home: Path = tmp_path_factory.mktemp("long") / "home"
    turn = long_run.write(home)
    with gateway(home) as running:
        yield running.live, turn


def said(live: Live, query: str) -> list[str]:
    return [row["said"] for row in live.get(f"/v1/runs?{query}")["rows"]]


def kinds(page: Any) -> list[str]:
    return [span["kind"] for span in page["spans"]]


def test_a_row_tells_what_a_run_took(live: Live) -> None:
    turn = live.ask('call lookup {"text": "words"}', "row")
    (row,) = live.get("/v1/runs?conversation=row")["rows"]
    assert (row["id"], row["state"], row["ending"], row["models"]) == (turn["id"], "done", "answered", ["puppet"])
    assert (row["model_calls"], row["tool_calls"], row["cost"]) == (2, 1, "0")
    assert row["duration_ms"] > 0


def test_the_list_is_narrowed_down_by_each_filter(live: Live) -> None:
    live.ask("say Apples and PEARS", "filter-a")
    live.ask("ask Really?", "filter-b")
    assert said(live, "text=pears") == ["say Apples and PEARS"]
    assert said(live, "state=parked&conversation=filter-b") == ["ask Really?"]
    assert said(live, "state=done&conversation=filter-b") == []
    assert said(live, "model=puppet&conversation=filter-a") == ["say Apples and PEARS"]
    assert said(live, "model=other") == said(live, "agent=other") == said(live, "job=other") == []
    assert said(live, "agent=daimon&conversation=filter-a") == ["say Apples and PEARS"]
    assert said(live, "since=2999-01-01T00:00:00Z") == said(live, "until=2000-01-01T00:00:00Z") == []
    assert said(live, "since=2000-01-01T00:00:00Z&conversation=filter-a") == ["say Apples and PEARS"]
    assert live.call("GET", "/v1/runs?state=odd").status == 400
    assert live.call("GET", "/v1/runs?since=2026-01-01").status == 400


def test_an_automation_is_a_filter_too(live: Live) -> None:
    with live.feed("beat") as feed:
        assert live.call("POST", "/v1/events", {"type": "heartbeat", "job": "read-feed", "conversation": "beat"}).status == 202
        feed.until_rest()
    (row,) = live.get("/v1/runs?job=read-feed")["rows"]
    assert (row["job"], row["conversation"]) == ("read-feed", "beat")


def test_pages_of_the_list_fit_together(live: Live) -> None:
    for n in range(5):
        live.ask(f"say number {n}", "pages")
    found, before = [], ""
    while True:
        part = live.get(f"/v1/runs?conversation=pages&limit=2&before={before}")
        found += [row["said"] for row in part["rows"]]
        before = part["next"]
        if not before:
            break
    assert found == [f"say number {n}" for n in (4, 3, 2, 1, 0)]


def test_a_run_with_a_question_is_told_in_order_with_its_wait_and_its_decisions(live: Live) -> None:
    turn = live.ask("mail ann@x.org", "fall")
    page = live.get(f"/v1/runs/{turn['id']}")
    assert kinds(page) == ["event", "context", "model", "policy", "wait"]
    assert (page["open"], page["spans"][4]["end_ms"], page["spans"][3]["tone"]) == (4, None, "asks")
    before = page["spans"]
    (asked,) = [each for each in live.get("/v1/approvals") if each["conversation"] == "fall"]
    with live.feed("fall") as feed:
        live.call("POST", "/v1/events", {"type": "answer", "to": asked["to"], "choice": "allow"})
        feed.until_rest()
    page = live.get(f"/v1/runs/{turn['id']}")
    assert kinds(page) == ["event", "context", "model", "policy", "wait", "call", "context", "model", "answer"]
    assert (page["open"], page["spans"][4]["note"], page["spans"][5]["tone"]) == (None, "allow, by owner", "good")
    assert [span["title"] for span in page["spans"][:5]] == [span["title"] for span in before]
    assert page["spans"][5]["parent"] == 2
    assert all(span["start_ms"] <= span["end_ms"] <= page["end_ms"] for span in page["spans"])
    told = {n for span in page["spans"] for n in span["steps"]}
    assert told == set(range(len(live.get(f"/v1/turns/{turn['id']}")["steps"])))


def test_a_call_that_is_refused_stands_with_its_decision(live: Live) -> None:
    turn = live.ask("mail ann@x.org", "refused")
    (asked,) = [each for each in live.get("/v1/approvals") if each["conversation"] == "refused"]
    with live.feed("refused") as feed:
        live.call("POST", "/v1/events", {"type": "answer", "to": asked["to"], "choice": "deny"})
        feed.until_rest()
    page = live.get(f"/v1/runs/{turn['id']}")
    assert "call" not in kinds(page)
    assert [span["tone"] for span in page["spans"] if span["kind"] == "policy"] == ["bad"]


def test_the_details_have_the_prompt_the_decision_and_the_result(live: Live) -> None:
    live.ask('call lookup {"text": "words to remember"}', "earlier")
    turn = live.ask('call lookup {"text": "<b>bold</b>"}', "details")
    page = live.get(f"/v1/runs/{turn['id']}")
    of = {span["kind"]: live.get(f"/v1/runs/{turn['id']}/spans/{span['n']}") for span in reversed(page["spans"])}
    messages = of["model"]["messages"]
    assert {each["sort"]: each["tier"] for each in messages} == {"system": "L1", "memory": "L3", "said": "L1"}
    assert all(each["why"] and each["piece"]["label"]["origins"] for each in messages)
    assert (of["policy"]["gate"]["verdict"], of["call"]["gate"]["verdict"]) == ("allow", "allow")
    arguments, result = of["call"]["pieces"]
    assert ('"<b>bold</b>"' in arguments["text"], result["text"]) == (True, "<b>bold</b>")
    assert result["label"]["origins"] == [{"author": "stranger", "source": "web:example.org"}]
    assert of["answer"]["pieces"][0]["text"] == "thank you"


def test_what_is_not_there_is_said_so(live: Live) -> None:
    turn = live.ask("say hello", "missing")["id"]
    for path in ("/v1/runs/t0", f"/v1/runs/{turn}/spans/99", f"/v1/runs/{turn}/spans/x", f"/v1/runs/{turn}/spans/0/pieces/9"):
        assert live.call("GET", path).status == 404, path


def test_ten_thousand_steps_come_in_pages(long: tuple[Live, str]) -> None:
    live, turn = long
    first = live.get(f"/v1/runs/{turn}?limit=100")
    assert (first["first"], len(first["spans"])) == (0, 100)
    assert first["count"] > long_run.STEPS // 2
    last = live.get(f"/v1/runs/{turn}?first={first['count'] - 3}&limit=100")
    assert [span["n"] for span in last["spans"]] == list(range(first["count"] - 3, first["count"]))
    found = live.get(f"/v1/runs/{turn}?step=9003&limit=100")
    assert 9_003 in found["spans"][found["found"] - found["first"]]["steps"]
    assert len(live.call("GET", f"/v1/runs/{turn}?limit=1000").body) < 400_000
    (row,) = live.get("/v1/runs?conversation=long")["rows"]
    assert row["steps"] >= long_run.STEPS - long_run.ROUND


def test_a_result_of_five_megabytes_is_cut_and_can_be_had_whole(long: tuple[Live, str]) -> None:
    live, turn = long
    call = next(span for span in live.get(f"/v1/runs/{turn}")["spans"] if span["kind"] == "call")
    path = f"/v1/runs/{turn}/spans/{call['n']}"
    _, result = live.get(path)["pieces"]
    assert (result["is_cut"], result["size"], len(result["text"])) == (True, long_run.LARGE, 20_000)
    whole = live.call("GET", f"{path}/pieces/1")
    assert (whole.status, len(whole.body), whole.headers["content-disposition"][:10]) == (200, long_run.LARGE, "attachment")
    assert whole.headers["content-type"].startswith("text/plain")
